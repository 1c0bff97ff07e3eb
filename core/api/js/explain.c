#include "api/js/js.h"

#include <stdio.h>

#include "artifacts/sources/bundle_name.h"
#include "base/steps.h"

/* Maximum number of places that are kept for a request. */
#define TRIES_MAX 10000u

#define NOTE_MAX 256

/* Debug ids of a bundle that are compared; and in the time of a frame. */
#define IDS_MAX 4096u
#define IDS_OF_FRAME 16

const char *const js_file_words[] = { [JS_SCRIPT] = "minified_source",
                                      [JS_SOURCEMAP] = "source_map",
                                      [JS_SOURCE] = "source" };

static sym_status_t write_script_notes(sym_request_t *r, sym_out_t *out,
                                       uint32_t *budget);
static sym_status_t write_places(sym_request_t *r, sym_out_t *out,
                                 uint32_t *budget);

static bool
explains(const js_t *j)
{
    return j->request.options.explains && !j->is_writing;
}


sym_status_t
js_note_try(js_t *j, const js_try_t *t)
{
    js_try_t *next = j->tries.items;

    /* the same try: first for files loaded by hand, then at the sources */
    if (j->tries.n != 0) {
        next += j->tries.n - 1;
        if (next->script == j->script && next->file == t->file
            && sym_str_eq(next->by, t->by) && sym_str_eq(next->uri, t->uri))
        {
            next->need = t->need;
            return SYM_OK;
        }
    }

    if (!explains(j) || j->tries.n == TRIES_MAX) {
        return SYM_OK;
    }

    next = sym_list_add(j->base.arena, &j->tries, sizeof(*next));
    if (next == NULL) {
        return SYM_NOMEM;
    }

    *next = *t;
    next->script = j->script;
    return SYM_OK;
}


/* --- bundles --- */

/* The debug id of a file in the manifest, or the first one of a file of the
 * type. */
static bool
find_id(js_t *j, const sym_sources_t *s, js_type_t type,
        const sym_sources_file_t *wanted, sym_str_t *id)
{
    char text[SYM_BUNDLE_TYPE_MAX];
    sym_str_t prefix =
        sym_str(text, (size_t) snprintf(text, sizeof(text), "%s/",
                                        js_file_words[type]));
    sym_sources_file_t file;
    uint32_t at;

    if (sym_sources_first(s, prefix, &at) != SYM_OK) {
        return false;
    }

    for (uint32_t n = 0; n < IDS_MAX && at + n < s->n_files; n++) {
        if (sym_sources_file(s, at + n, &file) != SYM_OK
            || !sym_str_starts(file.path, prefix))
        {
            return false;
        }

        j->cost += n % IDS_OF_FRAME == 0;
        if (wanted == NULL
            || (file.first_block == wanted->first_block
                && file.len == wanted->len))
        {
            *id = sym_str(file.path.data + prefix.len,
                          file.path.len - prefix.len);
            return true;
        }
    }

    return false;
}


const char *
js_bundle_result(js_t *j, const js_bundle_t *bundle, const js_key_t *key,
                 const sym_sources_file_t *found)
{
    const char *same = found != NULL ? NULL : "has no such file";
    char *text;
    sym_str_t id;

    if (!explains(j) || key->debug_id.form == SYM_DEBUG_ID_NONE
        || !bundle->view.is_open
        || !find_id(j, &bundle->view.as.sources, key->type, found, &id))
    {
        return same;
    }

    text = sym_arena_alloc(j->base.arena, NOTE_MAX);
    if (text == NULL) {
        return same;
    }

    (void) snprintf(text, NOTE_MAX,
                    found != NULL
                        ? "has the file with another debug id, %.*s"
                        : "has no such file; its first debug id is %.*s",
                    (int) id.len, id.data);
    return text;
}


static bool
is_spent(const sym_out_t *out, uint32_t budget)
{
    return budget == 0 || out->is_full;
}


static void
begin(js_t *j, uint32_t script, sym_out_t *out)
{
    sym_out_raw(out, j->is_first ? SYM_STR("{\"abs_path\": ")
                                 : SYM_STR(", {\"abs_path\": "));
    sym_out_string(out, j->scripts[script].abs_path);
    j->is_first = false;
}


static void
write_text(sym_out_t *out, const char *key, sym_str_t text)
{
    sym_out_printf(out, ", \"%s\": ", key);
    sym_out_string(out, text);
}


/* --- places --- */

static const char *
result_of(const js_t *j, const js_try_t *t)
{
    const sym_need_t *n;

    if (t->need == UINT32_MAX) {
        return t->result;
    }

    n = &j->base.needs[t->need];
    return n->found == SYM_NEED_FOUND && t->result != NULL ? t->result
                                                           : sym_need_word(n);
}


static void
write_try(js_t *j, const js_try_t *t, sym_out_t *out)
{
    const sym_need_t *n =
        t->need != UINT32_MAX ? &j->base.needs[t->need] : NULL;

    begin(j, t->script, out);
    write_text(out, "file", sym_cstr(t->file));
    write_text(out, "by", t->by.len != 0 ? t->by : SYM_STR("url"));
    write_text(out, "uri", t->uri);
    write_text(out, "result", sym_cstr(result_of(j, t)));
    if (n != NULL && n->found != SYM_NEED_FOUND && n->missing.reason.len != 0) {
        write_text(out, "reason", n->missing.reason);
    }
    sym_out_raw(out, SYM_STR("}"));
}


sym_status_t
js_write_tries(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    js_t *j = (js_t *) r;
    const js_try_t *tries = j->tries.items;

    for (; j->next < j->tries.n; j->next++) {
        if (is_spent(out, *budget)) {
            return SYM_AGAIN;
        }

        sym_budget_charge(budget, 1);
        write_try(j, &tries[j->next], out);
    }

    j->next = 0;
    r->step = write_script_notes;
    return SYM_OK;
}


/* --- scripts --- */

static void
write_note(js_t *j, uint32_t script, const char *note, sym_out_t *out)
{
    begin(j, script, out);
    write_text(out, "note", sym_cstr(note));
    sym_out_raw(out, SYM_STR("}"));
}


/* Reports two ids that differ although they should be equal. */
static void
compare(js_t *j, uint32_t script, const char *what, const sym_debug_id_t *is,
        const sym_debug_id_t *wanted, sym_out_t *out)
{
    char a[SYM_ID_TEXT_MAX], b[SYM_ID_TEXT_MAX], note[NOTE_MAX];
    size_t a_len = sym_debug_id_write_sentry(is, a);
    size_t b_len = sym_debug_id_write_sentry(wanted, b);

    if (a_len != 0 && b_len != 0 && !sym_debug_id_eq(is, wanted)) {
        (void) snprintf(note, sizeof(note),
                        "the %s is of another build: its debug id is %.*s, "
                        "wanted is %.*s",
                        what, (int) a_len, a, (int) b_len, b);
        write_note(j, script, note, out);
    }
}


static void
note_script(js_t *j, js_script_t *s, uint32_t number, sym_out_t *out)
{
    const sym_script_t *script = js_open_script(j, s);
    const sym_sourcemap_t *map = js_open_map(j, s);
    const sym_debug_id_t *wanted = &s->debug_id;

    if (script != NULL) {
        compare(j, number, "script", &script->debug_id, wanted, out);
        wanted = wanted->form == SYM_DEBUG_ID_NONE ? &script->debug_id : wanted;
    }

    if (script != NULL && !s->has_map) {
        write_note(j, number,
                   "the script names no source map (sourceMappingURL), and "
                   "neither it nor the request names a debug id",
                   out);
    }

    if (map != NULL) {
        compare(j, number, "source map", &map->debug_id, wanted, out);
        if (map->n_tokens == 0) {
            write_note(j, number, "the source map has no mappings", out);
        }
    }
}


static sym_status_t
write_script_notes(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    js_t *j = (js_t *) r;

    for (; j->next < j->n_scripts; j->next++) {
        if (is_spent(out, *budget)) {
            return SYM_AGAIN;
        }

        sym_budget_charge(budget, 1);
        note_script(j, &j->scripts[j->next], j->next, out);
    }

    j->next = 0;
    r->step = write_places;
    return SYM_OK;
}


/* --- positions --- */

static void
note_place(js_t *j, const js_error_t *e, sym_out_t *out)
{
    const sym_sourcemap_t *map = js_open_map(j, &j->scripts[e->script]);
    sym_sourcemap_token_t last, first;
    char note[NOTE_MAX];

    if (map == NULL || e->line == 0 || map->n_tokens == 0
        || sym_sourcemap_token(map, map->n_tokens - 1, &last) != SYM_OK)
    {
        return;
    }

    if (sym_sourcemap_find(map, e->line - 1, UINT32_MAX, &first) != SYM_OK
        || first.line != e->line - 1)
    {
        (void) snprintf(note, sizeof(note),
                        "line %u: the source map has nothing for this line; "
                        "its last line is %llu",
                        e->line, (unsigned long long) last.line + 1);
    } else {
        (void) snprintf(note, sizeof(note),
                        "line %u, column %u: the source map has no source for "
                        "this column",
                        e->line, e->column);
    }

    write_note(j, e->script, note, out);
}


static sym_status_t
write_places(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    js_t *j = (js_t *) r;
    const js_error_t *errors = j->errors.items;

    for (; j->next < j->errors.n; j->next++) {
        if (is_spent(out, *budget)) {
            return SYM_AGAIN;
        }

        sym_budget_charge(budget, 1);
        if (errors[j->next].type == JS_INVALID_LOCATION) {
            note_place(j, &errors[j->next], out);
        }
    }

    sym_out_raw(out, SYM_STR("]}"));
    r->step = NULL;
    return SYM_OK;
}
