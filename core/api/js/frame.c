#include "api/js/js.h"

#include <stdio.h>

#include "api/frames.h"
#include "base/hash.h"

/* Maximum length of all lines in an answer; later frames show no lines. */
#define CONTEXT_MAX (64u << 20)

/* Cost of unpacking a block, counted in frames. */
#define BLOCK_COST 64

/* Maximum number of sources without text that are looked up; more of them count
 * as missing. */
#define SOURCES_MAX 10000

/* Length of a function's name, and number of compared tokens, that cost as much
 * as a frame. */
#define NAME_OF_FRAME 32
#define TOKENS_OF_FRAME 8

/* The result for a frame. */
typedef struct {
    js_script_t *script;
    js_error_type_t error; /* JS_NO_ERROR */
    bool is_mapped;
    uint32_t line, column; /* position, if the location is invalid */
    sym_js_place_t place;
    const sym_sourcemap_t *map;
    const sym_script_t *functions;
} found_t;


static uint32_t
column_of(const js_frame_t *f)
{
    return f->colno.is_set ? (uint32_t) f->colno.value : 0;
}


/* --- positions --- */

static js_error_type_t
find_error(js_t *j, const js_frame_t *f, found_t *found)
{
    js_script_t *s = found->script;

    if (f->lineno.value == 0) {
        return JS_INVALID_LOCATION;
    }

    if (s->script.state != JS_FOUND && s->map.state != JS_FOUND) {
        return s->script.state == JS_DISABLED ? JS_SCRAPING_DISABLED
                                              : JS_MISSING_SOURCE;
    }

    if (!s->has_map) {
        return JS_NO_ERROR;
    }

    found->map = js_open_map(j, s);
    found->functions = js_open_script(j, s);
    return s->map.state == JS_MALFORMED  ? JS_MALFORMED_SOURCEMAP
           : s->map.state == JS_DISABLED ? JS_SCRAPING_DISABLED
           : found->map == NULL          ? JS_MISSING_SOURCEMAP
                                         : JS_NO_ERROR;
}


/* text: of the name of the function, in `found`. */
static void
find_place(js_t *j, const js_frame_t *f, char text[SYM_JS_FUNCTION_MAX],
           found_t *found)
{
    uint32_t column = column_of(f), n = 0;

    *found = (found_t){ .script = &j->scripts[f->script],
                        .line = (uint32_t) f->lineno.value,
                        .column = column };
    found->error = find_error(j, f, found);
    if (found->error != JS_NO_ERROR || found->map == NULL) {
        return;
    }

    found->is_mapped =
        sym_js_answer(found->map, found->functions, found->line - 1,
                      column != 0 ? column - 1 : 0, text, &found->place)
            == SYM_OK
        && !sym_js_is_dropped(found->map, found->functions, &found->place.token,
                              &n);
    j->cost += (uint32_t) found->place.function_name.len / NAME_OF_FRAME
               + n / TOKENS_OF_FRAME;
    if (!found->is_mapped) {
        found->error = JS_INVALID_LOCATION;
    }
}


/* Returns the name of the token at a call, if the frame uses it; data NULL:
 * none. */
static sym_str_t
name_at_call(js_t *j, const js_frame_t *f, const sym_js_place_t *place,
             const js_frame_t *caller)
{
    char text[SYM_JS_FUNCTION_MAX];
    found_t found;

    if (caller == NULL || !sym_js_needs_caller(place, f->function)) {
        return sym_str(NULL, 0);
    }

    find_place(j, caller, text, &found);
    return found.is_mapped ? found.place.name : sym_str(NULL, 0);
}


static sym_str_t
path_of(js_t *j, const found_t *found)
{
    sym_str_t name = found->place.source.name, path;

    if (name.len == 0) {
        return found->script->abs_path;
    }

    path = js_join(j->base.arena, found->script->base, name);
    return path.data != NULL ? path : name;
}


/* --- sources --- */

/* Finds the file of a source that the map does not contain. */
static sym_status_t
find_source(js_t *j, sym_str_t path, js_source_t **source)
{
    const js_key_t key = { .type = JS_SOURCE, .abs_path = path };
    const sym_hash_key_t hash = sym_hash_key();
    bool is_new;
    uint32_t *number =
        js_table_at(j, &j->by_path, sym_hash(&hash, path), &is_new);
    js_source_t **list;

    if (number == NULL) {
        return SYM_NOMEM;
    }

    *source = NULL;
    if (is_new && j->sources.n == SOURCES_MAX) {
        *number = SOURCES_MAX;
    } else if (is_new) {
        *number = j->sources.n;
        list = sym_list_add(j->base.arena, &j->sources, sizeof(*list));
        if (list == NULL
            || (*list = sym_arena_calloc(j->base.arena, 1, sizeof(**list)))
                   == NULL)
        {
            return SYM_NOMEM;
        }
    }

    if (*number == SOURCES_MAX) {
        return SYM_OK;
    }

    *source = ((js_source_t **) j->sources.items)[*number];
    if ((*source)->time == j->pass) {
        return SYM_OK;
    }

    (*source)->time = j->pass;
    return js_find_file(j, &key, &(*source)->file);
}


sym_status_t
js_look_up_frame(js_t *j, const js_frame_t *f)
{
    char text[SYM_JS_FUNCTION_MAX];
    js_source_t *source;
    found_t found;
    bool waits;

    if (!j->request.options.has_context) {
        return SYM_OK;
    }

    find_place(j, f, text, &found);
    if (!found.is_mapped) {
        return SYM_OK;
    }

    j->script = f->script;
    return found.place.source.has_text
               ? js_further(j, found.script->map.need, SYM_KIND_SOURCES,
                            &found.script->texts, &waits)
               : find_source(j, path_of(j, &found), &source);
}


/* --- lines --- */

static sym_status_t
read_lines(js_t *j, js_view_t *view, uint32_t need, sym_str_t name,
           uint64_t line, uint64_t column)
{
    uint64_t unpacked = j->text.unpacked;
    sym_sources_file_t file;
    sym_context_text_t text;
    sym_status_t rc = SYM_NOT_FOUND;

    if (need == 0 || j->context_bytes > CONTEXT_MAX
        || !js_open(j, need, js_open_sources, view)
        || sym_sources_find(&view->as.sources, name, &file) != SYM_OK)
    {
        return SYM_NOT_FOUND;
    }

    text = sym_source_text(&j->text, &view->as.sources, &file);
    rc = sym_context_read(&text, line, column, &j->lines);
    j->cost += (uint32_t) (j->text.unpacked - unpacked) * BLOCK_COST;
    j->context_bytes += rc == SYM_OK ? j->lines.bytes : 0;
    return rc;
}


/* Lines of the request. */
static void
write_given_lines(const js_frame_t *f, sym_out_t *out)
{
    sym_frame_strings(out, ", \"pre_context\": ", f->pre_context_json);
    sym_frame_json(out, ", \"context_line\": ", f->context_line_json);
    sym_frame_strings(out, ", \"post_context\": ", f->post_context_json);
}


/* --- data --- */

static void
write_key(sym_out_t *out, const js_key_t *key)
{
    char id[SYM_ID_TEXT_MAX];
    size_t len = sym_debug_id_write_sentry(&key->debug_id, id);

    sym_out_printf(out, "{\"%s\": {", js_file_words[key->type]);
    if (key->abs_path.data != NULL) {
        sym_out_raw(out, SYM_STR("\"abs_path\": "));
        sym_out_string(out, key->abs_path);
    }

    if (len != 0) {
        sym_out_raw(out, key->abs_path.data != NULL
                             ? SYM_STR(", \"debug_id\": ")
                             : SYM_STR("\"debug_id\": "));
        sym_out_string(out, sym_str(id, len));
    }
    sym_out_raw(out, SYM_STR("}}"));
}


static void
write_origin(sym_out_t *out, const js_file_t *file)
{
    sym_out_raw(out, SYM_STR("\"sourcemap_origin\": "));

    switch (file->origin) {
    case JS_EMBEDDED:
        sym_out_raw(out, SYM_STR("\"embedded\""));
        break;
    case JS_IN_BUNDLE:
        sym_out_raw(out, SYM_STR("{\"bundled\": ["));
        sym_out_string(out, file->uri);
        sym_out_raw(out, SYM_STR(", "));
        write_key(out, &file->key);
        sym_out_raw(out, SYM_STR("]}"));
        break;
    default:
        sym_out_raw(out, file->origin == JS_ALONE
                             ? SYM_STR("{\"individual_file\": ")
                             : SYM_STR("{\"scraped_file\": "));
        sym_out_string(out, file->uri);
        sym_out_raw(out, SYM_STR("}"));
    }

    sym_out_raw(out, SYM_STR(", \"resolved_with\": "));
    sym_out_string(out, file->resolved_with.len != 0 ? file->resolved_with
                                                     : SYM_STR("unknown"));
    sym_out_raw(out, SYM_STR(", "));
}


/* Adds an error; also with the origin of the map, if a map was found. */
static void
write_given_data(const js_frame_t *f, const js_file_t *map, sym_out_t *out)
{
    const js_data_t *d = &f->data;

    sym_out_raw(out, SYM_STR(", \"data\": {"));
    if (d->sourcemap.data != NULL) {
        sym_out_raw(out, SYM_STR("\"sourcemap\": "));
        sym_out_raw(out, d->sourcemap);
        sym_out_raw(out, SYM_STR(", "));
    }

    if (map != NULL) {
        write_origin(out, map);
    } else {
        if (d->origin.data != NULL) {
            sym_out_raw(out, SYM_STR("\"sourcemap_origin\": "));
            sym_out_raw(out, d->origin);
            sym_out_raw(out, SYM_STR(", "));
        }
        if (d->resolved_with.data != NULL) {
            sym_out_raw(out, SYM_STR("\"resolved_with\": "));
            sym_out_raw(out, d->resolved_with);
            sym_out_raw(out, SYM_STR(", "));
        }
    }

    sym_out_raw(out, d->symbolicated == SYM_FIELD_TRUE
                         ? SYM_STR("\"symbolicated\": true}")
                         : SYM_STR("\"symbolicated\": false}"));
}


/* --- frames --- */

static sym_status_t
write_as_sent(js_t *j, const js_frame_t *f, const found_t *found,
              sym_out_t *out)
{
    js_script_t *s = found->script;
    sym_status_t rc = SYM_NOT_FOUND;

    sym_out_raw(out, SYM_STR("{\"abs_path\": "));
    sym_out_string(out, f->abs_path);
    sym_frame_json(out, ", \"function\": ", f->function_json);
    sym_frame_json(out, ", \"filename\": ", f->filename_json);
    sym_frame_json(out, ", \"module\": ", f->module_json);
    sym_frame_json(out, ", \"platform\": ", f->platform_json);
    sym_out_raw(out, SYM_STR(", \"lineno\": "));
    sym_out_dec(out, f->lineno.value);
    if (f->colno.is_set) {
        sym_out_raw(out, SYM_STR(", \"colno\": "));
        sym_out_dec(out, f->colno.value);
    }

    if (f->lineno.value != 0 && s->script.state == JS_FOUND) {
        rc = read_lines(j, &s->text_view, s->text,
                        SYM_STR(SYM_SOURCES_TEXT_NAME), f->lineno.value,
                        column_of(f));
    }

    if (rc == SYM_OK) {
        sym_frame_lines(out, &j->lines);
    } else {
        write_given_lines(f, out);
    }

    write_given_data(f, found->error == JS_MALFORMED_SOURCEMAP ? &s->map : NULL,
                     out);
    sym_out_raw(out, SYM_STR("}"));
    return rc == SYM_NOMEM ? rc : SYM_OK;
}


sym_status_t
js_write_raw(js_t *j, const js_frame_t *f, sym_out_t *out)
{
    found_t found = { .script = &j->scripts[f->script] };

    found.error = find_error(j, f, &found);
    return write_as_sent(j, f, &found, out);
}


static sym_status_t
note_error(js_t *j, const js_frame_t *f, const found_t *found,
           js_error_type_t type, sym_str_t source)
{
    js_error_t *e;

    if (type == JS_MISSING_SOURCE_CONTENT && j->n_missing++ >= SOURCES_MAX) {
        return SYM_OK;
    }

    e = sym_list_add(j->base.arena, &j->errors, sizeof(*e));
    if (e == NULL) {
        return SYM_NOMEM;
    }

    *e = (js_error_t){ .type = type, .script = f->script, .source = source };
    if (type == JS_INVALID_LOCATION) {
        e->line = found->line;
        e->column = found->column;
        e->has_column = f->lineno.value != 0 || f->colno.is_set;
    }

    return SYM_OK;
}


static bool
has_module(sym_str_t abs_path)
{
    static const char *const schemes[] = { "http:", "https:", "webpack:",
                                           "turbopack:", "app:" };

    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
        if (sym_str_starts(abs_path, sym_cstr(schemes[i]))) {
            return true;
        }
    }

    return false;
}


static void
write_names(const js_frame_t *f, const found_t *found, sym_str_t abs_path,
            sym_out_t *out)
{
    bool is_bundled;
    sym_str_t filename = js_filename(found->place.source.name, &is_bundled);

    if (found->place.source.name.len == 0) {
        sym_frame_json(out, ", \"filename\": ", f->filename_json);
        sym_frame_json(out, ", \"module\": ", f->module_json);
        return;
    }

    sym_out_raw(out, SYM_STR(", \"filename\": "));
    sym_out_string(out, filename);

    if (is_bundled || (f->module_json.data == NULL && has_module(abs_path))) {
        sym_out_raw(out, SYM_STR(", \"module\": "));
        sym_out_string(out, js_module_name(is_bundled ? filename : abs_path));
    } else {
        sym_frame_json(out, ", \"module\": ", f->module_json);
    }
}


/* Writes the lines of the source, or notes an error. */
static sym_status_t
write_source(js_t *j, const js_frame_t *f, const found_t *found, sym_str_t path,
             sym_out_t *out)
{
    const sym_sourcemap_token_t *token = &found->place.token;
    uint64_t line = (uint64_t) token->source_line + 1;
    uint64_t column = (uint64_t) token->source_column + 1;
    js_script_t *s = found->script;
    js_source_t *source;
    char number[16];
    sym_str_t name = found->place.source.name;
    sym_status_t rc;

    if (found->place.source.has_text) {
        if (found->place.source.is_numbered) {
            (void) snprintf(number, sizeof(number), "#%u", token->source);
            name = sym_cstr(number);
        }

        rc = read_lines(j, &s->texts_view, s->texts, name, line, column);
    } else {
        rc = find_source(j, path, &source);
        if (rc == SYM_OK && (source == NULL || source->file.state != JS_FOUND))
        {
            return note_error(j, f, found, JS_MISSING_SOURCE_CONTENT,
                              name.len != 0 ? path : SYM_STR(""));
        }

        rc = rc == SYM_OK
                 ? read_lines(j, &source->view, source->file.need,
                              SYM_STR(SYM_SOURCES_TEXT_NAME), line, column)
                 : rc;
    }

    if (rc == SYM_OK) {
        sym_frame_lines(out, &j->lines);
    }

    return rc == SYM_NOMEM ? rc : SYM_OK;
}


sym_status_t
js_write_frame(js_t *j, const js_frame_t *f, const js_frame_t *caller,
               sym_out_t *out)
{
    char text[SYM_JS_FUNCTION_MAX], shown[SYM_JS_SHOWN_MAX];
    sym_status_t rc = SYM_OK;
    sym_str_t path;
    found_t found;

    find_place(j, f, text, &found);
    if (found.error != JS_NO_ERROR) {
        rc = note_error(j, f, &found, found.error, SYM_STR(""));
    }

    if (!found.is_mapped) {
        return rc == SYM_OK ? write_as_sent(j, f, &found, out) : rc;
    }

    path = path_of(j, &found);
    sym_out_raw(out, SYM_STR("{\"function\": "));
    sym_out_string(out, sym_js_show(&found.place, f->function,
                                    name_at_call(j, f, &found.place, caller),
                                    shown));
    sym_out_raw(out, SYM_STR(", \"abs_path\": "));
    sym_out_string(out, path);
    write_names(f, &found, path, out);
    sym_frame_json(out, ", \"platform\": ", f->platform_json);
    sym_out_raw(out, SYM_STR(", \"lineno\": "));
    sym_out_dec(out, found.place.token.source_line == UINT32_MAX
                         ? UINT32_MAX
                         : found.place.token.source_line + 1);
    sym_out_raw(out, SYM_STR(", \"colno\": "));
    sym_out_dec(out, found.place.token.source_column == UINT32_MAX
                         ? UINT32_MAX
                         : found.place.token.source_column + 1);

    if (j->request.options.has_context) {
        rc = write_source(j, f, &found, path, out);
    } else {
        write_given_lines(f, out);
    }

    sym_out_raw(out, SYM_STR(", \"data\": {\"sourcemap\": "));
    sym_out_string(out, found.script->label);
    sym_out_raw(out, SYM_STR(", "));
    write_origin(out, &found.script->map);
    sym_out_raw(out, SYM_STR("\"symbolicated\": true}}"));
    return rc;
}
