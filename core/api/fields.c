#include "api/fields.h"

#include <stdio.h>

#include "base/hex.h"
#include "json/raw.h"

#define HTTP_UNPROCESSABLE 422
#define HTTP_TOO_LARGE 413

#define PLACE_MAX SYM_FIELDS_PLACE_MAX

#define REFUSED "Failed to deserialize the JSON body into the target type: "

void *
sym_list_add(sym_arena_t *arena, sym_list_t *list, size_t size)
{
    void *item;

    if (list->n == list->max) {
        uint32_t max = list->max == 0 ? 4 : 2 * list->max;
        void *grown = list->max > UINT32_MAX / 2
                          ? NULL
                          : sym_arena_alloc(arena, max * size);

        if (grown == NULL) {
            return NULL;
        }

        if (list->n != 0) {
            memcpy(grown, list->items, list->n * size);
        }
        list->items = grown;
        list->max = max;
    }

    item = (char *) list->items + list->n++ * size;
    memset(item, 0, size);
    return item;
}


void *
sym_blocks_add(sym_arena_t *arena, sym_blocks_t *list, size_t size, size_t most)
{
    void *item;

    if (list->n == list->blocks.n * SYM_BLOCK_ITEMS) {
        char **block = sym_list_add(arena, &list->blocks, sizeof(*block));

        most = most < SYM_BLOCK_ITEMS ? most : SYM_BLOCK_ITEMS;
        if (block == NULL
            || (*block = sym_arena_alloc(arena, most * size)) == NULL) {
            return NULL;
        }
    }

    item = sym_blocks_at(list, size, list->n++);
    memset(item, 0, size);
    return item;
}


/* --- refusals --- */

sym_status_t
sym_fields_refuse(sym_fields_t *f, const char *place, const char *what)
{
    f->request->refused_as = HTTP_UNPROCESSABLE;
    return sym_request_refuse(f->request, SYM_MALFORMED, REFUSED "%s%s%s",
                              place, place[0] != '\0' ? ": " : "", what);
}


/* The reader cannot continue: the body is not JSON, has another structure, or
 * exceeds the reader's limits. */
sym_status_t
sym_fields_refuse_json(sym_fields_t *f)
{
    sym_json_t json;
    sym_error_t err = { 0 };
    sym_status_t rc = sym_json_load_charged(
        &json, f->request->arena->account, f->request->body,
        JSON_DECODE_ANY | JSON_ALLOW_NUL, "not JSON", &err);

    sym_json_drop(&json);

    if (rc == SYM_OK) {
        return sym_fields_refuse(f, "",
                                 "a value has another type, or is too deep");
    }

    if (rc == SYM_MALFORMED) {
        return sym_request_refuse(f->request, rc,
                                  "Failed to parse the request body as JSON, "
                                  "line %llu, byte %llu",
                                  (unsigned long long) err.line,
                                  (unsigned long long) err.offset);
    }

    if (rc == SYM_LIMIT) {
        f->request->refused_as = HTTP_TOO_LARGE;
        return sym_request_refuse(f->request, rc, "%s", err.what);
    }

    return rc;
}


sym_status_t
sym_fields_refuse_limit(sym_fields_t *f, const char *what, uint32_t limit)
{
    f->request->refused_as = HTTP_TOO_LARGE;
    return sym_request_refuse(f->request, SYM_LIMIT, "more than %u %s", limit,
                              what);
}


/* --- values --- */

/* Returns the type of a value by its first byte, in serde's words. */
static const char *
type_at(const char *p, const char *end)
{
    switch (p < end ? *p : '\0') {
    case '"':
        return "string";
    case '{':
        return "map";
    case '[':
        return "sequence";
    case 't':
    case 'f':
        return "boolean";
    case 'n':
        return "null";
    default:
        return "number";
    }
}


sym_status_t
sym_fields_refuse_type(sym_fields_t *f, const char *place, sym_str_t key,
                       const char *p, const char *expected)
{
    char what[PLACE_MAX * 3];

    (void) snprintf(what, sizeof(what), "%.*s%sinvalid type: %s, expected %s",
                    (int) (key.len < PLACE_MAX ? key.len : PLACE_MAX), key.data,
                    key.len != 0 ? ": " : "", type_at(p, f->end), expected);
    return sym_fields_refuse(f, place, what);
}


static sym_str_t *
text_at(void *object, size_t offset)
{
    return (sym_str_t *) (void *) ((char *) object + offset);
}


static sym_status_t
read_text(sym_fields_t *f, const sym_field_t *field, void *object,
          const char *place)
{
    const char *start = f->p;
    sym_raw_string_t string;

    if (f->p >= f->end || *f->p != '"') {
        return sym_fields_refuse_type(f, place, field->name, f->p, "a string");
    }

    f->p = sym_raw_string(f->p, f->end, &string);
    if (f->p == NULL) {
        return sym_fields_refuse_json(f);
    }

    if (field->json != SYM_FIELD_NONE) {
        *text_at(object, field->json) = sym_str(start, (size_t) (f->p - start));
    }

    if (field->text != SYM_FIELD_NONE) {
        sym_str_t *text = text_at(object, field->text);

        *text = sym_raw_decode(f->request->arena, &string);
        return text->data != NULL ? SYM_OK : SYM_NOMEM;
    }

    return SYM_OK;
}


static sym_status_t
read_strings(sym_fields_t *f, const sym_field_t *field, void *object,
             const char *place)
{
    const char *start = f->p, *p;
    sym_raw_string_t string;

    if (f->p >= f->end || *f->p != '[') {
        return sym_fields_refuse_type(f, place, field->name, f->p,
                                      "a sequence");
    }

    p = sym_raw_space(f->p + 1, f->end);

    while (p < f->end && *p != ']') {
        if (*p != '"') {
            return sym_fields_refuse_type(f, place, field->name, p, "a string");
        }

        p = sym_raw_string(p, f->end, &string);
        if (p == NULL) {
            return sym_fields_refuse_json(f);
        }

        p = sym_raw_space(p, f->end);
        if (p < f->end && *p == ',') {
            p = sym_raw_space(p + 1, f->end);
            p = p < f->end && *p == '"' ? p : f->end;
        } else if (p < f->end && *p != ']') {
            return sym_fields_refuse_json(f);
        }
    }

    if (p >= f->end) {
        return sym_fields_refuse_json(f);
    }

    f->p = p + 1;
    *text_at(object, field->json) = sym_str(start, (size_t) (f->p - start));
    return SYM_OK;
}


static sym_status_t
read_scalar(sym_fields_t *f, const sym_field_t *field, void *object,
            const char *place)
{
    const char *start = f->p, *end = sym_raw_value(f->p, f->end);
    sym_str_t value = sym_str(start, end != NULL ? (size_t) (end - start) : 0);
    sym_field_number_t *number;
    uint64_t n;

    if (end == NULL) {
        return sym_fields_refuse_json(f);
    }

    f->p = end;

    if (field->type == SYM_FIELD_BOOL) {
        bool is_true = sym_str_eq(value, SYM_STR("true"));

        if (!is_true && !sym_str_eq(value, SYM_STR("false"))) {
            return sym_fields_refuse_type(f, place, field->name, start,
                                          "a boolean");
        }

        *((uint8_t *) object + field->value) =
            (uint8_t) (is_true ? SYM_FIELD_TRUE : SYM_FIELD_FALSE);
        return SYM_OK;
    }

    if (!sym_dec_read(value, &n)) {
        return sym_fields_refuse_type(f, place, field->name, start,
                                      field->most == UINT32_MAX ? "u32"
                                                                : "usize");
    }

    if (n > field->most) {
        return sym_fields_refuse(f, place,
                                 "invalid value: integer, expected u32");
    }

    number = (sym_field_number_t *) (void *) ((char *) object + field->value);
    *number = (sym_field_number_t){ true, n };
    return SYM_OK;
}


static sym_status_t
read_value(sym_fields_t *f, const sym_field_t *field, void *object)
{
    const char *start = f->p, *end = sym_raw_value(f->p, f->end);

    if (end == NULL) {
        return sym_fields_refuse_json(f);
    }

    f->p = end;
    *text_at(object, field->json) = sym_str(start, (size_t) (end - start));
    return SYM_OK;
}


sym_status_t
sym_fields_value(sym_fields_t *f, const sym_field_t *field, void *object,
                 const char *place)
{

    if (field->takes_null && f->end - f->p >= 4 && memcmp(f->p, "null", 4) == 0)
    {
        f->p += 4;
        return SYM_OK;
    }

    switch (field->type) {
    case SYM_FIELD_TEXT:
        return read_text(f, field, object, place);
    case SYM_FIELD_LIST:
        return read_strings(f, field, object, place);
    case SYM_FIELD_VALUE:
        return read_value(f, field, object);
    default:
        return read_scalar(f, field, object, place);
    }
}


/* Moves to the next element of the list or object, or to the end; *has: there
 * is one. */
sym_status_t
sym_fields_next(sym_fields_t *f, char close, bool *is_begun, bool *has)
{

    f->p = sym_raw_space(f->p, f->end);

    if (f->p < f->end && *f->p == close) {
        f->p++;
        *has = false;
        return SYM_OK;
    }

    if (*is_begun) {
        if (f->p >= f->end || *f->p != ',') {
            return sym_fields_refuse_json(f);
        }
        f->p = sym_raw_space(f->p + 1, f->end);
    }

    *is_begun = true;
    *has = true;
    return f->p < f->end && *f->p != close ? SYM_OK : sym_fields_refuse_json(f);
}


/* Reads a key and its colon. */
sym_status_t
sym_fields_key(sym_fields_t *f, sym_str_t *key)
{
    sym_raw_string_t string;

    if (*f->p != '"') {
        return sym_fields_refuse_json(f);
    }

    f->p = sym_raw_string(f->p, f->end, &string);
    if (f->p == NULL) {
        return sym_fields_refuse_json(f);
    }

    *key = sym_raw_decode(f->request->arena, &string);
    if (key->data == NULL) {
        return SYM_NOMEM;
    }

    f->p = sym_raw_space(f->p, f->end);
    if (f->p >= f->end || *f->p != ':') {
        return sym_fields_refuse_json(f);
    }

    f->p = sym_raw_space(f->p + 1, f->end);
    return f->p < f->end ? SYM_OK : sym_fields_refuse_json(f);
}


sym_status_t
sym_fields_known_key(sym_fields_t *f, const char *const *keys, unsigned n,
                     unsigned *seen, unsigned *key, bool *has)
{
    bool is_begun = *seen != 0;
    sym_str_t name;
    sym_status_t rc = sym_fields_next(f, '}', &is_begun, has);

    if (rc != SYM_OK || !*has || (rc = sym_fields_key(f, &name)) != SYM_OK) {
        return rc;
    }

    *key = 0;
    while (*key < n && !sym_str_eq(name, sym_cstr(keys[*key]))) {
        ++*key;
    }

    if (*key < n && (*seen & 1u << *key) != 0) {
        return sym_fields_refuse_twice(f, "", name);
    }

    *seen |= 1u << *key | 1u << n; /* the list has begun */
    return SYM_OK;
}


sym_status_t
sym_fields_skip(sym_fields_t *f)
{

    f->p = sym_raw_value(f->p, f->end);
    return f->p != NULL ? SYM_OK : sym_fields_refuse_json(f);
}


sym_status_t
sym_fields_refuse_twice(sym_fields_t *f, const char *place, sym_str_t key)
{
    char what[PLACE_MAX * 2];

    (void) snprintf(what, sizeof(what), "duplicate field `%.*s`",
                    (int) (key.len < PLACE_MAX ? key.len : PLACE_MAX),
                    key.data);
    return sym_fields_refuse(f, place, what);
}


sym_status_t
sym_fields_refuse_absent(sym_fields_t *f, const char *place, const char *key)
{
    char what[PLACE_MAX];

    (void) snprintf(what, sizeof(what), "missing field `%s`", key);
    return sym_fields_refuse(f, place, what);
}


/* Reads an object with these keys; others are skipped. */
sym_status_t
sym_fields_object(sym_fields_t *f, const sym_field_t *fields, size_t n,
                  void *object, const char *place)
{
    bool is_begun = false, has = true;
    unsigned seen = 0;
    sym_status_t rc;

    if (f->p >= f->end || *f->p != '{') {
        return sym_fields_refuse_type(f, place, SYM_STR(""), f->p, "an object");
    }

    f->p++;

    while ((rc = sym_fields_next(f, '}', &is_begun, &has)) == SYM_OK && has) {
        sym_str_t key;
        size_t i = 0;

        rc = sym_fields_key(f, &key);
        if (rc != SYM_OK) {
            return rc;
        }

        while (i < n && !sym_str_eq(fields[i].name, key)) {
            i++;
        }

        if (i == n) {
            rc = sym_fields_skip(f);
        } else if ((seen & 1u << i) != 0) {
            rc = sym_fields_refuse_twice(f, place, key);
        } else {
            rc = sym_fields_value(f, &fields[i], object, place);
            seen |= 1u << i;
        }

        if (rc != SYM_OK) {
            return rc;
        }
    }

    for (size_t i = 0; rc == SYM_OK && i < n; i++) {
        if (fields[i].is_required && (seen & 1u << i) == 0) {
            return sym_fields_refuse_absent(f, place, fields[i].name.data);
        }
    }

    return rc;
}


sym_status_t
sym_fields_tree(sym_fields_t *f, const char *place, sym_json_t *json)
{
    const char *start = f->p;
    sym_error_t err = { 0 };
    sym_status_t rc = sym_fields_skip(f);

    *json = (sym_json_t){ .root = NULL };
    if (rc != SYM_OK) {
        return rc;
    }

    rc = sym_json_load_charged(json, f->request->arena->account,
                               sym_str(start, (size_t) (f->p - start)),
                               JSON_ALLOW_NUL, "not JSON", &err);
    return rc == SYM_OK || rc == SYM_NOMEM
               ? rc
               : sym_fields_refuse(f, place, "not JSON, or too large");
}


sym_status_t
sym_fields_refuse_as(sym_fields_t *f, sym_str_t message)
{
    f->request->refused_as = HTTP_UNPROCESSABLE;
    return sym_request_refuse(f->request, SYM_MALFORMED, REFUSED "%.*s",
                              (int) message.len, message.data);
}


/* --- parts of requests --- */

sym_status_t
sym_fields_begin(sym_fields_t *f, sym_request_t *request)
{
    f->request = request;
    f->end = request->body.data + request->body.len;
    f->p = sym_raw_space(request->body.data, f->end);

    if (f->p >= f->end || *f->p != '{') {
        return sym_fields_refuse_json(f);
    }

    f->p++;
    return SYM_OK;
}


sym_status_t
sym_fields_finish(sym_fields_t *f)
{
    return sym_raw_space(f->p, f->end) == f->end ? SYM_OK
                                                 : sym_fields_refuse_json(f);
}


sym_status_t
sym_fields_enter(sym_fields_t *f, const char *place)
{
    if (*f->p != '[') {
        return sym_fields_refuse_type(f, place, SYM_STR(""), f->p,
                                      "a sequence");
    }

    f->p++;
    return SYM_OK;
}


sym_status_t
sym_fields_text(sym_fields_t *f, const char *key, sym_str_t *text)
{
    const sym_field_t field = { .name = sym_cstr(key),
                                .type = SYM_FIELD_TEXT,
                                .takes_null = true,
                                .text = 0,
                                .json = SYM_FIELD_NONE };

    return sym_fields_value(f, &field, text, "");
}


typedef struct {
    uint8_t applies_context, explains; /* of the type sym_field_bool_t */
    sym_str_t order;
} option_values_t;

sym_status_t
sym_fields_options(sym_fields_t *f, sym_fields_options_t *options)
{
    static const sym_field_t fields[] = {
        { .name = { "apply_source_context", 20 },
          .type = SYM_FIELD_BOOL,
          .value = offsetof(option_values_t, applies_context) },
        { .name = { "explain", 7 },
          .type = SYM_FIELD_BOOL,
          .value = offsetof(option_values_t, explains) },
        { .name = { "frame_order", 11 },
          .type = SYM_FIELD_TEXT,
          .text = offsetof(option_values_t, order),
          .json = SYM_FIELD_NONE },
    };
    option_values_t values = { .applies_context = SYM_FIELD_ABSENT,
                               .explains = SYM_FIELD_ABSENT };
    sym_status_t rc = sym_fields_object(
        f, fields, sizeof(fields) / sizeof(fields[0]), &values, "options");

    if (rc != SYM_OK) {
        return rc;
    }

    options->has_context = values.applies_context != SYM_FIELD_FALSE;
    options->explains = values.explains == SYM_FIELD_TRUE;
    options->is_callee_first =
        sym_str_eq(values.order, SYM_STR("callee_first"));

    return options->is_callee_first || values.order.data == NULL
                   || sym_str_eq(values.order, SYM_STR("caller_first"))
               ? SYM_OK
               : sym_fields_refuse(f, "options.frame_order",
                                   "unknown variant, expected `callee_first` "
                                   "or `caller_first`");
}
