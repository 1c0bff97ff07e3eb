#include "formats/ppdb/embedded.h"

#include <stdlib.h>

#include "base/little.h"
#include "formats/packed/inflate.h"

/* Portable PDB, "Embedded Source": an i32 precedes the text.  0: the text is
 * not compressed.  Otherwise the text is deflated, and this is its unpacked
 * size. */
#define SIZE_BYTES 4
#define SIZE_MAX_SOURCE INT32_MAX

/* 0e8a571b-6926-466e-b4ad-8ab04611f5fe, cc110556-a091-4d38-9fec-25ab9a351a6a */
static const uint8_t embedded_source[] = { 0x1b, 0x57, 0x8a, 0x0e, 0x26, 0x69,
                                           0x6e, 0x46, 0xb4, 0xad, 0x8a, 0xb0,
                                           0x46, 0x11, 0xf5, 0xfe };
static const uint8_t source_link[] = { 0x56, 0x05, 0x11, 0xcc, 0x91, 0xa0,
                                       0x38, 0x4d, 0x9f, 0xec, 0x25, 0xab,
                                       0x9a, 0x35, 0x1a, 0x6a };


/* --- finding sources and links --- */

static bool
is_text(const sym_ppdb_metadata_t *m, const sym_ppdb_custom_row_t *c)
{
    return c->tag == SYM_PPDB_MD_PARENT_DOCUMENT && c->row != 0
           && c->row <= m->documents.n
           && sym_ppdb_document_is_guid(m, c->kind, embedded_source);
}


/* Parses the Source Link JSON.  Invalid JSON only causes a note, because frames
 * have their lines without it. */
static sym_status_t
read_links(sym_ppdb_embedded_t *e, const sym_ppdb_custom_row_t *c,
           sym_error_t *err)
{
    sym_error_t bad = { 0 };
    sym_str_t text;
    json_t *links;

    if (sym_ppdb_metadata_blob(e->m, c->value, &text, err) != SYM_OK) {
        return err->status;
    }

    sym_json_drop(&e->json);
    if (sym_json_load(&e->json, text, SYM_JSON_CONVERTER_MAX, 0, "no JSON",
                      &bad)
        == SYM_NOMEM)
    {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    links = bad.status == SYM_OK ? json_object_get(e->json.root, "documents")
                                 : NULL;
    e->links = json_object_size(links) != 0 ? links : NULL;

    if (!json_is_object(links)) {
        e->services->note(e->services->ctx, "its source links cannot be read");
    }

    return SYM_OK;
}


sym_status_t
sym_ppdb_embedded_open(sym_ppdb_embedded_t *e, const sym_ppdb_metadata_t *m,
                       const sym_format_services_t *services, sym_error_t *err)
{
    *e = (sym_ppdb_embedded_t){ .m = m, .services = services };

    for (uint32_t row = 1; row <= m->custom.n; row++) {
        sym_ppdb_custom_row_t c = sym_ppdb_metadata_custom(m, row);

        e->has_texts = e->has_texts || is_text(m, &c);

        /* the file has one module, with one Source Link file */
        if (c.tag == SYM_PPDB_MD_PARENT_MODULE && c.row == 1 && e->links == NULL
            && m->documents.n != 0
            && sym_ppdb_document_is_guid(m, c.kind, source_link)
            && read_links(e, &c, err) != SYM_OK)
        {
            return err->status;
        }
    }

    return SYM_OK;
}


void
sym_ppdb_embedded_drop(sym_ppdb_embedded_t *e)
{
    sym_json_drop(&e->json);
}


bool
sym_ppdb_embedded_has_any(const sym_ppdb_embedded_t *e)
{
    return e->has_texts || e->links != NULL;
}


/* --- texts --- */

typedef struct {
    char *bytes;
    size_t cap;
    uint64_t left; /* bytes that may still be unpacked */
} room_t;


static sym_status_t
unpack(room_t *room, sym_str_t packed, uint32_t size, sym_error_t *err)
{
    if (size > room->left) {
        return sym_fail(err, SYM_LIMIT,
                        "the sources in it are larger than --max-expanded");
    }

    if (size / SYM_INFLATE_RATIO_MAX > packed.len) {
        return sym_fail(err, SYM_MALFORMED, SYM_UNPACK_SIZE);
    }

    room->left -= size;

    if (room->cap < size) {
        free(room->bytes);
        room->cap = size;
        room->bytes = malloc(size);

        if (room->bytes == NULL) {
            room->cap = 0;
            return sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
        }
    }

    err->section = "embedded source"; /* base of err->offset */
    return sym_inflate_raw(packed, (uint8_t *) room->bytes, size, err);
}


static sym_status_t
add_text(const sym_ppdb_embedded_t *e, const sym_ppdb_custom_row_t *c,
         room_t *room, sym_sources_writer_t *w, sym_error_t *err)
{
    char name[SYM_PPDB_PATH_MAX];
    sym_str_t path, blob, text;
    uint32_t size;

    if (sym_ppdb_document_path(e->m, c->row, name, &path, err) != SYM_OK
        || sym_ppdb_metadata_blob(e->m, c->value, &blob, err) != SYM_OK)
    {
        return err->status;
    }

    size = blob.len < SIZE_BYTES ? UINT32_MAX
                                 : sym_get32((const uint8_t *) blob.data);

    if (path.len == 0 || size > SIZE_MAX_SOURCE) {
        sym_sources_leave_out(w); /* the path is missing, or the encoding is
                                     unknown */
        return SYM_OK;
    }

    text = sym_str(blob.data + SIZE_BYTES, blob.len - SIZE_BYTES);

    if (size != 0) {
        if (unpack(room, text, size, err) != SYM_OK) {
            return err->status;
        }
        text = sym_str(room->bytes, size);
    }

    return sym_sources_add(w, path, SYM_STR(""), text, err);
}


static sym_status_t
add_texts(const sym_ppdb_embedded_t *e, sym_sources_writer_t *w,
          sym_error_t *err)
{
    room_t room = { .left = e->services->unpacked_max };

    for (uint32_t row = 1; row <= e->m->custom.n && err->status == SYM_OK;
         row++) {
        sym_ppdb_custom_row_t c = sym_ppdb_metadata_custom(e->m, row);

        if (is_text(e->m, &c)) {
            (void) add_text(e, &c, &room, w, err);
        }
    }

    free(room.bytes);
    return err->status;
}


static sym_status_t
add_links(const sym_ppdb_embedded_t *e, sym_sources_writer_t *w,
          sym_error_t *err)
{
    const char *pattern;
    size_t len;
    json_t *url;

    json_object_keylen_foreach(e->links, pattern, len, url)
    {
        if (!json_is_string(url) || len > SYM_SOURCES_PATH_MAX
            || json_string_length(url) > SYM_SOURCES_PATH_MAX)
        {
            sym_sources_leave_out(w);
            continue;
        }

        if (sym_sources_add_link(
                w, sym_str(pattern, len),
                sym_str(json_string_value(url), json_string_length(url)), err)
            != SYM_OK)
        {
            break;
        }
    }

    return err->status;
}


sym_status_t
sym_ppdb_embedded_write(const sym_ppdb_embedded_t *e, sym_sources_writer_t *w,
                        sym_error_t *err)
{
    return add_texts(e, w, err) == SYM_OK && e->links != NULL
               ? add_links(e, w, err)
               : err->status;
}
