#include "api/js/js.h"

static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    js_t *j = (js_t *) r;
    sym_status_t rc = js_read(j, budget);

    return rc == SYM_OK ? js_list_scripts(j) : rc;
}


const sym_request_ops_t js_ops = {
    .size = sizeof(js_t),
    .parse = parse,
    .begin = js_begin,
    .resume = js_resume,
};
