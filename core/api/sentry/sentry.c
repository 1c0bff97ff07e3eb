#include "api/sentry/sentry.h"

#include "api/registry.h"

static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    sentry_t *s = (sentry_t *) r;
    sym_status_t rc;

    if (s->request.order == NULL) {
        rc = sentry_read(s);
        rc = rc != SYM_OK ? rc : sentry_sort_modules(s);
        if (rc != SYM_OK) {
            return rc;
        }
    }

    return sentry_find_needs(s, budget);
}


static void
reopen(sym_request_t *r)
{
    ((sentry_t *) r)->answer = NULL;
}


static sym_request_t *
create(sym_arena_t *arena, const sym_request_options_t *options,
       const sym_api_call_t *call)
{
    static const sym_request_ops_t ops = { parse, sentry_answer, reopen,
                                           sentry_resume };
    sentry_t *s = sym_arena_calloc(arena, 1, sizeof(*s));

    if (s == NULL) {
        return NULL;
    }

    s->options = *options;
    s->base = (sym_request_t){
        .ops = &ops, .arena = arena, .body = call->body, .options = &s->options
    };
    return &s->base;
}


const sym_api_t sym_sentry_api = {
    .name = "sentry",
    .routes = { { .suffix = "/symbolicate",
                  .version = "native",
                  .methods = SYM_METHOD_POST,
                  .accepts = "application/json" } },
    .answers = { "application/json" },
    .create = create,
};
