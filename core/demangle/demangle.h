/*
 * demangle.h - names of C++, D and Rust as their programmers wrote them.
 *
 * Symcaches keep names as in the debug file; they are demangled when they are
 * shown.  LLVM's demangler handles C++ (Itanium ABI), libiberty Rust (legacy
 * and v0 mangling) and other styles of C++, d.c D, msvc.c names of Microsoft's
 * C++ compilers.  Neither library bounds the cost of a hostile name: this
 * folder does, in bytes and in time (docs/design/demangling.md).  It keeps
 * nothing; symbolicate/cache/names.h caches results.
 */
#ifndef SYM_DEMANGLE_DEMANGLE_H
#define SYM_DEMANGLE_DEMANGLE_H

#include <stdint.h>

#include "base/str.h"
#include "base/language.h"

/* Longer names are shown as they are. */
#define SYM_MANGLED_MAX 4096

/* Maximal length of a result; a buffer of this size always suffices. */
#define SYM_DEMANGLED_MAX 4096

/* Parts of function names; with none: names and template arguments only.  D has
 * one style, binutils'; names of Microsoft's compilers are shown as
 * Symbolicator shows them, with or without PARAMS. */
#define SYM_DEMANGLE_PARAMS 1u /* the types of parameters, const, & */
#define SYM_DEMANGLE_RETURN 2u /* with PARAMS: return types of templates */
#define SYM_DEMANGLE_TIGHT 4u  /* "A<B<int>>" as LLVM, not "A<B<int> >" */

/* As llvm-symbolizer shows names; dump_syms differs in blanks only. */
#define SYM_DEMANGLE_FULL                                                      \
    (SYM_DEMANGLE_PARAMS | SYM_DEMANGLE_RETURN | SYM_DEMANGLE_TIGHT)

/*
 * Writes the demangled name to out (no NUL) and returns its length.  0: not a
 * mangled name of the language, or too costly, or no room or memory for it;
 * show the name as it is. lang is SYM_LANG_* of symcache/format.h; with
 * SYM_LANG_UNKNOWN the name decides.
 */
size_t sym_demangle(sym_str_t name, uint8_t lang, unsigned style, char *out,
                    size_t size);

#endif
