#include "formats/ppdb/points.h"

#include <stdlib.h>

#include "base/buffer.h"

/* Portable PDB, "Sequence Points Blob": offsets and lines have 29 bits;
 * 0xfeefee is the line of hidden points only. */
#define VALUE_END 0x20000000
#define HIDDEN_LINE 0xfeefee

/* A point has at least one byte each for offset, lines and columns.  A hidden
 * point has no start line and no column. */
#define POINT_BYTES_MIN 3

#define BAD_POINT "not a sequence point"

typedef struct {
    const uint8_t *pos, *end;
    uint32_t document, n_documents;
    uint32_t offset;
    int64_t line;  /* start of the last point that was not hidden */
    bool has_line; /* there was a point that was not hidden */
} reader_t;


void
sym_ppdb_points_free(sym_ppdb_points_t *points)
{
    free(points->items);
    *points = (sym_ppdb_points_t){ .items = NULL };
}


static bool
read_document(reader_t *r)
{
    return sym_ppdb_metadata_unsigned(&r->pos, r->end, &r->document)
           && r->document != 0 && r->document <= r->n_documents;
}


/* Reads a point up to its columns.  False: malformed. */
static bool
read_point(reader_t *r, bool *is_hidden)
{
    uint32_t offset, lines, number;
    int32_t columns, line;

    if (!sym_ppdb_metadata_unsigned(&r->pos, r->end, &offset)
        || !sym_ppdb_metadata_unsigned(&r->pos, r->end, &lines))
    {
        return false;
    }

    r->offset += offset; /* both numbers are below 2^29 */
    if (r->offset >= VALUE_END) {
        return false;
    }

    if (lines != 0) {
        if (!sym_ppdb_metadata_signed(&r->pos, r->end, &columns)) {
            return false;
        }
        *is_hidden = false;

    } else {
        if (!sym_ppdb_metadata_unsigned(&r->pos, r->end, &number)) {
            return false;
        }
        *is_hidden = number == 0;
    }

    if (*is_hidden) {
        return true;
    }

    if (r->has_line) {
        if (!sym_ppdb_metadata_signed(&r->pos, r->end, &line)
            || !sym_ppdb_metadata_signed(&r->pos, r->end, &columns))
        {
            return false;
        }
        r->line += line;

    } else {
        if (!sym_ppdb_metadata_unsigned(&r->pos, r->end, &number)
            || !sym_ppdb_metadata_unsigned(&r->pos, r->end, &(uint32_t){ 0 }))
        {
            return false;
        }
        r->line = number;
        r->has_line = true;
    }

    return r->line >= 0 && r->line + lines < VALUE_END
           && r->line != HIDDEN_LINE;
}


/* Reads points and document records up to the end of the blob. */
static bool
read_points(reader_t *r, sym_ppdb_points_t *points)
{
    bool is_first = true, is_hidden;

    while (is_first || r->pos < r->end) {
        /* only the first point may have the offset 0 */
        if (!is_first && r->pos[0] == 0) {
            r->pos++;
            if (!read_document(r)) {
                return false;
            }
            continue;
        }

        if (!read_point(r, &is_hidden)) {
            return false;
        }

        if (!is_hidden) {
            points->items[points->n++] =
                (sym_ppdb_given_t){ r->offset, (uint32_t) r->line,
                                    r->document };
        }

        is_first = false;
    }

    return true;
}


sym_status_t
sym_ppdb_points_read(sym_ppdb_points_t *points, const sym_ppdb_metadata_t *m,
                     uint32_t row, sym_error_t *err)
{
    sym_ppdb_method_row_t method = sym_ppdb_metadata_method(m, row);
    reader_t r = { .document = method.document, .n_documents = m->documents.n };
    sym_ppdb_given_t *grown;
    sym_str_t blob;
    uint32_t signature;

    points->n = 0;
    if (method.points == 0) {
        return SYM_OK;
    }

    if (sym_ppdb_metadata_blob(m, method.points, &blob, err) != SYM_OK) {
        return err->status;
    }

    grown = sym_array_grow(points->items, &points->cap,
                           blob.len / POINT_BYTES_MIN + 1, sizeof(*grown));
    if (grown == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    points->items = grown;
    r.pos = (const uint8_t *) blob.data;
    r.end = r.pos + blob.len;

    if (!sym_ppdb_metadata_unsigned(&r.pos, r.end, &signature)
        || (method.document == 0 && !read_document(&r))
        || r.document > r.n_documents || !read_points(&r, points))
    {
        err->section = SYM_PPDB_MD_BLOBS;
        err->offset = (uint64_t) (r.pos - (const uint8_t *) m->blobs.data);
        return sym_fail(err, SYM_MALFORMED, BAD_POINT);
    }

    return SYM_OK;
}
