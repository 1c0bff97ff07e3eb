#!/bin/sh
# llvm.sh OUT.o [FLAGS...] - compiles llvm.cpp with the headers of LLVM's
# demangler, for the Makefile and for nginx's config.
#
# Environment: CC
#              LLVM_INCLUDE   the folder that llvm/Demangle lies in; default:
#                             that of Debian's llvm-19-dev, or of another LLVM
#                             that reads names of C++20 (18 or later)

set -eu

out=$1
shift
dir=$(dirname "$0")

for include in ${LLVM_INCLUDE:-/usr/include/llvm-19 /usr/include/llvm-20 \
                               /usr/include/llvm-18}; do
    [ ! -f "$include/llvm/Demangle/ItaniumDemangle.h" ] || break
done

if [ ! -f "$include/llvm/Demangle/ItaniumDemangle.h" ]; then
    echo "no header llvm/Demangle/ItaniumDemangle.h; on Debian:" \
         "apt-get install llvm-19-dev g++" >&2
    exit 1
fi

# Neither exceptions nor RTTI, which would need a C++ library; without
# optimization inline functions of its headers would, too.
exec ${CC:-cc} "$@" -x c++ -std=c++17 -O2 -fno-exceptions -fno-rtti \
    -fno-sanitize=vptr -U_GLIBCXX_ASSERTIONS -fPIC -fvisibility=hidden \
    -Wall -Wextra -I "$dir/.." -isystem "$include" \
    -c "$dir/llvm.cpp" -o "$out"
