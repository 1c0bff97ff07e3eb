#include "artifacts/sources/write/writer.h"

#include <libdeflate.h>
#include <stdlib.h>

#define PACK_LEVEL 6

typedef struct {
    sym_str_t path; /* the writer's copy until it is written */
    uint32_t path_ref;
    uint32_t order; /* number in the order of the calls */
    uint32_t first_block, n_blocks;
    uint64_t len, lines;
    bool is_url;
} file_t;

typedef struct {
    uint32_t ref, packed;
    uint64_t line;
} block_t;

typedef struct {
    sym_str_t pattern, url; /* the writer's copies, until they are written */
    uint32_t pattern_ref, url_ref;
    uint32_t order;
    bool is_prefix;
} link_t;

typedef struct {
    uint8_t *data; /* SYM_EXTENT_MAX bytes */
    size_t len;
} extent_t;

struct sym_sources_writer_s {
    sym_extent_put_pt put;
    void *ctx;
    struct libdeflate_compressor *packer;

    extent_t first;   /* extent 0, which is written last because it contains
                         the header */
    extent_t filling; /* newest of the other extents */
    uint32_t number;  /* number of that extent */
    uint32_t extents; /* handed over */
    uint64_t bytes, text_bytes, left_out;

    file_t *files;
    size_t n_files, files_cap;
    block_t *blocks;
    size_t n_blocks, blocks_cap;
    link_t *links;
    size_t n_links, links_cap;
};


sym_sources_writer_t *
sym_sources_writer_create(sym_extent_put_pt put, void *ctx, sym_error_t *err)
{
    sym_sources_writer_t *w = calloc(1, sizeof(*w));

    if (w != NULL) {
        w->put = put;
        w->ctx = ctx;
        w->packer = libdeflate_alloc_compressor(PACK_LEVEL);
        w->first.data = calloc(1, SYM_EXTENT_MAX);
        w->first.len = SYM_SOURCES_HEADER_BYTES;
        w->filling.data = malloc(SYM_EXTENT_MAX);
    }

    if (w == NULL || w->packer == NULL || w->first.data == NULL
        || w->filling.data == NULL)
    {
        sym_sources_writer_free(w);
        (void) sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    return w;
}


void
sym_sources_writer_free(sym_sources_writer_t *w)
{
    if (w == NULL) {
        return;
    }

    for (size_t i = 0; i < w->n_files; i++) {
        free((void *) (uintptr_t) w->files[i].path.data);
    }

    for (size_t i = 0; i < w->n_links; i++) {
        free((void *) (uintptr_t) w->links[i].pattern.data);
        free((void *) (uintptr_t) w->links[i].url.data);
    }

    if (w->packer != NULL) {
        libdeflate_free_compressor(w->packer);
    }

    free(w->files);
    free(w->blocks);
    free(w->links);
    free(w->first.data);
    free(w->filling.data);
    free(w);
}


/* --- extents --- */

static extent_t *
current(sym_sources_writer_t *w)
{
    return w->number == 0 ? &w->first : &w->filling;
}


static sym_status_t
hand_over(sym_sources_writer_t *w, uint32_t number, const extent_t *e,
          sym_error_t *err)
{
    w->extents++;
    w->bytes += e->len;
    return w->put(w->ctx, number, e->data, e->len, err);
}


static sym_status_t
next_extent(sym_sources_writer_t *w, sym_error_t *err)
{
    if (w->number != 0 && hand_over(w, w->number, &w->filling, err) != SYM_OK) {
        return err->status;
    }

    if (++w->number >= SYM_EXTENTS_LIMIT) {
        return sym_fail(err, SYM_LIMIT, "more than 4 GiB of packed sources");
    }

    w->filling.len = 0;
    return SYM_OK;
}


/* Position of the next `size` bytes, which must not cross the end of an
 * extent. */
static sym_status_t
make_room(sym_sources_writer_t *w, size_t size, uint32_t *ref, sym_error_t *err)
{
    if (SYM_EXTENT_MAX - current(w)->len < size
        && next_extent(w, err) != SYM_OK) {
        return err->status;
    }

    *ref = SYM_REF(w->number, current(w)->len);
    return SYM_OK;
}


static void
append(sym_sources_writer_t *w, const void *data, size_t size)
{
    extent_t *e = current(w);

    memcpy(e->data + e->len, data, size);
    e->len += size;
}


/* --- source code --- */

/* Makes room for another item of the array.  NULL: out of memory. */
static void *
grow(void *items, size_t n, size_t *cap, size_t size)
{
    size_t wanted = *cap == 0 ? 64 : 2 * *cap;
    void *grown;

    if (n < *cap) {
        return items;
    }

    grown = reallocarray(items, wanted, size);
    if (grown != NULL) {
        *cap = wanted;
    }

    return grown;
}


/* Deflates the block if this makes it shorter. */
static sym_status_t
add_block(sym_sources_writer_t *w, sym_str_t text, uint64_t line,
          sym_error_t *err)
{
    uint8_t packed[SYM_SOURCES_BLOCK_TEXT];
    size_t len = libdeflate_deflate_compress(w->packer, text.data, text.len,
                                             packed, text.len - 1);
    const void *data = len != 0 ? (const void *) packed : text.data;
    void *grown = grow(w->blocks, w->n_blocks, &w->blocks_cap, sizeof(block_t));
    block_t *b;

    if (grown == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    w->blocks = grown;

    if (w->n_blocks == SYM_SOURCES_BLOCKS_MAX) {
        return sym_fail(err, SYM_LIMIT, "too much text of sources");
    }

    b = &w->blocks[w->n_blocks++];
    len = len != 0 ? len : text.len;
    *b = (block_t){ .packed = (uint32_t) len, .line = line };

    if (make_room(w, len, &b->ref, err) != SYM_OK) {
        return err->status;
    }

    append(w, data, len);
    return SYM_OK;
}


static sym_status_t
add_text(sym_sources_writer_t *w, sym_str_t text, file_t *file,
         sym_error_t *err)
{
    *file = (file_t){ .first_block = (uint32_t) w->n_blocks, .len = text.len };
    w->text_bytes += text.len;

    while (text.len > 0) {
        sym_str_t piece = text;

        if (piece.len > SYM_SOURCES_BLOCK_TEXT) {
            piece.len = SYM_SOURCES_BLOCK_TEXT;
        }

        if (add_block(w, piece, file->lines, err) != SYM_OK) {
            return err->status;
        }

        file->n_blocks++;
        file->lines += sym_sources_newlines(piece);
        text = sym_str(text.data + piece.len, text.len - piece.len);
    }

    return SYM_OK;
}


static sym_status_t
add_name(sym_sources_writer_t *w, file_t file, sym_str_t name, bool is_url,
         sym_error_t *err)
{
    void *grown = grow(w->files, w->n_files, &w->files_cap, sizeof(file_t));
    char *copy = grown != NULL ? malloc(name.len) : NULL;

    if (grown != NULL) {
        w->files = grown;
    }

    if (copy == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    memcpy(copy, name.data, name.len);
    file.path = sym_str(copy, name.len);
    file.is_url = is_url;
    file.order = (uint32_t) w->n_files;
    w->files[w->n_files++] = file;
    return SYM_OK;
}


sym_status_t
sym_sources_add(sym_sources_writer_t *w, sym_str_t path, sym_str_t url,
                sym_str_t text, sym_error_t *err)
{
    file_t file;

    if (path.len > SYM_SOURCES_PATH_MAX || url.len > SYM_SOURCES_PATH_MAX) {
        return sym_fail(err, SYM_LIMIT, "the path of a source is too long");
    }

    if (w->n_files + 2 > SYM_SOURCES_FILES_MAX) {
        return sym_fail(err, SYM_LIMIT, "too many sources");
    }

    if (add_text(w, text, &file, err) != SYM_OK
        || (path.len != 0 && add_name(w, file, path, false, err) != SYM_OK)
        || (url.len != 0 && add_name(w, file, url, true, err) != SYM_OK))
    {
        return err->status;
    }

    return SYM_OK;
}


/* A NUL-terminated copy; data NULL: out of memory. */
static sym_str_t
copy_text(sym_str_t text)
{
    return sym_str(strndup(text.data, text.len), text.len);
}


sym_status_t
sym_sources_add_link(sym_sources_writer_t *w, sym_str_t pattern, sym_str_t url,
                     sym_error_t *err)
{
    void *grown = grow(w->links, w->n_links, &w->links_cap, sizeof(link_t));
    link_t *link;

    if (grown == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    w->links = grown;

    if (w->n_links == SYM_SOURCES_LINKS_MAX
        || pattern.len > SYM_SOURCES_PATH_MAX || url.len > SYM_SOURCES_PATH_MAX)
    {
        return sym_fail(err, SYM_LIMIT, "too many source links, or too long");
    }

    link = &w->links[w->n_links];
    *link = (link_t){ .order = (uint32_t) w->n_links };
    link->is_prefix = pattern.len != 0 && pattern.data[pattern.len - 1] == '*';
    pattern.len -= link->is_prefix;
    link->pattern = copy_text(pattern);
    link->url = copy_text(url);
    w->n_links++;

    return link->pattern.data != NULL && link->url.data != NULL
               ? SYM_OK
               : sym_fail(err, SYM_NOMEM, NULL);
}


void
sym_sources_leave_out(sym_sources_writer_t *w)
{
    w->left_out++;
}


/* --- the tables --- */

static int
compare_files(const void *left, const void *right)
{
    const file_t *a = left, *b = right;
    int order = sym_sources_compare(a->path, b->path);

    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}


/* Order in which links are tried: exact paths, then the longest prefix. */
static int
compare_links(const void *left, const void *right)
{
    const link_t *a = left, *b = right;

    if (a->is_prefix != b->is_prefix) {
        return a->is_prefix ? 1 : -1;
    }

    if (a->is_prefix && a->pattern.len != b->pattern.len) {
        return a->pattern.len < b->pattern.len ? 1 : -1;
    }

    return (a->order > b->order) - (a->order < b->order);
}


/* The first of equal paths wins. */
static void
sort_files(sym_sources_writer_t *w)
{
    size_t n = 0;

    if (w->n_files == 0) {
        return;
    }

    qsort(w->files, w->n_files, sizeof(file_t), compare_files);

    for (size_t i = 1; i < w->n_files; i++) {
        if (sym_sources_compare(w->files[n].path, w->files[i].path) != 0) {
            w->files[++n] = w->files[i];
        } else {
            free((void *) (uintptr_t) w->files[i].path.data);
        }
    }

    w->n_files = n + 1;
}


static sym_status_t
put_text(sym_sources_writer_t *w, sym_str_t text, uint32_t *ref,
         sym_error_t *err)
{
    if (make_room(w, text.len, ref, err) != SYM_OK) {
        return err->status;
    }

    append(w, text.data, text.len);
    return SYM_OK;
}


static sym_status_t
put_texts(sym_sources_writer_t *w, sym_error_t *err)
{
    for (size_t i = 0; i < w->n_files; i++) {
        file_t *f = &w->files[i];

        if (put_text(w, f->path, &f->path_ref, err) != SYM_OK) {
            return err->status;
        }
    }

    for (size_t i = 0; i < w->n_links; i++) {
        link_t *l = &w->links[i];

        if (put_text(w, l->pattern, &l->pattern_ref, err) != SYM_OK
            || put_text(w, l->url, &l->url_ref, err) != SYM_OK)
        {
            return err->status;
        }
    }

    return SYM_OK;
}


/* Record number i of a table. */
static sym_status_t
add_record(sym_sources_writer_t *w, size_t i, const uint8_t *record,
           size_t size, uint32_t *table, sym_error_t *err)
{
    uint32_t ref;

    if (make_room(w, size, &ref, err) != SYM_OK) {
        return err->status;
    }

    append(w, record, size);
    *table = i == 0 ? ref : *table;
    return SYM_OK;
}


static sym_status_t
put_files(sym_sources_writer_t *w, uint32_t *table, sym_error_t *err)
{
    for (size_t i = 0; i < w->n_files; i++) {
        const file_t *f = &w->files[i];
        uint8_t r[SYM_SOURCES_FILE_BYTES] = { 0 };

        sym_put32(r, f->path_ref);
        sym_put16(r + 4, (uint32_t) f->path.len);
        r[6] = f->is_url ? SYM_SOURCES_URL : 0;
        sym_put32(r + 8, f->first_block);
        sym_put32(r + 12, f->n_blocks);
        sym_put64(r + 16, f->len);
        sym_put64(r + 24, f->lines);

        if (add_record(w, i, r, sizeof(r), table, err) != SYM_OK) {
            return err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
put_blocks(sym_sources_writer_t *w, uint32_t *table, sym_error_t *err)
{
    for (size_t i = 0; i < w->n_blocks; i++) {
        const block_t *b = &w->blocks[i];
        uint8_t r[SYM_SOURCES_BLOCK_BYTES] = { 0 };

        sym_put32(r, b->ref);
        sym_put32(r + 4, b->packed);
        sym_put64(r + 8, b->line);

        if (add_record(w, i, r, sizeof(r), table, err) != SYM_OK) {
            return err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
put_links(sym_sources_writer_t *w, uint32_t *table, sym_error_t *err)
{
    for (size_t i = 0; i < w->n_links; i++) {
        const link_t *l = &w->links[i];
        uint8_t r[SYM_SOURCES_LINK_BYTES] = { 0 };

        sym_put32(r, l->pattern_ref);
        sym_put32(r + 4, l->url_ref);
        sym_put16(r + 8, (uint32_t) l->pattern.len);
        sym_put16(r + 10, (uint32_t) l->url.len);
        r[12] = l->is_prefix ? SYM_SOURCES_PREFIX : 0;

        if (add_record(w, i, r, sizeof(r), table, err) != SYM_OK) {
            return err->status;
        }
    }

    return SYM_OK;
}


static void
fill_header(sym_sources_writer_t *w, uint32_t files, uint32_t blocks,
            uint32_t links)
{
    uint8_t *h = w->first.data;

    sym_put32(h, SYM_SOURCES_MAGIC);
    sym_put32(h + 4, SYM_SOURCES_VERSION);
    sym_put32(h + 8, w->number + 1);
    sym_put32(h + 12, (uint32_t) w->n_files);
    sym_put32(h + 16, (uint32_t) w->n_blocks);
    sym_put32(h + 20, files);
    sym_put32(h + 24, blocks);
    sym_put32(h + 28, (uint32_t) w->n_links);
    sym_put64(h + 32, w->text_bytes);
    sym_put64(h + 40, w->bytes + w->first.len);
    sym_put64(h + 48, w->left_out);
    sym_put32(h + 56, links);
}


sym_status_t
sym_sources_finish(sym_sources_writer_t *w, sym_writer_stats_t *stats,
                   sym_error_t *err)
{
    uint32_t files = 0, blocks = 0, links = 0;

    sort_files(w);
    if (w->n_links != 0) {
        qsort(w->links, w->n_links, sizeof(link_t), compare_links);
    }

    if (put_texts(w, err) != SYM_OK || put_files(w, &files, err) != SYM_OK
        || put_blocks(w, &blocks, err) != SYM_OK
        || put_links(w, &links, err) != SYM_OK
        || (w->number != 0
            && hand_over(w, w->number, &w->filling, err) != SYM_OK))
    {
        return err->status;
    }

    fill_header(w, files, blocks, links);

    if (hand_over(w, 0, &w->first, err) != SYM_OK) {
        return err->status;
    }

    *stats = (sym_writer_stats_t){ .bytes = w->bytes,
                                   .extents = w->extents,
                                   .quality = w->n_files != 0 || w->n_links == 0
                                                  ? SYM_SOURCES_TEXTS
                                                  : SYM_SOURCES_LINKS };
    return SYM_OK;
}
