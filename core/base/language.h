/*
 * language.h - the source language of a function, as artifacts keep it
 * (docs/formats/symcache.md, section 6).
 */
#ifndef SYM_BASE_LANGUAGE_H
#define SYM_BASE_LANGUAGE_H

enum {
    SYM_LANG_UNKNOWN = 0,
    SYM_LANG_C,
    SYM_LANG_CPP,
    SYM_LANG_D,
    SYM_LANG_GO,
    SYM_LANG_OBJC,
    SYM_LANG_OBJCPP,
    SYM_LANG_RUST,
    SYM_LANG_SWIFT,
    SYM_LANG_CSHARP,
    SYM_LANG_VISUALBASIC,
    SYM_LANG_FSHARP
};

/* Sentry's name of the language: "cpp", "csharp"; "": unknown. */
const char *sym_language_name(unsigned lang);

#endif
