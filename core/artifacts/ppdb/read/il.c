#include "artifacts/ppdb/read/il.h"

/* ECMA-335, II.22: a token consists of the table's number and 24 bits of the
 * row. */
#define TOKEN_ROW 0xffffffu
#define TOKEN_METHOD 0x06000000u


sym_status_t
sym_il_open(sym_ppdb_t *ppdb, sym_arena_t *arena,
            const sym_extent_source_t *extents, sym_error_t *err)
{
    sym_extent_view_t *table;
    sym_status_t rc = sym_ppdb_open(ppdb, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    if (ppdb->in.n != extents->n) {
        return sym_fail(err, SYM_DAMAGED,
                        "the ppdb has another number of extents");
    }

    table = sym_arena_calloc(arena, extents->n, sizeof(*table));
    if (table == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    sym_ppdb_remember(ppdb, table);
    return SYM_OK;
}


uint32_t
sym_il_method(uint32_t row_or_token)
{
    return (row_or_token & ~TOKEN_ROW) == TOKEN_METHOD
               ? row_or_token & TOKEN_ROW
               : row_or_token;
}


sym_status_t
sym_il_answer(const sym_ppdb_t *ppdb, uint32_t method, uint32_t offset,
              sym_il_frame_t *frame)
{
    sym_ppdb_document_t document;
    sym_ppdb_point_t point;
    sym_status_t rc;

    rc = sym_ppdb_lookup(ppdb, sym_il_method(method), offset, &point);
    rc = rc == SYM_OK ? sym_ppdb_document(ppdb, point.document, &document) : rc;

    if (rc != SYM_OK) {
        return rc;
    }

    *frame = (sym_il_frame_t){ .folder = document.folder,
                               .file = document.name,
                               .line = point.line,
                               .lang = document.lang };
    return SYM_OK;
}
