#include "api/jvm/jvm.h"

static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    jvm_t *j = (jvm_t *) r;
    sym_status_t rc = jvm_read(j, budget);

    return rc == SYM_OK ? jvm_find_needs(j) : rc;
}


const sym_request_ops_t jvm_ops = {
    .size = sizeof(jvm_t),
    .parse = parse,
    .begin = jvm_begin,
    .resume = jvm_resume,
};
