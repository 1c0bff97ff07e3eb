#include "base/language.h"

#include <stddef.h>

const char *
sym_language_name(unsigned lang)
{
    static const char *const names[] = {
        [SYM_LANG_UNKNOWN] = "",
        [SYM_LANG_C] = "c",
        [SYM_LANG_CPP] = "cpp",
        [SYM_LANG_D] = "d",
        [SYM_LANG_GO] = "go",
        [SYM_LANG_OBJC] = "objc",
        [SYM_LANG_OBJCPP] = "objcpp",
        [SYM_LANG_RUST] = "rust",
        [SYM_LANG_SWIFT] = "swift",
        [SYM_LANG_CSHARP] = "csharp",
        [SYM_LANG_VISUALBASIC] = "visualbasic",
        [SYM_LANG_FSHARP] = "fsharp",
    };

    return lang < sizeof(names) / sizeof(names[0]) ? names[lang] : "";
}
