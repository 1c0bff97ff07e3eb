#include "api/atos/atos.h"

#include "api/atos/request.h"
#include "api/registry.h"

/* Forms of its texts in the cache: a mode, and these. */
#define FORM 0x100u /* never none */
#define FORM_PATHS 0x10u
#define FORM_TEXT 0x20u
#define FORM_RETURN 0x40u
#define FORM_SHOWN 0x80u

/* Two kinds of text of one address: a return address is shown with its own
 * distance, but looked up by the call before it. */
static unsigned
form_of(const atos_t *a)
{
    return FORM | (unsigned) a->mode | (a->full_path ? FORM_PATHS : 0)
           | (a->options.is_text ? FORM_TEXT : 0)
           | (a->has_return_addresses ? FORM_RETURN : 0)
           | (a->options.common.names != NULL ? FORM_SHOWN : 0);
}


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    atos_t *a = (atos_t *) r;
    sym_status_t rc = atos_read(a);

    (void) budget;
    r->form = form_of(a);
    return rc;
}


static void
count_frames(const sym_request_t *r, uint32_t max, uint32_t *counts)
{
    const atos_t *a = (const atos_t *) r;

    for (uint32_t i = 0; i < r->stats.frames && i < max; i++) {
        counts[a->images[a->addresses[i].image].module]++;
    }
}


static const sym_request_ops_t ops = { parse, atos_begin, atos_resume };


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
