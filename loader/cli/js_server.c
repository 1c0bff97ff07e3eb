/*
 * js_server.c - sends the frames of a JavaScript stack to a server with
 * Sentry's API.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/js_lines.h"
#include "cli/post.h"
#include "common/say.h"
#include "json/load.h"

static json_t *
text_of(sym_str_t s)
{
    json_t *text = json_stringn(s.data, s.len);

    return text != NULL ? text : json_string("?"); /* not UTF-8 */
}


/* NULL: out of memory. */
static char *
make_request(const options_t *options, const js_lines_t *lines)
{
    json_t *frames = json_array(), *request;
    char *text;

    for (size_t i = 0; i < lines->n; i++) {
        const js_line_frame_t *f = &lines->all[i].frame;
        json_t *frame;

        if (!lines->all[i].is_frame) {
            continue;
        }

        frame =
            json_pack("{s:o, s:I, s:I}", "abs_path", text_of(f->url), "lineno",
                      (json_int_t) f->line, "colno", (json_int_t) f->column);
        if (f->name.data != NULL) {
            json_object_set_new(frame, "function", text_of(f->name));
        }
        json_array_append_new(frames, frame);
    }

    request =
        json_pack("{s:[{s:o}], s:{s:s, s:b, s:b}}", "stacktraces", "frames",
                  frames, "options", "frame_order", "callee_first",
                  "apply_source_context", 0, "explain", options->explain);
    text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    return text;
}


static sym_str_t
copy(js_lines_t *lines, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_string(value) ? sym_arena_copy(
               &lines->arena,
               sym_str(json_string_value(value), json_string_length(value)))
                                 : SYM_STR("");
}


static void
take_frame(js_lines_t *lines, js_line_t *l, const json_t *frame)
{
    const json_t *data = json_object_get(frame, "data");

    l->function = copy(lines, frame, "function");
    l->source = copy(lines, frame, "filename");
    if (l->source.len == 0) {
        l->source = copy(lines, frame, "abs_path");
    }

    l->source_line =
        (uint64_t) json_integer_value(json_object_get(frame, "lineno"));
    l->source_column =
        (uint64_t) json_integer_value(json_object_get(frame, "colno"));
    l->is_mapped = json_is_true(json_object_get(data, "symbolicated"))
                   && l->function.data != NULL && l->source.data != NULL;
}


static void
add(sym_text_t *t, const char *before, const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    if (value != NULL) {
        sym_text_add(t, sym_cstr(before));
        for (; *value != '\0'; value++) {
            char c = *value;

            if ((unsigned char) c < ' ') {
                c = '?';
            }
            sym_text_byte(t, c);
        }
    }
}


/* Prints a paragraph for each script. */
static void
explain(js_lines_t *lines, const json_t *answer)
{
    sym_text_t t = { .arena = &lines->arena };
    const char *last = "";
    const json_t *e;
    size_t i;

    json_array_foreach(json_object_get(answer, "explanations"), i, e)
    {
        const char *path = json_string_value(json_object_get(e, "abs_path"));

        if (path != NULL && strcmp(path, last) != 0) {
            add(&t, "\n", e, "abs_path");
            sym_text_add(&t, SYM_STR("\n"));
            last = path;
        }
        add(&t, "    ", e, "note");
        add(&t, "    ", e, "file");
        add(&t, " by ", e, "by");
        add(&t, ", ", e, "uri");
        add(&t, ": ", e, "result");
        add(&t, ": ", e, "reason");
        sym_text_add(&t, SYM_STR("\n"));
    }

    lines->explanation = sym_text_end(&t);
    if (t.failed) {
        lines->explanation = SYM_STR("");
    }
}


static int
take_answer(const options_t *options, js_lines_t *lines, sym_str_t text)
{
    sym_error_t err = { 0 };
    sym_json_t json = { 0 };
    const json_t *frames;
    size_t n = 0;
    char why[256];

    if (sym_json_load(&json, text, SYM_JSON_CONVERTER_MAX, 0,
                      "the answer is no JSON", &err)
        != SYM_OK)
    {
        complain_about(options->server, "%s",
                       sym_error_text(&err, why, sizeof(why)));
        sym_json_drop(&json);
        return EXIT_STORE;
    }

    frames = json_object_get(
        json_array_get(json_object_get(json.root, "stacktraces"), 0), "frames");
    for (size_t i = 0; i < lines->n; i++) {
        if (lines->all[i].is_frame) {
            take_frame(lines, &lines->all[i], json_array_get(frames, n++));
        }
    }

    explain(lines, json.root);
    sym_json_drop(&json);
    return EXIT_FINE;
}


int
js_server_ask(const options_t *options, js_lines_t *lines)
{
    post_answer_t answer;
    int code = post_beside(options->server, "symbolicate-js",
                           make_request(options, lines), &answer);

    if (code == EXIT_FINE) {
        code = take_answer(options, lines, answer.body);
    }

    free(answer.data);
    return code;
}
