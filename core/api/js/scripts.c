#include "api/js/js.h"

#include <stdlib.h>

#include "base/hash.h"

static int
compare(const void *left, const void *right)
{
    const js_script_t *const *a = left, *const *b = right;

    return sym_str_cmp((*a)->abs_path, (*b)->abs_path);
}


/* Ranks the scripts by path, to order errors. */
static sym_status_t
rank(js_t *j)
{
    js_script_t **order =
        sym_arena_alloc(j->base.arena, (j->n_scripts + 1) * sizeof(*order));

    if (order == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < j->n_scripts; i++) {
        order[i] = &j->scripts[i];
    }

    qsort(order, j->n_scripts, sizeof(*order), compare);
    for (uint32_t i = 0; i < j->n_scripts; i++) {
        order[i]->rank = i;
    }

    return SYM_OK;
}


/* Finds the debug id of each script in the modules of the request. */
static sym_status_t
name_scripts(js_t *j)
{
    const js_module_t *modules = j->request.modules.items;
    const sym_hash_key_t hash = sym_hash_key();
    struct js_table_s *by_path = NULL;
    uint32_t *number;
    bool is_new;

    for (uint32_t i = 0; i < j->n_scripts; i++) {
        number = js_table_at(j, &by_path,
                             sym_hash(&hash, j->scripts[i].abs_path), &is_new);
        if (number == NULL) {
            return SYM_NOMEM;
        }
        *number = i + 1;
    }

    for (uint32_t i = 0; i < j->request.modules.n; i++) {
        if (modules[i].code_file.data == NULL) {
            continue;
        }

        number = js_table_at(j, &by_path, sym_hash(&hash, modules[i].code_file),
                             &is_new);
        if (number == NULL) {
            return SYM_NOMEM;
        }

        if (!is_new && *number != 0) {
            j->scripts[*number - 1].debug_id = modules[i].debug_id;
        }
    }

    return SYM_OK;
}


sym_status_t
js_list_scripts(js_t *j)
{
    js_request_t *q = &j->request;
    sym_hash_key_t key = sym_hash_key();
    sym_sort_item_t *items = sym_arena_alloc(
        j->base.arena, ((size_t) q->frames.n + 1) * sizeof(*items));
    uint32_t *first = sym_arena_alloc(j->base.arena, ((size_t) q->frames.n + 1)
                                                         * sizeof(*first));

    if (items == NULL || first == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < q->frames.n; i++) {
        items[i] =
            (sym_sort_item_t){ sym_hash(&key, js_frame(q, i)->abs_path), i };
    }

    if (!sym_sort(items, q->frames.n)) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < q->frames.n; i++) {
        first[items[i].at] = i != 0 && items[i].key == items[i - 1].key
                                 ? first[items[i - 1].at]
                                 : items[i].at;
        j->n_scripts += first[items[i].at] == items[i].at;
    }

    if (j->n_scripts > JS_SCRIPTS_MAX) {
        return sym_request_refuse(&j->base, SYM_LIMIT, "more than %u scripts",
                                  JS_SCRIPTS_MAX);
    }

    j->scripts =
        sym_arena_calloc(j->base.arena, j->n_scripts + 1, sizeof(*j->scripts));
    if (j->scripts == NULL) {
        return SYM_NOMEM;
    }

    j->n_scripts = 0;
    for (uint32_t i = 0; i < q->frames.n; i++) {
        js_frame_t *f = js_frame(q, i);

        if (first[i] == i) {
            j->scripts[j->n_scripts].abs_path = f->abs_path;
            f->script = j->n_scripts++;
        } else {
            f->script = js_frame(q, first[i])->script;
        }
        j->scripts[f->script].has_frames |= f->lineno.value != 0;
    }

    j->base.stats.jobs = 1;
    j->base.stats.stacks = q->stacks.n;
    j->base.stats.frames = q->frames.n;
    return name_scripts(j) == SYM_OK ? rank(j) : SYM_NOMEM;
}


/* --- views --- */

static sym_extent_view_t *
make_table(js_t *j, uint32_t n, uint32_t most)
{
    return n <= most
               ? sym_arena_calloc(j->base.arena, n, sizeof(sym_extent_view_t))
               : NULL;
}


static sym_status_t
open_script(js_view_t *view, sym_error_t *err)
{
    return sym_script_open(&view->as.script, sym_artifact_extent, &view->found,
                           err);
}


static sym_status_t
open_map(js_view_t *view, sym_error_t *err)
{
    return sym_sourcemap_open(&view->as.map, sym_artifact_extent, &view->found,
                              err);
}


const sym_script_t *
js_open_script(js_t *j, js_script_t *s)
{
    bool is_new = s->script_view.time != j->time;

    if (s->script.state != JS_FOUND
        || !js_open(j, s->script.need, open_script, &s->script_view))
    {
        return NULL;
    }

    if (is_new) {
        sym_script_t *script = &s->script_view.as.script;
        sym_extent_view_t *table =
            make_table(j, script->in.n, s->script_view.found.n_extents);

        if (table == NULL) {
            s->script_view.is_open = false;
            return NULL;
        }
        sym_script_remember(script, table);
    }

    return &s->script_view.as.script;
}


const sym_sourcemap_t *
js_open_map(js_t *j, js_script_t *s)
{
    bool is_new = s->map_view.time != j->time;

    if (s->map.state != JS_FOUND
        || !js_open(j, s->map.need, open_map, &s->map_view))
    {
        return NULL;
    }

    if (is_new) {
        sym_sourcemap_t *map = &s->map_view.as.map;
        sym_extent_view_t *table =
            make_table(j, map->in.n, s->map_view.found.n_extents);

        if (table == NULL) {
            s->map_view.is_open = false;
            return NULL;
        }
        sym_sourcemap_remember(map, table);
    }

    return &s->map_view.as.map;
}


/* --- lookups --- */

/* Finds the map of a script (NULL: the script is empty): at the URL in its
 * header or last comment, or embedded. */
static sym_status_t
find_reference(js_t *j, js_script_t *s, const sym_script_t *script,
               js_key_t *key)
{
    sym_str_t reference = s->script.reference;

    s->label = s->abs_path;
    if (reference.data == NULL && script != NULL && script->has_map) {
        s->map = s->script;
        s->map.origin = JS_EMBEDDED;
        return SYM_OK;
    }

    if (reference.data == NULL
        && (script == NULL
            || sym_script_reference(script, &reference) != SYM_OK))
    {
        return SYM_NOT_FOUND;
    }

    /* the script has an embedded map, but it is unreadable */
    if (sym_str_starts(reference, SYM_STR("data:"))) {
        s->map = s->script;
        s->map.origin = JS_EMBEDDED;
        s->map.state = JS_MALFORMED;
        return SYM_OK;
    }

    key->abs_path = js_join(j->base.arena, s->abs_path, reference);
    s->label = key->abs_path.data != NULL ? key->abs_path : s->abs_path;
    return SYM_NOT_FOUND;
}


/* The artifact of an embedded map comes from the script's file. */
static sym_status_t
find_embedded(js_t *j, js_script_t *s)
{
    uint32_t need = 0;
    bool waits;
    sym_status_t rc =
        js_further(j, s->script.need, SYM_KIND_SOURCEMAP, &need, &waits);

    s->map.need = need;
    s->map.state = waits ? JS_WAITS
                   : rc == SYM_OK && j->base.needs[need].found == SYM_NEED_FOUND
                       ? JS_FOUND
                       : JS_ABSENT;
    return rc;
}


/* Finds the map of a script that refers to none, or to one that is absent. */
static sym_status_t
find_beside(js_t *j, js_script_t *s, sym_debug_id_t debug_id)
{
    js_key_t key = { .type = JS_SOURCEMAP, .debug_id = debug_id };
    sym_status_t rc = js_find_beside(j, s->abs_path, &key);

    rc = rc == SYM_OK ? js_find_file(j, &key, &s->map) : rc;
    s->has_map = s->map.state == JS_FOUND || s->map.state == JS_MALFORMED
                 || debug_id.form != SYM_DEBUG_ID_NONE;
    s->label = s->base = key.abs_path;
    return rc;
}


static sym_status_t
find_map(js_t *j, js_script_t *s)
{
    const sym_script_t *script = js_open_script(j, s);
    js_key_t key = { .type = JS_SOURCEMAP, .debug_id = s->debug_id };
    sym_status_t rc;

    if (script == NULL && !s->script.is_empty) {
        s->script.state = JS_ABSENT;
        return SYM_OK;
    }

    if (script != NULL && key.debug_id.form == SYM_DEBUG_ID_NONE) {
        key.debug_id = script->debug_id;
    }

    rc = find_reference(j, s, script, &key);
    if (rc == SYM_OK) {
        s->has_map = true;
        s->base = s->abs_path;
        return s->map.state == JS_FOUND ? find_embedded(j, s) : SYM_OK;
    }

    if (j->request.is_own && key.abs_path.data == NULL) {
        return find_beside(j, s, key.debug_id);
    }

    s->has_map =
        key.abs_path.data != NULL || key.debug_id.form != SYM_DEBUG_ID_NONE;
    s->base = key.abs_path.data != NULL ? key.abs_path : s->abs_path;
    return s->has_map ? js_find_file(j, &key, &s->map) : SYM_OK;
}


sym_status_t
js_find_script(js_t *j, js_script_t *s)
{
    const js_key_t key = { .type = JS_SCRIPT,
                           .abs_path = s->abs_path,
                           .debug_id = s->debug_id };
    sym_status_t rc;
    bool waits;

    j->script = (uint32_t) (s - j->scripts);
    s->has_map = false;
    s->map = (js_file_t){ .state = JS_ABSENT };
    s->script = (js_file_t){ .state = JS_ABSENT };
    s->text = s->texts = 0;
    s->label = s->base = s->abs_path;
    if (!s->has_frames) {
        return SYM_OK;
    }

    rc = js_find_file(j, &key, &s->script);
    if (rc == SYM_OK && s->script.state == JS_ABSENT && j->request.is_own) {
        return find_beside(j, s, s->debug_id);
    }

    if (rc != SYM_OK || s->script.state != JS_FOUND) {
        return rc;
    }

    rc = find_map(j, s);

    /* the sources are needed only if the script was found; both come from the
     * same download */
    return rc == SYM_OK && s->script.state == JS_FOUND && !s->script.is_empty
                   && j->request.options.has_context
               ? js_further(j, s->script.need, SYM_KIND_SOURCES, &s->text,
                            &waits)
               : rc;
}
