/*
 * Reads a request in one pass, without a tree, an element of a list at a time.
 * Refusals and their status follow Symbolicator: invalid JSON is 400, JSON of
 * another shape 422.
 */
#include "api/jvm/jvm.h"

#include <stdio.h>

#include "base/hex.h"
#include "json/load.h"
#include "json/raw.h"

#define HTTP_UNPROCESSABLE 422
#define HTTP_TOO_LARGE 413

#define PLACE_MAX 64

#define REFUSED "Failed to deserialize the JSON body into the target type: "

typedef enum {
    AT_REQUEST,
    AT_STACKS,
    AT_STACK,
    AT_FRAMES,
    AT_EXCEPTIONS,
    AT_CLASSES,
    AT_MODULES,
    AT_END
} at_t;

struct jvm_reader_s {
    const char *p, *end;
    at_t at;
    bool is_begun;  /* the list or object under way has an element */
    unsigned seen;  /* keys of the request */
    unsigned stack; /* keys of the stack */
};

typedef struct jvm_reader_s reader_t;

/* Keys of the request and of a stack, each a bit. */
enum {
    KEY_PLATFORM,
    KEY_SOURCES,
    KEY_STACKS,
    KEY_EXCEPTIONS,
    KEY_MODULES,
    KEY_CLASSES,
    KEY_RELEASE_PACKAGE,
    KEY_OPTIONS,
    KEYS
};

enum { KEY_EXCEPTION, KEY_FRAMES };

void *
jvm_add(sym_arena_t *arena, jvm_list_t *list, size_t size)
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


/* --- refusals --- */

static sym_status_t
refuse(jvm_t *j, const char *place, const char *what)
{
    j->base.refused_as = HTTP_UNPROCESSABLE;
    return sym_request_refuse(&j->base, SYM_MALFORMED, REFUSED "%s%s%s", place,
                              place[0] != '\0' ? ": " : "", what);
}


/* The reader cannot go on: either the body is no JSON, or of another shape, or past
 * what the reader takes. */
static sym_status_t
refuse_json(jvm_t *j)
{
    sym_json_t json;
    sym_error_t err = { 0 };
    sym_status_t rc = sym_json_load_charged(
        &json, j->base.arena->account, j->base.body,
        JSON_DECODE_ANY | JSON_ALLOW_NUL, "not JSON", &err);

    sym_json_drop(&json);

    if (rc == SYM_OK) {
        return refuse(j, "", "a value has another type, or is too deep");
    }

    if (rc == SYM_MALFORMED) {
        return sym_request_refuse(&j->base, rc,
                                  "Failed to parse the request body as JSON, "
                                  "line %llu, byte %llu",
                                  (unsigned long long) err.line,
                                  (unsigned long long) err.offset);
    }

    if (rc == SYM_LIMIT) {
        j->base.refused_as = HTTP_TOO_LARGE;
        return sym_request_refuse(&j->base, rc, "%s", err.what);
    }

    return rc;
}


static sym_status_t
refuse_limit(jvm_t *j, const char *what, uint32_t limit)
{
    j->base.refused_as = HTTP_TOO_LARGE;
    return sym_request_refuse(&j->base, SYM_LIMIT, "more than %u %s", limit,
                              what);
}


/* --- values --- */

/* Type of a value by its first byte, in serde's words. */
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


static sym_status_t
refuse_type(jvm_t *j, const char *place, sym_str_t key, const char *p,
            const char *expected)
{
    char what[PLACE_MAX * 3];

    (void) snprintf(what, sizeof(what), "%.*s%sinvalid type: %s, expected %s",
                    (int) (key.len < PLACE_MAX ? key.len : PLACE_MAX), key.data,
                    key.len != 0 ? ": " : "", type_at(p, j->reader->end),
                    expected);
    return refuse(j, place, what);
}


typedef enum {
    A_TEXT, /* decoded, and as JSON, if there is room for that */
    A_LIST, /* of strings, as JSON */
    A_BOOL,
    A_NUMBER /* of 64 bits, or 32 */
} type_t;

typedef struct {
    sym_str_t name;
    type_t type;
    bool is_required;
    bool takes_null;   /* as if it were absent */
    size_t text, json; /* offsets of sym_str_t; NONE: not kept */
    size_t value;      /* of a jvm_number_t, or of an uint8_t */
    uint64_t most;
} field_t;

#define NONE SIZE_MAX

static sym_str_t *
text_at(void *object, size_t offset)
{
    return (sym_str_t *) (void *) ((char *) object + offset);
}


static sym_status_t
read_text(jvm_t *j, const field_t *f, void *object, const char *place)
{
    reader_t *r = j->reader;
    const char *start = r->p;
    sym_raw_string_t string;

    if (r->p >= r->end || *r->p != '"') {
        return refuse_type(j, place, f->name, r->p, "a string");
    }

    r->p = sym_raw_string(r->p, r->end, &string);
    if (r->p == NULL) {
        return refuse_json(j);
    }

    if (f->json != NONE) {
        *text_at(object, f->json) = sym_str(start, (size_t) (r->p - start));
    }

    if (f->text != NONE) {
        sym_str_t *text = text_at(object, f->text);

        *text = sym_raw_decode(j->base.arena, &string);
        return text->data != NULL ? SYM_OK : SYM_NOMEM;
    }

    return SYM_OK;
}


static sym_status_t
read_strings(jvm_t *j, const field_t *f, void *object, const char *place)
{
    reader_t *r = j->reader;
    const char *start = r->p, *p;
    sym_raw_string_t string;

    if (r->p >= r->end || *r->p != '[') {
        return refuse_type(j, place, f->name, r->p, "a sequence");
    }

    p = sym_raw_space(r->p + 1, r->end);

    while (p < r->end && *p != ']') {
        if (*p != '"') {
            return refuse_type(j, place, f->name, p, "a string");
        }

        p = sym_raw_string(p, r->end, &string);
        if (p == NULL) {
            return refuse_json(j);
        }

        p = sym_raw_space(p, r->end);
        if (p < r->end && *p == ',') {
            p = sym_raw_space(p + 1, r->end);
            p = p < r->end && *p == '"' ? p : r->end;
        } else if (p < r->end && *p != ']') {
            return refuse_json(j);
        }
    }

    if (p >= r->end) {
        return refuse_json(j);
    }

    r->p = p + 1;
    *text_at(object, f->json) = sym_str(start, (size_t) (r->p - start));
    return SYM_OK;
}


static sym_status_t
read_scalar(jvm_t *j, const field_t *f, void *object, const char *place)
{
    reader_t *r = j->reader;
    const char *start = r->p, *end = sym_raw_value(r->p, r->end);
    sym_str_t value = sym_str(start, end != NULL ? (size_t) (end - start) : 0);
    jvm_number_t *number;
    uint64_t n;

    if (end == NULL) {
        return refuse_json(j);
    }

    r->p = end;

    if (f->type == A_BOOL) {
        bool is_true = sym_str_eq(value, SYM_STR("true"));

        if (!is_true && !sym_str_eq(value, SYM_STR("false"))) {
            return refuse_type(j, place, f->name, start, "a boolean");
        }

        *((uint8_t *) object + f->value) =
            (uint8_t) (is_true ? JVM_TRUE : JVM_FALSE);
        return SYM_OK;
    }

    if (!sym_dec_read(value, &n)) {
        return refuse_type(j, place, f->name, start,
                           f->most == UINT32_MAX ? "u32" : "usize");
    }

    if (n > f->most) {
        return refuse(j, place, "invalid value: integer, expected u32");
    }

    number = (jvm_number_t *) (void *) ((char *) object + f->value);
    *number = (jvm_number_t){ true, n };
    return SYM_OK;
}


static sym_status_t
read_field(jvm_t *j, const field_t *f, void *object, const char *place)
{
    reader_t *r = j->reader;

    if (f->takes_null && r->end - r->p >= 4 && memcmp(r->p, "null", 4) == 0) {
        r->p += 4;
        return SYM_OK;
    }

    switch (f->type) {
    case A_TEXT:
        return read_text(j, f, object, place);
    case A_LIST:
        return read_strings(j, f, object, place);
    default:
        return read_scalar(j, f, object, place);
    }
}


/* Moves to the next element of the list or object, or to its end: *has says
 * which. */
static sym_status_t
next_element(jvm_t *j, char close, bool *is_begun, bool *has)
{
    reader_t *r = j->reader;

    r->p = sym_raw_space(r->p, r->end);

    if (r->p < r->end && *r->p == close) {
        r->p++;
        *has = false;
        return SYM_OK;
    }

    if (*is_begun) {
        if (r->p >= r->end || *r->p != ',') {
            return refuse_json(j);
        }
        r->p = sym_raw_space(r->p + 1, r->end);
    }

    *is_begun = true;
    *has = true;
    return r->p < r->end && *r->p != close ? SYM_OK : refuse_json(j);
}


/* A key and its colon. */
static sym_status_t
read_key(jvm_t *j, sym_str_t *key)
{
    reader_t *r = j->reader;
    sym_raw_string_t string;

    if (*r->p != '"') {
        return refuse_json(j);
    }

    r->p = sym_raw_string(r->p, r->end, &string);
    if (r->p == NULL) {
        return refuse_json(j);
    }

    *key = sym_raw_decode(j->base.arena, &string);
    if (key->data == NULL) {
        return SYM_NOMEM;
    }

    r->p = sym_raw_space(r->p, r->end);
    if (r->p >= r->end || *r->p != ':') {
        return refuse_json(j);
    }

    r->p = sym_raw_space(r->p + 1, r->end);
    return r->p < r->end ? SYM_OK : refuse_json(j);
}


static sym_status_t
skip_value(jvm_t *j)
{
    reader_t *r = j->reader;

    r->p = sym_raw_value(r->p, r->end);
    return r->p != NULL ? SYM_OK : refuse_json(j);
}


static sym_status_t
refuse_twice(jvm_t *j, const char *place, sym_str_t key)
{
    char what[PLACE_MAX * 2];

    (void) snprintf(what, sizeof(what), "duplicate field `%.*s`",
                    (int) (key.len < PLACE_MAX ? key.len : PLACE_MAX),
                    key.data);
    return refuse(j, place, what);
}


static sym_status_t
refuse_absent(jvm_t *j, const char *place, const char *key)
{
    char what[PLACE_MAX];

    (void) snprintf(what, sizeof(what), "missing field `%s`", key);
    return refuse(j, place, what);
}


/* An object with these keys; others are skipped. */
static sym_status_t
read_object(jvm_t *j, const field_t *fields, size_t n, void *object,
            const char *place)
{
    reader_t *r = j->reader;
    bool is_begun = false, has = true;
    unsigned seen = 0;
    sym_status_t rc;

    if (r->p >= r->end || *r->p != '{') {
        return refuse_type(j, place, SYM_STR(""), r->p, "an object");
    }

    r->p++;

    while ((rc = next_element(j, '}', &is_begun, &has)) == SYM_OK && has) {
        sym_str_t key;
        size_t i = 0;

        rc = read_key(j, &key);
        if (rc != SYM_OK) {
            return rc;
        }

        while (i < n && !sym_str_eq(fields[i].name, key)) {
            i++;
        }

        if (i == n) {
            rc = skip_value(j);
        } else if ((seen & 1u << i) != 0) {
            rc = refuse_twice(j, place, key);
        } else {
            rc = read_field(j, &fields[i], object, place);
            seen |= 1u << i;
        }

        if (rc != SYM_OK) {
            return rc;
        }
    }

    for (size_t i = 0; rc == SYM_OK && i < n; i++) {
        if (fields[i].is_required && (seen & 1u << i) == 0) {
            return refuse_absent(j, place, fields[i].name.data);
        }
    }

    return rc;
}


/* --- elements of lists --- */

#define TEXT(key, member)                                                      \
    {                                                                          \
        .name = { key, sizeof(key) - 1 }, .type = A_TEXT, .is_required = true, \
        .text = offsetof(jvm_frame_t, member), .json = NONE                    \
    }

#define OPTIONAL_JSON(key, member)                                             \
    {                                                                          \
        .name = { key, sizeof(key) - 1 }, .type = A_TEXT, .takes_null = true,  \
        .text = NONE, .json = offsetof(jvm_frame_t, member)                    \
    }

#define OPTIONAL_TEXT(key, member)                                             \
    {                                                                          \
        .name = { key, sizeof(key) - 1 }, .type = A_TEXT, .takes_null = true,  \
        .text = offsetof(jvm_frame_t, member),                                 \
        .json = offsetof(jvm_frame_t, member##_json)                           \
    }

#define LIST(key, member)                                                      \
    {                                                                          \
        .name = { key, sizeof(key) - 1 }, .type = A_LIST,                      \
        .json = offsetof(jvm_frame_t, member)                                  \
    }

static const field_t frame_fields[] = {
    TEXT("function", function),
    TEXT("module", module),
    { .name = { "index", 5 },
      .type = A_NUMBER,
      .is_required = true,
      .value = offsetof(jvm_frame_t, index),
      .most = UINT64_MAX },
    { .name = { "lineno", 6 },
      .type = A_NUMBER,
      .takes_null = true,
      .value = offsetof(jvm_frame_t, lineno),
      .most = UINT32_MAX },
    OPTIONAL_JSON("filename", filename_json),
    OPTIONAL_TEXT("abs_path", abs_path),
    { .name = { "in_app", 6 },
      .type = A_BOOL,
      .takes_null = true,
      .value = offsetof(jvm_frame_t, in_app) },
    OPTIONAL_TEXT("signature", signature),
    OPTIONAL_JSON("platform", platform_json),
    OPTIONAL_JSON("context_line", context_line_json),
    LIST("pre_context", pre_context_json),
    LIST("post_context", post_context_json),
    { .name = { "method_synthesized", 18 },
      .type = A_BOOL,
      .value = offsetof(jvm_frame_t, is_synthesized) },
};

static const field_t exception_fields[] = {
    { .name = { "type", 4 },
      .type = A_TEXT,
      .is_required = true,
      .text = offsetof(jvm_exception_t, type),
      .json = NONE },
    { .name = { "module", 6 },
      .type = A_TEXT,
      .is_required = true,
      .text = offsetof(jvm_exception_t, module),
      .json = NONE },
};

typedef struct {
    sym_str_t uuid, type;
} module_texts_t;

static const field_t module_fields[] = {
    { .name = { "uuid", 4 },
      .type = A_TEXT,
      .is_required = true,
      .text = offsetof(module_texts_t, uuid),
      .json = NONE },
    { .name = { "type", 4 },
      .type = A_TEXT,
      .is_required = true,
      .text = offsetof(module_texts_t, type),
      .json = NONE },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static sym_status_t
read_frame(jvm_t *j)
{
    jvm_request_t *q = &j->request;
    jvm_stack_t *stacks = q->stacks.items;
    jvm_stack_t *stack = &stacks[q->stacks.n - 1];
    uint32_t limit = j->base.options->limits.frames;
    char place[PLACE_MAX];
    jvm_frame_t *frame;

    if (limit != 0 && q->n_frames >= limit) {
        return refuse_limit(j, "frames", limit);
    }

    if (q->n_frames == q->n_blocks * JVM_FRAMES) {
        jvm_list_t list = { q->blocks, q->n_blocks, q->max_blocks };
        jvm_frame_t **block = jvm_add(j->base.arena, &list, sizeof(*q->blocks));
        size_t n = j->base.body.len / sizeof("{\"function\":\"\"}") + 1;

        n = n < JVM_FRAMES ? n : JVM_FRAMES;
        if (block == NULL
            || (*block = sym_arena_alloc(j->base.arena, n * sizeof(**block)))
                   == NULL)
        {
            return SYM_NOMEM;
        }

        q->blocks = list.items;
        q->n_blocks = list.n;
        q->max_blocks = list.max;
    }

    frame = jvm_frame(q, q->n_frames++);
    *frame = (jvm_frame_t){ .in_app = JVM_ABSENT };
    (void) snprintf(place, sizeof(place), "stacktraces[%u].frames[%u]",
                    q->stacks.n - 1, stack->n++);
    return read_object(j, frame_fields, COUNT(frame_fields), frame, place);
}


static sym_status_t
read_exception(jvm_t *j)
{
    uint32_t limit = j->base.options->limits.frames;
    char place[PLACE_MAX];
    jvm_exception_t *e =
        jvm_add(j->base.arena, &j->request.exceptions, sizeof(*e));

    if (e == NULL) {
        return SYM_NOMEM;
    }

    if (limit != 0 && j->request.exceptions.n > limit) {
        return refuse_limit(j, "exceptions", limit);
    }

    (void) snprintf(place, sizeof(place), "exceptions[%u]",
                    j->request.exceptions.n - 1);
    return read_object(j, exception_fields, COUNT(exception_fields), e, place);
}


static sym_status_t
read_class(jvm_t *j)
{
    static const field_t field = {
        .name = { "classes", 7 }, .type = A_TEXT, .text = 0, .json = NONE
    };
    uint32_t limit = j->base.options->limits.frames;
    sym_str_t *class =
        jvm_add(j->base.arena, &j->request.classes, sizeof(*class));

    if (class == NULL) {
        return SYM_NOMEM;
    }

    return limit != 0 && j->request.classes.n > limit
               ? refuse_limit(j, "classes", limit)
               : read_text(j, &field, class, "");
}


static sym_status_t
read_module(jvm_t *j)
{
    uint32_t limit = j->base.options->limits.modules;
    char place[PLACE_MAX], text[PLACE_MAX];
    module_texts_t texts = { { NULL, 0 }, { NULL, 0 } };
    jvm_module_t *m = jvm_add(j->base.arena, &j->request.modules, sizeof(*m));
    sym_status_t rc;

    if (m == NULL) {
        return SYM_NOMEM;
    }

    if (limit != 0 && j->request.modules.n > limit) {
        return refuse_limit(j, "modules", limit);
    }

    (void) snprintf(place, sizeof(place), "modules[%u]",
                    j->request.modules.n - 1);
    rc = read_object(j, module_fields, COUNT(module_fields), &texts, place);
    if (rc != SYM_OK) {
        return rc;
    }

    m->is_source = sym_str_eq(texts.type, SYM_STR("source"));
    if (!m->is_source && !sym_str_eq(texts.type, SYM_STR("proguard"))) {
        (void) snprintf(text, sizeof(text),
                        "type: unknown variant, expected `source` or "
                        "`proguard`");
        return refuse(j, place, text);
    }

    if (!sym_debug_id_read_sentry(texts.uuid, &m->ref.debug_id)) {
        return refuse(j, place, "uuid: invalid debug identifier");
    }

    m->uuid_len = sym_debug_id_write_sentry(&m->ref.debug_id, m->uuid);
    return SYM_OK;
}


/* --- the request --- */

static sym_status_t
read_sources(jvm_t *j)
{
    reader_t *r = j->reader;
    const sym_request_source_realm_t realm = { j->scope,
                                               j->base.options->source_policy };
    const char *start = r->p;
    sym_request_sources_t *sources =
        sym_arena_alloc(j->base.arena, sizeof(*sources));
    sym_error_t err = { 0 };
    sym_str_t message;
    sym_json_t json;
    sym_status_t rc;

    if (*start != '[') {
        return refuse_type(j, "sources", SYM_STR(""), start, "a sequence");
    }

    rc = sources != NULL ? skip_value(j) : SYM_NOMEM;
    if (rc != SYM_OK) {
        return rc;
    }

    rc = sym_json_load_charged(&json, j->base.arena->account,
                               sym_str(start, (size_t) (r->p - start)),
                               JSON_ALLOW_NUL, "not JSON", &err);

    if (rc == SYM_OK) {
        rc = sym_request_sources_read(j->base.arena, json.root, &realm, sources,
                                      &message);
        if (rc == SYM_MALFORMED || rc == SYM_LIMIT) {
            j->base.refused_as = HTTP_UNPROCESSABLE;
            rc = sym_request_refuse(&j->base, SYM_MALFORMED, REFUSED "%.*s",
                                    (int) message.len, message.data);
        }
    } else if (rc != SYM_NOMEM) {
        rc = refuse(j, "sources", "not JSON, or too large");
    }

    sym_json_drop(&json);
    j->base.request_sources = sources;
    return rc;
}


typedef struct {
    uint8_t applies_context; /* jvm_bool_t */
    sym_str_t order;
} options_t;

static sym_status_t
read_options(jvm_t *j)
{
    static const field_t fields[] = {
        { .name = { "apply_source_context", 20 },
          .type = A_BOOL,
          .value = offsetof(options_t, applies_context) },
        { .name = { "frame_order", 11 },
          .type = A_TEXT,
          .text = offsetof(options_t, order),
          .json = NONE },
    };
    options_t options = { .applies_context = JVM_ABSENT };
    sym_status_t rc =
        read_object(j, fields, COUNT(fields), &options, "options");

    if (rc != SYM_OK) {
        return rc;
    }

    j->request.has_context = options.applies_context != JVM_FALSE;
    j->request.is_callee_first =
        sym_str_eq(options.order, SYM_STR("callee_first"));

    return j->request.is_callee_first || options.order.data == NULL
                   || sym_str_eq(options.order, SYM_STR("caller_first"))
               ? SYM_OK
               : refuse(j, "options.frame_order",
                        "unknown variant, expected `callee_first` or "
                        "`caller_first`");
}


/* Enters the list of a key. */
static sym_status_t
enter(jvm_t *j, const char *key, at_t at)
{
    reader_t *r = j->reader;

    if (*r->p != '[') {
        return refuse_type(j, key, SYM_STR(""), r->p, "a sequence");
    }

    r->p++;
    r->at = at;
    r->is_begun = false;
    return SYM_OK;
}


static sym_status_t
read_optional_text(jvm_t *j, const char *key, sym_str_t *text)
{
    const field_t field = { .name = sym_cstr(key),
                            .type = A_TEXT,
                            .takes_null = true,
                            .text = 0,
                            .json = NONE };

    return read_field(j, &field, text, "");
}


/* The value of a key of the request, or the beginning of its list. */
static sym_status_t
read_part(jvm_t *j, unsigned key)
{
    sym_str_t platform;

    switch (key) {
    case KEY_PLATFORM:
        return read_optional_text(j, "platform", &platform);
    case KEY_SOURCES:
        return read_sources(j);
    case KEY_STACKS:
        return enter(j, "stacktraces", AT_STACKS);
    case KEY_EXCEPTIONS:
        return enter(j, "exceptions", AT_EXCEPTIONS);
    case KEY_MODULES:
        return enter(j, "modules", AT_MODULES);
    case KEY_CLASSES:
        return enter(j, "classes", AT_CLASSES);
    case KEY_RELEASE_PACKAGE:
        return read_optional_text(j, "release_package",
                                  &j->request.release_package);
    case KEY_OPTIONS:
        return read_options(j);
    default:
        return skip_value(j);
    }
}


static sym_status_t
end_request(jvm_t *j)
{
    reader_t *r = j->reader;

    r->at = AT_END;
    return sym_raw_space(r->p, r->end) == r->end ? SYM_OK : refuse_json(j);
}


static sym_status_t
read_request(jvm_t *j)
{
    static const char *const keys[KEYS] = { "platform",        "sources",
                                            "stacktraces",     "exceptions",
                                            "modules",         "classes",
                                            "release_package", "options" };
    reader_t *r = j->reader;
    bool has, is_begun = r->seen != 0;
    unsigned key = 0;
    sym_str_t name;
    sym_status_t rc = next_element(j, '}', &is_begun, &has);

    if (rc != SYM_OK || !has) {
        return rc == SYM_OK ? end_request(j) : rc;
    }

    rc = read_key(j, &name);
    if (rc != SYM_OK) {
        return rc;
    }

    while (key < KEYS && !sym_str_eq(name, sym_cstr(keys[key]))) {
        key++;
    }

    if (key < KEYS && (r->seen & 1u << key) != 0) {
        return refuse_twice(j, "", name);
    }

    r->seen |= 1u << key;
    return read_part(j, key);
}


/* A key of a stack. */
static sym_status_t
read_stack(jvm_t *j)
{
    reader_t *r = j->reader;
    jvm_stack_t *stacks = j->request.stacks.items;
    jvm_stack_t *stack = &stacks[j->request.stacks.n - 1];
    char place[PLACE_MAX];
    bool has, is_begun = r->stack != 0;
    sym_str_t key;
    unsigned bit;
    sym_status_t rc = next_element(j, '}', &is_begun, &has);

    (void) snprintf(place, sizeof(place), "stacktraces[%u]",
                    j->request.stacks.n - 1);

    if (rc != SYM_OK) {
        return rc;
    }

    if (!has) {
        r->at = AT_STACKS;
        r->is_begun = true;
        return (r->stack & 1u << KEY_FRAMES) != 0
                   ? SYM_OK
                   : refuse_absent(j, place, "frames");
    }

    rc = read_key(j, &key);
    if (rc != SYM_OK) {
        return rc;
    }

    bit = sym_str_eq(key, SYM_STR("exception")) ? 1u << KEY_EXCEPTION
          : sym_str_eq(key, SYM_STR("frames"))  ? 1u << KEY_FRAMES
                                                : 1u << 31;

    if (bit != 1u << 31 && (r->stack & bit) != 0) {
        return refuse_twice(j, place, key);
    }

    r->stack |= bit;

    if (bit == 1u << KEY_FRAMES) {
        stack->first = j->request.n_frames;
        return enter(j, place, AT_FRAMES);
    }

    if (bit != 1u << KEY_EXCEPTION
        || (r->end - r->p >= 4 && memcmp(r->p, "null", 4) == 0))
    {
        return skip_value(j);
    }

    (void) snprintf(place, sizeof(place), "stacktraces[%u].exception",
                    j->request.stacks.n - 1);
    return read_object(j, exception_fields, COUNT(exception_fields),
                       &stack->exception, place);
}


static sym_status_t
begin_stack(jvm_t *j)
{
    uint32_t limit = j->base.options->limits.stacks;
    reader_t *r = j->reader;

    if (jvm_add(j->base.arena, &j->request.stacks, sizeof(jvm_stack_t)) == NULL)
    {
        return SYM_NOMEM;
    }

    if (limit != 0 && j->request.stacks.n > limit) {
        return refuse_limit(j, "stacks", limit);
    }

    if (*r->p != '{') {
        return refuse_type(j, "stacktraces", SYM_STR(""), r->p, "an object");
    }

    r->p++;
    r->at = AT_STACK;
    r->stack = 0;
    return SYM_OK;
}


/* An element of the list under way. */
static sym_status_t
read_element(jvm_t *j)
{
    reader_t *r = j->reader;
    at_t at = r->at;
    bool has;
    sym_status_t rc = next_element(j, ']', &r->is_begun, &has);

    if (rc != SYM_OK) {
        return rc;
    }

    if (!has) {
        r->at = at == AT_FRAMES ? AT_STACK : AT_REQUEST;
        return SYM_OK;
    }

    switch (at) {
    case AT_STACKS:
        return begin_stack(j);
    case AT_FRAMES:
        return read_frame(j);
    case AT_EXCEPTIONS:
        return read_exception(j);
    case AT_CLASSES:
        return read_class(j);
    default:
        return read_module(j);
    }
}


static sym_status_t
begin(jvm_t *j)
{
    reader_t *r = sym_arena_calloc(j->base.arena, 1, sizeof(*r));

    if (r == NULL) {
        return SYM_NOMEM;
    }

    j->reader = r;
    j->request.has_context = true;
    r->end = j->base.body.data + j->base.body.len;
    r->p = sym_raw_space(j->base.body.data, r->end);

    if (r->p >= r->end || *r->p != '{') {
        return refuse_json(j);
    }

    r->p++;
    return SYM_OK;
}


sym_status_t
jvm_read(jvm_t *j, uint32_t budget)
{
    sym_status_t rc = j->reader == NULL ? begin(j) : SYM_OK;

    for (; rc == SYM_OK && j->reader->at != AT_END; budget--) {
        if (budget == 0) {
            return SYM_AGAIN;
        }

        rc = j->reader->at == AT_REQUEST ? read_request(j)
             : j->reader->at == AT_STACK ? read_stack(j)
                                         : read_element(j);
    }

    return rc;
}
