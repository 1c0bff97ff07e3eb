/*
 * ips.c - crash reports of Apple as JSON ("Interpreting the JSON format of a crash
 * report" in Apple's documentation): a line with a summary, then the report.
 * Keys that are absent, or of another type, are left out.
 *
 * jansson reads a text in one go, and a report of hundreds of threads has more keys than
 * it may have in a worker. So the members of the report are found first, without a tree;
 * then its images and its threads are read, each with a tree of its own.
 */
#include "api/apple/ips.h"

#include <stdio.h>

#include "json/number.h"
#include "json/out.h"
#include "json/raw.h"

#define HTTP_TOO_LARGE 413

/* "x28" */
#define REGISTER_MAX 8

#define IMAGES_MAX 65536u

/* Bytes of JSON that cost as much as a line of a text. */
#define LINE_BYTES 64

/* Texts of one value that are read in one go. */
#define VALUE_MAX SYM_RAW_BYTES_MAX

/* --- the form --- */

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}


/* The report after the line before it; the report itself if there is no such
 * line. */
static sym_str_t
after_summary(sym_str_t text)
{
    const char *end = memchr(text.data, '\n', text.len), *last = end, *rest;

    if (end == NULL) {
        return text;
    }

    while (last > text.data && is_blank(last[-1])) {
        last--;
    }

    rest = sym_raw_space(end, text.data + text.len);
    return last > text.data && last[-1] == '}' && rest < text.data + text.len
               ? sym_str(rest, (size_t) (text.data + text.len - rest))
               : text;
}


bool
apple_is_ips(sym_str_t text)
{
    return text.len != 0 && text.data[0] == '{'
           && after_summary(text).data[0] == '{';
}


/* --- values --- */

static sym_status_t
malformed(apple_ips_t *ips)
{
    ips->a->is_failed = true;
    ips->a->failure =
        SYM_STR("failed to parse apple crash report: it is not JSON, or has a "
                "value of more than 4 MiB or 64 levels");
    ips->rc = SYM_MALFORMED;
    return ips->rc;
}


static sym_status_t
too_large(apple_ips_t *ips, const char *what)
{
    ips->a->sentry.base.refused_as = HTTP_TOO_LARGE;
    ips->rc = sym_request_refuse(&ips->a->sentry.base, SYM_LIMIT, "%s", what);
    return ips->rc;
}


/* A tree of the value; NULL: ips->rc says why. */
static const json_t *
load(apple_ips_t *ips, sym_str_t text, sym_json_t *json)
{
    sym_arena_t *arena = ips->a->sentry.base.arena;
    sym_error_t err = { 0 };
    sym_status_t rc;

    *json = (sym_json_t){ .root = NULL };
    text = sym_json_integers(arena, text, SYM_STR("\"\""));
    if (text.data == NULL) {
        ips->rc = SYM_NOMEM;
        return NULL;
    }

    rc = sym_json_load_charged(json, arena->account, text,
                               JSON_ALLOW_NUL | JSON_DECODE_ANY, "not JSON",
                               &err);
    if (rc == SYM_LIMIT) {
        (void) too_large(ips, err.what);
    } else if (rc != SYM_OK) {
        ips->rc = rc == SYM_NOMEM ? rc : malformed(ips);
    }

    return json->root;
}


sym_str_t
ips_text(apple_ips_t *ips, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    sym_str_t text = { NULL, 0 };

    if (json_is_string(value)) {
        text = sym_arena_copy(
            ips->a->sentry.base.arena,
            sym_str(json_string_value(value), json_string_length(value)));
        ips->rc = text.data == NULL ? SYM_NOMEM : ips->rc;
    }

    return text;
}


/* 64-bit integers are kept as signed ones. */
static uint64_t
number_of(const json_t *object, const char *key)
{
    return (uint64_t) json_integer_value(json_object_get(object, key));
}


/* --- images --- */

static ips_image_t *
add_image(apple_ips_t *ips)
{
    sym_arena_t *arena = ips->a->sentry.base.arena;
    ips_image_t *images = ips->images;
    uint32_t most = ips->max_images;

    if (ips->n_images == IMAGES_MAX) {
        (void) too_large(ips, "more than 65536 images");
        return NULL;
    }

    if (ips->n_images == most) {
        most = most == 0 ? 64 : 2 * most;
        images = sym_arena_alloc(arena, most * sizeof(*images));
        if (images == NULL) {
            ips->rc = SYM_NOMEM;
            return NULL;
        }

        if (ips->n_images != 0) {
            memcpy(images, ips->images, ips->n_images * sizeof(*images));
        }
        ips->images = images;
        ips->max_images = most;
    }

    return &images[ips->n_images++];
}


/* Code that no file has, has no UUID, or one of zeros. */
static bool
is_file(sym_str_t uuid)
{
    static const uint8_t zeros[SYM_UUID_BYTES];
    sym_debug_id_t id;

    return uuid.data != NULL && sym_debug_id_read_uuid(uuid, &id)
           && memcmp(id.signature, zeros, sizeof(zeros)) != 0;
}


/* Every image counts for the indexes of frames; those that are files become
 * modules. */
static void
read_image(apple_ips_t *ips, const json_t *image)
{
    apple_image_t m = { .start = number_of(image, "base"),
                        .size = number_of(image, "size"),
                        .uuid = ips_text(ips, image, "uuid"),
                        .path = ips_text(ips, image, "path") };
    sym_str_t name = ips_text(ips, image, "name");
    ips_image_t *kept = add_image(ips);

    if (kept == NULL) {
        return;
    }

    m.path = m.path.data != NULL ? m.path : name;
    kept->base = m.start;
    kept->package = name.len != 0 ? apple_json(ips->a, name) : sym_str(NULL, 0);
    if (name.len != 0 && kept->package.data == NULL) {
        ips->rc = SYM_NOMEM;
    }

    if (ips->rc == SYM_OK && is_file(m.uuid)) {
        ips->rc = apple_add_image(ips->a, &m);
    }
}


/* --- stacks --- */

/* The names that the system found; they are shown where there are no symbols. */
static void
add_names(apple_ips_t *ips, const json_t *json, sentry_frame_t *frame)
{
    sentry_t *s = &ips->a->sentry;
    sym_str_t function = ips_text(ips, json, "symbol");
    sym_str_t file = ips_text(ips, json, "sourceFile");
    const json_t *line = json_object_get(json, "sourceLine");
    const json_t *offset = json_object_get(json, "symbolLocation");
    bool is_fine = true;
    char digits[24];

    if (function.len != 0) {
        is_fine = sentry_add_field(s, frame, SENTRY_FUNCTION, function);

        if (json_is_integer(offset)
            && (uint64_t) json_integer_value(offset) <= frame->addr)
        {
            is_fine = is_fine
                      && sentry_add_number(
                          s, frame, SENTRY_SYM_ADDR,
                          frame->addr - (uint64_t) json_integer_value(offset));
        }
    }

    if (file.len != 0) {
        file = apple_json(ips->a, file);
        is_fine = is_fine && file.data != NULL
                  && sentry_add_field(s, frame, SENTRY_FILENAME, file);
    }

    if (json_is_integer(line) && json_integer_value(line) > 0) {
        sym_str_t text =
            sym_str(digits, (size_t) snprintf(digits, sizeof(digits),
                                              "%" JSON_INTEGER_FORMAT,
                                              json_integer_value(line)));

        text = sym_arena_copy(s->base.arena, text);
        is_fine = is_fine && text.data != NULL
                  && sentry_add_field(s, frame, SENTRY_LINENO, text);
    }

    ips->rc = is_fine ? ips->rc : SYM_NOMEM;
}


/* Inlined calls are at the address of the frame after them: its symbols have
 * them. */
static void
read_frames(apple_ips_t *ips, const json_t *frames)
{
    static const ips_image_t none = { 0 };
    const json_t *json;
    size_t i;

    json_array_foreach(frames, i, json)
    {
        const json_t *index = json_object_get(json, "imageIndex");
        const ips_image_t *image =
            json_is_integer(index)
                    && (uint64_t) json_integer_value(index) < ips->n_images
                ? &ips->images[json_integer_value(index)]
                : &none;
        sentry_frame_t *frame;

        if (ips->rc != SYM_OK) {
            return;
        }

        if (json_is_true(json_object_get(json, "inline"))) {
            continue;
        }

        ips->rc = apple_add_frame(ips->a,
                                  image->base + number_of(json, "imageOffset"),
                                  image->package, &frame);
        if (ips->rc == SYM_OK) {
            add_names(ips, json, frame);
        }
    }
}


static void
add_register(apple_ips_t *ips, sentry_stack_t *stack, const char *name,
             const json_t *state)
{
    sym_str_t kept;

    if (!json_is_integer(json_object_get(state, "value"))) {
        return;
    }

    kept = sym_arena_copy(ips->a->sentry.base.arena, sym_cstr(name));
    if (kept.data == NULL
        || !sentry_add_register(&ips->a->sentry, stack, kept,
                                number_of(state, "value")))
    {
        ips->rc = SYM_NOMEM;
    }
}


/* {"x": [{"value": 1}, ...], "sp": {"value": 2}, "flavor": "ARM_THREAD_STATE64"};
 * registers of a translated process are in an object inside it. */
static void
read_registers(apple_ips_t *ips, sentry_stack_t *stack, const json_t *state)
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
read_thread(apple_ips_t *ips, const json_t *thread)
{
    const uint64_t id = ips->thread++;
    const json_t *state = json_object_get(thread, "threadState");
    bool is_crashed = json_is_true(json_object_get(thread, "triggered"))
                      || (ips->has_faulting && ips->faulting == id);
    sym_str_t name = ips_text(ips, thread, "name");
    sentry_stack_t *stack;

    if (name.len == 0) {
        name = ips_text(ips, thread, "queue");
    }

    if (ips->rc == SYM_OK) {
        ips->rc = apple_add_stack(ips->a, id, name, is_crashed, &stack);
    }

    if (ips->rc != SYM_OK) {
        return;
    }

    if (is_crashed) {
        read_registers(ips, stack, state);
        read_registers(ips, stack, json_object_get(state, "rosetta"));
    }

    read_frames(ips, json_object_get(thread, "frames"));
}


/* The stack of an exception of Objective-C is no thread's. */
static bool
begin_exception(apple_ips_t *ips, sym_str_t name)
{
    sentry_stack_t *stack;

    ips->rc = apple_add_stack(ips->a, 0, name, false, &stack);
    if (ips->rc == SYM_OK) {
        stack->has_thread_id = false;
    }

    return ips->rc == SYM_OK;
}


static void
read_exception_stack(apple_ips_t *ips)
{
    sym_json_t json = { .root = NULL };
    const json_t *frames = NULL;

    if (ips->exception_text.len != 0) {
        frames = load(ips, ips->exception_text, &json);
    }

    if (ips->rc == SYM_OK && json_array_size(frames) != 0) {
        if (begin_exception(ips, SYM_STR("Last Exception Backtrace"))) {
            read_frames(ips, frames);
        }
    } else if (ips->rc == SYM_OK && ips->backtrace.len != 0) {
        if (begin_exception(ips, SYM_STR("Application Specific Backtrace"))) {
            ips->rc = apple_add_frame_lines(ips->a, ips->backtrace);
        }
    }

    sym_json_drop(&json);
}


/* --- the parts in their order --- */

static void
charge(uint32_t *budget, const char *from, const char *to)
{
    size_t cost = 1 + (size_t) (to - from) / LINE_BYTES;

    *budget = cost < *budget ? *budget - (uint32_t) cost : 0;
}


/* The end of the value that begins at p; NULL: it is not one, or too long. */
static const char *
value_end(const apple_ips_t *ips, const char *p)
{
    return sym_raw_value(p, (size_t) (ips->end - p) > VALUE_MAX ? p + VALUE_MAX
                                                                : ips->end);
}


static void
begin_step(apple_ips_t *ips, ips_step_t step, sym_str_t text)
{
    ips->step = step;
    ips->p = text.data;
    ips->end = text.data + text.len;
}


/* After the bracket of a list, or an item and its comma.  Returns the item, which
 * ends at ips->p; data NULL: the list ends there, or it is not a list. */
static sym_str_t
next_item(apple_ips_t *ips)
{
    const char *start = sym_raw_space(ips->p, ips->end), *end;

    if (start < ips->end && *start == ']') {
        ips->p = start;
        return sym_str(NULL, 0);
    }

    end = value_end(ips, start);
    ips->p = end == NULL ? start : sym_raw_space(end, ips->end);
    if (end == NULL || ips->p == ips->end || (*ips->p != ',' && *ips->p != ']'))
    {
        (void) malformed(ips);
        return sym_str(NULL, 0);
    }

    ips->p += *ips->p == ',';
    return sym_str(start, (size_t) (end - start));
}


static void
read_value(apple_ips_t *ips, sym_str_t key, sym_str_t text)
{
    sym_json_t json;

    if (sym_str_eq(key, SYM_STR("lastExceptionBacktrace"))) {
        ips->exception_text = text;
    } else if (ips_is_fact(key)) {
        const json_t *value = load(ips, text, &json);

        if (value != NULL) {
            ips_read_fact(ips, key, value);
        }
        sym_json_drop(&json);
    }
}


/* After the value of a member: the next, or the end. */
static void
end_member(apple_ips_t *ips)
{
    ips->p = sym_raw_space(ips->p, ips->end);
    if (ips->p == ips->end || (*ips->p != ',' && *ips->p != '}')) {
        (void) malformed(ips);
    } else if (*ips->p++ == '}') {
        begin_step(ips, IPS_IMAGES, ips->images_text);
    }
}


/* A member; of the two lists only the beginning. */
static void
read_member(apple_ips_t *ips)
{
    sym_raw_string_t key;
    const char *p = sym_raw_space(ips->p, ips->end), *end;

    p = sym_raw_string(p, ips->end, &key);
    p = p != NULL ? sym_raw_space(p, ips->end) : ips->end;
    if (p == ips->end || *p != ':') {
        (void) malformed(ips);
        return;
    }

    p = sym_raw_space(p + 1, ips->end);
    ips->list = sym_str_eq(key.text, SYM_STR("usedImages")) ? &ips->images_text
                : sym_str_eq(key.text, SYM_STR("threads"))  ? &ips->threads_text
                                                            : NULL;

    if (ips->list != NULL && p < ips->end && *p == '[') {
        ips->p = p + 1;
        *ips->list = sym_str(ips->p, 0);
        ips->step = IPS_SKIPPED_LIST;
        return;
    }

    end = value_end(ips, p);
    if (end == NULL) {
        (void) malformed(ips);
        return;
    }

    ips->p = end;
    read_value(ips, key.text, sym_str(p, (size_t) (end - p)));
    if (ips->rc == SYM_OK) {
        end_member(ips);
    }
}


static void
skip_item(apple_ips_t *ips)
{
    if (next_item(ips).data == NULL && ips->rc == SYM_OK) {
        ips->p++;
        ips->list->len = (size_t) (ips->p - ips->list->data);
        ips->step = IPS_MEMBERS;
        end_member(ips);
    }
}


static void
read_item(apple_ips_t *ips, void (*read)(apple_ips_t *ips, const json_t *value))
{
    sym_str_t text = ips->p == ips->end ? sym_str(NULL, 0) : next_item(ips);
    sym_json_t json;
    const json_t *value;

    if (text.data != NULL) {
        value = load(ips, text, &json);
        if (value != NULL) {
            read(ips, value);
        }
        sym_json_drop(&json);
        return;
    }

    if (ips->rc != SYM_OK) {
        return;
    }

    if (ips->step == IPS_IMAGES) { /* their list has ended */
        begin_step(ips, IPS_THREADS, ips->threads_text);
        read_exception_stack(ips);
    } else {
        ips->step = IPS_END;
    }
}


static sym_status_t
begin(apple_t *a)
{
    apple_ips_t *ips = sym_arena_calloc(a->sentry.base.arena, 1, sizeof(*ips));

    if (ips == NULL) {
        return SYM_NOMEM;
    }

    *ips = (apple_ips_t){ .a = a,
                          .images_text = SYM_STR(""),
                          .threads_text = SYM_STR("") };
    begin_step(ips, IPS_MEMBERS, after_summary(a->report));
    ips->p = sym_raw_space(ips->p + 1, ips->end);
    if (ips->p < ips->end && *ips->p == '}') {
        ips->step = IPS_END;
    }

    a->ips = ips;
    return SYM_OK;
}


static sym_status_t
finish(apple_ips_t *ips)
{
    sym_str_t report = ips->a->report, rest = after_summary(report);
    sym_json_t json;
    const json_t *summary;

    if (rest.data != report.data) {
        summary =
            load(ips, sym_str(report.data, (size_t) (rest.data - report.data)),
                 &json);
        if (summary != NULL) {
            ips_read_summary(ips, summary);
        }
        sym_json_drop(&json);
    }

    return ips->rc;
}


sym_status_t
apple_read_ips(apple_t *a, uint32_t budget)
{
    apple_ips_t *ips;

    if (a->ips == NULL && begin(a) != SYM_OK) {
        return SYM_NOMEM;
    }

    ips = a->ips;
    while (ips->rc == SYM_OK && ips->step != IPS_END) {
        const char *from = ips->p;

        if (budget == 0) {
            return SYM_AGAIN;
        }

        if (ips->step == IPS_MEMBERS) {
            read_member(ips);
        } else if (ips->step == IPS_SKIPPED_LIST) {
            skip_item(ips);
        } else {
            read_item(ips, ips->step == IPS_IMAGES ? read_image : read_thread);
        }

        charge(&budget, from, ips->p > from ? ips->p : from);
    }

    return ips->rc == SYM_OK ? finish(ips) : ips->rc;
}
