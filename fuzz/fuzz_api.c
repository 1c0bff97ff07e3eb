/*
 * A request of any bytes to each API of the registry, answered from an empty
 * store.  The answer must not depend on the size of slices and windows.  The
 * first byte selects the API, the second the route, the third the rest; a line
 * feed separates query and body.
 */
#include "../t/unit/request_kit.h"
#include "api/registry.h"
#include "check.h"

#define ARENA_MAX ((size_t) 256 << 20)
#define HEAD 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static sym_str_t
no_header(void *ctx, const char *name)
{
    (void) ctx;
    (void) name;
    return (sym_str_t){ NULL, 0 };
}


/* A request that is about a file at a URL goes on with its own bytes as the file. */
static sym_request_t *
follow(const sym_api_t *api, const sym_request_options_t *options,
       const sym_api_call_t *call, sym_request_t *linked)
{
    sym_api_call_t file = *call;

    file.route = linked->link->route;
    file.linked = linked;
    return sym_api_create(api, linked->arena, options, &file);
}


static kit_result_t
run(const sym_api_t *api, const sym_request_options_t *options,
    const sym_api_call_t *call, uint32_t budget, size_t window)
{
    static const sym_view_t empty = { .now_s = 1 };
    kit_result_t r = { .status = SYM_NOMEM };
    sym_arena_t arena;
    sym_request_t *request;

    sym_arena_init(&arena, ARENA_MAX);
    request = sym_api_create(api, &arena, options, call);
    check(request != NULL);

    do {
        r.status = sym_request_parse(request, budget);
        if (r.status == SYM_OK && request->link != NULL) {
            request = follow(api, options, call, request);
            check(request != NULL);
            r.status = SYM_AGAIN;
        }
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


static unsigned
count(const void *const *list)
{
    unsigned n = 0;

    while (list[n] != NULL) {
        n++;
    }

    return n;
}


/* The first byte modulo the number of rows, so that a new API needs no change
   here. */
static const sym_api_t *
choose(uint8_t byte)
{
    return sym_apis[byte % count((const void *const *) sym_apis)];
}


/* NULL: the API only gives files. */
static const sym_api_route_t *
choose_route(const sym_api_t *api, uint8_t byte)
{
    const sym_api_route_t *made[SYM_API_ROUTES_MAX];
    unsigned n = 0;

    for (const sym_api_route_t *r = api->routes; r->suffix != NULL; r++) {
        if (r->kind == SYM_ROUTE_REQUEST) {
            made[n++] = r;
        }
    }

    return n != 0 ? made[byte % n] : NULL;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t budgets[] = { 1, 2, 7, 64 };
    sym_request_options_t options = { .now_s = kit_clock };
    sym_api_call_t call = { .header = no_header };
    kit_result_t whole, sliced;
    const sym_api_t *api;
    const char *end;
    char *text;

    if (size < HEAD) {
        return 0;
    }

    /* a block of its own: a sanitizer sees every byte past it */
    size -= HEAD;
    text = malloc(size == 0 ? 1 : size);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data + HEAD, size);

    api = choose(data[0]);
    call.route = choose_route(api, data[1]);
    if (call.route == NULL) {
        free(text);
        return 0;
    }

    call.answer = (data[2] & 1) % count((const void *const *) api->answers);
    call.is_query =
        (call.route->methods & SYM_METHOD_GET) != 0 && (data[2] & 2) != 0;
    options.limits.frames = (data[2] & 4) != 0 ? 5 : 0;
    options.limits.modules = (data[2] & 8) != 0 ? 2 : 0;

    end = (data[2] & 64) != 0 ? memchr(text, '\n', size) : NULL;
    call.body = sym_str(text, size);
    call.query = sym_str(text, 0);
    if (end != NULL) {
        call.query.len = (size_t) (end - text);
        call.body = sym_str(end + 1, size - call.query.len - 1);
    }

    whole = run(api, &options, &call, UINT32_MAX, 0);
    sliced = run(api, &options, &call, budgets[data[2] >> 4 & 3],
                 (data[2] & 128) != 0 ? 1 : 0);

    check(whole.status == sliced.status && whole.len == sliced.len);
    check(whole.len == 0 || memcmp(whole.text, sliced.text, whole.len) == 0);

    free(text);
    free(whole.text);
    free(sliced.text);
    return 0;
}
