/*
 * ips.c - crash reports of Apple as JSON ("Interpreting the JSON format of a crash
 * report" in Apple's documentation): a line with a summary, then the report.
 * Keys that are absent, or of another type, are left out.
 */
#include "api/apple/apple.h"

#include <stdio.h>

#include "json/load.h"
#include "json/number.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define HTTP_TOO_LARGE 413

/* "x28" */
#define REGISTER_MAX 8

typedef struct {
    apple_t *a;
    const json_t *images;
    sym_status_t rc; /* SYM_NOMEM or SYM_LIMIT: no more is read */
} ips_t;

static sym_str_t
copy(ips_t *ips, const char *text, size_t len)
{
    sym_str_t s = sym_arena_copy(ips->a->sentry.base.arena, sym_str(text, len));

    if (s.data == NULL) {
        ips->rc = SYM_NOMEM;
    }

    return s;
}


/* data NULL: absent. */
static sym_str_t
text_of(ips_t *ips, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_string(value)
               ? copy(ips, json_string_value(value), json_string_length(value))
               : sym_str(NULL, 0);
}


/* Integers of 64 bits are kept as signed ones. */
static uint64_t
number_of(const json_t *object, const char *key)
{
    return (uint64_t) json_integer_value(json_object_get(object, key));
}


/* --- threads --- */

static void
read_frames(ips_t *ips, const json_t *frames)
{
    const json_t *frame;
    size_t i;

    json_array_foreach(frames, i, frame)
    {
        const json_t *index = json_object_get(frame, "imageIndex");
        const json_t *image =
            json_is_integer(index) ? json_array_get(
                ips->images, (size_t) json_integer_value(index))
                                   : NULL;
        sym_str_t name = text_of(ips, image, "name");

        if (ips->rc == SYM_OK) {
            ips->rc = apple_add_frame(ips->a,
                                      number_of(image, "base")
                                          + number_of(frame, "imageOffset"),
                                      name.data != NULL ? name : SYM_STR(""));
        }

        if (ips->rc != SYM_OK) {
            return;
        }
    }
}


static void
add_register(ips_t *ips, sentry_stack_t *stack, const char *name,
             const json_t *state)
{
    sym_str_t kept;

    if (!json_is_integer(json_object_get(state, "value"))) {
        return;
    }

    kept = copy(ips, name, strlen(name));
    if (kept.data == NULL
        || !sentry_add_register(&ips->a->sentry, stack, kept,
                                number_of(state, "value")))
    {
        ips->rc = SYM_NOMEM;
    }
}


/* {"x": [{"value": 1}, ...], "sp": {"value": 2}, "flavor": "ARM_THREAD_STATE64"} */
static void
read_registers(ips_t *ips, sentry_stack_t *stack, const json_t *state)
{
    const json_t *value, *item;
    const char *name;

    json_object_foreach((json_t *) state, name, value)
    {
        size_t i;

        add_register(ips, stack, name, value);
        json_array_foreach(value, i, item)
        {
            char numbered[REGISTER_MAX];

            if (i < SENTRY_REGISTERS_MAX && strlen(name) == 1) {
                (void) snprintf(numbered, sizeof(numbered), "%s%zu", name, i);
                add_register(ips, stack, numbered, item);
            }
        }
    }
}


static void
read_thread(ips_t *ips, const json_t *thread, uint64_t id)
{
    bool is_crashed = json_is_true(json_object_get(thread, "triggered"));
    sym_str_t name = text_of(ips, thread, "name");
    sentry_stack_t *stack;

    if (ips->rc == SYM_OK) {
        ips->rc = apple_add_stack(ips->a, id, name, is_crashed, &stack);
    }

    if (ips->rc != SYM_OK) {
        return;
    }

    if (is_crashed) {
        read_registers(ips, stack, json_object_get(thread, "threadState"));
    }

    read_frames(ips, json_object_get(thread, "frames"));
}


/* The stack of an exception of Objective-C is no thread's. */
static void
read_exception_stack(ips_t *ips, const json_t *frames)
{
    sentry_stack_t *stack;

    if (ips->rc != SYM_OK || json_array_size(frames) == 0) {
        return;
    }

    ips->rc = apple_add_stack(ips->a, 0, SYM_STR("Last Exception Backtrace"),
                              false, &stack);
    if (ips->rc == SYM_OK) {
        stack->has_thread_id = false;
        read_frames(ips, frames);
    }
}


/* --- the rest --- */

/* An image without a UUID, such as code that no file has, is not a module. */
static void
read_images(ips_t *ips)
{
    const json_t *image;
    size_t i;

    json_array_foreach(ips->images, i, image)
    {
        apple_image_t m = { .start = number_of(image, "base"),
                            .size = number_of(image, "size"),
                            .uuid = text_of(ips, image, "uuid"),
                            .path = text_of(ips, image, "path") };
        sym_debug_id_t id;

        if (ips->rc == SYM_OK && m.uuid.data != NULL && m.path.data != NULL
            && sym_debug_id_read_uuid(m.uuid, &id))
        {
            ips->rc = apple_add_image(ips->a, &m);
        }

        if (ips->rc != SYM_OK) {
            return;
        }
    }
}


/* Messages of the application, by library. */
static sym_str_t
messages_of(ips_t *ips, const json_t *asi)
{
    sym_str_t text = { NULL, 0 };
    const json_t *lines, *line;
    const char *library;
    size_t i, len = 0;
    char *to;

    json_object_foreach((json_t *) asi, library, lines)
    {
        json_array_foreach(lines, i, line)
        {
            len += json_string_length(line) + 1;
        }
    }

    if (len == 0) {
        return text;
    }

    to = sym_arena_alloc(ips->a->sentry.base.arena, len);
    if (to == NULL) {
        ips->rc = SYM_NOMEM;
        return text;
    }

    text.data = to;
    json_object_foreach((json_t *) asi, library, lines)
    {
        json_array_foreach(lines, i, line)
        {
            (void) sym_str_append(&to, sym_str(json_string_value(line),
                                               json_string_length(line)));
            *to++ = '\n';
        }
    }

    text.len = len - 1;
    return text;
}


/* "EXC_BAD_ACCESS (SIGSEGV)", as in a text. */
static sym_str_t
reason_of(ips_t *ips, const json_t *exception)
{
    const char *type = json_string_value(json_object_get(exception, "type"));
    const char *sig = json_string_value(json_object_get(exception, "signal"));
    char text[128];
    int len;

    if (type == NULL || sig == NULL) {
        return text_of(ips, exception, type != NULL ? "type" : "signal");
    }

    len = snprintf(text, sizeof(text), "%s (%s)", type, sig);
    return copy(ips, text,
                (size_t) len < sizeof(text) ? (size_t) len : sizeof(text) - 1);
}


static void
read_facts(ips_t *ips, const json_t *report)
{
    static const char *const keys[] = { "message", "subtype", "codes" };
    apple_facts_t *f = &ips->a->facts;
    const json_t *exception = json_object_get(report, "exception");
    const json_t *os = json_object_get(report, "osVersion");
    sym_str_t time = text_of(ips, report, "captureTime");
    sym_str_t arch = text_of(ips, report, "cpuType");

    f->has_time = apple_read_time(time, &f->time_s);
    f->arch = apple_arch(arch);
    f->device = text_of(ips, report, "modelCode");
    f->build = text_of(ips, os, "build");
    f->os_name = text_of(ips, os, "train");
    f->reason = reason_of(ips, exception);
    f->details = messages_of(ips, json_object_get(report, "asi"));

    /* "macOS 12.0.1" */
    for (size_t i = f->os_name.len; i > 1; i--) {
        if (f->os_name.data[i - 1] == ' ') {
            f->version = sym_str(f->os_name.data + i, f->os_name.len - i);
            f->os_name.len = i - 1;
            break;
        }
    }

    for (size_t i = 0; f->details.data == NULL && i < COUNT(keys); i++) {
        f->details = text_of(ips, exception, keys[i]);
    }
}


static void
read_report(ips_t *ips, const json_t *report)
{
    const json_t *threads = json_object_get(report, "threads"), *thread;
    size_t i;

    ips->images = json_object_get(report, "usedImages");
    read_facts(ips, report);
    read_images(ips);
    read_exception_stack(ips,
                         json_object_get(report, "lastExceptionBacktrace"));

    json_array_foreach(threads, i, thread)
    {
        if (ips->rc == SYM_OK) {
            read_thread(ips, thread, i);
        }
    }
}


/* The report without the line before it. */
static sym_str_t
after_summary(sym_str_t text)
{
    const char *end = memchr(text.data, '\n', text.len), *p = end;

    while (p != NULL && p < text.data + text.len
           && (*p == '\n' || *p == '\r' || *p == ' '))
    {
        p++;
    }

    return p != NULL && p < text.data + text.len && *p == '{' && end[-1] != '{'
                   && end[-1] != ','
               ? sym_str(p, (size_t) (text.data + text.len - p))
               : text;
}


sym_status_t
apple_read_ips(apple_t *a)
{
    sym_arena_t *arena = a->sentry.base.arena;
    ips_t ips = { .a = a };
    sym_error_t err = { 0 };
    sym_json_t json;
    sym_str_t text =
        sym_json_integers(arena, after_summary(a->report), SYM_STR("\"\""));

    if (text.data == NULL) {
        return SYM_NOMEM;
    }

    ips.rc = sym_json_load_charged(&json, arena->account, text, JSON_ALLOW_NUL,
                                   "not JSON", &err);
    if (ips.rc == SYM_OK && json_is_object(json.root)) {
        read_report(&ips, json.root);
    } else if (ips.rc == SYM_OK || ips.rc == SYM_MALFORMED) {
        ips.rc = SYM_MALFORMED;
        a->is_failed = true;
    } else if (ips.rc == SYM_LIMIT) {
        a->sentry.base.refused_as = HTTP_TOO_LARGE;
        ips.rc = sym_request_refuse(&a->sentry.base, ips.rc, "%s", err.what);
    }

    sym_json_drop(&json);
    return ips.rc;
}
