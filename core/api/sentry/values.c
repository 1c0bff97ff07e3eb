/*
 * values.c - values of a request's JSON, for readers that use jansson.
 */
#include "api/sentry/values.h"

#include <stdio.h>

#include "json/load.h"
#include "json/number.h"

#define HTTP_UNPROCESSABLE 422

/* length of "floating point `...`" */
#define DESCRIPTION_MAX (SYM_JSON_REAL_MAX + 32)


sym_status_t
sentry_refuse(const sentry_reader_t *r, const char *key, const char *what)
{
    const char *dot = r->place[0] != '\0' && key[0] != '\0' ? "." : "";
    const char *colon = r->place[0] != '\0' || key[0] != '\0' ? ": " : "";

    r->s->base.refused_as = HTTP_UNPROCESSABLE;
    return sym_request_refuse(&r->s->base, SYM_MALFORMED,
                              "Failed to deserialize the JSON body into the "
                              "target type: %s%s%s%s%s",
                              r->place, dot, key, colon, what);
}


/* Describes a value like serde, but without strings, which may be long or
 * secret. */
static void
describe(const json_t *value, char out[DESCRIPTION_MAX])
{
    char real[SYM_JSON_REAL_MAX];

    if (json_is_real(value)) {
        (void) sym_json_real(json_real_value(value), real);
        (void) snprintf(out, DESCRIPTION_MAX, "floating point `%s`", real);
    } else if (json_is_integer(value)) {
        (void) snprintf(out, DESCRIPTION_MAX, "integer `%lld`",
                        (long long) json_integer_value(value));
    } else if (json_is_boolean(value)) {
        (void) snprintf(out, DESCRIPTION_MAX, "boolean `%s`",
                        json_is_true(value) ? "true" : "false");
    } else {
        (void) snprintf(out, DESCRIPTION_MAX, "%s", sym_json_type_name(value));
    }
}


sym_status_t
sentry_refuse_type(const sentry_reader_t *r, const char *key,
                   const json_t *value, const char *expected)
{
    char is[DESCRIPTION_MAX], what[DESCRIPTION_MAX + SENTRY_PLACE_MAX];

    describe(value, is);
    (void) snprintf(what, sizeof(what), "invalid type: %s, expected %s", is,
                    expected);
    return sentry_refuse(r, key, what);
}


sym_status_t
sentry_refuse_absent(const sentry_reader_t *r, const char *key)
{
    char what[SENTRY_PLACE_MAX];

    (void) snprintf(what, sizeof(what), "missing field `%s`", key);
    return sentry_refuse(r, "", what);
}


sym_str_t
sentry_string_of(const json_t *value)
{
    return sym_str(json_string_value(value), json_string_length(value));
}


const json_t *
sentry_value_of(const sentry_reader_t *r, const char *key)
{
    const json_t *value = json_object_get(r->object, key);

    return json_is_null(value) ? NULL : value;
}


sym_status_t
sentry_read_string(const sentry_reader_t *r, const char *key, sym_str_t *text)
{
    const json_t *value = sentry_value_of(r, key);

    *text = sym_str(NULL, 0);
    if (value == NULL) {
        return SYM_OK;
    }

    if (!json_is_string(value)) {
        return sentry_refuse_type(r, key, value, "a string");
    }

    *text = sym_arena_copy(r->s->base.arena, sentry_string_of(value));
    return text->data != NULL ? SYM_OK : SYM_NOMEM;
}


sym_status_t
sentry_read_bool(const sentry_reader_t *r, const char *key, const json_t *value,
                 bool *is_true)
{
    if (!json_is_boolean(value)) {
        return sentry_refuse_type(r, key, value, "a boolean");
    }

    *is_true = json_is_true(value);
    return SYM_OK;
}


sym_str_t
sentry_json_text(sentry_t *s, const json_t *value)
{
    const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
    size_t len = json_dumpb(value, NULL, 0, flags);
    char *text = len == 0 ? NULL : sym_arena_alloc(s->base.arena, len);

    return text == NULL || json_dumpb(value, text, len, flags) != len
               ? sym_str(NULL, 0)
               : sym_str(text, len);
}
