/*
 * demangle.h - names of C++, D and Rust as their programmers wrote them.
 *
 * Symcaches keep names as the debug file has them; they are demangled when they
 * are shown.  LLVM's demangler handles C++ (Itanium ABI), libiberty Rust
 * (legacy and v0 mangling) and other styles of C++, d.c D, msvc.c names of
 * Microsoft's C++ compilers.  Neither library bounds what a hostile name may
 * cost: this room does, in bytes and in time (docs/design/demangling.md).  Nothing
 * is kept; symbolicate/cache/names.h remembers results.
 */
#ifndef SYM_DEMANGLE_DEMANGLE_H
#define SYM_DEMANGLE_DEMANGLE_H

#include <stdint.h>

#include "base/str.h"
#include "base/language.h"

/* Longer names are shown as they are. */
#define SYM_MANGLED_MAX 4096

/* What a result never exceeds; a buffer of this size always suffices. */
#define SYM_DEMANGLED_MAX 4096

/* Of functions; without any: names and template arguments only.  D has one
 * style, binutils'; names of Microsoft's compilers are shown as Symbolicator
 * shows them, with or without PARAMS. */
#define SYM_DEMANGLE_PARAMS 1u /* the types of parameters, const, & */
#define SYM_DEMANGLE_RETURN 2u /* with PARAMS: return types of templates */
#define SYM_DEMANGLE_TIGHT 4u  /* "A<B<int>>" as LLVM, not "A<B<int> >" */

/* As llvm-symbolizer shows names, and dump_syms but for the blanks. */
#define SYM_DEMANGLE_FULL                                                      \
    (SYM_DEMANGLE_PARAMS | SYM_DEMANGLE_RETURN | SYM_DEMANGLE_TIGHT)

/*
 * Writes the demangled name to out (no NUL) and returns its length.  0: it is
 * no mangled name of the language, or one that costs more than is allowed, or
 * there is no room or no memory for it; the name is to be shown as it stands.
 * lang is SYM_LANG_* of symcache/format.h; SYM_LANG_UNKNOWN goes by the name.
 */
size_t sym_demangle(sym_str_t name, uint8_t lang, unsigned style, char *out,
                    size_t size);

#endif
