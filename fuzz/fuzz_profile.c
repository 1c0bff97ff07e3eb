/*
 * A profile of any bytes, answered from an empty store: the answer has the request's
 * strings in their order (OTLP: and its functions), then its other fields, which are
 * unchanged, because no module has symbols.  In JSON it is an equal value.  It does not
 * depend on the size of slices and windows, which are those of the first byte.
 */
#include "../t/unit/request_kit.h"
#include "api/registry.h"
#include "base/protobuf.h"
#include "check.h"
#include "json/load.h"

#define ARENA_MAX ((size_t) 64 << 20)

/* Numbers of fields: profile.proto of pprof, profiles.proto of OTLP. */
typedef struct {
    uint32_t dictionary; /* 0: fields of tables are outside */
    uint32_t first[2];   /* tables that come first; 0: none */
} form_t;

static const form_t pprof = { 0, { 6, 0 } }, otlp = { 2, { 5, 3 } };

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


/* Fields, with those of the dictionary in their place. */
typedef struct {
    const form_t *form;
    sym_error_t err;
    sym_cursor_t outer, inner;
} walk_t;

static void
begin(walk_t *w, const form_t *form, const char *data, size_t len)
{
    memset(w, 0, sizeof(*w));
    w->form = form;
    w->outer = sym_cursor(data, len, "profile", &w->err);
    w->inner = sym_cursor(data, 0, "dictionary", &w->err);
}


/* is_inner: it may be an entry of a table. */
static bool
next(walk_t *w, sym_pb_field_t *f, bool *is_inner)
{
    for (;;) {
        *is_inner = w->form->dictionary == 0 || sym_left(&w->inner) != 0;
        if (!sym_pb_next(sym_left(&w->inner) != 0 ? &w->inner : &w->outer, f)) {
            return false;
        }

        if (*is_inner || f->number != w->form->dictionary
            || f->type != SYM_PB_BYTES) {
            return true;
        }

        w->inner =
            sym_cursor(f->bytes.data, f->bytes.len, "dictionary", &w->err);
    }
}


/* Which of the tables that come first has the field; 2: none. */
static unsigned
table_of(const form_t *form, const sym_pb_field_t *f, bool is_inner)
{
    unsigned i = 0;

    while (i < 2
           && !(is_inner && f->type == SYM_PB_BYTES && form->first[i] != 0
                && f->number == form->first[i]))
    {
        i++;
    }

    return i;
}


static bool
is_equal(const sym_pb_field_t *a, const sym_pb_field_t *b)
{
    return a->number == b->number && a->type == b->type
           && (a->type == SYM_PB_BYTES ? sym_str_eq(a->bytes, b->bytes)
                                       : a->value == b->value);
}


static bool
is_answer(const form_t *form, sym_str_t body, const kit_result_t *r)
{
    sym_pb_field_t a, b;
    bool is_inner_a, is_inner_b;
    walk_t in, out;

    begin(&out, form, r->text, r->len);
    for (unsigned table = 0; table <= 2; table++) {
        begin(&in, form, body.data, body.len);
        while (next(&in, &a, &is_inner_a)) {
            if (table_of(form, &a, is_inner_a) == table
                && !(next(&out, &b, &is_inner_b) && is_equal(&a, &b)
                     && is_inner_a == is_inner_b))
            {
                return false;
            }
        }
    }

    return !next(&out, &b, &is_inner_b) && in.err.status == SYM_OK
           && out.err.status == SYM_OK;
}


/* An equal value, if jansson reads the body: it has limits of its own for numbers. */
static bool
is_equal_json(sym_str_t body, const kit_result_t *r)
{
    const size_t flags = JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;
    json_t *in = json_loadb(body.data, body.len, flags, NULL);
    json_t *out = json_loadb(r->text, r->len, flags, NULL);
    bool is_equal = in != NULL ? out != NULL && json_equal(in, out) : true;

    json_decref(in);
    json_decref(out);
    return is_equal;
}


/* Protobuf does not begin like this. */
static bool
is_json(sym_str_t body)
{
    size_t i = 0;

    while (i < body.len && strchr(" \n\r\t", body.data[i]) != NULL
           && body.data[i] != '\0')
    {
        i++;
    }

    return i < body.len && body.data[i] == '{';
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
        check((is_json(body) && is_equal_json(body, &whole))
              || is_answer(&pprof, body, &whole)
              || is_answer(&otlp, body, &whole));
    }

    free(text);
    free(whole.text);
    free(sliced.text);
    return 0;
}
