#include "artifacts/ppdb/write/ppdb_writer.h"

#include <stdlib.h>

#include "artifacts/symcache/write/extents.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/hash.h"

/* Longest head of a piece: form byte, and three uleb of 32 bits. */
#define PIECE_HEAD_MAX 16

#define TEXTS_FIRST 256 /* a power of two */

/* A folder or name that was written. */
typedef struct {
    sym_str_t text; /* in the arena; data NULL: the slot is free */
    uint64_t hash;
    uint32_t ref;
} text_t;

typedef struct {
    uint32_t folder, name; /* refs */
    uint16_t folder_len, name_len;
    uint8_t lang;
} document_t;

struct sym_ppdb_writer_s {
    sym_extents_t extents;
    sym_error_t *err;

    uint32_t *methods; /* one ref each; 0: no points */
    uint32_t n_methods;
    uint64_t n_points, n_bodies;

    document_t *documents;
    size_t n_documents, documents_cap;

    sym_arena_t arena; /* memory of texts */
    sym_hash_key_t key;
    text_t *texts; /* a hash table */
    size_t n_texts, texts_size;
};


static sym_status_t
no_memory(sym_ppdb_writer_t *w)
{
    return sym_fail(w->err, SYM_NOMEM, NULL);
}


sym_ppdb_writer_t *
sym_ppdb_writer_create(sym_extent_put_pt put, void *ctx, uint32_t n_methods,
                       sym_error_t *err)
{
    sym_ppdb_writer_t *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        (void) sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    w->err = err;
    w->key = sym_hash_key();
    w->n_methods = n_methods;
    w->methods = calloc((size_t) n_methods + 1, sizeof(*w->methods));
    w->texts_size = TEXTS_FIRST;
    w->texts = calloc(w->texts_size, sizeof(*w->texts));

    if (w->methods == NULL || w->texts == NULL
        || sym_extents_begin(&w->extents, put, ctx, SYM_PPDB_HEADER_BYTES, err)
               != SYM_OK)
    {
        (void) no_memory(w);
        sym_ppdb_writer_free(w);
        return NULL;
    }

    return w;
}


void
sym_ppdb_writer_free(sym_ppdb_writer_t *w)
{
    if (w == NULL) {
        return;
    }

    sym_extents_free(&w->extents);
    sym_arena_drop(&w->arena);
    free(w->methods);
    free(w->documents);
    free(w->texts);
    free(w);
}


/* --- documents --- */

/* The slot of a text with this hash, or a free slot for it. */
static text_t *
find_text(text_t *texts, size_t size, sym_str_t text, uint64_t hash)
{
    size_t at = (size_t) hash & (size - 1);

    while (texts[at].text.data != NULL
           && (texts[at].hash != hash || !sym_str_eq(texts[at].text, text)))
    {
        at = (at + 1) & (size - 1);
    }

    return &texts[at];
}


static sym_status_t
grow_texts(sym_ppdb_writer_t *w)
{
    size_t size = 2 * w->texts_size;
    text_t *grown = calloc(size, sizeof(*grown));

    if (grown == NULL) {
        return no_memory(w);
    }

    for (size_t i = 0; i < w->texts_size; i++) {
        const text_t *t = &w->texts[i];

        if (t->text.data != NULL) {
            *find_text(grown, size, t->text, t->hash) = *t;
        }
    }

    free(w->texts);
    w->texts = grown;
    w->texts_size = size;
    return SYM_OK;
}


/* Writes a text, unless an equal text was written. */
static sym_status_t
add_text(sym_ppdb_writer_t *w, sym_str_t text, uint32_t *ref)
{
    uint64_t hash = sym_hash(&w->key, text);
    uint8_t *room;
    text_t *t;

    *ref = 0;
    if (text.len == 0) {
        return SYM_OK;
    }

    t = find_text(w->texts, w->texts_size, text, hash);
    if (t->text.data != NULL) {
        *ref = t->ref;
        return SYM_OK;
    }

    room = sym_extents_alloc(&w->extents, SYM_LANE_MAIN, text.len,
                             SYM_PLACE_ANY, ref);
    if (room == NULL) {
        return w->err->status;
    }

    memcpy(room, text.data, text.len);
    *t = (text_t){ sym_arena_copy(&w->arena, text), hash, *ref };
    if (t->text.data == NULL) {
        return no_memory(w);
    }

    return ++w->n_texts > w->texts_size / 2 ? grow_texts(w) : SYM_OK;
}


/* Length of the folder, including the last separator, `/` or `\`. */
static size_t
folder_len(sym_str_t path)
{
    size_t len = path.len;

    while (len > 0 && path.data[len - 1] != '/' && path.data[len - 1] != '\\') {
        len--;
    }

    return len;
}


sym_status_t
sym_ppdb_add_document(sym_ppdb_writer_t *w, sym_str_t path, uint8_t lang,
                      uint32_t *number)
{
    size_t folder = folder_len(path);
    document_t *grown, *d;

    if (path.len > SYM_PPDB_PATH_MAX) {
        return sym_fail(w->err, SYM_LIMIT,
                        "the path of a document is too long");
    }

    if (w->n_documents == SYM_PPDB_DOCUMENTS_MAX) {
        return sym_fail(w->err, SYM_LIMIT, "too many documents");
    }

    grown = sym_array_grow(w->documents, &w->documents_cap, w->n_documents + 1,
                           sizeof(*grown));
    if (grown == NULL) {
        return no_memory(w);
    }

    w->documents = grown;
    d = &w->documents[w->n_documents];
    *d = (document_t){ .folder_len = (uint16_t) folder,
                       .name_len = (uint16_t) (path.len - folder),
                       .lang = lang };

    if (add_text(w, sym_str(path.data, folder), &d->folder) != SYM_OK
        || add_text(w, sym_str(path.data + folder, path.len - folder), &d->name)
               != SYM_OK)
    {
        return w->err->status;
    }

    *number = (uint32_t) w->n_documents++;
    return SYM_OK;
}


/* --- methods --- */

/* Code of the smallest width that holds `most`. */
static uint32_t
code_of(uint32_t most)
{
    return most == 0 ? 0 : most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : 3;
}


static inline uint8_t *
put_number(uint8_t *p, uint32_t code, uint32_t value)
{
    switch (code) {
    case 0:
        return p;
    case 1:
        *p = (uint8_t) value;
        return p + 1;
    case 2:
        sym_put16(p, value);
        return p + 2;
    default:
        sym_put32(p, value);
        return p + 4;
    }
}


static sym_status_t
put_piece(sym_ppdb_writer_t *w, const sym_ppdb_given_t *points, size_t n,
          uint32_t *ref)
{
    sym_ppdb_given_t low = points[0], high = points[n - 1];
    uint32_t offsets, lines, documents;
    uint8_t head[PIECE_HEAD_MAX], *p = head + 1;
    size_t len;

    high.line = low.line;
    high.document = low.document;

    for (size_t i = 1; i < n; i++) {
        low.line = points[i].line < low.line ? points[i].line : low.line;
        high.line = points[i].line > high.line ? points[i].line : high.line;
        low.document = points[i].document < low.document ? points[i].document
                                                         : low.document;
        high.document = points[i].document > high.document ? points[i].document
                                                           : high.document;
    }

    offsets = code_of(high.offset);
    offsets = offsets != 0 ? offsets : 1;
    lines = code_of(high.line - low.line);
    documents = code_of(high.document - low.document);

    head[0] = (uint8_t) (offsets << SYM_PPDB_OFFSETS_SHIFT
                         | lines << SYM_PPDB_LINES_SHIFT
                         | documents << SYM_PPDB_DOCUMENTS_SHIFT);
    p = sym_uleb_write(p, n);
    p = sym_uleb_write(p, low.line);
    p = sym_uleb_write(p, low.document);
    len = (size_t) (p - head);

    p = sym_extents_alloc(&w->extents, SYM_LANE_MAIN,
                          len
                              + n
                                    * (sym_ppdb_width(offsets)
                                       + sym_ppdb_width(lines)
                                       + sym_ppdb_width(documents)),
                          SYM_PLACE_ANY, ref);
    if (p == NULL) {
        return w->err->status;
    }

    memcpy(p, head, len);
    p += len;

    for (size_t i = 0; i < n; i++) {
        p = put_number(p, offsets, points[i].offset);
    }

    for (size_t i = 0; i < n && lines != 0; i++) {
        p = put_number(p, lines, points[i].line - low.line);
    }

    for (size_t i = 0; i < n && documents != 0; i++) {
        p = put_number(p, documents, points[i].document - low.document);
    }

    return SYM_OK;
}


static sym_status_t
put_pieces(sym_ppdb_writer_t *w, const sym_ppdb_given_t *points, size_t n,
           uint32_t *ref)
{
    size_t n_pieces = (n + SYM_PPDB_PIECE_POINTS - 1) / SYM_PPDB_PIECE_POINTS;
    uint8_t head[1 + SYM_LEB_MAX] = { SYM_PPDB_PIECES };
    sym_buffer_t list = { 0 };
    sym_status_t rc = SYM_OK;
    uint8_t *room;

    sym_buffer_put(&list, head,
                   (size_t) (sym_uleb_write(head + 1, n_pieces) - head));

    for (size_t i = 0; i < n && rc == SYM_OK; i += SYM_PPDB_PIECE_POINTS) {
        size_t most =
            n - i < SYM_PPDB_PIECE_POINTS ? n - i : SYM_PPDB_PIECE_POINTS;
        uint8_t entry[SYM_PPDB_PIECE_BYTES];
        uint32_t at = 0;

        rc = put_piece(w, points + i, most, &at);
        sym_put32(entry, points[i].offset);
        sym_put32(entry + 4, at);
        sym_buffer_put(&list, entry, sizeof(entry));
    }

    if (rc == SYM_OK && list.failed) {
        rc = no_memory(w);
    }

    if (rc == SYM_OK && list.len > SYM_EXTENT_MAX) {
        rc = sym_fail(w->err, SYM_LIMIT, "a method has too many lines");
    }

    room = rc == SYM_OK ? sym_extents_alloc(&w->extents, SYM_LANE_MAIN,
                                            list.len, SYM_PLACE_ANY, ref)
                        : NULL;
    if (room != NULL) {
        memcpy(room, list.data, list.len);
    }

    sym_buffer_free(&list);
    return w->err->status;
}


/* Drops points that do not change any answer. */
static size_t
reduce(sym_ppdb_given_t *points, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept != 0 && points[kept - 1].offset == points[i].offset) {
            kept--;
        }

        if (kept == 0 || points[kept - 1].line != points[i].line
            || points[kept - 1].document != points[i].document)
        {
            points[kept++] = points[i];
        }
    }

    return kept;
}


sym_status_t
sym_ppdb_add_method(sym_ppdb_writer_t *w, uint32_t method,
                    sym_ppdb_given_t *points, size_t n)
{
    uint32_t *ref = &w->methods[method - 1];

    n = reduce(points, n);
    if (n == 0) {
        return SYM_OK;
    }

    w->n_bodies++;
    w->n_points += n;
    return n <= SYM_PPDB_PIECE_POINTS ? put_piece(w, points, n, ref)
                                      : put_pieces(w, points, n, ref);
}


/* --- finishing --- */

static sym_status_t
put_methods(sym_ppdb_writer_t *w, uint32_t *table)
{
    for (uint32_t i = 0; i < w->n_methods; i++) {
        uint32_t ref;
        uint8_t *r =
            sym_extents_alloc(&w->extents, SYM_LANE_MAIN, SYM_PPDB_METHOD_BYTES,
                              SYM_PLACE_ANY, &ref);

        if (r == NULL) {
            return w->err->status;
        }

        sym_put32(r, w->methods[i]);
        *table = i == 0 ? ref : *table;
    }

    return SYM_OK;
}


static sym_status_t
put_documents(sym_ppdb_writer_t *w, uint32_t *table)
{
    for (size_t i = 0; i < w->n_documents; i++) {
        const document_t *d = &w->documents[i];
        uint32_t ref;
        uint8_t *r =
            sym_extents_alloc(&w->extents, SYM_LANE_MAIN,
                              SYM_PPDB_DOCUMENT_BYTES, SYM_PLACE_ANY, &ref);

        if (r == NULL) {
            return w->err->status;
        }

        sym_put32(r, d->folder);
        sym_put32(r + 4, d->name);
        sym_put16(r + 8, d->folder_len);
        sym_put16(r + 10, d->name_len);
        r[12] = d->lang;
        *table = i == 0 ? ref : *table;
    }

    return SYM_OK;
}


sym_status_t
sym_ppdb_finish(sym_ppdb_writer_t *w, bool has_sources,
                sym_writer_stats_t *stats)
{
    uint8_t h[SYM_PPDB_HEADER_BYTES] = { 0 };
    uint32_t methods = 0, documents = 0;

    if (put_methods(w, &methods) != SYM_OK
        || put_documents(w, &documents) != SYM_OK
        || sym_extents_flush(&w->extents) != SYM_OK)
    {
        return w->err->status;
    }

    sym_put32(h, SYM_PPDB_MAGIC);
    sym_put32(h + 4, SYM_PPDB_VERSION);
    sym_put32(h + 8, w->extents.next_number);
    sym_put32(h + 12, w->n_methods);
    sym_put32(h + 16, (uint32_t) w->n_documents);
    sym_put32(h + 20, methods);
    sym_put32(h + 24, documents);
    sym_put32(h + 28, has_sources ? SYM_PPDB_SOURCES : 0);
    sym_put64(h + 32, w->n_points);
    sym_put64(h + 40, w->n_bodies);
    sym_put64(h + 48, sym_extents_bytes(&w->extents));

    *stats = (sym_writer_stats_t){
        .bytes = sym_extents_bytes(&w->extents),
        .extents = w->extents.next_number,
        .quality = w->n_points != 0 ? SYM_PPDB_LINES : SYM_PPDB_NO_LINES,
    };
    return sym_extents_end(&w->extents, h, sizeof(h));
}
