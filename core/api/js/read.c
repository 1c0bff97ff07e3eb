/* Reads a request (api/fields.h). */
#include "api/js/js.h"

#include <stdio.h>

#define PLACE_MAX SYM_FIELDS_PLACE_MAX
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

typedef enum {
    AT_REQUEST,
    AT_STACKS,
    AT_STACK,
    AT_FRAMES,
    AT_MODULES,
    AT_END
} at_t;

struct js_reader_s {
    sym_fields_t in;
    at_t at;
    bool is_begun;  /* the current list or object has an element */
    unsigned seen;  /* keys of the request seen so far */
    unsigned stack; /* keys of the stack seen so far */
    bool has_frames;
    sym_request_sources_t *sources;
    bool allows_scraping;
};

typedef struct js_reader_s reader_t;

/* Keys of the request, a bit for each. */
enum {
    KEY_PLATFORM,
    KEY_SOURCE,
    KEY_STACKS,
    KEY_MODULES,
    KEY_RELEASE,
    KEY_DIST,
    KEY_SCRAPING,
    KEY_ALLOW_SCRAPING,
    KEY_OPTIONS,
    KEYS
};

#define OPTIONAL_TEXT(key, member)                                             \
    SYM_FIELD_OPTIONAL_TEXT(key, js_frame_t, member)
#define OPTIONAL_JSON(key, member)                                             \
    SYM_FIELD_OPTIONAL_JSON(key, js_frame_t, member)
#define LIST(key, member) SYM_FIELD_STRINGS(key, js_frame_t, member)

static const sym_field_t frame_fields[] = {
    SYM_FIELD_REQUIRED_TEXT("abs_path", js_frame_t, abs_path),
    { .name = { "lineno", 6 },
      .type = SYM_FIELD_NUMBER,
      .is_required = true,
      .value = offsetof(js_frame_t, lineno),
      .most = UINT32_MAX },
    { .name = { "colno", 5 },
      .type = SYM_FIELD_NUMBER,
      .takes_null = true,
      .value = offsetof(js_frame_t, colno),
      .most = UINT32_MAX },
    OPTIONAL_TEXT("function", function),
    OPTIONAL_TEXT("module", module),
    OPTIONAL_JSON("filename", filename_json),
    OPTIONAL_JSON("platform", platform_json),
    OPTIONAL_JSON("context_line", context_line_json),
    LIST("pre_context", pre_context_json),
    LIST("post_context", post_context_json),
    { .name = { "data", 4 },
      .type = SYM_FIELD_VALUE,
      .json = offsetof(js_frame_t, data_json) },
};

static const sym_field_t data_fields[] = {
    SYM_FIELD_OPTIONAL_JSON("sourcemap", js_data_t, sourcemap),
    SYM_FIELD_OPTIONAL_JSON("resolved_with", js_data_t, resolved_with),
    { .name = { "sourcemap_origin", 16 },
      .type = SYM_FIELD_VALUE,
      .takes_null = true,
      .json = offsetof(js_data_t, origin) },
    { .name = { "symbolicated", 12 },
      .type = SYM_FIELD_BOOL,
      .value = offsetof(js_data_t, symbolicated) },
};

typedef struct {
    sym_str_t type, code_file, code_file_json, debug_id, debug_id_json;
} module_texts_t;

static const sym_field_t module_fields[] = {
    SYM_FIELD_REQUIRED_TEXT("type", module_texts_t, type),
    SYM_FIELD_OPTIONAL_TEXT("code_file", module_texts_t, code_file),
    SYM_FIELD_OPTIONAL_TEXT("debug_id", module_texts_t, debug_id),
};


/* --- elements of lists --- */

static sym_status_t
read_data(js_t *j, js_frame_t *frame, const char *place)
{
    sym_fields_t in = { .request = &j->base };

    if (frame->data_json.data == NULL) {
        return SYM_OK;
    }

    in.p = frame->data_json.data;
    in.end = in.p + frame->data_json.len;
    return sym_fields_object(&in, data_fields, COUNT(data_fields), &frame->data,
                             place);
}


static sym_status_t
read_frame(js_t *j)
{
    const sym_str_t async = SYM_STR("async ");
    js_request_t *q = &j->request;
    js_stack_t *stacks = q->stacks.items;
    js_stack_t *stack = &stacks[q->stacks.n - 1];
    uint32_t limit = j->base.options->limits.frames;
    char place[PLACE_MAX];
    js_frame_t *frame;
    sym_status_t rc;

    if (limit != 0 && q->frames.n >= limit) {
        return sym_fields_refuse_limit(&j->reader->in, "frames", limit);
    }

    frame =
        sym_blocks_add(j->base.arena, &q->frames, sizeof(*frame),
                       j->base.body.len / sizeof("{\"abs_path\":\"\"}") + 1);
    if (frame == NULL) {
        return SYM_NOMEM;
    }

    (void) snprintf(place, sizeof(place), "stacktraces[%u].frames[%u]",
                    q->stacks.n - 1, stack->n++);
    rc = sym_fields_object(&j->reader->in, frame_fields, COUNT(frame_fields),
                           frame, place);

    /* early SDKs sent the debug id there */
    if (sym_str_starts(frame->abs_path, async)) {
        frame->abs_path = sym_str(frame->abs_path.data + async.len,
                                  frame->abs_path.len - async.len);
    }

    return rc == SYM_OK ? read_data(j, frame, place) : rc;
}


static sym_status_t
read_module(js_t *j)
{
    uint32_t limit = j->base.options->limits.modules;
    char place[PLACE_MAX];
    module_texts_t texts = { .type = { NULL, 0 } };
    js_module_t *m =
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

    if (!sym_str_eq(texts.type, SYM_STR("sourcemap"))) {
        return sym_fields_refuse(&j->reader->in, place,
                                 "type: unknown variant, expected `sourcemap`");
    }

    m->code_file = texts.code_file;
    (void) sym_debug_id_read_sentry(texts.debug_id, &m->debug_id);
    return SYM_OK;
}


/* --- the request --- */

static sym_request_source_realm_t
realm_of(const js_t *j)
{
    return (sym_request_source_realm_t){ j->scope,
                                         j->base.options->source_policy };
}


static sym_status_t
read_source(js_t *j)
{
    reader_t *r = j->reader;
    const sym_request_source_realm_t realm = realm_of(j);
    sym_str_t message;
    sym_json_t json = { .root = NULL };
    sym_status_t rc = sym_fields_tree(&r->in, "source", &json);

    if (rc == SYM_OK) {
        rc = sym_request_sources_add_artifacts(j->base.arena, json.root, &realm,
                                               r->sources, &message);
        if (rc == SYM_MALFORMED || rc == SYM_LIMIT) {
            rc = sym_fields_refuse_as(&r->in, message);
        }
    }

    sym_json_drop(&json);
    return rc;
}


static sym_status_t
read_origins(js_t *j, const json_t *list)
{
    js_request_t *q = &j->request;
    size_t n = json_array_size(list);

    n = n < SYM_REQUEST_SOURCE_PATTERNS_MAX ? n
                                            : SYM_REQUEST_SOURCE_PATTERNS_MAX;
    q->origins = sym_arena_calloc(j->base.arena, n + 1, sizeof(*q->origins));
    if (q->origins == NULL) {
        return SYM_NOMEM;
    }

    for (size_t i = 0; i < n; i++) {
        const json_t *text = json_array_get(list, i);
        sym_str_t *origin = &q->origins[q->n_origins];

        if (!json_is_string(text)
            || json_string_length(text) > SYM_REQUEST_SOURCE_PATTERN_MAX)
        {
            continue;
        }

        *origin =
            sym_arena_copy(j->base.arena, sym_str(json_string_value(text),
                                                  json_string_length(text)));
        if (origin->data == NULL) {
            return SYM_NOMEM;
        }
        q->n_origins++;
    }

    return SYM_OK;
}


static sym_status_t
check_scraping(js_t *j, const json_t *root)
{
    sym_fields_t *in = &j->reader->in;

    if (!json_is_object(root)) {
        return sym_fields_refuse(in, "scraping", "not an object");
    }

    if (!json_is_boolean(json_object_get(root, "enabled"))) {
        return sym_fields_refuse_absent(in, "scraping", "enabled");
    }

    if (!json_is_array(json_object_get(root, "allowed_origins"))) {
        return sym_fields_refuse_absent(in, "scraping", "allowed_origins");
    }

    return json_is_object(json_object_get(root, "headers"))
               ? SYM_OK
               : sym_fields_refuse_absent(in, "scraping", "headers");
}


/* Without the key, all origins are allowed. */
static sym_status_t
read_scraping(js_t *j, bool is_given)
{
    static sym_str_t all[] = { { "*", 1 } };
    reader_t *r = j->reader;
    const sym_request_source_realm_t realm = realm_of(j);
    sym_json_t json = { .root = NULL };
    sym_status_t rc = SYM_OK;

    if (is_given) {
        rc = sym_fields_tree(&r->in, "scraping", &json);
        rc = rc == SYM_OK ? check_scraping(j, json.root) : rc;
        rc =
            rc == SYM_OK
                ? read_origins(j, json_object_get(json.root, "allowed_origins"))
                : rc;
        j->request.may_scrape =
            json_is_true(json_object_get(json.root, "enabled"));
    } else {
        j->request.origins = all;
        j->request.n_origins = 1;
        j->request.may_scrape = true;
    }

    rc = rc == SYM_OK ? sym_request_sources_add_links(j->base.arena, json.root,
                                                      &realm, r->sources)
                      : rc;
    sym_json_drop(&json);
    return rc;
}


/* Enters the list that is the value of a key. */
static sym_status_t
enter(js_t *j, const char *key, at_t at)
{
    reader_t *r = j->reader;

    r->at = at;
    r->is_begun = false;
    return sym_fields_enter(&r->in, key);
}


static sym_status_t
read_allow(js_t *j)
{
    static const sym_field_t field = { .name = { "allow_scraping", 14 },
                                       .type = SYM_FIELD_BOOL,
                                       .value = 0 };
    uint8_t value = SYM_FIELD_ABSENT;
    sym_status_t rc = sym_fields_value(&j->reader->in, &field, &value, "");

    j->reader->allows_scraping = value != SYM_FIELD_FALSE;
    return rc;
}


/* Reads the value of a key of the request, or the beginning of its list. */
static sym_status_t
read_part(js_t *j, unsigned key)
{
    sym_fields_t *in = &j->reader->in;
    sym_str_t platform;

    switch (key) {
    case KEY_PLATFORM:
        return sym_fields_text(&j->reader->in, "platform", &platform);
    case KEY_SOURCE:
        return read_source(j);
    case KEY_STACKS:
        return enter(j, "stacktraces", AT_STACKS);
    case KEY_MODULES:
        return enter(j, "modules", AT_MODULES);
    case KEY_RELEASE:
        return sym_fields_text(&j->reader->in, "release", &j->request.release);
    case KEY_DIST:
        return sym_fields_text(&j->reader->in, "dist", &j->request.dist);
    case KEY_SCRAPING:
        if (in->end - in->p >= 4 && memcmp(in->p, "null", 4) == 0) {
            in->p += 4;
            j->reader->seen &= ~(1u << KEY_SCRAPING);
            return SYM_OK;
        }
        return read_scraping(j, true);
    case KEY_ALLOW_SCRAPING:
        return read_allow(j);
    case KEY_OPTIONS:
        return sym_fields_options(&j->reader->in, &j->request.options);
    default:
        return sym_fields_skip(in);
    }
}


static sym_status_t
end_request(js_t *j)
{
    reader_t *r = j->reader;
    sym_status_t rc;

    r->at = AT_END;
    rc = sym_fields_finish(&r->in);
    if (rc != SYM_OK) {
        return rc;
    }

    j->request.is_own = (r->seen & 1u << KEY_SOURCE) == 0;
    if (j->request.is_own) {
        return SYM_OK;
    }

    if ((r->seen & 1u << KEY_SCRAPING) == 0
        && read_scraping(j, false) != SYM_OK) {
        return SYM_NOMEM;
    }

    j->request.may_scrape = j->request.may_scrape && r->allows_scraping;
    j->base.request_sources = r->sources;
    return SYM_OK;
}


static sym_status_t
read_request(js_t *j)
{
    static const char *const keys[KEYS] = {
        "platform", "source",   "stacktraces",    "modules", "release",
        "dist",     "scraping", "allow_scraping", "options"
    };
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
read_stack(js_t *j)
{
    reader_t *r = j->reader;
    js_stack_t *stacks = j->request.stacks.items;
    js_stack_t *stack = &stacks[j->request.stacks.n - 1];
    char place[PLACE_MAX];
    bool has, is_begun = r->stack != 0;
    sym_str_t key;
    sym_status_t rc = sym_fields_next(&r->in, '}', &is_begun, &has);

    (void) snprintf(place, sizeof(place), "stacktraces[%u]",
                    j->request.stacks.n - 1);

    if (rc != SYM_OK) {
        return rc;
    }

    if (!has) {
        r->at = AT_STACKS;
        r->is_begun = true;
        return r->has_frames
                   ? SYM_OK
                   : sym_fields_refuse_absent(&r->in, place, "frames");
    }

    r->stack = 1;
    rc = sym_fields_key(&r->in, &key);
    if (rc != SYM_OK) {
        return rc;
    }

    if (!sym_str_eq(key, SYM_STR("frames"))) {
        return sym_fields_skip(&r->in);
    }

    if (r->has_frames) {
        return sym_fields_refuse_twice(&r->in, place, key);
    }

    r->has_frames = true;
    stack->first = j->request.frames.n;
    return enter(j, place, AT_FRAMES);
}


static sym_status_t
begin_stack(js_t *j)
{
    uint32_t limit = j->base.options->limits.stacks;
    reader_t *r = j->reader;

    if (sym_list_add(j->base.arena, &j->request.stacks, sizeof(js_stack_t))
        == NULL) {
        return SYM_NOMEM;
    }

    if (limit != 0 && j->request.stacks.n > limit) {
        return sym_fields_refuse_limit(&r->in, "stacks", limit);
    }

    if (*r->in.p != '{') {
        return sym_fields_refuse_type(&r->in, "stacktraces", SYM_STR(""),
                                      r->in.p, "an object");
    }

    r->in.p++;
    r->at = AT_STACK;
    r->stack = 0;
    r->has_frames = false;
    return SYM_OK;
}


/* Reads an element of the current list. */
static sym_status_t
read_element(js_t *j)
{
    reader_t *r = j->reader;
    at_t at = r->at;
    bool has;
    sym_status_t rc = sym_fields_next(&r->in, ']', &r->is_begun, &has);

    if (rc != SYM_OK) {
        return rc;
    }

    if (!has) {
        r->at = at == AT_FRAMES ? AT_STACK : AT_REQUEST;
        r->is_begun = true;
        return SYM_OK;
    }

    return at == AT_STACKS   ? begin_stack(j)
           : at == AT_FRAMES ? read_frame(j)
                             : read_module(j);
}


static sym_status_t
begin(js_t *j)
{
    reader_t *r = sym_arena_calloc(j->base.arena, 1, sizeof(*r));

    if (r == NULL
        || (r->sources =
                sym_arena_calloc(j->base.arena, 1, sizeof(*r->sources)))
               == NULL)
    {
        return SYM_NOMEM;
    }

    j->reader = r;
    j->request.options.has_context = true;
    r->allows_scraping = true;
    return sym_fields_begin(&r->in, &j->base);
}


sym_status_t
js_read(js_t *j, uint32_t budget)
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
