#include "sources/request/reading.h"

static bool
is_token(sym_str_t name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')
            && !(c >= '0' && c <= '9')
            && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL))
        {
            return false;
        }
    }

    return name.len > 0;
}


/* Headers that frame a message or apply to one connection (RFC 9110, section
 * 7.6.1), headers that the fetch sets itself, and headers that proxies
 * trust. */
static bool
is_ours(sym_str_t name)
{
    static const char *const ours[] = {
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "proxy-authenticate",
        "expect",
        "range",
        "if-range",
        "if-match",
        "if-none-match",
        "if-modified-since",
        "if-unmodified-since",
        "accept-encoding",
        "content-encoding",
        "content-type",
        "x-accel-redirect",
    };

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        sym_str_t word = sym_cstr(ours[i]);

        if (name.len == word.len && sym_str_ends_nocase(name, word)) {
            return true;
        }
    }

    return false;
}


bool
source_read_headers(source_reader_t *r, sym_request_source_t *s)
{
    const json_t *object, *value;
    sym_request_source_header_t *headers;
    const char *name;
    size_t n;

    if (!source_read_object(r, "headers", &object)) {
        return false;
    }

    n = json_object_size(object);
    if (n == 0) {
        return true;
    }

    if (n > SYM_REQUEST_SOURCE_HEADERS_MAX) {
        return source_refuse(r, SYM_LIMIT, "headers", "more than %d headers",
                             SYM_REQUEST_SOURCE_HEADERS_MAX);
    }

    headers = sym_arena_calloc(r->arena, n, sizeof(*headers));
    if (headers == NULL) {
        return source_no_memory(r);
    }

    s->headers = headers;

    /* jansson accepts no key with a NUL */

    json_object_foreach((json_t *) (uintptr_t) object, name, value)
    {
        sym_request_source_header_t *h = &headers[s->n_headers++];

        h->name = sym_arena_copy(r->arena, sym_cstr(name));
        if (h->name.data == NULL) {
            return source_no_memory(r);
        }

        r->bytes += h->name.len;

        if (h->name.len > SYM_REQUEST_SOURCE_NAME_MAX || !is_token(h->name)) {
            return source_refuse(r, SYM_MALFORMED, "headers",
                                 "not the name of a header");
        }
        if (is_ours(h->name)) {
            return source_refuse(r, SYM_MALFORMED, "headers",
                                 "a source cannot set `%s`", name);
        }
        if (!json_is_string(value)) {
            return source_wrong_type(r, "headers", value, "a string");
        }
        if (!source_copy_text(r, "headers", value,
                              SYM_REQUEST_SOURCE_SECRET_MAX, &h->value))
        {
            return false;
        }
        if (!source_is_header_text(h->value)) {
            return source_refuse(r, SYM_MALFORMED, "headers",
                                 "control characters in the value of `%s`",
                                 name);
        }
    }

    return true;
}


bool
source_add_link_header(source_reader_t *r, const char *name,
                       const json_t *value,
                       sym_request_source_header_t *headers,
                       sym_request_source_t *s)
{
    sym_request_source_header_t *h = &headers[s->n_headers];
    sym_str_t key = sym_cstr(name), text;

    if (!json_is_string(value) || s->n_headers == SYM_REQUEST_SOURCE_HEADERS_MAX
        || key.len > SYM_REQUEST_SOURCE_NAME_MAX || !is_token(key)
        || is_ours(key))
    {
        return true;
    }

    text = sym_str(json_string_value(value), json_string_length(value));
    if (text.len > SYM_REQUEST_SOURCE_SECRET_MAX
        || !source_is_header_text(text)) {
        return true;
    }

    h->name = sym_arena_copy(r->arena, key);
    h->value = sym_arena_copy(r->arena, text);
    s->n_headers++;
    return h->name.data != NULL && h->value.data != NULL;
}
