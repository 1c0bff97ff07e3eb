#include "artifacts/ppdb/read/ppdb.h"

#include <string.h>

/* --- the header --- */

sym_status_t
sym_ppdb_open(sym_ppdb_t *p, sym_extent_get_pt get, void *ctx, sym_error_t *err)
{
    const uint8_t *h;

    *p = (sym_ppdb_t){ .in = { get, ctx, NULL, 1 } };
    h = sym_extent_bytes(&p->in, 0, SYM_PPDB_HEADER_BYTES);

    if (h == NULL || sym_get32(h) != SYM_PPDB_MAGIC) {
        return sym_fail(err, SYM_DAMAGED, "not an artifact of kind ppdb");
    }

    if (sym_get32(h + 4) != SYM_PPDB_VERSION) {
        return sym_fail(err, SYM_VERSION, "a ppdb of another version");
    }

    p->in.n = sym_get32(h + 8);
    p->n_methods = sym_get32(h + 12);
    p->n_documents = sym_get32(h + 16);
    p->methods_ref = sym_get32(h + 20);
    p->documents_ref = sym_get32(h + 24);
    p->has_sources = (sym_get32(h + 28) & SYM_PPDB_SOURCES) != 0;
    p->n_points = sym_get64(h + 32);
    p->n_bodies = sym_get64(h + 40);

    /* each point takes at least one byte */
    if (p->in.n == 0 || p->in.n > SYM_EXTENTS_LIMIT
        || p->n_methods > SYM_PPDB_METHODS_MAX
        || p->n_documents > SYM_PPDB_DOCUMENTS_MAX
        || p->n_points > (uint64_t) p->in.n * SYM_EXTENT_MAX)
    {
        return sym_fail(err, SYM_DAMAGED, "damaged header of a ppdb");
    }

    return SYM_OK;
}


void
sym_ppdb_remember(sym_ppdb_t *p, sym_extent_view_t *table)
{
    p->in.cache = table;
}


/* --- points --- */

/* Reads a ULEB128 of up to 32 bits.  NULL: it is truncated or larger. */
static const uint8_t *
read_uleb(const uint8_t *pos, const uint8_t *end, uint32_t *value)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; pos < end && shift < 35; shift += 7) {
        uint8_t byte = *pos++;

        sum |= (uint64_t) (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = (uint32_t) sum;
            return sum <= UINT32_MAX ? pos : NULL;
        }
    }

    return NULL;
}


static inline uint32_t
number_at(const uint8_t *column, uint32_t width, uint32_t i)
{
    const uint8_t *at = column + (size_t) width * i;

    switch (width) {
    case 0:
        return 0;
    case 1:
        return at[0];
    case 2:
        return sym_get16(at);
    default:
        return sym_get32(at);
    }
}


static sym_status_t
read_piece(const uint8_t *data, size_t len, sym_ppdb_piece_t *piece)
{
    const uint8_t *end = data + len, *pos = data + 1;
    uint32_t form = data[0];
    size_t each;

    piece->offset_width =
        (uint8_t) sym_ppdb_width(form >> SYM_PPDB_OFFSETS_SHIFT);
    piece->line_width = (uint8_t) sym_ppdb_width(form >> SYM_PPDB_LINES_SHIFT);
    piece->document_width =
        (uint8_t) sym_ppdb_width(form >> SYM_PPDB_DOCUMENTS_SHIFT);
    each = (size_t) piece->offset_width + piece->line_width
           + piece->document_width;

    if (form >= SYM_PPDB_PIECES || piece->offset_width == 0
        || (pos = read_uleb(pos, end, &piece->n)) == NULL
        || (pos = read_uleb(pos, end, &piece->base_line)) == NULL
        || (pos = read_uleb(pos, end, &piece->base_document)) == NULL
        || piece->n == 0 || piece->n > SYM_PPDB_PIECE_POINTS
        || piece->n * each > (size_t) (end - pos))
    {
        return SYM_DAMAGED;
    }

    piece->offsets = pos;
    piece->lines = piece->offsets + (size_t) piece->n * piece->offset_width;
    piece->documents = piece->lines + (size_t) piece->n * piece->line_width;
    return SYM_OK;
}


static sym_status_t
piece_at(const sym_ppdb_t *p, uint32_t ref, sym_ppdb_piece_t *piece)
{
    size_t len;
    const uint8_t *data = sym_extent_rest(&p->in, ref, &len);

    return data != NULL ? read_piece(data, len, piece) : SYM_DAMAGED;
}


/* The target of a method's record: a piece, or a list of n pieces. */
typedef struct {
    const uint8_t *data;
    size_t len;
    const uint8_t *list; /* NULL: the target is a piece */
    uint32_t n;
} body_t;

static sym_status_t
find_body(const sym_ppdb_t *p, uint32_t method, body_t *body)
{
    const uint8_t *r, *pos;
    uint32_t ref;

    if (method == 0 || method > p->n_methods) {
        return SYM_NOT_FOUND;
    }

    r = sym_extent_record(&p->in, p->methods_ref, method - 1,
                          SYM_PPDB_METHOD_BYTES);
    if (r == NULL) {
        return SYM_DAMAGED;
    }

    ref = sym_get32(r);
    if (ref == 0) {
        return SYM_NOT_FOUND; /* no points */
    }

    *body = (body_t){ .n = 1 };
    body->data = sym_extent_rest(&p->in, ref, &body->len);

    if (body->data == NULL || body->data[0] != SYM_PPDB_PIECES) {
        return body->data != NULL ? SYM_OK : SYM_DAMAGED;
    }

    pos = read_uleb(body->data + 1, body->data + body->len, &body->n);
    body->list = pos;

    return pos == NULL || body->n == 0
                   || (size_t) (body->data + body->len - pos)
                              / SYM_PPDB_PIECE_BYTES
                          < body->n
               ? SYM_DAMAGED
               : SYM_OK;
}


/* Index of the last of n sorted numbers that is not above `value`.  Numbers are
 * `step` bytes apart.  n: all are above. */
static inline uint32_t
last_not_above(const uint8_t *numbers, uint32_t width, uint32_t step,
               uint32_t n, uint32_t value)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (number_at(numbers + (size_t) middle * step, width, 0) <= value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low != 0 ? low - 1 : n;
}


sym_ppdb_point_t
sym_ppdb_point(const sym_ppdb_piece_t *piece, uint32_t i)
{
    return (sym_ppdb_point_t){
        .offset = number_at(piece->offsets, piece->offset_width, i),
        .line =
            piece->base_line + number_at(piece->lines, piece->line_width, i),
        .document = piece->base_document
                    + number_at(piece->documents, piece->document_width, i),
    };
}


sym_status_t
sym_ppdb_lookup(const sym_ppdb_t *p, uint32_t method, uint32_t offset,
                sym_ppdb_point_t *point)
{
    sym_ppdb_piece_t piece;
    sym_status_t rc;
    body_t body;
    uint32_t i;

    rc = find_body(p, method, &body);
    if (rc != SYM_OK) {
        return rc;
    }

    if (body.list == NULL) {
        rc = read_piece(body.data, body.len, &piece);
    } else {
        i = last_not_above(body.list, 4, SYM_PPDB_PIECE_BYTES, body.n, offset);
        if (i == body.n) {
            return SYM_NOT_FOUND;
        }
        rc = piece_at(
            p, sym_get32(body.list + (size_t) i * SYM_PPDB_PIECE_BYTES + 4),
            &piece);
    }

    if (rc != SYM_OK) {
        return rc;
    }

    i = last_not_above(piece.offsets, piece.offset_width, piece.offset_width,
                       piece.n, offset);
    if (i == piece.n) {
        return SYM_NOT_FOUND;
    }

    *point = sym_ppdb_point(&piece, i);
    return SYM_OK;
}


sym_status_t
sym_ppdb_piece(const sym_ppdb_t *p, uint32_t method, uint32_t number,
               sym_ppdb_piece_t *piece)
{
    body_t body;
    sym_status_t rc = find_body(p, method, &body);

    if (rc != SYM_OK || number >= body.n) {
        return rc != SYM_OK ? rc : SYM_NOT_FOUND;
    }

    return body.list == NULL
               ? read_piece(body.data, body.len, piece)
               : piece_at(p,
                          sym_get32(body.list
                                    + (size_t) number * SYM_PPDB_PIECE_BYTES
                                    + 4),
                          piece);
}


/* --- documents --- */

static bool
text_at(const sym_ppdb_t *p, uint32_t ref, uint32_t len, sym_str_t *text)
{
    const char *data =
        len != 0 ? (const char *) sym_extent_bytes(&p->in, ref, len) : "";

    *text = sym_str(data, len);
    return data != NULL;
}


sym_status_t
sym_ppdb_document(const sym_ppdb_t *p, uint32_t number,
                  sym_ppdb_document_t *document)
{
    const uint8_t *r;

    if (number >= p->n_documents) {
        return SYM_DAMAGED;
    }

    r = sym_extent_record(&p->in, p->documents_ref, number,
                          SYM_PPDB_DOCUMENT_BYTES);

    if (r == NULL
        || !text_at(p, sym_get32(r), sym_get16(r + 8), &document->folder)
        || !text_at(p, sym_get32(r + 4), sym_get16(r + 10), &document->name)
        || document->folder.len + document->name.len > SYM_PPDB_PATH_MAX)
    {
        return SYM_DAMAGED;
    }

    document->lang = r[12];
    return SYM_OK;
}


/* --- verification --- */

/* Checks the points of a method.  Their offsets must ascend. */
static sym_status_t
check_method(const sym_ppdb_t *p, uint32_t method, uint64_t *points,
             uint64_t *bodies)
{
    int64_t last = -1;
    sym_status_t rc = SYM_OK;

    for (uint32_t number = 0; rc == SYM_OK; number++) {
        sym_ppdb_piece_t piece;

        rc = sym_ppdb_piece(p, method, number, &piece);

        if (rc != SYM_OK) {
            break;
        }

        /* a hostile list may contain a piece more than once */
        *points += piece.n;
        *bodies += number == 0;
        if (*points > p->n_points) {
            return SYM_DAMAGED;
        }

        for (uint32_t i = 0; i < piece.n; i++) {
            sym_ppdb_point_t point = sym_ppdb_point(&piece, i), found;

            if ((int64_t) point.offset <= last
                || point.document >= p->n_documents
                || (i == 0 /* reached through the list of pieces */
                    && (sym_ppdb_lookup(p, method, point.offset, &found)
                            != SYM_OK
                        || found.line != point.line)))
            {
                return SYM_DAMAGED;
            }

            last = point.offset;
        }
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


sym_status_t
sym_ppdb_check(const sym_ppdb_t *p, sym_error_t *err)
{
    uint64_t points = 0, bodies = 0;

    for (uint32_t i = 0; i < p->n_documents; i++) {
        sym_ppdb_document_t document;

        if (sym_ppdb_document(p, i, &document) != SYM_OK) {
            return sym_fail(err, SYM_DAMAGED, "damaged document of a ppdb");
        }
    }

    for (uint32_t i = 1; i <= p->n_methods; i++) {
        if (check_method(p, i, &points, &bodies) != SYM_OK) {
            return sym_fail(err, SYM_DAMAGED, "damaged points of a ppdb");
        }
    }

    return points == p->n_points && bodies == p->n_bodies
               ? SYM_OK
               : sym_fail(err, SYM_DAMAGED, "a ppdb miscounts its points");
}
