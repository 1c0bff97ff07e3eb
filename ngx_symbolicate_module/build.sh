#!/bin/bash
# build.sh NGINX_SOURCE OUT - builds OUT/ngx_http_symbolicate_module.so.
#
# NGINX_SOURCE is the source tree (or, as Debian's nginx-dev ships it, the
# headers and build scripts) of the nginx that will load the module.  It is not
# written to: configure runs in a folder of links, OUT/nginx.  It runs again
# only when what it was given has changed.
#
# Environment: NGINX_FLAGS   flags of that nginx's configure; default: its own
#                            conf_flags (Debian), else --with-compat
#              MODULE_CFLAGS, MODULE_LDFLAGS, CC

set -eu

src=$1
out=$2
root=$(cd "$(dirname "$0")/.." && pwd)

die() {
    echo "make module: $*" >&2
    exit 1
}

[ -f "$src/src/core/nginx.h" ] && [ -d "$src/auto" ] || die "no nginx source" \
    "in $src; install nginx-dev, or say make module NGINX_SRC=FOLDER"

src=$(cd "$src" && pwd)
number=$(sed -n 's/^#define nginx_version *\([0-9]*\).*/\1/p' \
         "$src/src/core/nginx.h")
[ "$number" -ge 1022000 ] || die "$src is nginx $number; 1022000 (1.22.0) is" \
    "the oldest that works"

# A release has ./configure, a repository auto/configure.
configure=configure
[ -f "$src/configure" ] || configure=auto/configure

if [ -n "${NGINX_FLAGS:-}" ]; then
    read -r -a flags <<< "$NGINX_FLAGS"
elif [ -f "$src/conf_flags" ]; then
    NGX_CONF_FLAGS=()
    . "$src/conf_flags"
    flags=("${NGX_CONF_FLAGS[@]}")
else
    flags=(--with-compat)
fi

flags+=("--with-cc=${CC:-gcc}" "--with-cc-opt=${MODULE_CFLAGS:-}"
        "--with-ld-opt=${MODULE_LDFLAGS:-}" "--add-dynamic-module=$root")

mkdir -p "$out/nginx"
farm=$(cd "$out/nginx" && pwd)

stamp() {
    printf '%s\n' "$src $number" "${flags[@]}"
    cat "$root/config" "$root"/core/demangle/llvm.*
    find "$root/core" "$root/ngx_symbolicate_module" -name '*.[ch]' | sort
}

if [ ! -f "$farm/objs/Makefile" ] \
    || ! stamp | cmp -s - "$farm/stamp"
then
    rm -rf "$farm"
    mkdir -p "$farm"
    for name in auto src configure man html contrib conf; do
        [ ! -e "$src/$name" ] || ln -s "$src/$name" "$farm/$name"
    done

    echo "configuring for nginx $number in $src"
    if ! (cd "$farm" && ASAN_OPTIONS=detect_leaks=0 "./$configure" \
          "${flags[@]}") > "$farm/configure.log" 2>&1
    then
        tail -n 5 "$farm/configure.log" >&2
        die "configure failed; all it said is in $farm/configure.log"
    fi
    stamp > "$farm/stamp"
fi

# Only the object that shows the commit depends on it.
version=$farm/objs/ngx_symbolicate_version.h
sh "$root/ngx_symbolicate_module/version.sh" "$version"
health=$farm/objs/addon/metrics/ngx_http_symbolicate_health.o
[ ! "$version" -nt "$health" ] || rm -f "$health"

# The same of the web page.
page=$farm/objs/ngx_symbolicate_page.h
sh "$root/page/pack.sh" "$page"
served=$farm/objs/addon/page/ngx_http_symbolicate_page.o
[ ! "$page" -nt "$served" ] || rm -f "$served"

# Our make's command-line variables (after " -- ") must not reach nginx's make:
# its CFLAGS are those that ./configure chose.
MAKEFLAGS=${MAKEFLAGS-}
export MAKEFLAGS="${MAKEFLAGS%% -- *}"
make --no-print-directory -C "$farm" -f objs/Makefile modules

so=ngx_http_symbolicate_module.so

# A new file, not new bytes in the old one: an nginx may be running with it.
if ! cmp -s "$farm/objs/$so" "$out/$so"; then
    cp "$farm/objs/$so" "$out/$so.new"
    mv "$out/$so.new" "$out/$so"
fi
