#!/bin/sh
# version.sh OUT.h - writes the commit that is built, as a C header.  OUT.h is
# left alone when it already says so, so that make has nothing to do.

out=$1
dir=`dirname "$0"`
commit=`git -C "$dir" rev-parse HEAD 2>/dev/null`

echo "#define NGX_SYMBOLICATE_COMMIT  \"$commit\"" > "$out.new"

if cmp -s "$out.new" "$out"; then
    rm "$out.new"
else
    mv "$out.new" "$out"
fi
