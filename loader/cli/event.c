#include "cli/event.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "json/load.h"

static bool
starts(sym_str_t text, const char *magic)
{
    return sym_str_starts(text, sym_cstr(magic));
}


/* --- stacks --- */

/* Copies frames with an address, the innermost one first; in events it is
 * last. */
static json_t *
native_frames(const json_t *stack)
{
    const json_t *from = json_object_get(stack, "frames");
    json_t *to = json_array();

    for (size_t i = json_array_size(from); i-- > 0;) {
        json_t *frame = json_array_get(from, i), *copy, *value;
        const char *key;

        if (!json_is_object(frame)
            || json_is_null(json_object_get(frame, "instruction_addr"))
            || json_object_get(frame, "instruction_addr") == NULL)
        {
            continue;
        }

        copy = json_object();
        json_object_foreach(frame, key, value)
        {
            /* null means absent, but not every key of a request allows null */
            if (!json_is_null(value)
                && strcmp(key, "adjust_instruction_addr") != 0) {
                (void) json_object_set(copy, key, value);
            }
        }
        (void) json_array_append_new(to, copy);
    }

    return to;
}


static void
add_stack(json_t *stacks, const json_t *of)
{
    json_t *stack = json_object_get(of, "raw_stacktrace"), *frames, *added;

    if (!json_is_object(stack)) {
        stack = json_object_get(of, "stacktrace");
    }

    frames = native_frames(stack);
    if (json_array_size(frames) == 0) {
        json_decref(frames);
        return;
    }

    added = json_object();
    (void) json_object_set_new(
        added, "is_requesting",
        json_boolean(json_is_true(json_object_get(stack, "is_requesting"))));
    (void) json_object_set_new(added, "frames", frames);
    (void) json_array_append_new(stacks, added);
}


/* Reads {"values": [...]}, or the list alone, which old clients send. */
static void
add_stacks(json_t *stacks, const json_t *event, const char *key)
{
    const json_t *of = json_object_get(event, key), *value;
    const json_t *values =
        json_is_array(of) ? of : json_object_get(of, "values");
    size_t i;

    json_array_foreach(values, i, value)
    {
        add_stack(stacks, value);
    }
}


/* --- images --- */

/* JavaScript and Java frames have no addresses. */
static bool
is_native(const json_t *image)
{
    static const char *const others[] = { "sourcemap", "proguard", "jvm" };
    const char *type = json_string_value(json_object_get(image, "type"));

    for (size_t i = 0; type != NULL && i < sizeof(others) / sizeof(others[0]);
         i++) {
        if (strcmp(type, others[i]) == 0) {
            return false;
        }
    }

    return type != NULL;
}


static json_t *
native_images(const json_t *event)
{
    const json_t *meta = json_object_get(event, "debug_meta"), *image;
    json_t *images = json_array();
    size_t i;

    json_array_foreach(json_object_get(meta, "images"), i, image)
    {
        json_t *copy = is_native(image) ? json_object() : NULL, *value;
        const char *key;

        if (copy == NULL) {
            continue;
        }

        json_object_foreach((json_t *) image, key, value)
        {
            if (!json_is_null(value)) {
                (void) json_object_set(copy, key, value);
            }
        }
        (void) json_array_append_new(images, copy);
    }

    return images;
}


/* --- the request --- */

static void
copy_member(json_t *to, const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);

    if (value != NULL && !json_is_null(value)) {
        (void) json_object_set(to, key, value);
    }
}


static json_t *
from_event(const json_t *event, sym_error_t *err)
{
    json_t *request = json_object(), *stacks = json_array(),
           *images = native_images(event);

    add_stacks(stacks, event, "exception");
    add_stacks(stacks, event, "threads");

    if (json_array_size(images) == 0) {
        sym_fail(err, SYM_UNSUPPORTED, "the event has no debug images");
    } else if (json_array_size(stacks) == 0) {
        sym_fail(err, SYM_UNSUPPORTED,
                 "the event has no frames with an address");
    }

    copy_member(request, event, "platform");
    copy_member(request, event, "signal");
    (void) json_object_set_new(request, "stacktraces", stacks);
    (void) json_object_set_new(request, "modules", images);
    return request;
}


static json_t *
from_request(json_t *from, bool is_offline)
{
    json_t *request = json_object(), *value;
    const char *key;

    json_object_foreach(from, key, value)
    {
        if (!is_offline || strcmp(key, "sources") != 0) {
            (void) json_object_set(request, key, value);
        }
    }

    return request;
}


static char *
dump(const json_t *request, size_t *len, sym_error_t *err)
{
    size_t flags = JSON_COMPACT;
    char *text;

    *len = json_dumpb(request, NULL, 0, flags);
    text = *len != 0 ? malloc(*len) : NULL;

    if (text == NULL || json_dumpb(request, text, *len, flags) != *len) {
        sym_fail(err, SYM_NOMEM, "no memory for a request");
        free(text);
        return NULL;
    }

    return text;
}


char *
event_request(sym_str_t text, bool is_offline, size_t *len, sym_error_t *err)
{
    sym_json_t json = { 0 };
    json_t *request = NULL;
    char *out = NULL;

    if (starts(text, "MDMP") || starts(text, "PMDM")) {
        sym_fail(err, SYM_UNSUPPORTED, "minidumps are not read");
        return NULL;
    }

    if (starts(text, "Inci") || starts(text, "----")) {
        sym_fail(err, SYM_UNSUPPORTED, "Apple's crash reports are not read");
        return NULL;
    }

    if (text.len > SYM_JSON_CONVERTER_BYTES_MAX) {
        sym_fail(err, SYM_LIMIT, "the event is too large");
        return NULL;
    }

    if (sym_json_load(&json, text, SYM_JSON_CONVERTER_MAX, 0,
                      "the event is not JSON", err)
        == SYM_OK)
    {
        if (!json_is_object(json.root)) {
            sym_fail(err, SYM_MALFORMED, "the event is not a JSON object");
        } else if (json_object_get(json.root, "stacktraces") != NULL) {
            request = from_request(json.root, is_offline);
        } else {
            request = from_event(json.root, err);
        }
    }

    if (err->status == SYM_OK) {
        out = dump(request, len, err);
    }

    json_decref(request);
    sym_json_drop(&json);
    return out;
}
