#include "sources/request/sources.h"

#include "base/text.h"
#include "base/uri.h"


static void
add_key(sym_text_t *t, const sym_request_source_t *s, sym_str_t key)
{
    sym_text_add(t, s->prefix);
    if (s->prefix.len > 0) {
        sym_text_byte(t, '/');
    }
    sym_text_add(t, key);
}


/* length of "s3://BUCKET/KEY" */
static sym_str_t
show_object(sym_arena_t *arena, sym_str_t scheme, const sym_request_source_t *s,
            sym_str_t key)
{
    sym_text_t t = { .arena = arena };

    sym_text_add(&t, scheme);
    sym_text_add(&t, s->bucket);
    sym_text_byte(&t, '/');
    add_key(&t, s, key);
    return sym_text_end(&t);
}


static sym_status_t
place_at_google(sym_arena_t *arena, const sym_request_source_t *s,
                const sym_url_t *storage, sym_str_t key,
                sym_request_source_place_t *place, sym_error_t *err)
{
    sym_text_t t = { .arena = arena }, whole = { .arena = arena };
    sym_str_t encoded;
    sym_status_t rc;

    add_key(&whole, s, key);
    rc = whole.failed ? SYM_NOMEM
                      : sym_uri_encode(arena, sym_text_end(&whole), false,
                                       &encoded, err);
    if (rc != SYM_OK) {
        return rc;
    }

    sym_text_add(&t, storage->path);
    sym_text_add(&t, SYM_STR("storage/v1/b/"));
    sym_text_add(&t, s->bucket);
    sym_text_add(&t, SYM_STR("/o/"));
    sym_text_add(&t, encoded);

    place->url = *storage;
    place->url.path = sym_text_end(&t);
    place->url.query = SYM_STR("alt=media");
    place->shown = show_object(arena, SYM_STR("gs://"), s, key);
    return SYM_OK;
}


sym_status_t
sym_request_source_place(sym_arena_t *arena, const sym_request_source_t *s,
                         const sym_url_t *storage, sym_str_t encoded,
                         sym_str_t key, sym_request_source_place_t *place,
                         sym_error_t *err)
{
    sym_text_t t = { .arena = arena };
    sym_status_t rc = SYM_OK;

    *place = (sym_request_source_place_t){ 0 };

    switch (s->type) {

    case SYM_REQUEST_SOURCE_FILESYSTEM:
        sym_text_add(&t, s->path);
        if (s->path.len == 0 || s->path.data[s->path.len - 1] != '/') {
            sym_text_byte(&t, '/');
        }
        sym_text_add(&t, key);
        place->file = sym_text_end(&t);
        t = (sym_text_t){ .arena = arena };
        sym_text_add(&t, SYM_STR("file://"));
        sym_text_add(&t, place->file);
        place->shown = sym_text_end(&t);
        break;

    case SYM_REQUEST_SOURCE_GCS:
        rc = place_at_google(arena, s, storage, key, place, err);
        break;

    default:
        sym_text_add(&t, s->url.path);
        sym_text_add(&t, encoded);
        place->url = s->url;
        place->url.path = sym_text_end(&t);
        place->shown = s->type == SYM_REQUEST_SOURCE_S3
                           ? show_object(arena, SYM_STR("s3://"), s, key)
                           : sym_url_shown(arena, &place->url);
        break;
    }

    return rc == SYM_OK && place->shown.data == NULL
               ? sym_fail(err, SYM_NOMEM, NULL)
               : rc;
}
