#include "api/jvm/jvm.h"

static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    jvm_t *j = (jvm_t *) r;
    sym_status_t rc = jvm_read(j, budget);

    return rc == SYM_OK ? jvm_find_needs(j) : rc;
}


sym_request_t *
jvm_create(sym_arena_t *arena, const sym_request_options_t *options,
           sym_str_t body, sym_str_t scope)
{
    static const sym_request_ops_t ops = { .parse = parse,
                                           .begin = jvm_begin,
                                           .resume = jvm_resume };
    jvm_t *j = sym_arena_calloc(arena, 1, sizeof(*j));

    if (j == NULL) {
        return NULL;
    }

    j->options = *options;
    j->scope = scope;
    j->base = (sym_request_t){
        .ops = &ops,
        .arena = arena,
        .body = body,
        .options = &j->options,
    };
    return &j->base;
}
