/*
 * tecken_kit.h - a whole request of the Mozilla dialect as one call: body in,
 * answer or message out, with or without a store.
 */
#ifndef SYM_UNIT_TECKEN_KIT_H
#define SYM_UNIT_TECKEN_KIT_H

#include <stdlib.h>

#include "dialects/tecken/tecken.h"

typedef struct {
    unsigned version;
    bool debug;
    bool general;    /* through jansson only */
    uint32_t budget; /* of each call; 0: all at once */
    size_t window;   /* bytes of output at a time; 0: 4096 */
    size_t arena_limit;
    sym_request_limits_t limits;
    sym_store_t *store;
    sym_snapshot_t *snapshot;
    sym_kept_t *kept;
} kit_options_t;

typedef struct {
    sym_status_t status; /* of parse, or of answer */
    char *text;          /* answer or message, malloc()ed; NUL terminated */
    size_t len, cap;
    unsigned calls;
    sym_request_stats_t stats;
} kit_result_t;

typedef struct {
    kit_result_t *result;
    char *window;
    size_t size;
} kit_window_t;


__attribute__((unused)) static double
kit_clock(void)
{
    return 0.5;
}


static void
kit_take(sym_out_t *out, const kit_window_t *w)
{
    kit_result_t *r = w->result;
    size_t n = w->window == NULL ? 0 : (size_t) (out->pos - w->window);

    if (r->len + n + 1 > r->cap) {
        char *grown = realloc(r->text, 2 * (r->len + n + 1));

        if (grown == NULL) {
            abort();
        }
        r->cap = 2 * (r->len + n + 1);
        r->text = grown;
    }

    if (n != 0) {
        memcpy(r->text + r->len, w->window, n);
    }
    r->len += n;
    r->text[r->len] = '\0';
    out->before += n;
}


/* Each window is a block of its own: a sanitizer sees every byte past it. */
static bool
kit_more(sym_out_t *out, size_t need)
{
    kit_window_t *w = out->ctx;
    size_t size = need > w->size ? need : w->size;

    kit_take(out, w);
    free(w->window);
    w->window = malloc(size);
    out->pos = out->end = NULL;

    if (w->window == NULL) {
        return false;
    }

    out->pos = w->window;
    out->end = w->window + size;
    return true;
}


static sym_status_t
kit_answer(sym_request_t *t, const kit_options_t *o, kit_result_t *r)
{
    kit_window_t w = { r, NULL, o->window == 0 ? 4096 : o->window };
    sym_out_t out = { .more = kit_more, .ctx = &w };
    const sym_view_t view = { o->store, o->snapshot, o->kept, 1000 };
    sym_status_t rc;

    do {
        rc = sym_request_answer(t, &view, &out,
                                o->budget == 0 ? UINT32_MAX : o->budget);
        r->calls++;
    } while (rc == SYM_AGAIN);

    kit_take(&out, &w);
    free(w.window);
    return rc;
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
                                     .limits = o->limits,
                                     .now_s = kit_clock };
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
            r.len = sym_request_message(t).len;
            r.text = malloc(r.len + 1);
            if (r.text != NULL) {
                memcpy(r.text, sym_request_message(t).data, r.len);
                r.text[r.len] = '\0';
            }
        }
        r.stats = *sym_request_stats(t);
    }

    sym_arena_drop(&arena);
    free(body);
    return r;
}

#endif
