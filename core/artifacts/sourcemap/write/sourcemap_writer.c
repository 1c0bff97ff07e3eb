#include "artifacts/sourcemap/write/sourcemap_writer.h"

#include <stdlib.h>

#include "artifacts/symcache/write/extents.h"
#include "base/buffer.h"

/* Longest head of a block: the codes of the columns, and a uleb of 32 bits for
 * each. */
#define BLOCK_HEAD_MAX (2 + 5 * SYM_SOURCEMAP_COLUMNS)

typedef struct {
    uint32_t line, column, ref;
} block_t;

typedef struct {
    uint32_t name, flags;
} source_t;

struct sym_sourcemap_writer_s {
    sym_extents_t extents;
    sym_error_t *err;

    /* columns of the current block */
    uint32_t values[SYM_SOURCEMAP_COLUMNS][SYM_SOURCEMAP_BLOCK_TOKENS];
    uint32_t n;
    uint64_t n_tokens;

    block_t *blocks;
    size_t n_blocks, blocks_cap;
    source_t *sources;
    size_t n_sources, sources_cap;
    uint32_t *names; /* refs */
    size_t n_names, names_cap;
};


static sym_status_t
no_memory(sym_sourcemap_writer_t *w)
{
    return sym_fail(w->err, SYM_NOMEM, NULL);
}


sym_sourcemap_writer_t *
sym_sourcemap_writer_create(sym_extent_put_pt put, void *ctx, sym_error_t *err)
{
    sym_sourcemap_writer_t *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        (void) sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    w->err = err;

    if (sym_extents_begin(&w->extents, put, ctx, SYM_SOURCEMAP_HEADER_BYTES,
                          err)
        != SYM_OK)
    {
        (void) no_memory(w);
        sym_sourcemap_writer_free(w);
        return NULL;
    }

    return w;
}


void
sym_sourcemap_writer_free(sym_sourcemap_writer_t *w)
{
    if (w == NULL) {
        return;
    }

    sym_extents_free(&w->extents);
    free(w->blocks);
    free(w->sources);
    free(w->names);
    free(w);
}


/* --- texts --- */

/* Cuts a text that is too long, between UTF-8 characters. */
static sym_str_t
cut(sym_str_t text)
{
    size_t len = SYM_SOURCEMAP_TEXT_MAX;

    if (text.len <= len) {
        return text;
    }

    while (len > SYM_SOURCEMAP_TEXT_MAX - 4
           && ((uint8_t) text.data[len] & 0xc0) == 0x80)
    {
        len--;
    }

    return sym_str(text.data, len);
}


static sym_status_t
put_text(sym_sourcemap_writer_t *w, sym_str_t text, uint32_t *ref)
{
    uint8_t head[SYM_LEB_MAX], *room;
    size_t len;

    *ref = 0;
    text = cut(text);

    if (text.len == 0) {
        return SYM_OK;
    }

    len = (size_t) (sym_uleb_write(head, text.len) - head);
    room = sym_extents_alloc(&w->extents, SYM_LANE_MAIN, len + text.len,
                             SYM_PLACE_ANY, ref);
    if (room == NULL) {
        return w->err->status;
    }

    memcpy(room, head, len);
    memcpy(room + len, text.data, text.len);
    return SYM_OK;
}


sym_status_t
sym_sourcemap_add_source(sym_sourcemap_writer_t *w, sym_str_t name,
                         uint32_t flags)
{
    source_t source = { .flags = flags };

    if (put_text(w, name, &source.name) != SYM_OK) {
        return w->err->status;
    }

    if (!SYM_ARRAY_ROOM(w->sources, w->n_sources + 1, w->sources_cap)) {
        return no_memory(w);
    }

    w->sources[w->n_sources++] = source;
    return SYM_OK;
}


sym_status_t
sym_sourcemap_add_name(sym_sourcemap_writer_t *w, sym_str_t name)
{
    uint32_t ref;

    if (put_text(w, name, &ref) != SYM_OK) {
        return w->err->status;
    }

    if (!SYM_ARRAY_ROOM(w->names, w->n_names + 1, w->names_cap)) {
        return no_memory(w);
    }

    w->names[w->n_names++] = ref;
    return SYM_OK;
}


/* --- tokens --- */

/* Code of the smallest width that holds `most`. */
static uint32_t
code_of(uint32_t most)
{
    return most == 0 ? 0 : most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : 3;
}


static uint8_t *
put_column(uint8_t *p, const uint32_t *values, uint32_t n, uint32_t base,
           uint32_t code)
{
    switch (code) {
    case 0:
        return p;

    case 1:
        for (uint32_t i = 0; i < n; i++) {
            *p++ = (uint8_t) (values[i] - base);
        }
        return p;

    case 2:
        for (uint32_t i = 0; i < n; i++, p += 2) {
            sym_put16(p, values[i] - base);
        }
        return p;

    default:
        for (uint32_t i = 0; i < n; i++, p += 4) {
            sym_put32(p, values[i] - base);
        }
        return p;
    }
}


static sym_status_t
put_block(sym_sourcemap_writer_t *w)
{
    uint32_t codes[SYM_SOURCEMAP_COLUMNS], bases[SYM_SOURCEMAP_COLUMNS];
    uint8_t head[BLOCK_HEAD_MAX], *p = head + 2;
    uint32_t all = 0, ref;
    size_t bytes = 0, len;

    for (size_t c = 0; c < SYM_SOURCEMAP_COLUMNS; c++) {
        const uint32_t *values = w->values[c];
        uint32_t low = values[0], high = values[0];

        for (uint32_t i = 1; i < w->n; i++) {
            low = values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }

        bases[c] = low;
        codes[c] = code_of(high - low);
        all |= codes[c] << 2 * c;
        bytes += (size_t) w->n * sym_sourcemap_width(codes[c]);
        p = sym_uleb_write(p, low);
    }

    sym_put16(head, all);
    len = (size_t) (p - head);
    p = sym_extents_alloc(&w->extents, SYM_LANE_MAIN, len + bytes,
                          SYM_PLACE_ANY, &ref);
    if (p == NULL) {
        return w->err->status;
    }

    memcpy(p, head, len);
    p += len;

    for (size_t c = 0; c < SYM_SOURCEMAP_COLUMNS; c++) {
        p = put_column(p, w->values[c], w->n, bases[c], codes[c]);
    }

    if (!SYM_ARRAY_ROOM(w->blocks, w->n_blocks + 1, w->blocks_cap)) {
        return no_memory(w);
    }

    w->blocks[w->n_blocks++] =
        (block_t){ w->values[SYM_SOURCEMAP_LINE][0],
                   w->values[SYM_SOURCEMAP_COLUMN][0], ref };
    w->n = 0;
    return SYM_OK;
}


sym_status_t
sym_sourcemap_add_token(sym_sourcemap_writer_t *w,
                        const sym_sourcemap_token_t *token)
{
    uint32_t i = w->n++;

    w->values[SYM_SOURCEMAP_LINE][i] = token->line;
    w->values[SYM_SOURCEMAP_COLUMN][i] = token->column;
    w->values[SYM_SOURCEMAP_SOURCE][i] = token->source + 1;
    w->values[SYM_SOURCEMAP_SOURCE_LINE][i] = token->source_line + 1;
    w->values[SYM_SOURCEMAP_SOURCE_COLUMN][i] = token->source_column + 1;
    w->values[SYM_SOURCEMAP_NAME][i] = token->name + 1;
    w->values[SYM_SOURCEMAP_SCOPE][i] = token->scope + 1;
    w->n_tokens++;

    if (w->n_tokens > SYM_SOURCEMAP_TOKENS_MAX) {
        return sym_fail(w->err, SYM_LIMIT, "too many mappings");
    }

    return w->n == SYM_SOURCEMAP_BLOCK_TOKENS ? put_block(w) : SYM_OK;
}


/* --- the end --- */

static uint8_t *
put_record(sym_sourcemap_writer_t *w, size_t size, size_t i, uint32_t *table)
{
    uint32_t ref;
    uint8_t *r = sym_extents_alloc(&w->extents, SYM_LANE_MAIN, size,
                                   SYM_PLACE_ANY, &ref);

    *table = i == 0 ? ref : *table;
    return r;
}


static sym_status_t
put_tables(sym_sourcemap_writer_t *w, uint32_t *blocks, uint32_t *sources,
           uint32_t *names)
{
    uint8_t *r;

    for (size_t i = 0; i < w->n_blocks; i++) {
        r = put_record(w, SYM_SOURCEMAP_BLOCK_BYTES, i, blocks);
        if (r == NULL) {
            return w->err->status;
        }

        sym_put32(r, w->blocks[i].line);
        sym_put32(r + 4, w->blocks[i].column);
        sym_put32(r + 8, w->blocks[i].ref);
    }

    for (size_t i = 0; i < w->n_sources; i++) {
        r = put_record(w, SYM_SOURCEMAP_SOURCE_BYTES, i, sources);
        if (r == NULL) {
            return w->err->status;
        }

        sym_put32(r, w->sources[i].name);
        sym_put32(r + 4, w->sources[i].flags);
    }

    for (size_t i = 0; i < w->n_names; i++) {
        r = put_record(w, SYM_SOURCEMAP_NAME_BYTES, i, names);
        if (r == NULL) {
            return w->err->status;
        }

        sym_put32(r, w->names[i]);
    }

    return SYM_OK;
}


sym_status_t
sym_sourcemap_finish(sym_sourcemap_writer_t *w, bool has_scopes,
                     const sym_debug_id_t *id, sym_writer_stats_t *stats)
{
    uint8_t h[SYM_SOURCEMAP_HEADER_BYTES] = { 0 };
    uint32_t blocks = 0, sources = 0, names = 0;

    if ((w->n != 0 && put_block(w) != SYM_OK)
        || put_tables(w, &blocks, &sources, &names) != SYM_OK
        || sym_extents_flush(&w->extents) != SYM_OK)
    {
        return w->err->status;
    }

    sym_put32(h, SYM_SOURCEMAP_MAGIC);
    sym_put32(h + 4, SYM_SOURCEMAP_VERSION);
    sym_put32(h + 8, w->extents.next_number);
    sym_put32(h + 12, (uint32_t) w->n_tokens);
    sym_put32(h + 16, (uint32_t) w->n_sources);
    sym_put32(h + 20, (uint32_t) w->n_names);
    sym_put32(h + 24, blocks);
    sym_put32(h + 28, sources);
    sym_put32(h + 32, names);
    sym_put32(h + 36, (has_scopes ? SYM_SOURCEMAP_SCOPES : 0u)
                          | (id != NULL ? SYM_SOURCEMAP_HAS_ID : 0u));
    if (id != NULL) {
        memcpy(h + 40, id->signature, SYM_UUID_BYTES);
    }

    *stats = (sym_writer_stats_t){
        .bytes = sym_extents_bytes(&w->extents),
        .extents = w->extents.next_number,
        .quality =
            w->n_tokens != 0 ? SYM_SOURCEMAP_MAPPED : SYM_SOURCEMAP_EMPTY,
    };
    return sym_extents_end(&w->extents, h, sizeof(h));
}
