/* Reads a request (api/fields.h). */
#include "api/jvm/jvm.h"

#include <stdio.h>

#define PLACE_MAX SYM_FIELDS_PLACE_MAX

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
    sym_fields_t in;
    at_t at;
    bool is_begun;  /* the current list or object has an element */
    unsigned seen;  /* keys of the request seen so far */
    unsigned stack; /* keys of the stack seen so far */
};

typedef struct jvm_reader_s reader_t;

/* Keys of the request and of a stack, a bit for each. */
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

/* --- elements of lists --- */

#define TEXT(key, member) SYM_FIELD_REQUIRED_TEXT(key, jvm_frame_t, member)
#define OPTIONAL_JSON(key, member)                                             \
    SYM_FIELD_OPTIONAL_JSON(key, jvm_frame_t, member)
#define OPTIONAL_TEXT(key, member)                                             \
    SYM_FIELD_OPTIONAL_TEXT(key, jvm_frame_t, member)
#define LIST(key, member) SYM_FIELD_STRINGS(key, jvm_frame_t, member)

static const sym_field_t frame_fields[] = {
    TEXT("function", function),
    TEXT("module", module),
    { .name = { "index", 5 },
      .type = SYM_FIELD_NUMBER,
      .is_required = true,
      .value = offsetof(jvm_frame_t, index),
      .most = UINT64_MAX },
    { .name = { "lineno", 6 },
      .type = SYM_FIELD_NUMBER,
      .takes_null = true,
      .value = offsetof(jvm_frame_t, lineno),
      .most = UINT32_MAX },
    OPTIONAL_JSON("filename", filename_json),
    OPTIONAL_TEXT("abs_path", abs_path),
    { .name = { "in_app", 6 },
      .type = SYM_FIELD_BOOL,
      .takes_null = true,
      .value = offsetof(jvm_frame_t, in_app) },
    OPTIONAL_TEXT("signature", signature),
    OPTIONAL_JSON("platform", platform_json),
    OPTIONAL_JSON("context_line", context_line_json),
    LIST("pre_context", pre_context_json),
    LIST("post_context", post_context_json),
    { .name = { "method_synthesized", 18 },
      .type = SYM_FIELD_BOOL,
      .value = offsetof(jvm_frame_t, is_synthesized) },
};

static const sym_field_t exception_fields[] = {
    { .name = { "type", 4 },
      .type = SYM_FIELD_TEXT,
      .is_required = true,
      .text = offsetof(jvm_exception_t, type),
      .json = SYM_FIELD_NONE },
    { .name = { "module", 6 },
      .type = SYM_FIELD_TEXT,
      .is_required = true,
      .text = offsetof(jvm_exception_t, module),
      .json = SYM_FIELD_NONE },
};

typedef struct {
    sym_str_t uuid, type;
} module_texts_t;

static const sym_field_t module_fields[] = {
    { .name = { "uuid", 4 },
      .type = SYM_FIELD_TEXT,
      .is_required = true,
      .text = offsetof(module_texts_t, uuid),
      .json = SYM_FIELD_NONE },
    { .name = { "type", 4 },
      .type = SYM_FIELD_TEXT,
      .is_required = true,
      .text = offsetof(module_texts_t, type),
      .json = SYM_FIELD_NONE },
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

    if (limit != 0 && q->frames.n >= limit) {
        return sym_fields_refuse_limit(&j->reader->in, "frames", limit);
    }

    frame =
        sym_blocks_add(j->base.arena, &q->frames, sizeof(*frame),
                       j->base.body.len / sizeof("{\"function\":\"\"}") + 1);
    if (frame == NULL) {
        return SYM_NOMEM;
    }

    (void) snprintf(place, sizeof(place), "stacktraces[%u].frames[%u]",
                    q->stacks.n - 1, stack->n++);
    return sym_fields_object(&j->reader->in, frame_fields, COUNT(frame_fields),
                             frame, place);
}


static sym_status_t
read_exception(jvm_t *j)
{
    uint32_t limit = j->base.options->limits.frames;
    char place[PLACE_MAX];
    jvm_exception_t *e =
        sym_list_add(j->base.arena, &j->request.exceptions, sizeof(*e));

    if (e == NULL) {
        return SYM_NOMEM;
    }

    if (limit != 0 && j->request.exceptions.n > limit) {
        return sym_fields_refuse_limit(&j->reader->in, "exceptions", limit);
    }

    (void) snprintf(place, sizeof(place), "exceptions[%u]",
                    j->request.exceptions.n - 1);
    return sym_fields_object(&j->reader->in, exception_fields,
                             COUNT(exception_fields), e, place);
}


static sym_status_t
read_class(jvm_t *j)
{
    static const sym_field_t field = { .name = { "classes", 7 },
                                       .type = SYM_FIELD_TEXT,
                                       .text = 0,
                                       .json = SYM_FIELD_NONE };
    uint32_t limit = j->base.options->limits.frames;
    sym_str_t *class =
        sym_list_add(j->base.arena, &j->request.classes, sizeof(*class));

    if (class == NULL) {
        return SYM_NOMEM;
    }

    return limit != 0 && j->request.classes.n > limit
               ? sym_fields_refuse_limit(&j->reader->in, "classes", limit)
               : sym_fields_value(&j->reader->in, &field, class, "");
}


static sym_status_t
read_module(jvm_t *j)
{
    uint32_t limit = j->base.options->limits.modules;
    char place[PLACE_MAX], text[PLACE_MAX];
    module_texts_t texts = { { NULL, 0 }, { NULL, 0 } };
    jvm_module_t *m =
        sym_list_add(j->base.arena, &j->request.modules, sizeof(*m));
    sym_status_t rc;

    if (m == NULL) {
        return SYM_NOMEM;
    }

    if (limit != 0 && j->request.modules.n > limit) {
        return sym_fields_refuse_limit(&j->reader->in, "modules", limit);
    }

    (void) snprintf(place, sizeof(place), "modules[%u]",
                    j->request.modules.n - 1);
    rc = sym_fields_object(&j->reader->in, module_fields, COUNT(module_fields),
                           &texts, place);
    if (rc != SYM_OK) {
        return rc;
    }

    m->is_source = sym_str_eq(texts.type, SYM_STR("source"));
    if (!m->is_source && !sym_str_eq(texts.type, SYM_STR("proguard"))) {
        (void) snprintf(text, sizeof(text),
                        "type: unknown variant, expected `source` or "
                        "`proguard`");
        return sym_fields_refuse(&j->reader->in, place, text);
    }

    if (!sym_debug_id_read_sentry(texts.uuid, &m->ref.debug_id)) {
        return sym_fields_refuse(&j->reader->in, place,
                                 "uuid: invalid debug identifier");
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
    sym_request_sources_t *sources =
        sym_arena_alloc(j->base.arena, sizeof(*sources));
    sym_str_t message;
    sym_json_t json = { .root = NULL };
    sym_status_t rc;

    if (*r->in.p != '[') {
        return sym_fields_refuse_type(&r->in, "sources", SYM_STR(""), r->in.p,
                                      "a sequence");
    }

    rc =
        sources != NULL ? sym_fields_tree(&r->in, "sources", &json) : SYM_NOMEM;
    if (rc == SYM_OK) {
        rc = sym_request_sources_read(j->base.arena, json.root, &realm, sources,
                                      &message);
        if (rc == SYM_MALFORMED || rc == SYM_LIMIT) {
            rc = sym_fields_refuse_as(&r->in, message);
        }
    }

    sym_json_drop(&json);
    j->base.request_sources = sources;
    return rc;
}


/* Enters the list that is the value of a key. */
static sym_status_t
enter(jvm_t *j, const char *key, at_t at)
{
    reader_t *r = j->reader;

    r->at = at;
    r->is_begun = false;
    return sym_fields_enter(&r->in, key);
}


/* Reads the value of a key of the request, or the beginning of its list. */
static sym_status_t
read_part(jvm_t *j, unsigned key)
{
    sym_str_t platform;

    switch (key) {
    case KEY_PLATFORM:
        return sym_fields_text(&j->reader->in, "platform", &platform);
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
        return sym_fields_text(&j->reader->in, "release_package",
                               &j->request.release_package);
    case KEY_OPTIONS:
        return sym_fields_options(&j->reader->in, &j->request.options);
    default:
        return sym_fields_skip(&j->reader->in);
    }
}


static sym_status_t
end_request(jvm_t *j)
{
    reader_t *r = j->reader;

    r->at = AT_END;
    return sym_fields_finish(&r->in);
}


static sym_status_t
read_request(jvm_t *j)
{
    static const char *const keys[KEYS] = { "platform",        "sources",
                                            "stacktraces",     "exceptions",
                                            "modules",         "classes",
                                            "release_package", "options" };
    unsigned key;
    bool has;
    sym_status_t rc = sym_fields_known_key(&j->reader->in, keys, KEYS,
                                           &j->reader->seen, &key, &has);

    if (rc != SYM_OK || !has) {
        return rc == SYM_OK ? end_request(j) : rc;
    }

    return read_part(j, key);
}


/* Reads a key of a stack. */
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
    sym_status_t rc = sym_fields_next(&j->reader->in, '}', &is_begun, &has);

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
                   : sym_fields_refuse_absent(&j->reader->in, place, "frames");
    }

    rc = sym_fields_key(&j->reader->in, &key);
    if (rc != SYM_OK) {
        return rc;
    }

    bit = sym_str_eq(key, SYM_STR("exception")) ? 1u << KEY_EXCEPTION
          : sym_str_eq(key, SYM_STR("frames"))  ? 1u << KEY_FRAMES
                                                : 1u << 31;

    if (bit != 1u << 31 && (r->stack & bit) != 0) {
        return sym_fields_refuse_twice(&j->reader->in, place, key);
    }

    r->stack |= bit;

    if (bit == 1u << KEY_FRAMES) {
        stack->first = j->request.frames.n;
        return enter(j, place, AT_FRAMES);
    }

    if (bit != 1u << KEY_EXCEPTION
        || (r->in.end - r->in.p >= 4 && memcmp(r->in.p, "null", 4) == 0))
    {
        return sym_fields_skip(&j->reader->in);
    }

    (void) snprintf(place, sizeof(place), "stacktraces[%u].exception",
                    j->request.stacks.n - 1);
    return sym_fields_object(&j->reader->in, exception_fields,
                             COUNT(exception_fields), &stack->exception, place);
}


static sym_status_t
begin_stack(jvm_t *j)
{
    uint32_t limit = j->base.options->limits.stacks;
    reader_t *r = j->reader;

    if (sym_list_add(j->base.arena, &j->request.stacks, sizeof(jvm_stack_t))
        == NULL)
    {
        return SYM_NOMEM;
    }

    if (limit != 0 && j->request.stacks.n > limit) {
        return sym_fields_refuse_limit(&j->reader->in, "stacks", limit);
    }

    if (*r->in.p != '{') {
        return sym_fields_refuse_type(&j->reader->in, "stacktraces",
                                      SYM_STR(""), r->in.p, "an object");
    }

    r->in.p++;
    r->at = AT_STACK;
    r->stack = 0;
    return SYM_OK;
}


/* Reads an element of the current list. */
static sym_status_t
read_element(jvm_t *j)
{
    reader_t *r = j->reader;
    at_t at = r->at;
    bool has;
    sym_status_t rc = sym_fields_next(&j->reader->in, ']', &r->is_begun, &has);

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
    j->request.options.has_context = true;
    return sym_fields_begin(&r->in, &j->base);
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
