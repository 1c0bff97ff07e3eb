/*
 * own.c - files for requests without the key `source`: those that were loaded by
 * hand, and those of the location's sources.
 *
 * They are known by debug id, or by the path of their URL: "~/static/app.min.js"
 * is that file of any host, with any query.
 */
#include "api/js/js.h"

#include "base/text.h"

/* By the debug id of its script or source map; source code has none. */
static sym_status_t
find_by_id(js_t *j, js_file_t *file)
{
    sym_object_ref_t ref = { .debug_id = file->key.debug_id };
    char text[SYM_ID_TEXT_MAX];
    size_t len = sym_debug_id_write_sentry(&ref.debug_id, text);

    if (len == 0 || file->key.type == JS_SOURCE) {
        return SYM_OK;
    }

    file->resolved_with = SYM_STR("debug-id");
    file->uri = sym_arena_copy(j->base.arena, sym_str(text, len));
    return file->uri.data != NULL ? js_find_needed(j, &ref, false, file)
                                  : SYM_NOMEM;
}


static sym_status_t
find_by_url(js_t *j, js_file_t *file)
{
    sym_object_ref_t ref = { .role = SYM_TEXT_SOURCE };
    sym_str_t names[JS_CANDIDATES];
    unsigned n;

    if (file->key.abs_path.data == NULL) {
        return SYM_OK;
    }

    n = js_candidates(j->base.arena, file->key.abs_path, names);
    if (n == 0) {
        return SYM_NOMEM;
    }

    ref.url = names[n - 1];
    if (!sym_str_starts(ref.url, SYM_STR("~/"))
        || ref.url.len > SYM_REF_URL_MAX) {
        return SYM_OK;
    }

    file->resolved_with = SYM_STR("url");
    file->uri = ref.url;
    return js_find_needed(j, &ref, false, file);
}


sym_status_t
js_find_own(js_t *j, js_file_t *file)
{
    sym_status_t rc;

    file->origin = JS_ALONE;
    rc = find_by_id(j, file);
    return rc == SYM_OK
                   && (file->state == JS_ABSENT || file->state == JS_MALFORMED)
               ? find_by_url(j, file)
               : rc;
}


sym_status_t
js_find_beside(js_t *j, sym_str_t abs_path, js_key_t *key)
{
    sym_str_t names[JS_CANDIDATES];
    sym_text_t t = { .arena = j->base.arena };
    unsigned n = js_candidates(j->base.arena, abs_path, names);

    if (n == 0) {
        return SYM_NOMEM;
    }

    /* without query and fragment */
    sym_text_add(&t, n > 2 ? names[1] : names[0]);
    sym_text_add(&t, SYM_STR(".map"));
    key->abs_path = sym_text_end(&t);
    return t.failed ? SYM_NOMEM : SYM_OK;
}
