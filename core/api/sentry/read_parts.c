/*
 * read_parts.c - the parts of a request other than its stacks: options,
 * sources, scraping.  These are keys of a JSON body, or parts of a form.
 */
#include "api/sentry/readers.h"

#include <stdio.h>

#include "json/load.h"
#include "json/number.h"

#define HTTP_BAD_REQUEST 400
#define HTTP_UNPROCESSABLE 422
#define HTTP_TOO_LARGE 413

#define REWRITE "rewrite_first_module"


static sym_status_t
read_order(const sentry_reader_t *r)
{
    const json_t *value = json_object_get(r->object, "frame_order");

    if (value == NULL) {
        return SYM_OK;
    }

    if (json_is_string(value)
        && sentry_order(sentry_string_of(value), &r->s->request))
    {
        return SYM_OK;
    }

    return sentry_refuse(r, "frame_order",
                         "unknown variant, expected `callee_first` or "
                         "`caller_first`");
}


sym_status_t
sentry_read_options(const sentry_reader_t *request, const json_t *value)
{
    sentry_request_t *q = &request->s->request;
    sentry_reader_t r = { .s = request->s,
                          .object = value,
                          .place = "options" };
    const struct {
        const char *key;
        bool *is_true;
    } options[] = { { "dif_candidates", &q->has_candidates },
                    { "apply_source_context", &q->has_context },
                    { "extract_variables", &q->has_variables } };

    q->has_context = true;
    if (r.object == NULL) {
        return SYM_OK;
    }

    if (!json_is_object(r.object)) {
        return sentry_refuse_type(request, "options", r.object,
                                  "struct RequestOptions");
    }

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const json_t *option = json_object_get(r.object, options[i].key);
        sym_status_t rc = option == NULL
                              ? SYM_OK
                              : sentry_read_bool(&r, options[i].key, option,
                                                 options[i].is_true);

        if (rc != SYM_OK) {
            return rc;
        }
    }

    return read_order(&r);
}


static sym_status_t
check_scraping(const sentry_reader_t *r)
{
    const json_t *enabled = json_object_get(r->object, "enabled");
    const json_t *origins = json_object_get(r->object, "allowed_origins");
    const json_t *headers = json_object_get(r->object, "headers");
    const json_t *verify = json_object_get(r->object, "verify_ssl");
    const char *name;
    const json_t *item;
    size_t i;

    if (enabled == NULL || origins == NULL || headers == NULL) {
        return sentry_refuse_absent(r, enabled == NULL   ? "enabled"
                                       : origins == NULL ? "allowed_origins"
                                                         : "headers");
    }

    if (!json_is_boolean(enabled)) {
        return sentry_refuse_type(r, "enabled", enabled, "a boolean");
    }

    if (verify != NULL && !json_is_boolean(verify)) {
        return sentry_refuse_type(r, "verify_ssl", verify, "a boolean");
    }

    if (!json_is_array(origins)) {
        return sentry_refuse_type(r, "allowed_origins", origins, "a sequence");
    }

    json_array_foreach(origins, i, item)
    {
        if (!json_is_string(item)) {
            return sentry_refuse_type(r, "allowed_origins", item, "a string");
        }
    }

    if (!json_is_object(headers)) {
        return sentry_refuse_type(r, "headers", headers, "a map");
    }

    json_object_foreach((json_t *) headers, name, item)
    {
        if (!json_is_string(item)) {
            return sentry_refuse_type(r, "headers", item, "a string");
        }
    }

    return SYM_OK;
}


sym_status_t
sentry_read_scraping(const sentry_reader_t *request, const json_t *value)
{
    sentry_reader_t r = { .s = request->s,
                          .object = value,
                          .place = "scraping" };
    sym_status_t rc;

    if (value == NULL) {
        return SYM_OK;
    }

    if (!json_is_object(value)) {
        return sentry_refuse_type(request, "scraping", value,
                                  "struct ScrapingConfig");
    }

    rc = check_scraping(&r);
    if (rc != SYM_OK) {
        return rc;
    }

    r.s->request.scraping = sentry_json_text(r.s, value);
    return r.s->request.scraping.data != NULL ? SYM_OK : SYM_NOMEM;
}


static sym_request_source_realm_t
realm_of(const sentry_t *s)
{
    return (sym_request_source_realm_t){ s->scope,
                                         s->base.options->source_policy };
}


sym_status_t
sentry_read_sources(const sentry_reader_t *r, const json_t *value)
{
    sym_request_source_realm_t realm = realm_of(r->s);
    sym_request_sources_t *sources;
    sym_str_t message;
    sym_status_t rc;

    if (value == NULL || json_is_null(value)) {
        return SYM_OK;
    }

    sources = sym_arena_alloc(r->s->base.arena, sizeof(*sources));
    if (sources == NULL) {
        return SYM_NOMEM;
    }

    rc = sym_request_sources_read(r->s->base.arena, value, &realm, sources,
                                  &message);
    if (rc == SYM_MALFORMED || rc == SYM_LIMIT) {
        r->s->base.refused_as = HTTP_UNPROCESSABLE;
        return sym_request_refuse(&r->s->base, SYM_MALFORMED,
                                  "Failed to deserialize the JSON body into "
                                  "the target type: %.*s",
                                  (int) message.len, message.data);
    }

    r->s->base.request_sources = sources;
    return rc;
}


/* Reads a text of a rule. */
static sym_status_t
read_rule_text(const sentry_reader_t *r, const char *key, sym_str_t *text)
{
    sym_status_t rc = sentry_read_string(r, key, text);

    if (rc == SYM_OK && text->data == NULL) {
        return sentry_refuse_absent(r, key);
    }

    if (rc == SYM_OK && text->len > SYM_REWRITE_TEXT_MAX) {
        return sentry_refuse(r, key, "longer than 1024 bytes");
    }

    return rc;
}


sym_status_t
sentry_read_rewrites(const sentry_reader_t *request, const json_t *value)
{
    sentry_t *s = request->s;
    size_t n = json_array_size(value);
    sym_rewrite_t *rules =
        sym_arena_calloc(s->base.arena, n + 1, sizeof(*rules));
    sym_status_t rc = SYM_OK;

    if (rules == NULL) {
        return SYM_NOMEM;
    }

    if (!json_is_array(value)) {
        return sentry_refuse_type(request, REWRITE, value, "a sequence");
    }

    if (n > SYM_REWRITE_RULES_MAX) {
        return sentry_refuse(request, REWRITE, "more than 64 rules");
    }

    for (size_t i = 0; i < n && rc == SYM_OK; i++) {
        sentry_reader_t r = { .s = s, .object = json_array_get(value, i) };

        (void) snprintf(r.place, sizeof(r.place), "%s[%zu]", REWRITE, i);
        rc = json_is_object(r.object)
                 ? read_rule_text(&r, "from", &rules[i].from)
                 : sentry_refuse_type(&r, "", r.object, "struct RewriteRule");
        rc = rc != SYM_OK ? rc : read_rule_text(&r, "to", &rules[i].to);
    }

    s->request.rewrites = rules;
    s->request.n_rewrites = (uint32_t) n;
    return rc;
}


sym_status_t
sentry_allow_links(sentry_t *s)
{
    sym_str_t text = s->request.scraping;
    sym_request_sources_t *sources =
        (sym_request_sources_t *) (uintptr_t) s->base.request_sources;
    sym_request_source_realm_t realm = realm_of(s);
    sym_error_t err = { 0 };
    sym_json_t json = { 0 };
    sym_status_t rc = SYM_OK;

    if (sources == NULL || !s->request.has_context) {
        return SYM_OK;
    }

    if (text.data != NULL) {
        rc = sym_json_load_charged(&json, s->base.arena->account, text,
                                   JSON_ALLOW_NUL, "not JSON", &err);
    }

    if (rc != SYM_NOMEM) {
        rc = sym_request_sources_add_links(s->base.arena, json.root, &realm,
                                           sources);
    }

    sym_json_drop(&json);
    return rc;
}


sym_status_t
sentry_load(sentry_t *s, sym_str_t text,
            sym_status_t (*read)(sentry_t *s, const json_t *root))
{
    sym_json_t json;
    sym_error_t err = { 0 };
    sym_str_t known =
        sym_json_integers(s->base.arena, text, SYM_STR("\"vars\""));
    sym_status_t rc;

    if (text.len != 0 && known.data == NULL) {
        return SYM_NOMEM;
    }

    rc = sym_json_load_charged(&json, s->base.arena->account, known,
                               JSON_ALLOW_NUL | JSON_DECODE_ANY, "not JSON",
                               &err);

    if (rc == SYM_OK) {
        rc = read(s, json.root);
    } else if (rc == SYM_MALFORMED) {
        rc = sym_request_refuse(&s->base, rc,
                                "Failed to parse the request body as JSON, "
                                "line %llu, byte %llu",
                                (unsigned long long) err.line,
                                (unsigned long long) err.offset);
    } else if (rc == SYM_LIMIT) {
        s->base.refused_as = HTTP_TOO_LARGE;
        rc = sym_request_refuse(&s->base, rc, "%s", err.what);
    }

    sym_json_drop(&json);
    return rc;
}


static sym_status_t
read_sources_alone(sentry_t *s, const json_t *value)
{
    const sentry_reader_t r = { .s = s };

    return sentry_read_sources(&r, value);
}


static sym_status_t
read_scraping_alone(sentry_t *s, const json_t *value)
{
    const sentry_reader_t r = { .s = s };

    return sentry_read_scraping(&r, value);
}


static sym_status_t
read_rewrites_alone(sentry_t *s, const json_t *value)
{
    const sentry_reader_t r = { .s = s };

    return sentry_read_rewrites(&r, value);
}


static sym_status_t
read_options_alone(sentry_t *s, const json_t *value)
{
    const sentry_reader_t r = { .s = s };

    return sentry_read_options(&r, value);
}


sym_status_t
sentry_read_part(sentry_t *s, sentry_part_t part, sym_str_t text)
{
    if (text.data == NULL) {
        return SYM_OK;
    }

    return sentry_load(s, text,
                       part == SENTRY_PART_SOURCES    ? read_sources_alone
                       : part == SENTRY_PART_SCRAPING ? read_scraping_alone
                       : part == SENTRY_PART_REWRITE  ? read_rewrites_alone
                                                      : read_options_alone);
}


const sym_str_t sentry_parts[SENTRY_PARTS] = {
    [SENTRY_PART_SOURCES] = { "sources", 7 },
    [SENTRY_PART_SCRAPING] = { "scraping", 8 },
    [SENTRY_PART_OPTIONS] = { "options", 7 },
    [SENTRY_PART_REWRITE] = { REWRITE, sizeof(REWRITE) - 1 },
};

sym_status_t
sentry_read_form(sentry_t *s, const sym_str_t parts[SENTRY_PARTS])
{
    sym_status_t rc = SYM_OK;

    for (unsigned i = 0; i < SENTRY_PARTS && rc == SYM_OK; i++) {
        rc = sym_str_eq(parts[i], SYM_STR("null"))
                 ? sym_request_refuse(&s->base, SYM_MALFORMED,
                                      "%s: invalid type: null",
                                      sentry_parts[i].data)
                 : sentry_read_part(s, (sentry_part_t) i, parts[i]);
    }

    if (rc == SYM_MALFORMED) {
        s->base.refused_as = HTTP_BAD_REQUEST;
    }

    s->request.has_context = true;
    s->request.is_caller_first = false;
    return rc != SYM_OK ? rc : sentry_allow_links(s);
}
