/*
 * The general reader: jansson parses the JSON, this file checks the request.
 * Errors are Symbolicator's, whose texts name the key and its position, but
 * without line and column.
 */
#include "api/sentry/readers.h"

#include <stdio.h>

#include "json/load.h"
#include "json/number.h"

#define HTTP_BAD_REQUEST 400
#define HTTP_UNPROCESSABLE 422
#define HTTP_TOO_LARGE 413

/* Room for a position: "stacktraces[4294967295].frames[4294967295]". */
#define PLACE_MAX 64

/* "floating point `...`" */
#define DESCRIPTION_MAX (SYM_JSON_REAL_MAX + 32)

/* --- values --- */

/* Position of the current object in the request: "modules[3]", or "". */
typedef struct {
    sentry_t *s;
    const json_t *object;
    char place[PLACE_MAX];
} reader_t;

static sym_status_t
refuse(const reader_t *r, const char *key, const char *what)
{
    const char *dot = r->place[0] != '\0' && key[0] != '\0' ? "." : "";
    const char *colon = r->place[0] != '\0' || key[0] != '\0' ? ": " : "";

    r->s->base.refused_as = HTTP_UNPROCESSABLE;
    return sym_request_refuse(&r->s->base, SYM_MALFORMED,
                              "Failed to deserialize the JSON body into the "
                              "target type: %s%s%s%s%s",
                              r->place, dot, key, colon, what);
}


/* As serde shows it, but without strings, which may be long or secret. */
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


static sym_status_t
refuse_type(const reader_t *r, const char *key, const json_t *value,
            const char *expected)
{
    char is[DESCRIPTION_MAX], what[DESCRIPTION_MAX + PLACE_MAX];

    describe(value, is);
    (void) snprintf(what, sizeof(what), "invalid type: %s, expected %s", is,
                    expected);
    return refuse(r, key, what);
}


static sym_status_t
refuse_absent(const reader_t *r, const char *key)
{
    char what[PLACE_MAX];

    (void) snprintf(what, sizeof(what), "missing field `%s`", key);
    return refuse(r, "", what);
}


static sym_str_t
string_of(const json_t *value)
{
    return sym_str(json_string_value(value), json_string_length(value));
}


/* NULL: the key is absent, or null. */
static const json_t *
value_of(const reader_t *r, const char *key)
{
    const json_t *value = json_object_get(r->object, key);

    return json_is_null(value) ? NULL : value;
}


/* Copies an optional string; data NULL: absent. */
static sym_status_t
read_string(const reader_t *r, const char *key, sym_str_t *text)
{
    const json_t *value = value_of(r, key);

    *text = sym_str(NULL, 0);
    if (value == NULL) {
        return SYM_OK;
    }

    if (!json_is_string(value)) {
        return refuse_type(r, key, value, "a string");
    }

    *text = sym_arena_copy(r->s->base.arena, string_of(value));
    return text->data != NULL ? SYM_OK : SYM_NOMEM;
}


static sym_status_t
read_bool(const reader_t *r, const char *key, const json_t *value,
          bool *is_true)
{
    if (!json_is_boolean(value)) {
        return refuse_type(r, key, value, "a boolean");
    }

    *is_true = json_is_true(value);
    return SYM_OK;
}


/* An optional boolean. */
static sym_status_t
read_option(const reader_t *r, const char *key, bool *has, bool *is_true)
{
    const json_t *value = value_of(r, key);

    *has = value != NULL;
    return value != NULL ? read_bool(r, key, value, is_true) : SYM_OK;
}


static sym_status_t
read_number(const reader_t *r, const char *key, uint64_t most, bool *has,
            uint64_t *number)
{
    const char *type = most == UINT32_MAX ? "u32" : "u64";
    const json_t *value = value_of(r, key);
    char what[PLACE_MAX * 2];

    *has = value != NULL;
    if (value == NULL) {
        return SYM_OK;
    }

    if (!json_is_integer(value)) {
        return refuse_type(r, key, value, type);
    }

    if (json_integer_value(value) < 0
        || (uint64_t) json_integer_value(value) > most)
    {
        (void) snprintf(what, sizeof(what),
                        "invalid value: integer `%lld`, expected %s",
                        (long long) json_integer_value(value), type);
        return refuse(r, key, what);
    }

    *number = (uint64_t) json_integer_value(value);
    return SYM_OK;
}


static sym_status_t
hex_of(const reader_t *r, const char *key, const json_t *value,
       uint64_t *number)
{
    const char *error;

    /* 2^64 is added to a negative one, as in Symbolicator's HexValue */
    if (json_is_integer(value)) {
        *number = (uint64_t) json_integer_value(value);
        return SYM_OK;
    }

    if (!json_is_string(value)) {
        return refuse_type(r, key, value, "a number or hex string");
    }

    error = sentry_hex(string_of(value), number);
    return error != NULL ? refuse(r, key, error) : SYM_OK;
}


/* A value as JSON text in the arena; data NULL: no memory. */
static sym_str_t
json_text(sentry_t *s, const json_t *value)
{
    const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
    size_t len = json_dumpb(value, NULL, 0, flags);
    char *text = len == 0 ? NULL : sym_arena_alloc(s->base.arena, len);

    return text == NULL || json_dumpb(value, text, len, flags) != len
               ? sym_str(NULL, 0)
               : sym_str(text, len);
}


static sym_status_t
add_json(const reader_t *r, sentry_frame_t *frame, sentry_key_t key,
         const json_t *value)
{
    sym_str_t text = json_text(r->s, value);

    return text.data != NULL && sentry_add_field(r->s, frame, key, text)
               ? SYM_OK
               : SYM_NOMEM;
}


/* --- frames --- */

static const struct {
    const char *name;
    sentry_key_t key;
} strings[] = {
    { "platform", SENTRY_PLATFORM },
    { "package", SENTRY_PACKAGE },
    { "lang", SENTRY_LANG },
    { "symbol", SENTRY_SYMBOL },
    { "function", SENTRY_FUNCTION },
    { "filename", SENTRY_FILENAME },
    { "abs_path", SENTRY_ABS_PATH },
    { "context_line", SENTRY_CONTEXT_LINE },
    { "source_link", SENTRY_SOURCE_LINK },
};

static const struct {
    const char *name;
    sentry_key_t key;
} hexes[] = { { "function_id", SENTRY_FUNCTION_ID },
              { "sym_addr", SENTRY_SYM_ADDR } };

static const struct {
    const char *name;
    sentry_key_t key;
} lists[] = { { "pre_context", SENTRY_PRE_CONTEXT },
              { "post_context", SENTRY_POST_CONTEXT } };

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Read as a string, or as JSON text if it only passes through. */
static sym_status_t
add_string(const reader_t *r, sentry_frame_t *frame, sentry_key_t key,
           const json_t *value)
{
    sym_str_t text;

    if (key >= SENTRY_STRINGS) {
        return add_json(r, frame, key, value);
    }

    text = sym_arena_copy(r->s->base.arena, string_of(value));
    return text.data != NULL && sentry_add_field(r->s, frame, key, text)
               ? SYM_OK
               : SYM_NOMEM;
}


static sym_status_t
read_strings(const reader_t *r, sentry_frame_t *frame)
{
    for (size_t i = 0; i < COUNT(strings); i++) {
        const json_t *value = value_of(r, strings[i].name);
        sym_status_t rc;

        if (value == NULL) {
            continue;
        }

        rc = json_is_string(value)
                 ? add_string(r, frame, strings[i].key, value)
                 : refuse_type(r, strings[i].name, value, "a string");
        if (rc != SYM_OK) {
            return rc;
        }
    }

    return SYM_OK;
}


static sym_status_t
read_hexes(const reader_t *r, sentry_frame_t *frame)
{
    for (size_t i = 0; i < COUNT(hexes); i++) {
        const json_t *value = value_of(r, hexes[i].name);
        uint64_t number = 0;
        sym_status_t rc;

        if (value == NULL) {
            continue;
        }

        rc = hex_of(r, hexes[i].name, value, &number);
        if (rc != SYM_OK) {
            return rc;
        }

        if (!sentry_add_number(r->s, frame, hexes[i].key, number)) {
            return SYM_NOMEM;
        }
    }

    return SYM_OK;
}


static sym_status_t
read_lists(const reader_t *r, sentry_frame_t *frame)
{
    for (size_t i = 0; i < COUNT(lists); i++) {
        const json_t *value = json_object_get(r->object, lists[i].name);
        sym_status_t rc;

        if (value == NULL) {
            continue;
        }

        if (!json_is_array(value)) {
            return refuse_type(r, lists[i].name, value, "a sequence");
        }

        for (size_t k = 0; k < json_array_size(value); k++) {
            if (!json_is_string(json_array_get(value, k))) {
                return refuse_type(r, lists[i].name, json_array_get(value, k),
                                   "a string");
            }
        }

        rc = json_array_size(value) == 0
                 ? SYM_OK
                 : add_json(r, frame, lists[i].key, value);
        if (rc != SYM_OK) {
            return rc;
        }
    }

    return SYM_OK;
}


static sym_status_t
read_lineno(const reader_t *r, sentry_frame_t *frame)
{
    bool has;
    uint64_t number;
    sym_status_t rc = read_number(r, "lineno", UINT32_MAX, &has, &number);

    return rc == SYM_OK && has ? add_json(r, frame, SENTRY_LINENO,
                                          json_object_get(r->object, "lineno"))
                               : rc;
}


static sym_status_t
read_rest(const reader_t *r, sentry_frame_t *frame)
{
    const json_t *vars = value_of(r, "vars");
    bool has, in_app;
    sym_status_t rc = read_option(r, "in_app", &has, &in_app);

    if (rc == SYM_OK && has) {
        rc = add_json(r, frame, SENTRY_IN_APP,
                      json_object_get(r->object, "in_app"));
    }

    if (rc == SYM_OK && vars != NULL) {
        rc = json_is_object(vars) ? add_json(r, frame, SENTRY_VARS, vars)
                                  : refuse_type(r, "vars", vars, "a map");
    }

    return rc;
}


static sym_status_t
read_mode(const reader_t *r, sentry_frame_t *frame)
{
    const json_t *value = json_object_get(r->object, "addr_mode");

    if (value == NULL) {
        return SYM_OK;
    }

    if (!json_is_string(value)) {
        return refuse_type(r, "addr_mode", value, "a string");
    }

    return sentry_mode(string_of(value), frame)
               ? SYM_OK
               : refuse(r, "addr_mode", "invalid address mode");
}


static sym_status_t
read_trust(const reader_t *r, sentry_frame_t *frame)
{
    const json_t *value = json_object_get(r->object, "trust");

    if (value == NULL) {
        return SYM_OK;
    }

    if (!json_is_string(value)) {
        return refuse_type(r, "trust", value, "a string");
    }

    return sentry_trust(string_of(value), frame)
               ? SYM_OK
               : refuse(r, "trust",
                        "unknown variant, expected one of `none`, `scan`, "
                        "`cfiscan`, `fp`, `cfi`, `prewalked`, `context`");
}


static sym_status_t
check_lang(const reader_t *r)
{
    const json_t *value = value_of(r, "lang");

    return value == NULL || sentry_is_language(string_of(value))
               ? SYM_OK
               : refuse(r, "lang", "unknown language");
}


static sym_status_t
read_addresses(const reader_t *r, sentry_frame_t *frame)
{
    const json_t *addr = json_object_get(r->object, "instruction_addr");
    bool has, adjust;
    sym_status_t rc;

    if (addr == NULL) {
        return refuse_absent(r, "instruction_addr");
    }

    rc = hex_of(r, "instruction_addr", addr, &frame->addr);
    rc = rc != SYM_OK ? rc : read_mode(r, frame);
    rc = rc != SYM_OK
             ? rc
             : read_option(r, "adjust_instruction_addr", &has, &adjust);
    if (rc == SYM_OK && has) {
        frame->adjust = adjust ? SENTRY_ADJUST_YES : SENTRY_ADJUST_NO;
    }

    return rc;
}


static sym_status_t
read_frame(reader_t *r)
{
    sentry_frame_t *frame = sentry_add_frame(r->s);
    sym_status_t rc;

    if (!json_is_object(r->object)) {
        return refuse_type(r, "", r->object, "struct RawFrame");
    }

    if (frame == NULL) {
        return SYM_NOMEM;
    }

    rc = read_addresses(r, frame);
    rc = rc != SYM_OK ? rc : read_strings(r, frame);
    rc = rc != SYM_OK ? rc : check_lang(r);
    rc = rc != SYM_OK ? rc : read_hexes(r, frame);
    rc = rc != SYM_OK ? rc : read_lists(r, frame);
    rc = rc != SYM_OK ? rc : read_lineno(r, frame);
    rc = rc != SYM_OK ? rc : read_rest(r, frame);
    return rc != SYM_OK ? rc : read_trust(r, frame);
}


sym_status_t
sentry_check_limit(sentry_t *s, uint64_t n, uint32_t limit, const char *what)
{
    if (limit == 0 || n <= limit) {
        return SYM_OK;
    }

    s->base.refused_as = HTTP_TOO_LARGE;
    return sym_request_refuse(&s->base, SYM_LIMIT,
                              "please limit number of %s in a single request "
                              "to <= %u",
                              what, limit);
}


static sym_status_t
read_frames(reader_t *stack, uint32_t number)
{
    sentry_t *s = stack->s;
    const json_t *frames = json_object_get(stack->object, "frames");
    sym_status_t rc;

    if (frames == NULL) {
        return refuse_absent(stack, "frames");
    }

    if (!json_is_array(frames)) {
        return refuse_type(stack, "frames", frames, "a sequence");
    }

    rc = sentry_check_limit(s, s->request.n_frames + json_array_size(frames),
                            s->base.options->limits.frames, "frames");

    for (size_t i = 0; rc == SYM_OK && i < json_array_size(frames); i++) {
        reader_t frame = { .s = s, .object = json_array_get(frames, i) };

        (void) snprintf(frame.place, sizeof(frame.place),
                        "stacktraces[%u].frames[%zu]", number, i);
        rc = read_frame(&frame);

        s->request.stacks[number].has_adjust |=
            rc == SYM_OK
            && sentry_frame(&s->request, s->request.n_frames - 1)->adjust
                   != SENTRY_ADJUST_AUTO;
    }

    return rc;
}


/* --- stacks --- */

static sym_status_t
read_registers(const reader_t *r, sentry_stack_t *stack)
{
    const json_t *registers = json_object_get(r->object, "registers");
    const char *name;
    json_t *value;

    if (registers == NULL) {
        return SYM_OK;
    }

    if (!json_is_object(registers)) {
        return refuse_type(r, "registers", registers, "a map");
    }

    json_object_foreach((json_t *) registers, name, value)
    {
        uint64_t number = 0;
        sym_status_t rc = hex_of(r, "registers", value, &number);
        sym_str_t copy;

        if (rc != SYM_OK) {
            return rc;
        }

        copy = sym_arena_copy(r->s->base.arena, sym_cstr(name));
        if (copy.data == NULL
            || !sentry_add_register(r->s, stack, copy, number)) {
            return SYM_NOMEM;
        }
    }

    return SYM_OK;
}


static sym_status_t
read_stack(reader_t *r, uint32_t number)
{
    sentry_stack_t *stack = sentry_add_stack(r->s);
    sym_status_t rc;

    if (!json_is_object(r->object)) {
        return refuse_type(r, "", r->object, "struct RawStacktrace");
    }

    if (stack == NULL) {
        return SYM_NOMEM;
    }

    rc = read_number(r, "thread_id", UINT64_MAX, &stack->has_thread_id,
                     &stack->thread_id);
    rc = rc != SYM_OK ? rc : read_string(r, "thread_name", &stack->thread_name);
    rc = rc != SYM_OK ? rc
                      : read_option(r, "is_requesting", &stack->has_requesting,
                                    &stack->is_requesting);
    rc = rc != SYM_OK ? rc : read_registers(r, stack);
    return rc != SYM_OK ? rc : read_frames(r, number);
}


static sym_status_t
read_stacks(const reader_t *r)
{
    const json_t *stacks = json_object_get(r->object, "stacktraces");
    size_t n = json_array_size(stacks);
    sym_status_t rc;

    if (stacks != NULL && !json_is_array(stacks)) {
        return refuse_type(r, "stacktraces", stacks, "a sequence");
    }

    rc = sentry_check_limit(r->s, n, r->s->base.options->limits.stacks,
                            "stacktraces");

    for (size_t i = 0; rc == SYM_OK && i < n; i++) {
        reader_t stack = { .s = r->s, .object = json_array_get(stacks, i) };

        (void) snprintf(stack.place, sizeof(stack.place), "stacktraces[%zu]",
                        i);
        rc = read_stack(&stack, (uint32_t) i);
    }

    return rc;
}


/* --- modules --- */

static sym_status_t
read_id(const reader_t *r, sentry_module_t *module)
{
    sym_str_t text = { NULL, 0 };
    sym_status_t rc = read_string(r, "debug_id", &text);

    if (rc == SYM_OK && text.len != 0) {
        (void) sym_debug_id_read_sentry(text, &module->ref.debug_id);
    }

    rc = rc != SYM_OK ? rc : read_string(r, "code_id", &text);
    if (rc == SYM_OK && text.len != 0) {
        (void) sym_code_id_read(text, &module->ref.code_id);
    }

    return rc;
}


static sym_status_t
read_module(const reader_t *r)
{
    sentry_module_t *module = sentry_add_module(r->s);
    const json_t *addr, *type;
    sym_status_t rc;

    if (!json_is_object(r->object)) {
        return refuse_type(r, "", r->object, "struct RawObjectInfo");
    }

    if (module == NULL) {
        return SYM_NOMEM;
    }

    type = json_object_get(r->object, "type");
    if (type == NULL) {
        return refuse_absent(r, "type");
    }

    if (!json_is_string(type)) {
        return refuse_type(r, "type", type, "a string");
    }

    module->ref.type = sym_object_type(string_of(type));
    addr = json_object_get(r->object, "image_addr");

    rc = addr == NULL ? SYM_OK : hex_of(r, "image_addr", addr, &module->addr);
    rc = rc != SYM_OK ? rc
                      : read_number(r, "image_size", UINT64_MAX,
                                    &module->has_size, &module->size);
    rc = rc != SYM_OK ? rc : read_string(r, "code_file", &module->code_file);
    rc = rc != SYM_OK ? rc : read_string(r, "debug_file", &module->debug_file);
    rc = rc != SYM_OK
             ? rc
             : read_string(r, "debug_checksum", &module->debug_checksum);
    return rc != SYM_OK ? rc : read_id(r, module);
}


static sym_status_t
read_modules(const reader_t *r)
{
    const json_t *modules = json_object_get(r->object, "modules");
    size_t n = json_array_size(modules);
    sym_status_t rc;

    if (modules != NULL && !json_is_array(modules)) {
        return refuse_type(r, "modules", modules, "a sequence");
    }

    rc = sentry_check_limit(r->s, n, r->s->base.options->limits.modules,
                            "modules");

    for (size_t i = 0; rc == SYM_OK && i < n; i++) {
        reader_t module = { .s = r->s, .object = json_array_get(modules, i) };

        (void) snprintf(module.place, sizeof(module.place), "modules[%zu]", i);
        rc = read_module(&module);
    }

    return rc;
}


/* --- the rest --- */

static sym_status_t
read_order(const reader_t *r)
{
    const json_t *value = json_object_get(r->object, "frame_order");

    if (value == NULL) {
        return SYM_OK;
    }

    if (json_is_string(value) && sentry_order(string_of(value), &r->s->request))
    {
        return SYM_OK;
    }

    return refuse(r, "frame_order",
                  "unknown variant, expected `callee_first` or "
                  "`caller_first`");
}


/* value: NULL if the key is absent. */
static sym_status_t
read_options(const reader_t *request, const json_t *value)
{
    sentry_request_t *q = &request->s->request;
    reader_t r = { .s = request->s, .object = value, .place = "options" };
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
        return refuse_type(request, "options", r.object,
                           "struct RequestOptions");
    }

    for (size_t i = 0; i < COUNT(options); i++) {
        const json_t *option = json_object_get(r.object, options[i].key);
        sym_status_t rc = option == NULL ? SYM_OK
                                         : read_bool(&r, options[i].key, option,
                                                     options[i].is_true);

        if (rc != SYM_OK) {
            return rc;
        }
    }

    return read_order(&r);
}


static sym_status_t
check_scraping(const reader_t *r)
{
    const json_t *enabled = json_object_get(r->object, "enabled");
    const json_t *origins = json_object_get(r->object, "allowed_origins");
    const json_t *headers = json_object_get(r->object, "headers");
    const json_t *verify = json_object_get(r->object, "verify_ssl");
    const char *name;
    const json_t *item;
    size_t i;

    if (enabled == NULL || origins == NULL || headers == NULL) {
        return refuse_absent(r, enabled == NULL   ? "enabled"
                                : origins == NULL ? "allowed_origins"
                                                  : "headers");
    }

    if (!json_is_boolean(enabled)) {
        return refuse_type(r, "enabled", enabled, "a boolean");
    }

    if (verify != NULL && !json_is_boolean(verify)) {
        return refuse_type(r, "verify_ssl", verify, "a boolean");
    }

    if (!json_is_array(origins)) {
        return refuse_type(r, "allowed_origins", origins, "a sequence");
    }

    json_array_foreach(origins, i, item)
    {
        if (!json_is_string(item)) {
            return refuse_type(r, "allowed_origins", item, "a string");
        }
    }

    if (!json_is_object(headers)) {
        return refuse_type(r, "headers", headers, "a map");
    }

    json_object_foreach((json_t *) headers, name, item)
    {
        if (!json_is_string(item)) {
            return refuse_type(r, "headers", item, "a string");
        }
    }

    return SYM_OK;
}


/* value: NULL if the key is absent. */
static sym_status_t
read_scraping(const reader_t *request, const json_t *value)
{
    reader_t r = { .s = request->s, .object = value, .place = "scraping" };
    sym_status_t rc;

    if (value == NULL) {
        return SYM_OK;
    }

    if (!json_is_object(value)) {
        return refuse_type(request, "scraping", value, "struct ScrapingConfig");
    }

    rc = check_scraping(&r);
    if (rc != SYM_OK) {
        return rc;
    }

    r.s->request.scraping = json_text(r.s, value);
    return r.s->request.scraping.data != NULL ? SYM_OK : SYM_NOMEM;
}


static sym_request_source_realm_t
realm_of(const sentry_t *s)
{
    return (sym_request_source_realm_t){ s->scope,
                                         s->base.options->source_policy };
}


/* value: NULL if the key is absent. */
static sym_status_t
read_sources(const reader_t *r, const json_t *value)
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


static sym_status_t
read_request(sentry_t *s, const json_t *root)
{
    reader_t r = { .s = s, .object = root };
    sym_str_t platform;
    uint64_t signal = 0;
    sym_status_t rc;

    if (!json_is_object(root)) {
        return refuse_type(&r, "", root, "struct SymbolicationRequestBody");
    }

    rc = read_string(&r, "platform", &platform);
    rc = rc != SYM_OK ? rc
                      : read_number(&r, "signal", UINT32_MAX,
                                    &s->request.has_signal, &signal);
    s->request.signal = (uint32_t) signal;
    rc = rc != SYM_OK ? rc : read_options(&r, json_object_get(root, "options"));
    rc = rc != SYM_OK ? rc
                      : read_scraping(&r, json_object_get(root, "scraping"));
    rc = rc != SYM_OK ? rc : read_sources(&r, json_object_get(root, "sources"));
    rc = rc != SYM_OK ? rc : read_modules(&r);
    return rc != SYM_OK ? rc : read_stacks(&r);
}


/* Parses the text, and passes its value to `read`. */
static sym_status_t
load(sentry_t *s, sym_str_t text,
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


sym_status_t
sentry_read_general(sentry_t *s)
{
    return load(s, s->base.body, read_request);
}


static sym_status_t
read_sources_alone(sentry_t *s, const json_t *value)
{
    const reader_t r = { .s = s };

    return read_sources(&r, value);
}


static sym_status_t
read_scraping_alone(sentry_t *s, const json_t *value)
{
    const reader_t r = { .s = s };

    return read_scraping(&r, value);
}


static sym_status_t
read_options_alone(sentry_t *s, const json_t *value)
{
    const reader_t r = { .s = s };

    return read_options(&r, value);
}


sym_status_t
sentry_read_part(sentry_t *s, sentry_part_t part, sym_str_t text)
{
    if (text.data == NULL) {
        return SYM_OK;
    }

    return load(s, text,
                part == SENTRY_PART_SOURCES    ? read_sources_alone
                : part == SENTRY_PART_SCRAPING ? read_scraping_alone
                                               : read_options_alone);
}


const sym_str_t sentry_parts[SENTRY_PARTS] = {
    [SENTRY_PART_SOURCES] = { "sources", 7 },
    [SENTRY_PART_SCRAPING] = { "scraping", 8 },
    [SENTRY_PART_OPTIONS] = { "options", 7 },
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
