#include "cli/jvm_stack.h"

#include <jansson.h>
#include <stdlib.h>

#include "artifacts/jvm/export/trace_line.h"
#include "cli/output.h"
#include "cli/post.h"
#include "common/say.h"
#include "json/load.h"
#include "object/object_id.h"

#define LINES_MAX 100000
#define MAPPING "mapping "

/* A line without its newline. */
typedef struct {
    sym_str_t text;
    sym_trace_frame_t frame;
    sym_str_t class; /* class of an exception or lock; "": none */
    bool is_frame, is_exception;
} line_t;

typedef struct {
    line_t *all;
    size_t n;
    sym_str_t rest;  /* text after these lines */
    json_t *modules; /* modules of the request */
} trace_t;

/* The next line, without its end; false: the text has ended. */
static bool
next_line(sym_str_t *rest, sym_str_t *line)
{
    const char *end =
        rest->len != 0 ? memchr(rest->data, '\n', rest->len) : NULL;
    size_t len = end != NULL ? (size_t) (end - rest->data) : rest->len;
    size_t skip = end != NULL ? len + 1 : len;

    *line = sym_str(rest->data, len);
    *rest = sym_str(rest->data + skip, rest->len - skip);
    return skip != 0;
}


bool
jvm_stack_is(sym_str_t text)
{
    sym_trace_frame_t frame;
    sym_str_t line;

    if (text.len != 0 && (text.data[0] == '{' || text.data[0] == '[')) {
        return false; /* an event */
    }

    while (next_line(&text, &line)) {
        if (sym_trace_read_frame(line, &frame)) {
            return true;
        }
    }

    return false;
}


/* --- the request --- */

/* NULL: not UTF-8, or out of memory. */
static json_t *
text_of(sym_str_t s)
{
    return json_stringn(s.data, s.len);
}


/* A line "mapping UUID". */
static void
add_mapping(trace_t *t, sym_str_t line)
{
    sym_debug_id_t id;
    char text[SYM_ID_TEXT_MAX];

    if (!sym_str_starts(line, SYM_STR(MAPPING))) {
        return;
    }

    line = sym_str(line.data + strlen(MAPPING), line.len - strlen(MAPPING));
    while (line.len > 0 && (uint8_t) line.data[line.len - 1] <= ' ') {
        line.len--;
    }

    if (sym_debug_id_read_sentry(line, &id)) {
        line = sym_str(text, sym_debug_id_write_sentry(&id, text));
        (void) json_array_append_new(
            t->modules,
            json_pack("{s:o, s:s}", "uuid", text_of(line), "type", "proguard"));
    }
}


/* {"module": PACKAGE, "type": NAME} */
static json_t *
exception_of(sym_str_t class)
{
    size_t dot = class.len;

    while (dot > 0 && class.data[dot - 1] != '.') {
        dot--;
    }

    return json_pack("{s:o, s:o}", "module",
                     text_of(sym_str(class.data, dot != 0 ? dot - 1 : 0)),
                     "type",
                     text_of(sym_str(class.data + dot, class.len - dot)));
}


/* NULL: a name is not UTF-8. */
static json_t *
frame_of(const sym_trace_frame_t *f, size_t index)
{
    uint32_t number = sym_trace_number(f->source);
    json_t *frame =
        json_pack("{s:o, s:o, s:I}", "module", text_of(f->class_name),
                  "function", text_of(f->method), "index", (json_int_t) index);

    if (frame != NULL && number != 0) {
        (void) json_object_set_new(frame, "lineno", json_integer(number));
    }

    if (frame != NULL && f->signature.len != 0) {
        (void) json_object_set_new(frame, "signature", text_of(f->signature));
    }

    return frame;
}


/* A stack begins with its exception; the index of a frame is its line. */
static char *
make_request(const options_t *options, trace_t *t)
{
    json_t *stacks = json_array(), *classes = json_array(), *frames = NULL;
    json_t *request;
    char *text;

    for (size_t i = 0; i < t->n; i++) {
        line_t *l = &t->all[i];
        json_t *frame = l->is_frame ? frame_of(&l->frame, i) : NULL;

        l->is_frame = frame != NULL;
        if (l->class.len != 0) {
            (void) json_array_append_new(classes, text_of(l->class));
        }

        if (frames == NULL || l->is_exception) {
            frames = json_array();
            (void) json_array_append_new(
                stacks,
                json_pack("{s:o?, s:o}", "exception",
                          l->is_exception ? exception_of(l->class) : NULL,
                          "frames", frames));
        }

        if (l->is_frame) {
            (void) json_array_append_new(frames, frame);
        }
    }

    request = json_pack("{s:O, s:o, s:o, s:{s:s, s:b, s:b}}", "modules",
                        t->modules, "stacktraces", stacks, "classes", classes,
                        "options", "frame_order", "callee_first",
                        "apply_source_context", 0, "explain", options->explain);
    text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    return text;
}


/* --- the answer --- */

static sym_str_t
string_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_string(value)
               ? sym_str(json_string_value(value), json_string_length(value))
               : sym_str("", 0);
}


static bool
is_changed(const sym_trace_frame_t *f, const sym_jvm_frame_t *frame)
{
    return !sym_str_eq(f->class_name, frame->class_name)
           || !sym_str_eq(f->method, frame->method)
           || sym_trace_number(f->source) != frame->line;
}


static void
print_plain(output_t *out, sym_str_t line)
{
    sym_out_raw(&out->json, line);
    sym_out_raw(&out->json, SYM_STR("\n"));
}


/* False: the answer's frame is the one of the line. */
static bool
print_frame(output_t *out, const sym_trace_frame_t *f, const json_t *answer)
{
    sym_str_t signature = string_of(answer, "signature");
    json_int_t line = json_integer_value(json_object_get(answer, "lineno"));
    sym_jvm_frame_t frame = {
        .class_name = string_of(answer, "module"),
        .method = string_of(answer, "function"),
        .file = string_of(answer, "filename"),
        .line = line > 0 && line <= UINT32_MAX ? (uint32_t) line : 0,
        .has_line = true,
    };

    if (!is_changed(f, &frame)) {
        return false;
    }

    sym_trace_write_frame(f,
                          f->signature.len != 0 ? signature : sym_str(NULL, 0),
                          &frame, &out->json);
    return true;
}


/* The next frames of the answer that have this index.  Returns their number. */
static size_t
print_frames(output_t *out, const line_t *l, size_t index, const json_t *frames,
             size_t *next)
{
    size_t n = 0;

    for (; *next < json_array_size(frames); (*next)++, n++) {
        const json_t *frame = json_array_get(frames, *next);

        if (json_integer_value(json_object_get(frame, "index"))
            != (json_int_t) index) {
            break;
        }

        if (!print_frame(out, &l->frame, frame)) {
            print_plain(out, l->text);
        }
    }

    return n;
}


static void
print_class(output_t *out, const line_t *l, const json_t *classes)
{
    const json_t *name = json_object_getn(classes, l->class.data, l->class.len);
    size_t start = (size_t) (l->class.data - l->text.data) + l->class.len;

    if (!json_is_string(name)) {
        print_plain(out, l->text);
        return;
    }

    sym_out_raw(&out->json, sym_str(l->text.data, start - l->class.len));
    output_text(out,
                sym_str(json_string_value(name), json_string_length(name)));
    print_plain(out, sym_str(l->text.data + start, l->text.len - start));
}


static void
print_lines(const trace_t *t, const json_t *answer, output_t *out)
{
    const json_t *stacks = json_object_get(answer, "stacktraces");
    const json_t *classes = json_object_get(answer, "classes");
    const json_t *frames = NULL;
    size_t stack = 0, next = 0;

    for (size_t i = 0; i < t->n; i++) {
        const line_t *l = &t->all[i];

        if (i == 0 || l->is_exception) {
            frames = json_object_get(json_array_get(stacks, stack++), "frames");
            next = 0;
        }

        if (l->is_frame) {
            (void) print_frames(out, l, i, frames, &next);
        } else if (l->class.len != 0) {
            print_class(out, l, classes);
        } else {
            print_plain(out, l->text);
        }
    }

    sym_out_raw(&out->json, t->rest);
}


/* What each mapping was; returns whether all could be used. */
static bool
print_mappings(const options_t *options, const json_t *answer, output_t *out)
{
    const json_t *all = json_object_get(answer, "errors"), *e;
    size_t i;

    json_array_foreach(all, i, e)
    {
        sym_str_t uuid = string_of(e, "uuid"), type = string_of(e, "type");

        complain_about(options->server, "mapping %.*s: %.*s", (int) uuid.len,
                       uuid.data, (int) type.len, type.data);
    }

    json_array_foreach(json_object_get(answer, "explanations"), i, e)
    {
        sym_str_t reason = string_of(e, "reason");
        json_int_t n = json_integer_value(json_object_get(e, "classes"));

        sym_out_raw(&out->json,
                    i == 0 ? SYM_STR("\nmapping ") : SYM_STR("mapping "));
        output_text(out, string_of(e, "uuid"));
        sym_out_raw(&out->json, SYM_STR(": "));
        output_text(out, string_of(e, "result"));
        if (n > 0) {
            output_printf(out, ", %lld classes", (long long) n);
        }
        if (reason.len != 0) {
            sym_out_raw(&out->json, SYM_STR(": "));
            output_text(out, reason);
        }
        sym_out_raw(&out->json, SYM_STR("\n"));
    }

    return json_array_size(all) == 0;
}


static int
print_answer(const options_t *options, const trace_t *t, sym_str_t text)
{
    sym_error_t err = { 0 };
    sym_json_t json = { 0 };
    output_t *out = output_create();
    int code = EXIT_OUTPUT;
    char why[256];

    if (sym_json_load(&json, text, SYM_JSON_CONVERTER_MAX, 0,
                      "the answer is no JSON", &err)
        != SYM_OK)
    {
        complain_about(options->server, "%s",
                       sym_error_text(&err, why, sizeof(why)));
        code = output_end(out, EXIT_STORE);
    } else if (out != NULL) {
        print_lines(t, json.root, out);
        code =
            print_mappings(options, json.root, out) ? EXIT_FINE : EXIT_PARTLY;
        code = output_end(out, code);
    }

    sym_json_drop(&json);
    return code;
}


/* --- both --- */

/* False: out of memory. */
static bool
read_lines(trace_t *t, sym_str_t text)
{
    t->modules = json_array();
    t->all = calloc(LINES_MAX, sizeof(*t->all));
    t->rest = text;
    if (t->modules == NULL || t->all == NULL) {
        return false;
    }

    while (t->n < LINES_MAX && next_line(&t->rest, &t->all[t->n].text)) {
        line_t *l = &t->all[t->n++];

        add_mapping(t, l->text);
        l->class = sym_trace_lock(l->text);
        l->is_frame =
            l->class.len == 0 && sym_trace_read_frame(l->text, &l->frame);
        if (l->class.len == 0 && !l->is_frame) {
            l->class = sym_trace_exception(l->text);
            l->is_exception = l->class.len != 0;
        }
    }

    return true;
}


static int
ask(const options_t *options, trace_t *t)
{
    post_answer_t answer;
    int code = post_beside(options->server, "symbolicate-jvm",
                           make_request(options, t), &answer);

    if (code == EXIT_FINE) {
        code = print_answer(options, t, answer.body);
    }

    free(answer.data);
    return code;
}


int
jvm_stack_run(const options_t *options, sym_str_t text)
{
    trace_t t = { .n = 0 };
    int code = EXIT_USAGE;

    if (options->server == NULL) {
        complain_about("symbolicate",
                       "a stack of Java needs --server; without a server, use "
                       "`symloader retrace MAPPING`");
        return EXIT_USAGE;
    }

    if (!read_lines(&t, text)) {
        complain_about("symbolicate", "out of memory");
        code = EXIT_STORE;
    } else if (json_array_size(t.modules) == 0) {
        complain_about(options->operands[0],
                       "which mapping is it? Add a line \"mapping UUID\" for "
                       "each");
    } else {
        code = ask(options, &t);
    }

    json_decref(t.modules);
    free(t.all);
    return code;
}
