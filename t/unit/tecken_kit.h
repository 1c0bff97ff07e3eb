/*
 * tecken_kit.h - a complete request of Mozilla's API as one call: body in,
 * answer or error out, with or without a store.
 */
#ifndef SYM_UNIT_TECKEN_KIT_H
#define SYM_UNIT_TECKEN_KIT_H

#include "api/tecken/tecken.h"
#include "request_kit.h"

typedef struct {
    unsigned version;
    bool debug;
    bool general;    /* through jansson only */
    uint32_t budget; /* budget of each call; 0: all at once */
    size_t window;   /* bytes of output at a time; 0: 4096 */
    size_t arena_limit;
    sym_request_limits_t limits;
    sym_snapshot_t *snapshot;
    sym_worker_cache_t *kept;
    sym_names_t *names;
} kit_options_t;

static sym_status_t
kit_answer(sym_request_t *t, const kit_options_t *o, kit_result_t *r)
{
    const sym_view_t view = { o->snapshot, o->kept, 1000 };

    return kit_write(t, &view, o->budget, o->window, r);
}


static sym_status_t
kit_parse(sym_request_t *t, const kit_options_t *o, kit_result_t *r)
{
    sym_status_t rc;

    if (o->general) {
        return sym_tecken_parse_general(t);
    }

    do {
        rc = sym_request_parse(t, o->budget == 0 ? UINT32_MAX : o->budget);
        r->calls++;
    } while (rc == SYM_AGAIN);

    return rc;
}


/* The body is copied to a block of exactly its size.  free() r.text. */
__attribute__((unused)) static kit_result_t
kit_run(sym_str_t text, const kit_options_t *o)
{
    kit_result_t r = { SYM_NOMEM, NULL, 0, 0, 0, { 0 } };
    sym_tecken_options_t options = { .version = o->version,
                                     .debug = o->debug,
                                     .common.limits = o->limits,
                                     .common.now_s = kit_clock,
                                     .common.names = o->names };
    sym_arena_t arena;
    sym_request_t *t;
    char *body = malloc(text.len == 0 ? 1 : text.len);

    if (body == NULL) {
        return r;
    }

    if (text.len != 0) {
        memcpy(body, text.data, text.len);
    }

    sym_arena_init(&arena, o->arena_limit);
    t = sym_tecken_create(&arena, &options, sym_str(body, text.len));

    if (t != NULL) {
        r.status = kit_parse(t, o, &r);

        if (r.status == SYM_OK) {
            r.status = kit_answer(t, o, &r);
        } else if (r.status == SYM_MALFORMED || r.status == SYM_LIMIT) {
            kit_message(t, &r);
        }
        r.stats = *sym_request_stats(t);
    }

    sym_arena_drop(&arena);
    free(body);
    return r;
}


/* The answer to a body is `want`, for all slices and windows. */
__attribute__((unused)) static void
answers(const kit_options_t *base, const char *body, const char *want,
        const char *name)
{
    static const uint32_t budgets[] = { 0, 1, 2, 3, 7, 1000 };
    static const size_t windows[] = { 4096, 1, 100000, 30, 77, 300 };
    unsigned differ = 0;

    for (size_t i = 0; i < sizeof(budgets) / sizeof(*budgets); i++) {
        kit_options_t o = *base;
        kit_result_t r;

        o.budget = budgets[i];
        o.window = windows[i];
        r = kit_run(sym_cstr(body), &o);

        if (r.status != SYM_OK || strcmp(r.text, want) != 0) {
            if (differ++ == 0) {
                printf("# %s\n#  got %s %s\n# want %s\n", name,
                       sym_status_name(r.status), r.text, want);
            }
        }
        free(r.text);
    }

    is_u64(differ, 0, name);
}

#endif
