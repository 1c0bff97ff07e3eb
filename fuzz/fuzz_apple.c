/*
 * A form with any bytes as a crash report of Apple, answered from an empty store.
 * The answer must be the same for any size of slices and windows.  The first byte
 * selects limits and sizes; if its highest bit is set, the bytes are the whole form.
 */
#include <stdio.h>

#include "../t/unit/sentry_kit.h"
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD                                                                   \
    "--b\r\nContent-Disposition: form-data; name=\"apple_crash_report\""       \
    "\r\n\r\n"
#define TAIL "\r\n--b--\r\n"

static sym_str_t
header(void *ctx, const char *name)
{
    (void) ctx;
    (void) name;
    return SYM_STR("multipart/form-data; boundary=b");
}


static kit_result_t
answer(const sym_request_limits_t *limits, sym_str_t body, uint32_t budget,
       size_t window)
{
    static const sym_view_t empty = { .now_s = 1 };
    const sym_request_options_t options = { .limits = *limits,
                                            .now_s = kit_clock };
    const sym_api_location_t root = { .is_root = false };
    const sym_api_call_t call = {
        .route =
            sym_api_route(&sym_sentry_api, &root, SYM_STR("/applecrashreport")),
        .body = body,
        .header = header,
    };
    kit_result_t r = { .status = SYM_NOMEM };
    sym_request_t *request;
    sym_arena_t arena;

    sym_arena_init(&arena, (size_t) 256 << 20);
    request = sym_api_create(&sym_sentry_api, &arena, &options, &call);
    check(request != NULL);

    do {
        r.status =
            sym_request_parse(request, budget == 0 ? UINT32_MAX : budget);
    } while (r.status == SYM_AGAIN);

    if (r.status == SYM_OK) {
        r.status = kit_write(request, &empty, budget, window, &r);
    } else {
        kit_message(request, &r);
    }

    sym_arena_drop(&arena);
    return r;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t budgets[] = { 1, 2, 3, 7 };
    static const sym_request_limits_t limits[] = { { 0 }, { 0, 3, 5, 2 } };
    const sym_request_limits_t *limit;
    kit_result_t whole, sliced;
    size_t head, tail;
    char *body;

    if (size == 0) {
        return 0;
    }

    head = (data[0] & 0x80) != 0 ? 0 : sizeof(HEAD) - 1;
    tail = (data[0] & 0x80) != 0 ? 0 : sizeof(TAIL) - 1;
    limit = &limits[data[0] & 1];

    /* a block of its own: a sanitizer sees every byte past it */
    body = malloc(head + size - 1 + tail + (head + size + tail == 1));
    check(body != NULL);
    memcpy(body, HEAD, head);
    memcpy(body + head, data + 1, size - 1);
    memcpy(body + head + size - 1, TAIL, tail);

    whole = answer(limit, sym_str(body, head + size - 1 + tail), 0, 0);
    sliced = answer(limit, sym_str(body, head + size - 1 + tail),
                    budgets[data[0] >> 1 & 3], (data[0] & 8) != 0 ? 1 : 0);

    check(whole.status == sliced.status);
    check(
        whole.len == sliced.len
        && (whole.len == 0 || memcmp(whole.text, sliced.text, whole.len) == 0));

    free(body);
    free(whole.text);
    free(sliced.text);
    return 0;
}
