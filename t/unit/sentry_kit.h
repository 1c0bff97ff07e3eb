/*
 * sentry_kit.h - requests of Sentry's API for unit tests: parsed, and answered
 * from an empty store.
 */
#ifndef SYM_UNIT_SENTRY_KIT_H
#define SYM_UNIT_SENTRY_KIT_H

#include "api/registry.h"
#include "api/sentry/readers.h"
#include "request_kit.h"

/* A parsed request; NULL: no memory. */
__attribute__((unused)) static sentry_t *
kit_sentry(sym_arena_t *arena, const sym_request_options_t *options,
           sym_str_t body, bool is_general, uint32_t budget,
           sym_status_t *status)
{
    const sym_api_call_t call = { .route = &sym_sentry_api.routes[0],
                                  .body = body };
    sentry_t *s =
        (sentry_t *) sym_api_create(&sym_sentry_api, arena, options, &call);

    if (s == NULL) {
        return NULL;
    }

    s->is_general = is_general;
    do {
        *status = sym_request_parse(&s->base, budget);
    } while (*status == SYM_AGAIN);
    return s;
}


/* The answer to a request, or why it was refused. */
__attribute__((unused)) static kit_result_t
kit_sentry_answer(const sym_request_limits_t *limits, sym_str_t body,
                  bool is_general, uint32_t budget, size_t window)
{
    static const sym_view_t empty = { .now_s = 1 };
    const sym_request_options_t options = { .limits = *limits,
                                            .now_s = kit_clock };
    kit_result_t r = { .status = SYM_NOMEM };
    sym_arena_t arena;
    sentry_t *s;

    sym_arena_init(&arena, (size_t) 256 << 20);
    s = kit_sentry(&arena, &options, body, is_general,
                   budget == 0 ? UINT32_MAX : budget, &r.status);

    if (s != NULL && r.status == SYM_OK) {
        r.status = kit_write(&s->base, &empty, budget, window, &r);
    } else if (s != NULL) {
        kit_message(&s->base, &r);
    }

    if (s != NULL) {
        r.stats = *sym_request_stats(&s->base);
    }

    sym_arena_drop(&arena);
    return r;
}

#endif
