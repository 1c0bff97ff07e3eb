/*
 * The general reader: jansson parses the JSON, and this file checks the
 * request.  Errors are the same as Symbolicator's: their texts contain the key
 * and its position, but not line and column.
 */
#include "api/sentry/readers.h"

#include <stdio.h>

#include "json/number.h"

#define HTTP_TOO_LARGE 413

/* --- values --- */

/* Reads an optional boolean. */
static sym_status_t
read_option(const sentry_reader_t *r, const char *key, bool *has, bool *is_true)
{
    const json_t *value = sentry_value_of(r, key);

    *has = value != NULL;
    return value != NULL ? sentry_read_bool(r, key, value, is_true) : SYM_OK;
}


static sym_status_t
read_number(const sentry_reader_t *r, const char *key, uint64_t most, bool *has,
            uint64_t *number)
{
    const char *type = most == UINT32_MAX ? "u32" : "u64";
    const json_t *value = sentry_value_of(r, key);
    char what[SENTRY_PLACE_MAX * 2];

    *has = value != NULL;
    if (value == NULL) {
        return SYM_OK;
    }

    if (!json_is_integer(value)) {
        return sentry_refuse_type(r, key, value, type);
    }

    if (json_integer_value(value) < 0
        || (uint64_t) json_integer_value(value) > most)
    {
        (void) snprintf(what, sizeof(what),
                        "invalid value: integer `%lld`, expected %s",
                        (long long) json_integer_value(value), type);
        return sentry_refuse(r, key, what);
    }

    *number = (uint64_t) json_integer_value(value);
    return SYM_OK;
}


static sym_status_t
hex_of(const sentry_reader_t *r, const char *key, const json_t *value,
       uint64_t *number)
{
    const char *error;

    /* 2^64 is added to a negative one, as in Symbolicator's HexValue */
    if (json_is_integer(value)) {
        *number = (uint64_t) json_integer_value(value);
        return SYM_OK;
    }

    if (!json_is_string(value)) {
        return sentry_refuse_type(r, key, value, "a number or hex string");
    }

    error = sentry_hex(sentry_string_of(value), number);
    return error != NULL ? sentry_refuse(r, key, error) : SYM_OK;
}


static sym_status_t
add_json(const sentry_reader_t *r, sentry_frame_t *frame, sentry_key_t key,
         const json_t *value)
{
    sym_str_t text = sentry_json_text(r->s, value);

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

/* Read as a string, or as JSON text if it is only passed through. */
static sym_status_t
add_string(const sentry_reader_t *r, sentry_frame_t *frame, sentry_key_t key,
           const json_t *value)
{
    sym_str_t text;

    if (key >= SENTRY_STRINGS) {
        return add_json(r, frame, key, value);
    }

    text = sym_arena_copy(r->s->base.arena, sentry_string_of(value));
    return text.data != NULL && sentry_add_field(r->s, frame, key, text)
               ? SYM_OK
               : SYM_NOMEM;
}


static sym_status_t
read_strings(const sentry_reader_t *r, sentry_frame_t *frame)
{
    for (size_t i = 0; i < COUNT(strings); i++) {
        const json_t *value = sentry_value_of(r, strings[i].name);
        sym_status_t rc;

        if (value == NULL) {
            continue;
        }

        rc = json_is_string(value)
                 ? add_string(r, frame, strings[i].key, value)
                 : sentry_refuse_type(r, strings[i].name, value, "a string");
        if (rc != SYM_OK) {
            return rc;
        }
    }

    return SYM_OK;
}


static sym_status_t
read_hexes(const sentry_reader_t *r, sentry_frame_t *frame)
{
    for (size_t i = 0; i < COUNT(hexes); i++) {
        const json_t *value = sentry_value_of(r, hexes[i].name);
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
read_lists(const sentry_reader_t *r, sentry_frame_t *frame)
{
    for (size_t i = 0; i < COUNT(lists); i++) {
        const json_t *value = json_object_get(r->object, lists[i].name);
        sym_status_t rc;

        if (value == NULL) {
            continue;
        }

        if (!json_is_array(value)) {
            return sentry_refuse_type(r, lists[i].name, value, "a sequence");
        }

        for (size_t k = 0; k < json_array_size(value); k++) {
            if (!json_is_string(json_array_get(value, k))) {
                return sentry_refuse_type(r, lists[i].name,
                                          json_array_get(value, k), "a string");
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
read_lineno(const sentry_reader_t *r, sentry_frame_t *frame)
{
    bool has;
    uint64_t number;
    sym_status_t rc = read_number(r, "lineno", UINT32_MAX, &has, &number);

    return rc == SYM_OK && has ? add_json(r, frame, SENTRY_LINENO,
                                          json_object_get(r->object, "lineno"))
                               : rc;
}


static sym_status_t
read_rest(const sentry_reader_t *r, sentry_frame_t *frame)
{
    const json_t *vars = sentry_value_of(r, "vars");
    bool has, in_app;
    sym_status_t rc = read_option(r, "in_app", &has, &in_app);

    if (rc == SYM_OK && has) {
        rc = add_json(r, frame, SENTRY_IN_APP,
                      json_object_get(r->object, "in_app"));
    }

    if (rc == SYM_OK && vars != NULL) {
        rc = json_is_object(vars)
                 ? add_json(r, frame, SENTRY_VARS, vars)
                 : sentry_refuse_type(r, "vars", vars, "a map");
    }

    return rc;
}


static sym_status_t
read_mode(const sentry_reader_t *r, sentry_frame_t *frame)
{
    const json_t *value = json_object_get(r->object, "addr_mode");

    if (value == NULL) {
        return SYM_OK;
    }

    if (!json_is_string(value)) {
        return sentry_refuse_type(r, "addr_mode", value, "a string");
    }

    return sentry_mode(sentry_string_of(value), frame)
               ? SYM_OK
               : sentry_refuse(r, "addr_mode", "invalid address mode");
}


static sym_status_t
read_trust(const sentry_reader_t *r, sentry_frame_t *frame)
{
    const json_t *value = json_object_get(r->object, "trust");

    if (value == NULL) {
        return SYM_OK;
    }

    if (!json_is_string(value)) {
        return sentry_refuse_type(r, "trust", value, "a string");
    }

    return sentry_trust(sentry_string_of(value), frame)
               ? SYM_OK
               : sentry_refuse(
                   r, "trust",
                   "unknown variant, expected one of `none`, `scan`, "
                   "`cfiscan`, `fp`, `cfi`, `prewalked`, `context`");
}


static sym_status_t
check_lang(const sentry_reader_t *r)
{
    const json_t *value = sentry_value_of(r, "lang");

    return value == NULL || sentry_is_language(sentry_string_of(value))
               ? SYM_OK
               : sentry_refuse(r, "lang", "unknown language");
}


static sym_status_t
read_addresses(const sentry_reader_t *r, sentry_frame_t *frame)
{
    const json_t *addr = json_object_get(r->object, "instruction_addr");
    bool has, adjust;
    sym_status_t rc;

    if (addr == NULL) {
        return sentry_refuse_absent(r, "instruction_addr");
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
read_frame(sentry_reader_t *r)
{
    sentry_frame_t *frame = sentry_add_frame(r->s);
    sym_status_t rc;

    if (!json_is_object(r->object)) {
        return sentry_refuse_type(r, "", r->object, "struct RawFrame");
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
read_frames(sentry_reader_t *stack, uint32_t number)
{
    sentry_t *s = stack->s;
    const json_t *frames = json_object_get(stack->object, "frames");
    sym_status_t rc;

    if (frames == NULL) {
        return sentry_refuse_absent(stack, "frames");
    }

    if (!json_is_array(frames)) {
        return sentry_refuse_type(stack, "frames", frames, "a sequence");
    }

    rc = sentry_check_limit(s, s->request.n_frames + json_array_size(frames),
                            s->base.options->limits.frames, "frames");

    for (size_t i = 0; rc == SYM_OK && i < json_array_size(frames); i++) {
        sentry_reader_t frame = { .s = s, .object = json_array_get(frames, i) };

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
read_registers(const sentry_reader_t *r, sentry_stack_t *stack)
{
    const json_t *registers = json_object_get(r->object, "registers");
    const char *name;
    json_t *value;

    if (registers == NULL) {
        return SYM_OK;
    }

    if (!json_is_object(registers)) {
        return sentry_refuse_type(r, "registers", registers, "a map");
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
read_stack(sentry_reader_t *r, uint32_t number)
{
    sentry_stack_t *stack = sentry_add_stack(r->s);
    sym_status_t rc;

    if (!json_is_object(r->object)) {
        return sentry_refuse_type(r, "", r->object, "struct RawStacktrace");
    }

    if (stack == NULL) {
        return SYM_NOMEM;
    }

    rc = read_number(r, "thread_id", UINT64_MAX, &stack->has_thread_id,
                     &stack->thread_id);
    rc = rc != SYM_OK
             ? rc
             : sentry_read_string(r, "thread_name", &stack->thread_name);
    rc = rc != SYM_OK ? rc
                      : read_option(r, "is_requesting", &stack->has_requesting,
                                    &stack->is_requesting);
    rc = rc != SYM_OK ? rc : read_registers(r, stack);
    return rc != SYM_OK ? rc : read_frames(r, number);
}


static sym_status_t
read_stacks(const sentry_reader_t *r)
{
    const json_t *stacks = json_object_get(r->object, "stacktraces");
    size_t n = json_array_size(stacks);
    sym_status_t rc;

    if (stacks != NULL && !json_is_array(stacks)) {
        return sentry_refuse_type(r, "stacktraces", stacks, "a sequence");
    }

    rc = sentry_check_limit(r->s, n, r->s->base.options->limits.stacks,
                            "stacktraces");

    for (size_t i = 0; rc == SYM_OK && i < n; i++) {
        sentry_reader_t stack = { .s = r->s,
                                  .object = json_array_get(stacks, i) };

        (void) snprintf(stack.place, sizeof(stack.place), "stacktraces[%zu]",
                        i);
        rc = read_stack(&stack, (uint32_t) i);
    }

    return rc;
}


/* --- modules --- */

static sym_status_t
read_id(const sentry_reader_t *r, sentry_module_t *module)
{
    sym_str_t text = { NULL, 0 };
    sym_status_t rc = sentry_read_string(r, "debug_id", &text);

    if (rc == SYM_OK && text.len != 0) {
        (void) sym_debug_id_read_sentry(text, &module->ref.debug_id);
    }

    rc = rc != SYM_OK ? rc : sentry_read_string(r, "code_id", &text);
    if (rc == SYM_OK && text.len != 0) {
        (void) sym_code_id_read(text, &module->ref.code_id);
    }

    return rc;
}


static sym_status_t
read_module(const sentry_reader_t *r)
{
    sentry_module_t *module = sentry_add_module(r->s);
    const json_t *addr, *type;
    sym_status_t rc;

    if (!json_is_object(r->object)) {
        return sentry_refuse_type(r, "", r->object, "struct RawObjectInfo");
    }

    if (module == NULL) {
        return SYM_NOMEM;
    }

    type = json_object_get(r->object, "type");
    if (type == NULL) {
        return sentry_refuse_absent(r, "type");
    }

    if (!json_is_string(type)) {
        return sentry_refuse_type(r, "type", type, "a string");
    }

    module->ref.type = sym_object_type(sentry_string_of(type));
    addr = json_object_get(r->object, "image_addr");

    rc = addr == NULL ? SYM_OK : hex_of(r, "image_addr", addr, &module->addr);
    rc = rc != SYM_OK ? rc
                      : read_number(r, "image_size", UINT64_MAX,
                                    &module->has_size, &module->size);
    rc = rc != SYM_OK ? rc
                      : sentry_read_string(r, "code_file", &module->code_file);
    rc = rc != SYM_OK
             ? rc
             : sentry_read_string(r, "debug_file", &module->debug_file);
    rc = rc != SYM_OK
             ? rc
             : sentry_read_string(r, "debug_checksum", &module->debug_checksum);
    return rc != SYM_OK ? rc : read_id(r, module);
}


static sym_status_t
read_modules(const sentry_reader_t *r)
{
    const json_t *modules = json_object_get(r->object, "modules");
    size_t n = json_array_size(modules);
    sym_status_t rc;

    if (modules != NULL && !json_is_array(modules)) {
        return sentry_refuse_type(r, "modules", modules, "a sequence");
    }

    rc = sentry_check_limit(r->s, n, r->s->base.options->limits.modules,
                            "modules");

    for (size_t i = 0; rc == SYM_OK && i < n; i++) {
        sentry_reader_t module = { .s = r->s,
                                   .object = json_array_get(modules, i) };

        (void) snprintf(module.place, sizeof(module.place), "modules[%zu]", i);
        rc = read_module(&module);
    }

    return rc;
}


static sym_status_t
read_request(sentry_t *s, const json_t *root)
{
    sentry_reader_t r = { .s = s, .object = root };
    sym_str_t platform;
    uint64_t signal = 0;
    sym_status_t rc;

    if (!json_is_object(root)) {
        return sentry_refuse_type(&r, "", root,
                                  "struct SymbolicationRequestBody");
    }

    rc = sentry_read_string(&r, "platform", &platform);
    rc = rc != SYM_OK ? rc
                      : read_number(&r, "signal", UINT32_MAX,
                                    &s->request.has_signal, &signal);
    s->request.signal = (uint32_t) signal;
    rc = rc != SYM_OK
             ? rc
             : sentry_read_options(&r, json_object_get(root, "options"));
    rc = rc != SYM_OK
             ? rc
             : sentry_read_scraping(&r, json_object_get(root, "scraping"));
    rc = rc != SYM_OK
             ? rc
             : sentry_read_sources(&r, json_object_get(root, "sources"));
    rc = rc != SYM_OK ? rc : read_modules(&r);
    return rc != SYM_OK ? rc : read_stacks(&r);
}


sym_status_t
sentry_read_general(sentry_t *s)
{
    return sentry_load(s, s->base.body, read_request);
}
