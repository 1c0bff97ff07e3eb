/*
 * A request to Sentry's API of any bytes through both readers, and the answer to
 * it out of an empty store.  Whatever the size of slices and windows, both must
 * say the same.  The first byte says which limits, and how large slices and
 * windows are.
 */
#include "../t/unit/sentry_kit.h"
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


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
    check(ours.len == judge.len
          && (ours.len == 0 || memcmp(ours.text, judge.text, ours.len) == 0));

    free(body);
    free(ours.text);
    free(judge.text);
    return 0;
}
