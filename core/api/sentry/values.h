/*
 * values.h - values of a request's JSON, for readers that use jansson.
 *
 * Invalid values are refused with status 422 and Symbolicator's text.  The text
 * contains the key and its position, but not line and column.  Private to this
 * API.
 */
#ifndef SYM_API_SENTRY_VALUES_H
#define SYM_API_SENTRY_VALUES_H

#include <jansson.h>

#include "api/sentry/sentry.h"

/* Room for a position in the request:
 * "stacktraces[4294967295].frames[4294967295]". */
#define SENTRY_PLACE_MAX 64

/* Position of the current object in the request: "modules[3]", or "". */
typedef struct {
    sentry_t *s;
    const json_t *object;
    char place[SENTRY_PLACE_MAX];
} sentry_reader_t;

/* Refuse the request; return SYM_MALFORMED or SYM_NOMEM. */
sym_status_t sentry_refuse(const sentry_reader_t *r, const char *key,
                           const char *what);
sym_status_t sentry_refuse_type(const sentry_reader_t *r, const char *key,
                                const json_t *value, const char *expected);
sym_status_t sentry_refuse_absent(const sentry_reader_t *r, const char *key);

/* Returns a view of a string value. */
sym_str_t sentry_string_of(const json_t *value);

/* Returns NULL if the key is absent, or null. */
const json_t *sentry_value_of(const sentry_reader_t *r, const char *key);

/* Copies an optional string; data NULL: absent. */
sym_status_t sentry_read_string(const sentry_reader_t *r, const char *key,
                                sym_str_t *text);

sym_status_t sentry_read_bool(const sentry_reader_t *r, const char *key,
                              const json_t *value, bool *is_true);

/* Returns a value as JSON text in the arena; data NULL: no memory. */
sym_str_t sentry_json_text(sentry_t *s, const json_t *value);

#endif
