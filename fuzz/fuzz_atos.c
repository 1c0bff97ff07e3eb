/*
 * A request body or query of any bytes, answered from an empty store as JSON
 * and as lines.  The answer must not depend on the size of slices and windows.
 * The first byte selects the variant.
 */
#include "../t/unit/request_kit.h"
#include "api/atos/atos.h"

#define ARENA_MAX ((size_t) 256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static kit_result_t
run(const sym_atos_options_t *options, sym_str_t body, uint32_t budget,
    size_t window)
{
    static const sym_view_t empty = { .now_s = 1 };
    kit_result_t r = { .status = SYM_NOMEM };
    sym_arena_t arena;
    sym_request_t *t;

    sym_arena_init(&arena, ARENA_MAX);
    t = sym_atos_create(&arena, options, body);
    if (t == NULL) {
        abort();
    }

    r.status = sym_request_parse(t, budget);

    if (r.status == SYM_OK) {
        r.status = kit_write(t, &empty, budget, window, &r);
    } else {
        kit_message(t, &r);
    }

    if (r.len == 0 && r.status != SYM_NOMEM && !options->is_text) {
        abort(); /* not an answer or a message */
    }

    sym_arena_drop(&arena);
    return r;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t budgets[] = { 0, 1, 2, 7 };
    sym_atos_options_t options = { .common.now_s = kit_clock };
    kit_result_t whole, sliced;
    char *body;

    if (size == 0) {
        return 0;
    }

    options.is_text = (data[0] & 1) != 0;
    options.is_query = (data[0] & 64) != 0;
    options.common.limits.frames = (data[0] & 2) != 0 ? 5 : 0;
    options.common.limits.modules = (data[0] & 4) != 0 ? 2 : 0;

    /* a block of its own: a sanitizer sees every byte past it */
    body = malloc(size - 1 == 0 ? 1 : size - 1);
    if (body == NULL) {
        return 0;
    }
    memcpy(body, data + 1, size - 1);

    whole = run(&options, sym_str(body, size - 1), 0, 0);
    sliced = run(&options, sym_str(body, size - 1), budgets[data[0] >> 3 & 3],
                 (data[0] & 32) != 0 ? 1 : 0);

    if (whole.status != sliced.status || whole.len != sliced.len
        || (whole.len != 0 && memcmp(whole.text, sliced.text, whole.len) != 0))
    {
        abort();
    }

    free(body);
    free(whole.text);
    free(sliced.text);
    return 0;
}
