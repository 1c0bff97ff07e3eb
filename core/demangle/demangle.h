/*
 * demangle.h - converts mangled names of C++, D and Rust to names in source
 * code.
 *
 * Symcaches contain names as they are in the debug file; they are demangled
 * when they are shown.  LLVM's demangler is used for C++ (Itanium ABI),
 * libiberty for Rust (legacy and v0 mangling) and other styles of C++, d.c for
 * D, and msvc.c for names of Microsoft's C++ compilers.  Neither library limits
 * the cost of a hostile name, so this folder limits bytes and time
 * (docs/design/demangling.md).  Results are not kept; symbolicate/cache/names.h
 * caches them.
 */
#ifndef SYM_DEMANGLE_DEMANGLE_H
#define SYM_DEMANGLE_DEMANGLE_H

#include <stdint.h>

#include "base/str.h"
#include "base/language.h"

/* Longer names are shown unchanged. */
#define SYM_MANGLED_MAX 4096

/* Limit on the length of a result.  A buffer of this size always suffices. */
#define SYM_DEMANGLED_MAX 4096

/* Parts of function names.  Without any, names and template arguments are
 * shown.  D has one style, binutils'.  Names of Microsoft's compilers are shown
 * as in Symbolicator, with or without PARAMS. */
#define SYM_DEMANGLE_PARAMS 1u /* the types of parameters, const, & */
#define SYM_DEMANGLE_RETURN 2u /* only with PARAMS: return types of templates */
/* "A<B<int>>", as LLVM writes it, not "A<B<int> >" */
#define SYM_DEMANGLE_TIGHT 4u

/* The style of llvm-symbolizer. dump_syms differs in blanks only. */
#define SYM_DEMANGLE_FULL                                                      \
    (SYM_DEMANGLE_PARAMS | SYM_DEMANGLE_RETURN | SYM_DEMANGLE_TIGHT)

/*
 * Writes the demangled name to out (no NUL) and returns its length.  0: it is
 * not a mangled name of the language, or is too costly, or there is no room or
 * memory for it; show the name unchanged. lang is SYM_LANG_* of
 * symcache/format.h; with SYM_LANG_UNKNOWN the name decides.
 */
size_t sym_demangle(sym_str_t name, uint8_t lang, unsigned style, char *out,
                    size_t size);

#endif
