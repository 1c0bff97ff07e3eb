#include "cli/js_stack.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/compile.h"
#include "cli/js_lines.h"
#include "cli/output.h"
#include "common/say.h"
#include "symbolicate/js/js.h"

/* Maximum number of scripts in a stack. */
#define SCRIPTS_MAX 256

#define FRAMES_MAX 100000

/* The script at a URL. */
typedef struct {
    sym_str_t url;
    char *path, *map_path; /* paths of the frame found; NULL: none */
    temporary_symcache_t *script_copy, *map_copy; /* NULL: the file was not
                                                     found */
    sym_script_t script;
    sym_sourcemap_t map;
} script_t;

typedef struct {
    const options_t *options;
    const char *folder;
    script_t scripts[SCRIPTS_MAX];
    size_t n_scripts;
    js_lines_t lines;
} stack_text_t;


/* --- frames --- */

static sym_str_t
without_space(sym_str_t s)
{
    while (s.len > 0
           && (s.data[s.len - 1] == '\n' || s.data[s.len - 1] == '\r'
               || s.data[s.len - 1] == ' '))
    {
        s.len--;
    }

    return s;
}


/* Removes a decimal number and the colon before it from the end of s. */
static bool
take_number(sym_str_t *s, uint32_t *number)
{
    uint64_t value = 0, scale = 1;
    size_t i = s->len;

    for (; i > 0 && s->data[i - 1] >= '0' && s->data[i - 1] <= '9'; i--) {
        if (s->len - i >= 10) {
            return false;
        }
        value += scale * (uint64_t) (s->data[i - 1] - '0');
        scale *= 10;
    }

    if (i == s->len || i == 0 || s->data[i - 1] != ':' || value > UINT32_MAX) {
        return false;
    }

    *number = (uint32_t) value;
    s->len = i - 1;
    return true;
}


/* URL:LINE:COLUMN */
static bool
read_place(sym_str_t text, js_line_frame_t *f)
{
    if (!take_number(&text, &f->column) || !take_number(&text, &f->line)
        || f->line == 0 || text.len == 0)
    {
        return false;
    }

    f->column = f->column != 0 ? f->column : 1;

    f->url = text;
    return true;
}


static sym_str_t
rest_of(sym_str_t s, size_t from)
{
    return sym_str(s.data + from, s.len - from);
}


static bool
read_at(sym_str_t rest, js_line_frame_t *f)
{
    const char *open = NULL;

    f->is_at = true;
    if (rest.len > 0 && rest.data[rest.len - 1] == ')') {
        for (size_t i = rest.len - 1; i-- > 0 && open == NULL;) {
            if (rest.data[i] == ' ' && rest.data[i + 1] == '(') {
                open = rest.data + i;
            }
        }
    }

    if (open == NULL) {
        if (sym_str_starts(rest, SYM_STR("async "))) {
            rest = rest_of(rest, 6);
        }
        return read_place(rest, f);
    }

    f->name = sym_str(rest.data, (size_t) (open - rest.data));
    rest = sym_str(open + 2, rest.len - f->name.len - 3);
    return read_place(rest, f);
}


static bool
read_frame(sym_str_t line, js_line_frame_t *f)
{
    sym_str_t text = without_space(line);
    size_t i = 0;
    const char *at;

    *f = (js_line_frame_t){ .name = { NULL, 0 } };
    while (i < text.len && (text.data[i] == ' ' || text.data[i] == '\t')) {
        i++;
    }

    f->before = sym_str(text.data, i);
    f->after = rest_of(line, text.len);
    text = rest_of(text, i);

    if (sym_str_starts(text, SYM_STR("at "))) {
        return read_at(rest_of(text, 3), f);
    }

    at = memchr(text.data, '@', text.len);
    if (at != NULL) {
        size_t len = (size_t) (at - text.data);

        f->name = len != 0 ? sym_str(text.data, len) : sym_str(NULL, 0);
        return read_place(rest_of(text, len + 1), f);
    }

    return (sym_str_starts(text, SYM_STR("http://"))
            || sym_str_starts(text, SYM_STR("https://"))
            || sym_str_starts(text, SYM_STR("file://")))
           && read_place(text, f);
}


/* Takes the next line; false: the end. */
static bool
next_line(sym_str_t *rest, sym_str_t *line)
{
    const char *end =
        rest->len != 0 ? memchr(rest->data, '\n', rest->len) : NULL;
    size_t len = end != NULL ? (size_t) (end - rest->data) + 1 : rest->len;

    *line = sym_str(rest->data, len);
    *rest = rest_of(*rest, len);
    return len != 0;
}


bool
js_stack_is(sym_str_t text)
{
    sym_str_t line;
    js_line_frame_t frame;

    if (text.len != 0 && (text.data[0] == '{' || text.data[0] == '[')) {
        return false; /* an event */
    }

    while (next_line(&text, &line)) {
        if (read_frame(line, &frame)) {
            return true;
        }
    }

    return false;
}


/* --- files --- */

/* Returns the path of a URL, without query and fragment. */
static sym_str_t
path_of(sym_str_t url)
{
    for (size_t i = 0; i + 2 < url.len; i++) {
        if (memcmp(url.data + i, "://", 3) == 0) {
            url = rest_of(url, i + 3);
            break;
        }
    }

    for (size_t i = 0; i < url.len; i++) {
        if (url.data[i] == '?' || url.data[i] == '#') {
            url.len = i;
        }
    }

    return url;
}


/* Whether a path has no part "..", so that it stays in the folder. */
static bool
is_inside(sym_str_t path)
{
    for (size_t i = 0; i + 1 < path.len; i++) {
        if (path.data[i] == '.' && path.data[i + 1] == '.'
            && (i == 0 || path.data[i - 1] == '/')
            && (i + 2 == path.len || path.data[i + 2] == '/'))
        {
            return false;
        }
    }

    return path.len != 0;
}


static bool
has_file(const char *folder, sym_str_t path, const char *ending,
         char out[PATH_MAX])
{
    int len = is_inside(path) && memchr(path.data, '\0', path.len) == NULL
                  ? snprintf(out, PATH_MAX, "%s/%.*s%s", folder, (int) path.len,
                             path.data, ending)
                  : -1;

    return len > 0 && len < PATH_MAX && access(out, R_OK) == 0;
}


/* Finds the file at the path below the folder; if it does not exist, tries the
 * path without its first parts. */
static bool
find_file(const char *folder, sym_str_t path, const char *ending,
          char out[PATH_MAX])
{
    while (path.len != 0) {
        const char *slash;

        if (has_file(folder, path, ending, out)) {
            return true;
        }

        slash = memchr(path.data, '/', path.len);
        path = slash != NULL ? rest_of(path, (size_t) (slash + 1 - path.data))
                             : sym_str(path.data, 0);
    }

    return false;
}


static temporary_symcache_t *
compile(const stack_text_t *s, const char *path, sym_kind_t kind,
        sym_extent_source_t *extents)
{
    options_t options = *s->options;
    temporary_symcache_t *copy;
    sym_error_t err = { 0 };
    char text[256];

    options.kind = kind;
    options.quiet = true;
    copy = compile_file(&options, path, NULL);

    if (copy != NULL
        && temporary_symcache_extents(copy, extents, &err) != SYM_OK) {
        complain_about(path, "%s", sym_error_text(&err, text, sizeof(text)));
        temporary_symcache_free(copy);
        return NULL;
    }

    return copy;
}


/* Joins the script's folder and the last part of the script's reference to its
   map. */
static bool
find_map(const script_t *script, const char *path, char out[PATH_MAX])
{
    sym_str_t reference = SYM_STR("");
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    int len =
        snprintf(folder, sizeof(folder), "%.*s", (int) (slash - path), path);

    if (len < 0 || len >= PATH_MAX) {
        return false;
    }

    if (script->script_copy != NULL
        && sym_script_reference(&script->script, &reference) == SYM_OK)
    {
        for (size_t i = reference.len; i > 0; i--) {
            if (reference.data[i - 1] == '/') {
                reference = rest_of(reference, i);
                break;
            }
        }
    }

    return has_file(folder, reference, "", out)
           || has_file(folder, sym_cstr(slash + 1), ".map", out);
}


static void
load_script(const stack_text_t *s, script_t *script)
{
    char path[PATH_MAX], map[PATH_MAX];
    sym_str_t where = path_of(script->url);
    sym_extent_source_t extents;
    sym_error_t err = { 0 };

    if (find_file(s->folder, where, "", path)) {
        script->path = strdup(path);
        script->script_copy = compile(s, path, SYM_KIND_SCRIPT, &extents);
        if (script->script_copy != NULL
            && sym_script_open(&script->script, extents.get, extents.ctx, &err)
                   != SYM_OK)
        {
            temporary_symcache_free(script->script_copy);
            script->script_copy = NULL;
        }

        if (!find_map(script, path, map)) {
            (void) memcpy(map, path, sizeof(map)); /* the map may be embedded */
        }
    } else if (!find_file(s->folder, where, ".map", map)) {
        return;
    }

    script->map_path = strdup(map);
    script->map_copy = compile(s, map, SYM_KIND_SOURCEMAP, &extents);
    err = (sym_error_t){ 0 };
    if (script->map_copy != NULL
        && sym_sourcemap_open(&script->map, extents.get, extents.ctx, &err)
               != SYM_OK)
    {
        temporary_symcache_free(script->map_copy);
        script->map_copy = NULL;
    }
}


static const script_t *
script_of(stack_text_t *s, sym_str_t url)
{
    script_t *script;

    for (size_t i = 0; i < s->n_scripts; i++) {
        if (sym_str_eq(s->scripts[i].url, url)) {
            return &s->scripts[i];
        }
    }

    if (s->n_scripts == SCRIPTS_MAX) {
        return NULL;
    }

    script = &s->scripts[s->n_scripts++];
    script->url = url;
    load_script(s, script);
    return script;
}


/* --- answers --- */

static bool
map_line(stack_text_t *s, js_line_t *l, sym_js_place_t *place)
{
    const script_t *script = script_of(s, l->frame.url);
    char text[SYM_JS_FUNCTION_MAX];

    if (script == NULL || script->map_copy == NULL
        || sym_js_answer(&script->map,
                         script->script_copy != NULL ? &script->script : NULL,
                         l->frame.line - 1, l->frame.column - 1, text, place)
               != SYM_OK)
    {
        return false;
    }

    place->function_name =
        sym_arena_copy(&s->lines.arena, place->function_name);
    return place->function_name.data != NULL;
}


/* The frame that called this one is the next line with a frame. */
static bool
answer_from_folder(stack_text_t *s)
{
    sym_js_place_t *places = calloc(s->lines.n + 1, sizeof(*places));
    char name[SYM_JS_SHOWN_MAX];

    if (places == NULL) {
        return false;
    }

    for (size_t i = 0; i < s->lines.n; i++) {
        js_line_t *l = &s->lines.all[i];

        l->is_mapped = l->is_frame && map_line(s, l, &places[i]);
    }

    for (size_t i = 0; i < s->lines.n; i++) {
        js_line_t *l = &s->lines.all[i];
        bool has_caller = i + 1 < s->lines.n && s->lines.all[i + 1].is_mapped;

        if (!l->is_mapped) {
            continue;
        }

        l->function = sym_arena_copy(
            &s->lines.arena,
            sym_js_show(&places[i], l->frame.name,
                        has_caller ? places[i + 1].name : sym_str(NULL, 0),
                        name));
        l->source = places[i].source.name;
        l->source_line = (uint64_t) places[i].token.source_line + 1;
        l->source_column = (uint64_t) places[i].token.source_column + 1;
        l->is_mapped = l->function.data != NULL;
    }

    free(places);
    return true;
}


/* Prints which files each script has. */
static void
explain(stack_text_t *s)
{
    sym_text_t t = { .arena = &s->lines.arena };

    for (size_t i = 0; i < s->n_scripts; i++) {
        const script_t *script = &s->scripts[i];
        const char *map = script->map_path != NULL ? script->map_path : "none";

        sym_text_byte(&t, '\n');
        sym_text_add(&t, script->url);
        sym_text_add(&t, SYM_STR("\n    script: "));
        sym_text_add(&t, sym_cstr(script->path != NULL
                                      ? script->path
                                      : "none with this path or its end"));
        sym_text_add(&t, SYM_STR("\n    source map: "));
        sym_text_add(&t, sym_cstr(map));
        sym_text_add(&t, script->map_path != NULL && script->map_copy == NULL
                             ? SYM_STR(", which has no map\n")
                             : SYM_STR("\n"));
    }

    s->lines.explanation = sym_text_end(&t);
    if (t.failed) {
        s->lines.explanation = SYM_STR("");
    }
}


static void
print_line(output_t *out, const js_line_t *l)
{
    const js_line_frame_t *f = &l->frame;

    if (!l->is_mapped) {
        sym_out_raw(&out->json, l->line);
        return;
    }

    sym_out_raw(&out->json, f->before);
    sym_out_raw(&out->json, f->is_at ? SYM_STR("at ") : SYM_STR(""));
    output_text(out, l->function);
    sym_out_raw(&out->json, f->is_at ? SYM_STR(" (") : SYM_STR("@"));
    output_text(out, l->source.len != 0 ? l->source : f->url);
    output_printf(out, ":%" PRIu64 ":%" PRIu64, l->source_line,
                  l->source_column);
    sym_out_raw(&out->json, f->is_at ? SYM_STR(")") : SYM_STR(""));
    sym_out_raw(&out->json, f->after);
}


static int
print_stack(const js_lines_t *lines)
{
    output_t *out = output_create();
    int code = EXIT_FINE;

    if (out == NULL) {
        return EXIT_OUTPUT;
    }

    for (size_t i = 0; i < lines->n; i++) {
        const js_line_t *l = &lines->all[i];

        print_line(out, l);
        code = l->is_frame && !l->is_mapped ? EXIT_PARTLY : code;
    }

    sym_out_raw(&out->json, lines->rest);
    if (lines->explanation.len != 0) {
        sym_out_raw(&out->json, lines->explanation);
    }

    return output_end(out, code);
}


/* False: out of memory. */
static bool
read_lines(js_lines_t *lines, sym_str_t text)
{
    sym_str_t rest = text, line;
    size_t n = 0;

    while (next_line(&rest, &line)) {
        n++;
    }

    lines->all = calloc(n + 1, sizeof(*lines->all));
    if (lines->all == NULL) {
        return false;
    }

    rest = text;
    while (lines->n < FRAMES_MAX && next_line(&rest, &line)) {
        js_line_t *l = &lines->all[lines->n++];

        l->line = line;
        l->is_frame = read_frame(line, &l->frame);
    }

    lines->rest = rest;
    return true;
}


int
js_stack_run(const options_t *options, sym_str_t text)
{
    stack_text_t *s;
    int code = EXIT_STORE;

    if (options->symbols == NULL && options->server == NULL) {
        complain_about("symbolicate",
                       "a stack of JavaScript needs --symbols, a folder with "
                       "scripts and their maps, or --server");
        return EXIT_USAGE;
    }

    s = calloc(1, sizeof(*s));
    if (s != NULL) {
        s->options = options;
        s->folder = options->symbols;
    }

    if (s == NULL || !read_lines(&s->lines, text)) {
        complain_about("symbolicate", "out of memory");
        free(s);
        return EXIT_STORE;
    }

    if (options->server != NULL) {
        code = js_server_ask(options, &s->lines);
    } else if (answer_from_folder(s)) {
        code = EXIT_FINE;
        if (options->explain) {
            explain(s);
        }
    } else {
        complain_about("symbolicate", "out of memory");
    }

    code = code == EXIT_FINE ? print_stack(&s->lines) : code;
    for (size_t i = 0; i < s->n_scripts; i++) {
        temporary_symcache_free(s->scripts[i].script_copy);
        temporary_symcache_free(s->scripts[i].map_copy);
        free(s->scripts[i].path);
        free(s->scripts[i].map_path);
    }

    sym_arena_drop(&s->lines.arena);
    free(s->lines.all);
    free(s);
    return code;
}
