#include "common/arch.h"

#include <stddef.h>

/* Other names of the same architectures. */
static const struct {
    const char *word, *arch;
} words[] = {
    { "i386", "x86" },
    { "i686", "x86" },
    { "aarch64", "arm64" },
};


bool
arch_is(sym_str_t wanted, sym_str_t arch)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (sym_str_eq(wanted, sym_cstr(words[i].word))) {
            wanted = sym_cstr(words[i].arch);
            break;
        }
    }

    return sym_str_eq(wanted, arch);
}
