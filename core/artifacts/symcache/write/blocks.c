#include "artifacts/symcache/write/blocks.h"

#include <stdlib.h>

#include "artifacts/symcache/write/put_number.h"

sym_status_t
sym_blocks_begin(sym_blocks_t *b, sym_extents_t *x, const uint32_t *string_refs,
                 size_t n_strings, sym_error_t *err)
{
    *b = (sym_blocks_t){
        .err = err, .x = x, .string_refs = string_refs, .n_strings = n_strings
    };

    b->statements = malloc(SYM_STATEMENTS_PER_PAGE * sizeof(*b->statements));
    return b->statements != NULL
               ? SYM_OK
               : sym_fail(err, SYM_NOMEM,
                          "no memory for the symcache's blocks");
}


void
sym_blocks_free(sym_blocks_t *b)
{
    free(b->index.entries);
    free(b->statements);
    free(b->statement_index.entries);
    free(b->shown_index.entries);
    sym_file_table_free(&b->files);
    *b = (sym_blocks_t){ .err = b->err };
}


sym_status_t
sym_blocks_file(sym_blocks_t *b, uint32_t id, uint32_t *number)
{
    *number = sym_blocks_string(b, id) == 0
                  ? 0
                  : sym_file_table_number(&b->files, id, b->n_strings);

    return b->files.failed
               ? sym_fail(b->err, SYM_NOMEM, "no memory for file names")
               : SYM_OK;
}


/* Makes room for a page that begins at addr, and adds the page to its index.
 * NULL on failure. */
static uint8_t *
indexed_room(sym_blocks_t *b, sym_index_t *index, uint32_t addr, size_t size)
{
    uint32_t ref;
    uint8_t *p =
        sym_extents_alloc(b->x, SYM_LANE_MAIN, size, SYM_PLACE_PAGE, &ref);
    sym_index_entry_t *entries;

    if (p == NULL) {
        return NULL;
    }

    entries = sym_array_grow(index->entries, &index->size, index->n + 1,
                             sizeof(*entries));
    if (entries == NULL) {
        (void) sym_fail(b->err, SYM_NOMEM, "no memory for the index");
        return NULL;
    }

    index->entries = entries;
    index->entries[index->n++] = (sym_index_entry_t){ addr, ref };
    return p;
}


/* --- statements --- */

/* The numbers of a page's columns, and the width of each column. */
typedef struct {
    uint32_t columns[SYM_STATEMENT_COLUMNS][SYM_STATEMENTS_PER_PAGE];
    unsigned codes[SYM_STATEMENT_COLUMNS];
} statement_page_t;

static void
measure_statements(const sym_blocks_t *b, statement_page_t *page)
{
    for (size_t i = 0; i < b->n_statements; i++) {
        const sym_statement_t *s = &b->statements[i];

        page->columns[SYM_STATEMENT_START][i] = s->addr - b->statements[0].addr;
        page->columns[SYM_STATEMENT_LENGTH][i] = s->size - 1;
        page->columns[SYM_STATEMENT_LINE][i] = s->line;
        page->columns[SYM_STATEMENT_FILE][i] = s->file;
    }

    for (size_t k = 0; k < SYM_STATEMENT_COLUMNS; k++) {
        page->codes[k] = sym_column_code(page->columns[k], b->n_statements);
    }
}


static sym_status_t
flush_statements(sym_blocks_t *b)
{
    statement_page_t page;
    uint8_t bytes[SYM_BLOCK_MAX + 4], *p = bytes, *out;

    if (b->n_statements == 0) {
        return SYM_OK;
    }

    measure_statements(b, &page);
    *p++ = (uint8_t) b->n_statements;
    *p++ = (uint8_t) (page.codes[0] | page.codes[1] << 2 | page.codes[2] << 4
                      | page.codes[3] << 6);
    for (size_t k = 0; k < SYM_STATEMENT_COLUMNS; k++) {
        p = sym_put_column(p, page.columns[k], b->n_statements, page.codes[k]);
    }

    out = indexed_room(b, &b->statement_index, b->statements[0].addr,
                       (size_t) (p - bytes));
    if (out == NULL) {
        return b->err->status;
    }

    memcpy(out, bytes, (size_t) (p - bytes));
    b->n_statements = 0;
    return SYM_OK;
}


static sym_status_t
take_statements(sym_blocks_t *b, const sym_statement_t *statements, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (b->n_statements == SYM_STATEMENTS_PER_PAGE
            && flush_statements(b) != SYM_OK) {
            return b->err->status;
        }
        b->statements[b->n_statements++] = statements[i];
    }

    return SYM_OK;
}


/* --- stretches --- */

/* Adds nodes_ref, the position of the stretch's first extent, to the node
   references of blocks. */
static sym_status_t
take_blocks(sym_blocks_t *b, const sym_stretch_t *s, uint32_t nodes_ref)
{
    const uint8_t *from = s->blocks.data;
    size_t begin = 0;

    for (size_t i = 0; i < s->n_blocks; begin = s->block_ends[i++]) {
        const size_t size = s->block_ends[i] - begin;
        sym_block_t block;
        uint8_t *p;

        memcpy(&block, from + begin, sizeof(block));
        p = indexed_room(b, &b->index, block.addr, size);
        if (p == NULL) {
            return b->err->status;
        }

        block.node_ref += nodes_ref;
        memcpy(p, &block, sizeof(block));
        memcpy(p + sizeof(block), from + begin + sizeof(block),
               size - sizeof(block));
    }

    return SYM_OK;
}


sym_status_t
sym_blocks_take(sym_blocks_t *b, const sym_stretch_t *s)
{
    uint32_t number = 0;

    if (s->nodes.n == 0) {
        return SYM_OK;
    }

    if (sym_extents_add(b->x, s->nodes.data, s->nodes.end, s->start, &number)
            != SYM_OK
        || take_blocks(b, s, SYM_REF(number, 0)) != SYM_OK
        || take_statements(b, s->statements, s->n_statements) != SYM_OK)
    {
        return b->err->status;
    }

    b->n_segments += s->n_segments;
    b->n_nodes += s->nodes.n;
    return SYM_OK;
}


/* --- tables at the end --- */

/* Writes two adjacent arrays: addresses, then references. */
static void
put_index(uint8_t *p, const sym_index_entry_t *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(p + 4 * i, &entries[i].addr, 4);
        memcpy(p + 4 * (n + i), &entries[i].ref, 4);
    }
}


static sym_status_t
write_index(sym_blocks_t *b, sym_index_t *index, uint32_t *n_index_pages,
            uint32_t *root_ref)
{
    size_t n_pages = 0;
    uint8_t *p;

    for (size_t i = 0; i < index->n; i += SYM_INDEX_PER_PAGE) {
        uint32_t n =
            (uint32_t) (index->n - i < SYM_INDEX_PER_PAGE ? index->n - i
                                                          : SYM_INDEX_PER_PAGE);
        uint32_t ref;

        p = sym_extents_alloc(b->x, SYM_LANE_MAIN, 4 + 8 * (size_t) n,
                              SYM_PLACE_PAGE, &ref);
        if (p == NULL) {
            return b->err->status;
        }
        memcpy(p, &n, sizeof(n));
        put_index(p + 4, index->entries + i, n);

        /* in the root the page takes the place of its first entry */
        index->entries[n_pages++] =
            (sym_index_entry_t){ index->entries[i].addr, ref };
    }

    *n_index_pages = (uint32_t) n_pages;
    p = sym_extents_alloc(b->x, SYM_LANE_MAIN, 8 * n_pages, SYM_PLACE_ANY,
                          root_ref);
    if (p == NULL) {
        return b->err->status;
    }
    put_index(p, index->entries, n_pages);
    return SYM_OK;
}


static int
compare_entries(const void *a, const void *b)
{
    const sym_index_entry_t *x = a, *y = b;

    return (x->addr > y->addr) - (x->addr < y->addr);
}


sym_status_t
sym_blocks_shown(sym_blocks_t *b, const sym_shown_name_t *shown, size_t n)
{
    sym_index_t *index = &b->shown_index;

    index->entries =
        sym_array_grow(NULL, &index->size, n + 1, sizeof(*index->entries));
    if (index->entries == NULL) {
        return sym_fail(b->err, SYM_NOMEM, "no memory for names");
    }

    for (size_t i = 0; i < n; i++) {
        index->entries[i] =
            (sym_index_entry_t){ b->string_refs[shown[i].name],
                                 b->string_refs[shown[i].shown] };
    }

    index->n = n;
    qsort(index->entries, n, sizeof(*index->entries), compare_entries);
    return SYM_OK;
}


static sym_status_t
write_shown(sym_blocks_t *b, sym_header_t *header)
{
    uint32_t head[SYM_SHOWN_HEAD];
    uint8_t *p;

    if (b->shown_index.n == 0) {
        return SYM_OK;
    }

    if (write_index(b, &b->shown_index, &head[0], &head[1]) != SYM_OK) {
        return b->err->status;
    }

    p = sym_extents_alloc(b->x, SYM_LANE_MAIN, sizeof(head), SYM_PLACE_ANY,
                          &header->shown_ref);
    if (p == NULL) {
        return b->err->status;
    }

    memcpy(p, head, sizeof(head));
    return SYM_OK;
}


static sym_status_t
write_files(sym_blocks_t *b, sym_header_t *header)
{
    const sym_file_table_t *files = &b->files;
    sym_buffer_t pages = { 0 };
    uint8_t *p = NULL;

    for (size_t i = 0; i < files->n; i += SYM_FILES_PER_PAGE) {
        size_t n = files->n - i < SYM_FILES_PER_PAGE ? files->n - i
                                                     : SYM_FILES_PER_PAGE;
        uint32_t ref;

        p = sym_extents_alloc(b->x, SYM_LANE_MAIN, 4 * n, SYM_PLACE_PAGE, &ref);
        if (p == NULL) {
            goto failed;
        }
        for (size_t k = 0; k < n; k++) {
            memcpy(p + 4 * k, &b->string_refs[files->ids[i + k]], 4);
        }
        sym_buffer_put(&pages, &ref, sizeof(ref));
    }

    if (pages.failed) {
        (void) sym_fail(b->err, SYM_NOMEM, "no memory for file names");
        goto failed;
    }

    header->n_files = (uint32_t) files->n;
    if (pages.len != 0) {
        p = sym_extents_alloc(b->x, SYM_LANE_MAIN, pages.len, SYM_PLACE_ANY,
                              &header->files_ref);
        if (p == NULL) {
            goto failed;
        }
        memcpy(p, pages.data, pages.len);
    }

failed:
    sym_buffer_free(&pages);
    return b->err->status;
}


sym_status_t
sym_blocks_end(sym_blocks_t *b, sym_header_t *header)
{
    if (flush_statements(b) != SYM_OK) {
        return b->err->status;
    }

    header->n_blocks = (uint32_t) b->index.n;
    if (write_index(b, &b->index, &header->n_index_pages, &header->root_ref)
            != SYM_OK
        || (b->statement_index.n != 0
            && write_index(b, &b->statement_index, &header->n_statement_pages,
                           &header->statements_ref)
                   != SYM_OK)
        || write_shown(b, header) != SYM_OK || write_files(b, header) != SYM_OK)
    {
        return b->err->status;
    }

    header->counts[SYM_COUNT_SEGMENTS] = b->n_segments;
    header->counts[SYM_COUNT_NODES] = b->n_nodes;
    return SYM_OK;
}
