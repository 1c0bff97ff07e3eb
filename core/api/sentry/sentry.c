#include "api/sentry/readers.h"

#include "api/js/js.h"
#include "api/jvm/jvm.h"
#include "api/registry.h"
#include "api/sentry/any.h"
#include "api/sentry/crash.h"
#include "api/sentry/dump.h"
#include "api/sentry/http.h"
#include "api/files/paths.h"

/* The general reader handles requests that the direct reader does not
 * support. */
static sym_status_t
read_slice(sentry_t *s, uint32_t budget)
{
    sym_status_t rc = SYM_UNSUPPORTED;

    if (!s->is_general) {
        rc = sentry_read_direct(s, budget == 0 ? 1 : budget);
    }

    if (rc == SYM_UNSUPPORTED || rc == SYM_MALFORMED || rc == SYM_LIMIT) {
        s->is_general = true;
        s->request = (sentry_request_t){ 0 };
        s->base.refused_as = 0;
        rc = sentry_read_general(s);
    }

    rc = rc != SYM_OK ? rc : sentry_allow_links(s);
    return rc != SYM_OK ? rc : sentry_sort_modules(s);
}


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    sentry_t *s = (sentry_t *) r;
    sym_status_t rc;

    if (s->request.order == NULL) {
        rc = read_slice(s, budget);
        if (rc != SYM_OK) {
            return rc;
        }
    }

    return sentry_find_needs(s, budget);
}


void
sentry_count_frames(const sym_request_t *r, uint32_t max, uint32_t *counts)
{
    const sentry_request_t *q = &((const sentry_t *) r)->request;

    for (uint32_t i = 0; i < q->n_frames && i < max; i++) {
        uint32_t module = sentry_frame(q, i)->module;

        if (module != SENTRY_NO_MODULE && q->modules[module].need != 0) {
            counts[q->modules[module].need - 1]++;
        }
    }
}


static bool
init(sym_request_t *r, const sym_api_call_t *call)
{
    sentry_t *s = (sentry_t *) r;

    r->form = sentry_form(r);
    s->scope = sentry_read_scope(r->arena, call->query);
    return s->scope.data != NULL;
}


static bool
init_jvm(sym_request_t *r, const sym_api_call_t *call)
{
    jvm_t *j = (jvm_t *) r;

    j->scope = sentry_read_scope(r->arena, call->query);
    return j->scope.data != NULL;
}


static bool
init_js(sym_request_t *r, const sym_api_call_t *call)
{
    js_t *j = (js_t *) r;

    j->scope = sentry_read_scope(r->arena, call->query);
    return j->scope.data != NULL;
}


static const sym_request_ops_t ops = {
    .size = sizeof(sentry_t),
    .parse = parse,
    .begin = sentry_begin,
    .resume = sentry_resume,
    .count_frames = sentry_count_frames,
};

#define POST_ROUTE(path, what, functions, first)                               \
    {                                                                          \
        .suffix = (path), .version = (what), .methods = SYM_METHOD_POST,       \
        .accepts = "application/json", .ops = &(functions), .init = (first)    \
    }

#define GET_ROUTE(path, what)                                                  \
    .suffix = (path), .version = (what),                                       \
    .methods = SYM_METHOD_GET | SYM_METHOD_HEAD

const sym_api_t sym_sentry_api = {
    .name = "sentry",
    .routes = { POST_ROUTE("/symbolicate", "native", ops, init),
                { GET_ROUTE("/requests/", "requests"),
                  .kind = SYM_ROUTE_RESULT },
                { GET_ROUTE("/healthcheck", "healthcheck"),
                  .kind = SYM_ROUTE_TEXT, .status = 200, .text = "ok" },
                { GET_ROUTE("/proxy/", "proxy"), .kind = SYM_ROUTE_FILE,
                  .read_file = sym_files_read_symstore },
                POST_ROUTE("/symbolicate-jvm", "jvm", jvm_ops, init_jvm),
                POST_ROUTE("/symbolicate-js", "js", js_ops, init_js),
                POST_ROUTE("/symbolicate-any", "any", sentry_any_ops, init),
                { .suffix = "/minidump",
                  .version = "minidump",
                  .methods = SYM_METHOD_POST,
                  .is_upload = true,
                  .ops = &sentry_dump_ops,
                  .init = sentry_init_dump },
                { .suffix = "/applecrashreport",
                  .version = "apple",
                  .methods = SYM_METHOD_POST,
                  .accepts = "multipart/form-data",
                  .ops = &apple_ops,
                  .init = apple_init } },
    .answers = { "application/json" },
    .write_error = sentry_write_error,
    .read_wait = sentry_read_wait,
    .tells_failures = true,
    .is_same_site = true,
};
