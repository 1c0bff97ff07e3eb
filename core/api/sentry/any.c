#include "api/sentry/any.h"

#include <stdio.h>
#include <string.h>

#include "api/sentry/crash.h"
#include "api/sentry/dump.h"
#include "api/sentry/readers.h"

#define MESSAGE_MAX 512

/* Types of reports, and the requests that continue with them. */
static const struct {
    const char *type;
    const sym_api_route_t route;
} reports[] = {
    { "minidump",
      { .is_upload = true,
        .ops = &sentry_dump_ops,
        .init = sentry_init_dump } },
    { "applecrashreport", { .ops = &apple_ops, .init = apple_init } },
};


static sym_status_t
read_type(const sentry_reader_t *r, const sym_api_route_t **route)
{
    const json_t *type = json_object_get(r->object, "type");

    if (type == NULL) {
        return sentry_refuse_absent(r, "type");
    }

    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
        if (json_is_string(type)
            && strcmp(json_string_value(type), reports[i].type) == 0)
        {
            *route = &reports[i].route;
            return SYM_OK;
        }
    }

    return sentry_refuse(r, "type",
                         "unknown variant, expected `minidump` or "
                         "`applecrashreport`");
}


/* Minidumps must have the option, others must not. */
static sym_status_t
read_rewrite(const sentry_reader_t *r, const sym_api_route_t *route)
{
    const char *key = "rewrite_first_module";
    const json_t *value = json_object_get(r->object, key);

    if (!route->is_upload) {
        return SYM_OK;
    }

    return value == NULL ? sentry_refuse_absent(r, key)
                         : sentry_read_rewrites(r, value);
}


static sym_status_t
make_link(const sentry_reader_t *r, sym_str_t token, sym_request_link_t *link)
{
    sentry_t *s = r->s;
    const sym_request_source_realm_t realm = { s->scope,
                                               s->base.options->source_policy };
    sym_request_sources_t *list =
        sym_arena_calloc(s->base.arena, 1, sizeof(*list));
    char why[MESSAGE_MAX];
    sym_str_t message;
    sym_status_t rc;

    if (list == NULL) {
        return SYM_NOMEM;
    }

    link->sources = list;
    rc = sym_request_sources_add_file(s->base.arena, link->url, token, &realm,
                                      list, &message);
    if (rc != SYM_MALFORMED && rc != SYM_LIMIT) {
        return rc;
    }

    (void) snprintf(why, sizeof(why), "%.*s", (int) message.len, message.data);
    return sentry_refuse(r, "storage_url", why);
}


static sym_status_t
read_link(const sentry_reader_t *request, const json_t *value)
{
    sentry_t *s = request->s;
    const sentry_reader_t r = { .s = s,
                                .object = value,
                                .place = "symbolicate" };
    sym_request_link_t *link =
        sym_arena_calloc(s->base.arena, 1, sizeof(*link));
    sym_str_t token = SYM_STR("");
    sym_status_t rc;

    if (link == NULL) {
        return SYM_NOMEM;
    }

    if (value == NULL) {
        return sentry_refuse_absent(request, "symbolicate");
    }

    if (!json_is_object(value)) {
        return sentry_refuse_type(request, "symbolicate", value,
                                  "internally tagged enum SymbolicatedItem");
    }

    rc = read_type(&r, &link->route);
    rc = rc != SYM_OK ? rc : sentry_read_string(&r, "storage_url", &link->url);
    if (rc == SYM_OK && link->url.data == NULL) {
        rc = sentry_refuse_absent(&r, "storage_url");
    }

    rc = rc != SYM_OK ? rc : sentry_read_string(&r, "storage_token", &token);
    rc = rc != SYM_OK ? rc : read_rewrite(&r, link->route);
    rc = rc != SYM_OK
             ? rc
             : make_link(&r, token.data != NULL ? token : SYM_STR(""), link);
    s->base.link = link;
    return rc;
}


/* If the key is absent, the location's sources are not used, either. */
static sym_status_t
read_sources(const sentry_reader_t *r)
{
    const json_t *value = json_object_get(r->object, "sources");
    json_t *none;
    sym_status_t rc;

    if (json_is_null(value)) {
        return sentry_refuse_type(r, "sources", value, "a sequence");
    }

    if (value != NULL) {
        return sentry_read_sources(r, value);
    }

    none = json_array();
    rc = none == NULL ? SYM_NOMEM : sentry_read_sources(r, none);
    json_decref(none);
    return rc;
}


static sym_status_t
read_body(sentry_t *s, const json_t *root)
{
    const sentry_reader_t r = { .s = s, .object = root };
    sym_str_t platform;
    sym_status_t rc;

    if (!json_is_object(root)) {
        return sentry_refuse_type(&r, "", root,
                                  "struct SymbolicateAnyRequestBody");
    }

    rc = sentry_read_string(&r, "platform", &platform);
    rc = rc != SYM_OK
             ? rc
             : sentry_read_options(&r, json_object_get(root, "options"));
    rc = rc != SYM_OK
             ? rc
             : sentry_read_scraping(&r, json_object_get(root, "scraping"));
    rc = rc != SYM_OK ? rc : read_sources(&r);
    rc =
        rc != SYM_OK ? rc : read_link(&r, json_object_get(root, "symbolicate"));

    /* same as for a form with a report */
    s->request.has_context = true;
    s->request.is_caller_first = false;
    return rc != SYM_OK ? rc : sentry_allow_links(s);
}


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    (void) budget; /* the body is short, so one call reads it */
    return sentry_load((sentry_t *) r, r->body, read_body);
}


void
sentry_go_on(sentry_t *s, const sym_request_t *linked)
{
    const sentry_t *from = (const sentry_t *) linked;

    s->base.request_sources = linked->request_sources;
    s->request.has_candidates = from->request.has_candidates;
    s->request.has_context = from->request.has_context;
    s->request.has_variables = from->request.has_variables;
    s->request.scraping = from->request.scraping;
    s->request.rewrites = from->request.rewrites;
    s->request.n_rewrites = from->request.n_rewrites;
}


const sym_request_ops_t sentry_any_ops = {
    .size = sizeof(sentry_t),
    .parse = parse,
};
