#!/bin/sh
# pack.sh OUT.h - writes the files of the web page, as they are and gzip-packed,
# into a C header.  The same files give the same bytes: gzip -n stores neither
# name nor time.  An OUT.h with the same content is not written, so that make
# has nothing to do.

set -e

out=$1
dir=`dirname "$0"`

bytes() {
    od -An -v -tx1 | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
}

type_of() {
    case $1 in
        *.html) echo 'text/html; charset=utf-8' ;;
        *.css)  echo 'text/css; charset=utf-8' ;;
        *.mjs)  echo 'text/javascript; charset=utf-8' ;;
        *.svg)  echo 'image/svg+xml' ;;
        *)      echo "pack.sh: what is the type of $1?" >&2; return 1 ;;
    esac
}

# row PACKED - the row of file $name: its hash covers the packed bytes, and the
# two forms have separate ETags (RFC 9110, 8.8.3.3).
row() {
    echo "    { ngx_string(\"$name\"), ngx_string(\"$type\"), ngx_string(\"\\\"$hash$1\\\"\"),"
    echo "      { sizeof(page_$n$1), (u_char *) page_$n$1 } },"
}

{
    n=0
    rows=
    packed=
    for file in "$dir"/*.html "$dir"/*.css "$dir"/*.mjs "$dir"/*.svg; do
        name=`basename "$file"`
        type=`type_of "$name"`
        hash=`sha256sum < "$file" | cut -c 1-16`

        echo "static const u_char  page_${n}[] = {"
        bytes < "$file"
        echo '};'
        echo "static const u_char  page_${n}z[] = {"
        gzip -n -9 < "$file" | bytes
        echo '};'

        rows="$rows
`row ''`"
        packed="$packed
`row z`"
        n=$((n + 1))
    done

    echo 'static ngx_http_symbolicate_page_file_t  ngx_http_symbolicate_page_plain[] = {'
    echo "$rows"
    echo '    { ngx_null_string, ngx_null_string, ngx_null_string, ngx_null_string }'
    echo '};'
    echo 'static ngx_http_symbolicate_page_file_t  ngx_http_symbolicate_page_packed[] = {'
    echo "$packed"
    echo '    { ngx_null_string, ngx_null_string, ngx_null_string, ngx_null_string }'
    echo '};'
} > "$out.new"

if cmp -s "$out.new" "$out"; then
    rm "$out.new"
else
    mv "$out.new" "$out"
fi
