/*
 * languages.h - one demangler for each language.
 *
 * `name` ends in a NUL.  It must be a copy, because the call changes it.  Each
 * returns the length of the result; 0: the name was not demangled.
 */
#ifndef SYM_DEMANGLE_LANGUAGES_H
#define SYM_DEMANGLE_LANGUAGES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "_Z..." of the Itanium C++ ABI, or "___Z..._block_invoke", as llvm-symbolizer
 * shows it.  Without PARAMS, return types are omitted.  The name needs no NUL
 * and is not changed.  is_costly: the name exceeds a limit, so no other
 * demangler is tried.
 */
size_t sym_demangle_llvm(const char *name, size_t len, bool has_return,
                         char *out, size_t size, bool *is_costly);

/* "_Z..." in other styles, through libiberty. */
size_t sym_demangle_cpp(char *name, unsigned style, char *out, size_t size);

/* "_R..." (v0) or "_ZN...17h<16 hexadecimal digits>E" (legacy). */
size_t sym_demangle_rust(char *name, char *out, size_t size);

/* "_D...".  The name is not changed. */
size_t sym_demangle_d(const char *name, size_t len, char *out, size_t size);

/* "?..." of Microsoft's compilers.  The name is not changed. */
size_t sym_demangle_msvc(const char *name, size_t len, bool has_arguments,
                         char *out, size_t size);

#endif
