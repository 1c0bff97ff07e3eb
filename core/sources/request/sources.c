#include "sources/request/reading.h"

#include "json/load.h"

static const char *const type_words[SYM_REQUEST_SOURCE_TYPES] = {
    [SYM_REQUEST_SOURCE_FILESYSTEM] = "filesystem",
    [SYM_REQUEST_SOURCE_HTTP] = "http",
    [SYM_REQUEST_SOURCE_S3] = "s3",
    [SYM_REQUEST_SOURCE_GCS] = "gcs",
    [SYM_REQUEST_SOURCE_SENTRY] = "sentry",
};


sym_str_t
sym_request_source_type_word(sym_request_source_type_t type)
{
    return sym_cstr(type_words[type]);
}


bool
sym_request_source_type_find(sym_str_t word, sym_request_source_type_t *type)
{
    for (unsigned i = 0; i < SYM_REQUEST_SOURCE_TYPES; i++) {
        if (sym_str_eq(word, sym_cstr(type_words[i]))) {
            *type = (sym_request_source_type_t) i;
            return true;
        }
    }

    return false;
}


/* --- the list --- */

static bool
read_source(source_reader_t *r, const sym_request_source_realm_t *realm,
            sym_request_source_t *s)
{
    const json_t *type;

    if (!json_is_object(r->object)) {
        return source_wrong_type(r, NULL, r->object, "a source");
    }

    source_clear_texts(s);

    type = json_object_get(r->object, "type");
    if (type == NULL) {
        return source_refuse(r, SYM_MALFORMED, NULL, "missing field `type`");
    }

    if (!json_is_string(type)
        || !sym_request_source_type_find(
            sym_str(json_string_value(type), json_string_length(type)),
            &s->type))
    {
        return source_refuse(
            r, SYM_MALFORMED, "type",
            "unknown variant, expected one of `sentry`, `http`, "
            "`s3`, `gcs`, `filesystem`");
    }

    return source_need_text(r, "id", SYM_REQUEST_SOURCE_ID_MAX, &s->id)
           && source_read_type(r, s) && source_make_realm(r, realm, s)
           && source_make_scope(r, realm, s);
}


sym_status_t
sym_request_sources_read(sym_arena_t *arena, const json_t *list,
                         const sym_request_source_realm_t *realm,
                         sym_request_sources_t *set, sym_str_t *message)
{
    source_reader_t r = { .arena = arena, .message = message };
    sym_request_source_t *sources;
    size_t n;

    *set = (sym_request_sources_t){ 0 };

    if (!json_is_array(list)) {
        (void) source_refuse(&r, SYM_MALFORMED, NULL,
                             "sources: invalid type: %s, expected a sequence",
                             sym_json_type_name(list));
        return r.status;
    }

    n = json_array_size(list);
    if (n > SYM_REQUEST_SOURCES_MAX) {
        (void) source_refuse(&r, SYM_LIMIT, NULL,
                             "sources: more than %d sources",
                             SYM_REQUEST_SOURCES_MAX);
        return r.status;
    }

    sources = sym_arena_calloc(arena, n + 1, sizeof(*sources));
    if (sources == NULL) {
        return SYM_NOMEM;
    }

    for (; r.at < n; r.at++) {
        r.object = json_array_get(list, r.at);
        if (!read_source(&r, realm, &sources[r.at])) {
            return r.status;
        }
    }

    *set = (sym_request_sources_t){ sources, (uint32_t) n, NULL, NULL };
    return SYM_OK;
}


/* --- links and artifacts --- */

/* Without headers, their patterns do not matter. */
static bool
read_scraping(source_reader_t *r, const json_t *scraping,
              sym_request_source_t *s)
{
    const json_t *origins = json_object_get(scraping, "allowed_origins");
    const json_t *object = json_object_get(scraping, "headers");
    sym_request_source_header_t *headers = sym_arena_calloc(
        r->arena, SYM_REQUEST_SOURCE_HEADERS_MAX, sizeof(*headers));
    sym_str_t *patterns = sym_arena_calloc(
        r->arena, SYM_REQUEST_SOURCE_PATTERNS_MAX, sizeof(*patterns));
    const json_t *value;
    const char *name;
    size_t i;

    if (headers == NULL || patterns == NULL) {
        return false;
    }

    s->headers = headers;
    s->patterns = patterns;
    json_object_foreach((json_t *) (uintptr_t) object, name, value)
    {
        if (!source_add_link_header(r, name, value, headers, s)) {
            return false;
        }
    }

    json_array_foreach(origins, i, value)
    {
        if (s->n_headers == 0
            || s->n_patterns == SYM_REQUEST_SOURCE_PATTERNS_MAX
            || !json_is_string(value)
            || json_string_length(value) > SYM_REQUEST_SOURCE_PATTERN_MAX)
        {
            continue;
        }

        patterns[s->n_patterns] =
            sym_arena_copy(r->arena, sym_str(json_string_value(value),
                                             json_string_length(value)));
        if (patterns[s->n_patterns++].data == NULL) {
            return false;
        }
    }

    return true;
}


sym_status_t
sym_request_sources_add_links(sym_arena_t *arena, const json_t *scraping,
                              const sym_request_source_realm_t *realm,
                              sym_request_sources_t *list)
{
    sym_str_t message;
    source_reader_t r = { .arena = arena, .message = &message };
    sym_request_source_t *s = sym_arena_calloc(arena, 1, sizeof(*s));

    if (s == NULL) {
        return SYM_NOMEM;
    }

    source_clear_texts(s);

    s->type = SYM_REQUEST_SOURCE_HTTP;
    s->id = SYM_STR("sourcelink");
    s->is_links = true;
    s->rules.layout = SYM_LAYOUT_URL;
    s->rules.files = ~0U;

    if ((json_is_true(json_object_get(scraping, "enabled"))
         && !read_scraping(&r, scraping, s))
        || !source_make_realm(&r, realm, s) || !source_make_scope(&r, realm, s))
    {
        return SYM_NOMEM;
    }

    list->links = s;
    return SYM_OK;
}


sym_status_t
sym_request_sources_add_artifacts(sym_arena_t *arena, const json_t *source,
                                  const sym_request_source_realm_t *realm,
                                  sym_request_sources_t *list,
                                  sym_str_t *message)
{
    source_reader_t r = { .arena = arena,
                          .message = message,
                          .object = source };
    sym_request_source_t *s = sym_arena_calloc(arena, 1, sizeof(*s));

    if (s == NULL) {
        return SYM_NOMEM;
    }

    if (!json_is_object(source)) {
        (void) source_wrong_type(&r, NULL, source, "a source");
        return r.status;
    }

    source_clear_texts(s);

    s->type = SYM_REQUEST_SOURCE_SENTRY;
    s->is_links = true;

    if (!source_need_text(&r, "id", SYM_REQUEST_SOURCE_ID_MAX, &s->id)
        || !source_read_type(&r, s) || !source_make_realm(&r, realm, s)
        || !source_make_scope(&r, realm, s))
    {
        return r.status;
    }

    list->artifacts = s;
    return SYM_OK;
}


sym_status_t
sym_request_sources_add_file(sym_arena_t *arena, sym_str_t url, sym_str_t token,
                             const sym_request_source_realm_t *realm,
                             sym_request_sources_t *list, sym_str_t *message)
{
    source_reader_t r = { .arena = arena, .message = message };
    sym_request_source_t *s = sym_arena_calloc(arena, 1, sizeof(*s));
    sym_error_t err = { 0 };
    sym_status_t rc;

    if (s == NULL) {
        return SYM_NOMEM;
    }

    source_clear_texts(s);

    s->type = SYM_REQUEST_SOURCE_SENTRY;
    s->id = SYM_STR("attachment");
    s->is_links = true;
    s->rules.layout = SYM_LAYOUT_URL;
    s->rules.files = ~0U;
    s->token = token;

    rc = sym_url_read(arena, url, &s->url, &err);
    if (rc == SYM_OK && !source_is_header_text(token)) {
        rc = SYM_MALFORMED;
        err.what = "control characters in its token";
    }

    if (rc == SYM_NOMEM || !source_make_realm(&r, realm, s)
        || !source_make_scope(&r, realm, s))
    {
        return SYM_NOMEM;
    }

    if (rc != SYM_OK) {
        (void) source_refuse(&r, SYM_MALFORMED, NULL, "%s", err.what);
        return r.status;
    }

    list->artifacts = s;
    return SYM_OK;
}


sym_status_t
sym_request_sources_add_confined(sym_arena_t *arena, const sym_str_t *patterns,
                                 uint32_t n_patterns,
                                 const sym_request_source_realm_t *realm,
                                 sym_request_sources_t *list)
{
    sym_str_t message;
    source_reader_t r = { .arena = arena, .message = &message };
    sym_request_source_t *s = sym_arena_calloc(arena, 1, sizeof(*s));

    if (s == NULL) {
        return SYM_NOMEM;
    }

    source_clear_texts(s);

    s->type = SYM_REQUEST_SOURCE_HTTP;
    s->id = SYM_STR("upload");
    s->is_links = true;
    s->is_confined = true;
    s->rules.layout = SYM_LAYOUT_URL;
    s->rules.files = ~0U;
    s->patterns = patterns;
    s->n_patterns = n_patterns;

    if (!source_make_realm(&r, realm, s) || !source_make_scope(&r, realm, s)) {
        return SYM_NOMEM;
    }

    list->links = s;
    return SYM_OK;
}
