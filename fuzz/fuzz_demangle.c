/*
 * Any bytes as a mangled name: the first byte selects style, language and size
 * of the buffer.  Results must be UTF-8, within the size, and reproducible.
 * The fuzzer's time limit checks that no name takes long.
 */
#include <stdlib.h>

#include "check.h"
#include "demangle/demangle.h"
#include "artifacts/symcache/format.h"
#include "base/language.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t
demangle(sym_str_t name, uint8_t first, char *out, size_t size)
{
    static const uint8_t langs[] = { SYM_LANG_UNKNOWN, SYM_LANG_CPP,
                                     SYM_LANG_RUST, SYM_LANG_D };

    return sym_demangle(name, langs[(first >> 3) & 3], first & 7, out, size);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t room, len;
    char *name, *out, again[SYM_DEMANGLED_MAX];

    if (size == 0) {
        return 0;
    }

    /* blocks of their own: a sanitizer sees every byte past them */
    room = (data[0] & 0x80) != 0 ? data[0] & 0x7f : SYM_DEMANGLED_MAX;
    name = malloc(size);
    out = malloc(room + 1);
    check(name != NULL && out != NULL);
    memcpy(name, data + 1, size - 1);

    len = demangle(sym_str(name, size - 1), data[0], out, room);
    check(len <= room);
    check(sym_utf8_valid(sym_str(out, len)));
    if (room == SYM_DEMANGLED_MAX) {
        check(demangle(sym_str(name, size - 1), data[0], again, room) == len);
        check(memcmp(out, again, len) == 0);
    }

    free(name);
    free(out);
    return 0;
}
