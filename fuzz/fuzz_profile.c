/*
 * A profile of any bytes, answered from an empty store: the answer has the request's
 * strings in their order, then its other fields, which are unchanged, because no
 * module has symbols.  It does not depend on the size of slices and windows, which
 * are those of the first byte.
 */
#include "../t/unit/request_kit.h"
#include "api/registry.h"
#include "base/protobuf.h"
#include "check.h"

#define ARENA_MAX ((size_t) 64 << 20)

/* Numbers of fields: profile.proto. */
#define STRING 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static sym_str_t
no_header(void *ctx, const char *name)
{
    (void) ctx;
    (void) name;
    return sym_str(NULL, 0);
}


static kit_result_t
run(sym_str_t body, uint32_t budget, size_t window)
{
    static const sym_view_t empty = { .now_s = 1 };
    const sym_api_t *api = sym_api_find(SYM_STR("profile"));
    const sym_request_options_t options = { .now_s = kit_clock };
    const sym_api_call_t call = { .route = &api->routes[0],
                                  .body = body,
                                  .header = no_header };
    kit_result_t r = { .status = SYM_NOMEM };
    sym_arena_t arena;
    sym_request_t *request;

    sym_arena_init(&arena, ARENA_MAX);
    request = sym_api_create(api, &arena, &options, &call);
    check(request != NULL);

    do {
        r.status = sym_request_parse(request, budget);
    } while (r.status == SYM_AGAIN);

    if (r.status == SYM_OK) {
        r.status = kit_write(request, &empty, budget, window, &r);
    } else {
        kit_message(request, &r);
        check(r.len != 0 || r.status == SYM_NOMEM);
    }

    sym_arena_drop(&arena);
    return r;
}


/* The next field that is a string of the table, or that is not. */
static bool
next(sym_cursor_t *c, bool is_string, sym_pb_field_t *f)
{
    while (sym_pb_next(c, f)) {
        if ((f->number == STRING && f->type == SYM_PB_BYTES) == is_string) {
            return true;
        }
    }

    return false;
}


static void
check_fields(sym_cursor_t *in, sym_cursor_t *out, bool is_string)
{
    sym_pb_field_t a, b;

    while (next(in, is_string, &a)) {
        check(sym_pb_next(out, &b));
        check(a.number == b.number && a.type == b.type);
        check(a.type == SYM_PB_BYTES ? sym_str_eq(a.bytes, b.bytes)
                                     : a.value == b.value);
    }
}


static void
check_answer(sym_str_t body, const kit_result_t *r)
{
    sym_error_t err = { 0 }, err_out = { 0 };
    sym_cursor_t in = sym_cursor(body.data, body.len, "request", &err),
                 start = in;
    sym_cursor_t out = sym_cursor(r->text, r->len, "answer", &err_out);

    check_fields(&in, &out, true);
    check_fields(&start, &out, false);
    check(sym_left(&out) == 0 && err.status == SYM_OK
          && err_out.status == SYM_OK);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t budgets[] = { 1, 2, 7, 64 };
    kit_result_t whole, sliced;
    char *text;
    sym_str_t body;

    if (size == 0) {
        return 0;
    }

    /* a block of its own: a sanitizer sees every byte past it */
    text = malloc(size);
    check(text != NULL);
    memcpy(text, data + 1, size - 1);
    body = sym_str(text, size - 1);

    whole = run(body, UINT32_MAX, 0);
    sliced = run(body, budgets[data[0] & 3], (data[0] & 4) != 0 ? 1 : 0);
    check(whole.status == sliced.status && whole.len == sliced.len);
    check(whole.len == 0 || memcmp(whole.text, sliced.text, whole.len) == 0);

    if (whole.status == SYM_OK) {
        check_answer(body, &whole);
    }

    free(text);
    free(whole.text);
    free(sliced.text);
    return 0;
}
