#include "api/atos/atos.h"

#include "api/atos/request.h"
#include "api/registry.h"

/* Forms of the API's texts in the cache: a mode, and these flags. */
#define FORM 0x100u /* never none */
#define FORM_PATHS 0x10u
#define FORM_TEXT 0x20u
#define FORM_RETURN 0x40u
#define FORM_SHOWN 0x80u

/* An address has two kinds of text.  A return address is shown with its own
 * distance, but looked up by the call before it. */
static unsigned
form_of(const atos_t *a)
{
    return FORM | (unsigned) a->mode | (a->full_path ? FORM_PATHS : 0)
           | (a->is_text ? FORM_TEXT : 0)
           | (a->has_return_addresses ? FORM_RETURN : 0)
           | (a->base.options->names != NULL ? FORM_SHOWN : 0);
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


static const sym_request_ops_t ops = {
    .size = sizeof(atos_t),
    .parse = parse,
    .begin = atos_begin,
    .resume = atos_resume,
    .count_frames = count_frames,
};


sym_request_t *
sym_atos_create(sym_arena_t *arena, const sym_atos_options_t *options,
                sym_str_t body)
{
    sym_request_t *r = sym_request_create(arena, &ops, &options->common, body);

    if (r != NULL) {
        ((atos_t *) r)->is_text = options->is_text;
        ((atos_t *) r)->is_query = options->is_query;
    }

    return r;
}


static bool
init(sym_request_t *r, const sym_api_call_t *call)
{
    ((atos_t *) r)->is_text = call->answer != 0;
    ((atos_t *) r)->is_query = call->is_query;
    return true;
}


#define ROUTE(path)                                                            \
    {                                                                          \
        .suffix = (path), .version = "1",                                      \
        .methods = SYM_METHOD_GET | SYM_METHOD_POST, .ops = &ops, .init = init \
    }

const sym_api_t sym_atos_api = {
    .name = "atos",
    .routes = { ROUTE(""), ROUTE("/"), ROUTE("/atos") },
    .answers = { "application/json", "text/plain; charset=utf-8" },
};
