/*
 * languages.h - one demangler a language.  `name` is the caller's own copy, ends
 * in a NUL, and is spoilt by the call.  Returns the length; 0: not demangled.
 */
#ifndef SYM_DEMANGLE_LANGUAGES_H
#define SYM_DEMANGLE_LANGUAGES_H

#include <stddef.h>

/* "_Z..." of the Itanium C++ ABI. */
size_t sym_demangle_cpp(char *name, unsigned style, char *out, size_t size);

/* "_R..." (v0) or "_ZN...17h<16 hexadecimal digits>E" (legacy). */
size_t sym_demangle_rust(char *name, char *out, size_t size);

#endif
