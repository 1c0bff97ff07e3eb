/*
 * languages.h - one demangler a language.  `name` is the caller's own copy, ends
 * in a NUL, and is spoilt by the call.  Returns the length; 0: not demangled.
 */
#ifndef SYM_DEMANGLE_LANGUAGES_H
#define SYM_DEMANGLE_LANGUAGES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "_Z..." of the Itanium C++ ABI, or "___Z..._block_invoke", as llvm-symbolizer
 * shows it; without PARAMS, functions lose their return type.  The name needs
 * no NUL and is not changed.  is_costly: it is over a limit, so no other
 * demangler is tried.
 */
size_t sym_demangle_llvm(const char *name, size_t len, bool has_return,
                         char *out, size_t size, bool *is_costly);

/* "_Z..." in other styles, by libiberty. */
size_t sym_demangle_cpp(char *name, unsigned style, char *out, size_t size);

/* "_R..." (v0) or "_ZN...17h<16 hexadecimal digits>E" (legacy). */
size_t sym_demangle_rust(char *name, char *out, size_t size);

/* "_D..."; the name is not changed. */
size_t sym_demangle_d(const char *name, size_t len, char *out, size_t size);

/* "?..." of Microsoft's compilers; the name is not changed. */
size_t sym_demangle_msvc(const char *name, size_t len, bool has_arguments,
                         char *out, size_t size);

#endif
