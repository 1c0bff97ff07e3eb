/*
 * Any bytes as zlib data: four bytes are the expected length.  Unpacking in
 * steps must give the same as libdeflate or zlib, and must not write beyond the
 * end.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "formats/packed/flow.h"

/* Makes several steps necessary. */
#define LEN_MAX ((uint32_t) 4 << 20)

#define GUARD_BYTES 4096
#define GUARD 0xa5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
is_guarded(const uint8_t *p)
{
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        if (p[i] != GUARD) {
            return false;
        }
    }

    return true;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_error_t err = { 0 };
    sym_gauge_t there;
    uint8_t *flow, *whole;
    uint32_t len;
    sym_str_t in;

    if (size < sizeof(len)) {
        return 0;
    }

    memcpy(&len, data, sizeof(len));
    len %= LEN_MAX + 1;
    in = sym_str((const char *) data + sizeof(len), size - sizeof(len));

    flow = malloc(len + GUARD_BYTES);
    whole = malloc(len + 1);
    check(flow != NULL && whole != NULL);
    memset(flow + len, GUARD, GUARD_BYTES);
    sym_gauge_init(&there, 0);

    if (sym_inflate_flow(in, flow, len, &there)) {
        check(sym_inflate(in, whole, len, &err) == SYM_OK);
        check(memcmp(flow, whole, len) == 0);
        check(there.at == len);
    }

    check(there.at <= len);
    check(is_guarded(flow + len));
    sym_gauge_free(&there);
    free(flow);
    free(whole);
    return 0;
}
