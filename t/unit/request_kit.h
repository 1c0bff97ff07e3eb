/*
 * request_kit.h - output of requests of any API, kept for a test: through
 * windows of any size, each a block of its own.
 */
#ifndef SYM_UNIT_REQUEST_KIT_H
#define SYM_UNIT_REQUEST_KIT_H

#include <stdlib.h>

#include "api/request.h"

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
    bool pauses; /* the answer, after each window */
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


/* Each window is a block of its own, so that a sanitizer sees every byte past
 * it. */
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
    out->is_full = w->pauses;
    return true;
}


/* A complete answer, in slices of `budget` through windows of `window` bytes;
 * 0: in one slice, 4096.  If both are given it pauses after each window, as for
 * a client that reads slowly. */
__attribute__((unused)) static sym_status_t
kit_write(sym_request_t *t, const sym_view_t *view, uint32_t budget,
          size_t window, kit_result_t *r)
{
    kit_window_t w = { r, NULL, window == 0 ? 4096 : window,
                       budget != 0 && window != 0 };
    sym_out_t out = { .more = kit_more, .ctx = &w };
    sym_status_t rc;

    do {
        if (out.is_full) {
            out.is_full = false;
            (void) sym_request_resume(t, view);
        }

        rc = sym_request_answer(t, view, &out,
                                budget == 0 ? UINT32_MAX : budget);
        r->calls++;
    } while (rc == SYM_AGAIN);

    kit_take(&out, &w);
    free(w.window);
    return rc;
}


/* The error message of a request that must be refused. */
__attribute__((unused)) static void
kit_message(sym_request_t *t, kit_result_t *r)
{
    sym_str_t message = sym_request_message(t);

    r->len = message.len;
    r->text = malloc(r->len + 1);

    if (r->text != NULL) {
        memcpy(r->text, message.data, r->len);
        r->text[r->len] = '\0';
    }
}

#endif
