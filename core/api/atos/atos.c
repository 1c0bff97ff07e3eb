#include "api/atos/atos.h"

#include "api/atos/request.h"

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


static const sym_request_ops_t dialect = { parse, atos_answer, reopen,
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
        .dialect = &dialect,
        .arena = arena,
        .body = body,
        .options = &a->options.common,
    };
    a->options = *options;
    return &a->base;
}
