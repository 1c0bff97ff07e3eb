#include "sources/request/reading.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "json/load.h"

#define MESSAGE_MAX 512


/* Keeps the first error.  key: a key of the source, or NULL. */
bool
source_refuse(source_reader_t *r, sym_status_t status, const char *key,
              const char *format, ...)
{
    char text[MESSAGE_MAX];
    size_t len = 0;
    va_list args;

    if (r->status != SYM_OK) {
        return false;
    }

    if (r->object != NULL) {
        len = (size_t) snprintf(text, sizeof(text), "sources[%u]%s%s: ", r->at,
                                key != NULL ? "." : "", key != NULL ? key : "");
    }

    va_start(args, format);
    (void) vsnprintf(text + len, sizeof(text) - len, format, args);
    va_end(args);

    *r->message = sym_arena_copy(r->arena, sym_cstr(text));
    r->status = r->message->data != NULL ? status : SYM_NOMEM;
    return false;
}


bool
source_no_memory(source_reader_t *r)
{
    if (r->status == SYM_OK) {
        r->status = SYM_NOMEM;
    }
    return false;
}


bool
source_wrong_type(source_reader_t *r, const char *key, const json_t *value,
                  const char *expected)
{
    return source_refuse(r, SYM_MALFORMED, key, "invalid type: %s, expected %s",
                         sym_json_type_name(value), expected);
}


bool
source_is_header_text(sym_str_t s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char) s.data[i];

        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }

    return true;
}


bool
source_copy_text(source_reader_t *r, const char *key, const json_t *value,
                 size_t max, sym_str_t *out)
{
    size_t len = json_string_length(value);

    if (len > max) {
        return source_refuse(r, SYM_LIMIT, key, "longer than %zu bytes", max);
    }

    r->bytes += len;
    if (r->bytes > SYM_REQUEST_SOURCE_BYTES_MAX) {
        return source_refuse(r, SYM_LIMIT, key, "the sources are too long");
    }

    *out = sym_arena_copy(r->arena, sym_str(json_string_value(value), len));
    return out->data != NULL || source_no_memory(r);
}


/* Reads a text that may be missing or null. */
bool
source_read_text(source_reader_t *r, const char *key, size_t max,
                 sym_str_t *out)
{
    const json_t *value = json_object_get(r->object, key);

    if (value == NULL || json_is_null(value)) {
        return true;
    }

    return json_is_string(value) ? source_copy_text(r, key, value, max, out)
                                 : source_wrong_type(r, key, value, "a string");
}


bool
source_need_text(source_reader_t *r, const char *key, size_t max,
                 sym_str_t *out)
{
    const json_t *value = json_object_get(r->object, key);

    if (value == NULL) {
        return source_refuse(r, SYM_MALFORMED, NULL, "missing field `%s`", key);
    }

    return json_is_null(value) ? source_wrong_type(r, key, value, "a string")
                               : source_read_text(r, key, max, out);
}


/* Reads a text that is sent as a header. */
bool
source_read_secret(source_reader_t *r, const char *key, sym_str_t *out)
{
    return source_read_text(r, key, SYM_REQUEST_SOURCE_SECRET_MAX, out)
           && (source_is_header_text(*out)
               || source_refuse(r, SYM_MALFORMED, key, "control characters"));
}


bool
source_read_bool(source_reader_t *r, const json_t *object, const char *key,
                 bool *out)
{
    const json_t *value = json_object_get(object, key);

    if (value == NULL) {
        return true;
    }

    if (!json_is_boolean(value)) {
        return source_wrong_type(r, key, value, "a boolean");
    }

    *out = json_is_true(value);
    return true;
}


/* Reads an object that may be missing. */
bool
source_read_object(source_reader_t *r, const char *key, const json_t **out)
{
    *out = json_object_get(r->object, key);
    return *out == NULL || json_is_object(*out)
           || source_wrong_type(r, key, *out, "a map");
}


bool
source_read_url(source_reader_t *r, const char *key, const json_t *value,
                sym_url_t *url)
{
    sym_error_t err = { 0 };
    sym_str_t text = SYM_STR("");
    sym_status_t rc;

    if (!json_is_string(value)) {
        return source_wrong_type(r, key, value, "a URL string");
    }

    if (!source_copy_text(r, key, value, SYM_URL_MAX, &text)) {
        return false;
    }

    rc = sym_url_read(r->arena, text, url, &err);
    return rc == SYM_OK || (rc == SYM_NOMEM && source_no_memory(r))
           || source_refuse(r, rc == SYM_LIMIT ? rc : SYM_MALFORMED, key,
                            "invalid value: unusable URL: %s", err.what);
}


bool
source_need_url(source_reader_t *r, sym_url_t *url)
{
    const json_t *value = json_object_get(r->object, "url");

    return value != NULL
               ? source_read_url(r, "url", value, url)
               : source_refuse(r, SYM_MALFORMED, NULL, "missing field `url`");
}


/* Makes a base a folder: its path ends in '/'. */
bool
source_make_folder(source_reader_t *r, sym_str_t *path, sym_str_t further)
{
    sym_text_t t = { .arena = r->arena };

    sym_text_add(&t, *path);
    if (path->len == 0 || path->data[path->len - 1] != '/') {
        sym_text_byte(&t, '/');
    }
    if (further.len > 0) {
        sym_text_add(&t, further);
        sym_text_byte(&t, '/');
    }

    *path = sym_text_end(&t);
    return !t.failed || source_no_memory(r);
}


sym_str_t
source_without_slashes(sym_str_t s)
{
    while (s.len > 0 && s.data[0] == '/') {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && s.data[s.len - 1] == '/') {
        s.len--;
    }
    return s;
}
