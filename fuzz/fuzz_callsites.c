/*
 * Any bytes as machine code: each call is inside them, calls rise, and reading
 * ends.  The first byte selects the architecture.
 */
#include <string.h>

#include "check.h"
#include "formats/native/callsites.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_calls(sym_callsites_t *s, const uint8_t *code, size_t len)
{
    size_t first = sym_callsites_first(s, code, len);
    size_t at, size;

    check(first <= len);

    while (sym_callsites_next(s, code, len, &at, &size)) {
        check(size != 0 && at <= len && size <= len - at);
        code += at + size;
        len -= at + size;
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sym_callsites_t *s;
    sym_error_t err = { 0 };
    uint8_t *code;

    s = s != NULL ? s : sym_callsites_create();
    check(s != NULL);

    if (size == 0
        || sym_callsites_begin(
               s, data[0] % 2 != 0 ? SYM_STR("arm64") : SYM_STR("x86_64"), &err)
               != SYM_OK)
    {
        check(size == 0 || err.status == SYM_UNSUPPORTED);
        return 0;
    }

    /* exactly as long, so that a read beyond it is seen */
    code = malloc(size - 1 + (size == 1));
    check(code != NULL);
    memcpy(code, data + 1, size - 1);
    read_calls(s, code, size - 1);
    free(code);
    return 0;
}
