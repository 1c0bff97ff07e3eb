/*
 * own.c - files for requests without the key `source`: files that were loaded
 * by hand, and files of the location's sources.
 *
 * They are found by debug id, or by the path of their URL, in the request's
 * release or without one: "~/static/app.min.js" is this file on any host, with
 * any query.
 */
#include "api/js/js.h"

#include "base/hex.h"
#include "base/text.h"
#include "base/uri.h"

/* Files that were loaded by hand. */
static sym_status_t
find_loaded(js_t *j, js_file_t *file)
{
    sym_object_ref_t ref = { .debug_id = file->key.debug_id };

    file->resolved_with = SYM_STR("debug-id");
    return js_find_needed(j, &ref, false, file);
}


/* Finds a file by the debug id of its script or source map; source code has no
 * id. */
static sym_status_t
find_by_id(js_t *j, js_file_t *file)
{
    sym_object_ref_t ref = { .role = SYM_TEXT_SOURCE };
    sym_text_t t = { .arena = j->base.arena };
    char text[SYM_ID_TEXT_MAX];
    size_t len = sym_debug_id_write_sentry(&file->key.debug_id, text);
    sym_status_t rc;

    if (len == 0 || file->key.type == JS_SOURCE) {
        return SYM_OK;
    }

    sym_text_add(&t, SYM_STR(SYM_REF_URN));
    sym_text_add(&t, sym_str(text, len));
    ref.url = file->uri = sym_text_end(&t);
    if (t.failed) {
        return SYM_NOMEM;
    }

    rc = find_loaded(j, file);
    return rc == SYM_OK && file->state == JS_ABSENT
               ? js_find_needed(j, &ref, false, file)
               : rc;
}


/* Normalizes a path, so that each has one spelling. */
static sym_str_t
normalize(js_t *j, sym_str_t url)
{
    sym_text_t t = { .arena = j->base.arena };
    char encoded[3];

    for (size_t i = 0; i < url.len; i++) {
        char c = url.data[i];

        if (c == '%' && url.len - i > 2 && sym_hex_digit(url.data[i + 1]) >= 0
            && sym_hex_digit(url.data[i + 2]) >= 0)
        {
            c = (char) (sym_hex_digit(url.data[i + 1]) << 4
                        | sym_hex_digit(url.data[i + 2]));
            i += 2;
        } else if (c == '/') {
            sym_text_byte(&t, c);
            continue;
        }

        sym_text_add(&t, sym_str(encoded, sym_uri_encode_byte(c, encoded)));
    }

    url = sym_text_end(&t);
    return t.failed ? sym_str(NULL, 0) : url;
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
    ref.url = n != 0 ? normalize(j, names[n - 1]) : sym_str(NULL, 0);
    if (ref.url.data == NULL) {
        return SYM_NOMEM;
    }

    if (!sym_str_starts(ref.url, SYM_STR(SYM_REF_PATH))
        || ref.url.len > SYM_REF_URL_MAX)
    {
        return SYM_OK;
    }

    file->uri = ref.url;
    if (j->request.release.len != 0
        && j->request.release.len <= SYM_REF_RELEASE_MAX
        && j->request.dist.len <= SYM_REF_DIST_MAX)
    {
        file->resolved_with = SYM_STR("release");
        ref.release = j->request.release;
        ref.dist = j->request.dist;
        if (js_find_needed(j, &ref, false, file) != SYM_OK) {
            return SYM_NOMEM;
        }
        if (file->state != JS_ABSENT && file->state != JS_MALFORMED) {
            return SYM_OK;
        }
        ref.release = ref.dist = SYM_STR("");
    }

    file->resolved_with = SYM_STR("url");
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

    /* removes query and fragment */
    sym_text_add(&t, n > 2 ? names[1] : names[0]);
    sym_text_add(&t, SYM_STR(".map"));
    key->abs_path = sym_text_end(&t);
    return t.failed ? SYM_NOMEM : SYM_OK;
}
