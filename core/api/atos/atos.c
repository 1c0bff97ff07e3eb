#include "api/atos/atos.h"

#include "api/atos/request.h"
#include "api/registry.h"

static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    (void) budget;
    return atos_read((atos_t *) r);
}


static void
reopen(sym_request_t *r)
{
    ((atos_t *) r)->answer = NULL;
}


static void
count_frames(const sym_request_t *r, uint32_t max, uint32_t *counts)
{
    const atos_t *a = (const atos_t *) r;

    for (uint32_t i = 0; i < r->stats.frames && i < max; i++) {
        counts[a->images[a->addresses[i].image].module]++;
    }
}


static const sym_request_ops_t ops = { parse, atos_answer, reopen,
                                       atos_resume };


sym_request_t *
sym_atos_create(sym_arena_t *arena, const sym_atos_options_t *options,
                sym_str_t body)
{
    atos_t *a = sym_arena_calloc(arena, 1, sizeof(*a));

    if (a == NULL) {
        return NULL;
    }

    a->base = (sym_request_t){
        .ops = &ops,
        .arena = arena,
        .body = body,
        .options = &a->options.common,
        .count_frames = count_frames,
    };
    a->options = *options;
    return &a->base;
}


static sym_request_t *
create(sym_arena_t *arena, const sym_request_options_t *options,
       const sym_api_call_t *call)
{
    const sym_atos_options_t own = { .common = *options,
                                     .is_text = call->answer != 0,
                                     .is_query = call->is_query };

    return sym_atos_create(arena, &own, call->body);
}


#define ROUTE(path)                                                            \
    {                                                                          \
        .suffix = (path), .version = "1", .number = 1,                         \
        .methods = SYM_METHOD_GET | SYM_METHOD_POST                            \
    }

const sym_api_t sym_atos_api = {
    .name = "atos",
    .routes = { ROUTE(""), ROUTE("/"), ROUTE("/atos") },
    .answers = { "application/json", "text/plain; charset=utf-8" },
    .create = create,
};
