/*
 * A request to Sentry's API of any bytes, through both readers, answered from
 * an empty store.  Both results must be equal for any size of slices and
 * windows.  They are compared as JSON, because some values are copied
 * unchanged.  The first byte selects limits and the size of slices and windows.
 */
#include <jansson.h>

#include "../t/unit/sentry_kit.h"
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static bool
is_same(const kit_result_t *a, const kit_result_t *b)
{
    /* jansson has no unsigned 64-bit integers */
    const size_t flags = JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;
    json_t *x, *y;
    bool is;

    if (a->len == b->len
        && (a->len == 0 || memcmp(a->text, b->text, a->len) == 0)) {
        return true;
    }

    x = json_loadb(a->text, a->len, flags, NULL);
    y = json_loadb(b->text, b->len, flags, NULL);
    is = x != NULL && json_equal(x, y) == 1;
    json_decref(x);
    json_decref(y);
    return is;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t budgets[] = { 0, 1, 2, 7 };
    static const sym_request_limits_t limits[] = { { 0 }, { 0, 3, 5, 2 } };
    const sym_request_limits_t *limit;
    kit_result_t ours, judge;
    char *body;

    if (size == 0) {
        return 0;
    }

    /* a block of its own: a sanitizer sees every byte past it */
    body = malloc(size);
    if (body == NULL) {
        return 0;
    }
    memcpy(body, data + 1, size - 1);

    limit = &limits[data[0] & 1];
    ours = kit_sentry_answer(limit, sym_str(body, size - 1), false,
                             budgets[data[0] >> 1 & 3],
                             (data[0] & 8) != 0 ? 1 : 0);
    judge = kit_sentry_answer(limit, sym_str(body, size - 1), true, 0, 0);

    check(ours.status == judge.status);
    check(is_same(&ours, &judge));

    free(body);
    free(ours.text);
    free(judge.text);
    return 0;
}
