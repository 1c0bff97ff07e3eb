/*
 * convert.c - portable PDBs as a row of the formats (docs/formats/ppdb.md).
 */
#include "formats/ppdb/ppdb.h"

#include <stdlib.h>

#include "base/little.h"
#include "formats/ppdb/embedded.h"
#include "formats/ppdb/points.h"
#include "object/object_id.h"

/* Limit on points per byte of the file.  Methods may share points, because
 * compilers store equal blobs once.  Only a hostile file has more. */
#define POINTS_PER_BYTE 8

#define NO_NUMBER UINT32_MAX

typedef struct {
    sym_ppdb_metadata_t m;
    sym_ppdb_embedded_t embedded;
    uint64_t file_bytes;
    uint32_t *numbers; /* document row -> number in the artifact, if it was
                          written */
} ppdb_t;


static bool
probe(const uint8_t *data, size_t len)
{
    return len >= 4 && memcmp(data, "BSJB", 4) == 0;
}


static bool
is_wanted(const uint8_t *head, size_t len)
{
    (void) head;
    (void) len;
    return true; /* nearly all files with this magic are portable PDBs */
}


static void
prepare(void)
{
    json_object_seed(0); /* reads random bytes */
}


/* --- lines --- */

/* A document gets its number when it is first used. */
static sym_status_t
number_document(ppdb_t *p, sym_ppdb_writer_t *w, uint32_t row, uint32_t *number,
                sym_error_t *err)
{
    char text[SYM_PPDB_PATH_MAX];
    sym_str_t path;

    if (p->numbers[row] == NO_NUMBER
        && (sym_ppdb_document_path(&p->m, row, text, &path, err) != SYM_OK
            || sym_ppdb_add_document(w, path,
                                     sym_ppdb_document_language(&p->m, row),
                                     &p->numbers[row])
                   != SYM_OK))
    {
        return err->status;
    }

    *number = p->numbers[row];
    return SYM_OK;
}


static sym_status_t
add_method(ppdb_t *p, sym_ppdb_writer_t *w, uint32_t row,
           sym_ppdb_points_t *points, sym_error_t *err)
{
    if (sym_ppdb_points_read(points, &p->m, row, err) != SYM_OK) {
        return err->status;
    }

    for (size_t i = 0; i < points->n; i++) {
        if (number_document(p, w, points->items[i].document,
                            &points->items[i].document, err)
            != SYM_OK)
        {
            return err->status;
        }
    }

    return sym_ppdb_add_method(w, row, points->items, points->n);
}


static sym_status_t
add_methods(ppdb_t *p, sym_ppdb_writer_t *w, sym_error_t *err)
{
    uint64_t left = POINTS_PER_BYTE * p->file_bytes;
    sym_ppdb_points_t points = { .items = NULL };

    for (uint32_t row = 1; row <= p->m.methods.n && err->status == SYM_OK;
         row++) {
        (void) add_method(p, w, row, &points, err);

        if (points.n > left) {
            (void) sym_fail(err, SYM_LIMIT, "methods share too many points");
        }

        left -= points.n;
    }

    sym_ppdb_points_free(&points);
    return err->status;
}


/* A finish() of a sym_format_output_t. */
static sym_status_t
finish_lines(void *writer, const sym_module_info_t *info, sym_extent_put_pt put,
             void *ctx, sym_writer_stats_t *stats, sym_error_t *err)
{
    ppdb_t *p = writer;
    sym_ppdb_writer_t *w =
        sym_ppdb_writer_create(put, ctx, p->m.methods.n, err);

    (void) info; /* the store's record contains the name */

    if (w != NULL && add_methods(p, w, err) == SYM_OK) {
        (void) sym_ppdb_finish(w, sym_ppdb_embedded_has_any(&p->embedded),
                               stats);
    }

    sym_ppdb_writer_free(w);
    return err->status;
}


/* --- sources --- */

/* The same. */
static sym_status_t
finish_sources(void *writer, const sym_module_info_t *info,
               sym_extent_put_pt put, void *ctx, sym_writer_stats_t *stats,
               sym_error_t *err)
{
    const ppdb_t *p = writer;
    sym_sources_writer_t *w = sym_sources_writer_create(put, ctx, err);

    (void) info;

    if (w != NULL && sym_ppdb_embedded_write(&p->embedded, w, err) == SYM_OK) {
        (void) sym_sources_finish(w, stats, err);
    }

    sym_sources_writer_free(w);
    return err->status;
}


/* --- the file --- */

/* The GUID; the stamp takes the place of the age. */
static size_t
write_id(const uint8_t id[SYM_PPDB_MD_ID_BYTES], char out[SYM_ID_TEXT_MAX])
{
    sym_debug_id_t debug_id;

    sym_debug_id_of_build_id(id, SYM_PPDB_MD_GUID_BYTES, false, &debug_id);
    debug_id.age = sym_get32(id + SYM_PPDB_MD_GUID_BYTES);
    return sym_debug_id_write_breakpad(&debug_id, out);
}


static sym_status_t
put_artifacts(ppdb_t *p, const sym_format_file_t *f, sym_str_t debug_file,
              sym_error_t *err)
{
    char id[SYM_ID_TEXT_MAX];
    const sym_module_info_t info = {
        .debug_id = { id, write_id(p->m.id, id) },
        .debug_file = debug_file,
        .source_bytes = f->data.len,
    };
    const sym_format_output_t lines = { .kind = SYM_KIND_PPDB,
                                        .has_more = sym_ppdb_embedded_has_any(
                                            &p->embedded),
                                        .info = &info,
                                        .writer = p,
                                        .finish = finish_lines };
    const sym_format_output_t sources = { .kind = SYM_KIND_SOURCES,
                                          .info = &info,
                                          .writer = p,
                                          .finish = finish_sources };
    sym_status_t rc = f->put(f->ctx, &lines, err);

    return rc == SYM_OK && lines.has_more ? f->put(f->ctx, &sources, err) : rc;
}


sym_status_t
sym_ppdb_convert(const sym_format_file_t *f, sym_str_t file,
                 sym_str_t debug_file, sym_error_t *err)
{
    ppdb_t p = { .file_bytes = file.len };

    if (sym_ppdb_metadata_open(&p.m, file, err) != SYM_OK) {
        return err->status;
    }

    p.numbers = malloc(((size_t) p.m.documents.n + 1) * sizeof(*p.numbers));

    if (p.numbers == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    memset(p.numbers, 0xff,
           ((size_t) p.m.documents.n + 1) * sizeof(*p.numbers));

    if (sym_ppdb_embedded_open(&p.embedded, &p.m, f->services, err) == SYM_OK) {
        (void) put_artifacts(&p, f, debug_file, err);
    }

    sym_ppdb_embedded_drop(&p.embedded);
    free(p.numbers);
    return err->status;
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    (void) which; /* the file has one object */
    return sym_ppdb_convert(f, f->data, SYM_STR(""), err);
}


const sym_format_t sym_format_ppdb = {
    .title = "portable PDB",
    .probe = probe,
    .is_wanted = is_wanted,
    .prepare = prepare,
    .is_nameless = true,
    .convert = convert,
};
