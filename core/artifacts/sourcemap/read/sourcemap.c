#include "artifacts/sourcemap/read/sourcemap.h"

#include <string.h>

/* --- the header --- */

sym_status_t
sym_sourcemap_open(sym_sourcemap_t *s, sym_extent_get_pt get, void *ctx,
                   sym_error_t *err)
{
    const uint8_t *h;
    size_t len;

    *s = (sym_sourcemap_t){ .in = { get, ctx, NULL, 1 } };
    h = sym_extent_rest(&s->in, 0, &len);

    if (h == NULL || len < SYM_SOURCEMAP_HEADER_BYTES
        || sym_get32(h) != SYM_SOURCEMAP_MAGIC)
    {
        return sym_fail(err, SYM_DAMAGED, "not an artifact of kind sourcemap");
    }

    if (sym_get32(h + 4) != SYM_SOURCEMAP_VERSION) {
        return sym_fail(err, SYM_VERSION, "a sourcemap of another version");
    }

    s->in.n = sym_get32(h + 8);
    s->n_tokens = sym_get32(h + 12);
    s->n_sources = sym_get32(h + 16);
    s->n_names = sym_get32(h + 20);
    s->blocks_ref = sym_get32(h + 24);
    s->sources_ref = sym_get32(h + 28);
    s->names_ref = sym_get32(h + 32);
    s->has_scopes = (sym_get32(h + 36) & SYM_SOURCEMAP_SCOPES) != 0;
    if ((sym_get32(h + 36) & SYM_SOURCEMAP_HAS_ID) != 0) {
        s->debug_id.form = SYM_DEBUG_ID_UUID;
        memcpy(s->debug_id.signature, h + 40, SYM_UUID_BYTES);
    }

    if (s->in.n == 0 || s->in.n > SYM_EXTENTS_LIMIT
        || s->n_tokens > SYM_SOURCEMAP_TOKENS_MAX)
    {
        return sym_fail(err, SYM_DAMAGED, "damaged header of a sourcemap");
    }

    s->n_blocks = (s->n_tokens + SYM_SOURCEMAP_BLOCK_TOKENS - 1)
                  / SYM_SOURCEMAP_BLOCK_TOKENS;
    return SYM_OK;
}


void
sym_sourcemap_remember(sym_sourcemap_t *s, sym_extent_view_t *table)
{
    s->in.cache = table;
}


/* --- blocks --- */

typedef struct {
    const uint8_t *data;
    uint32_t base, width;
} column_t;

typedef struct {
    uint32_t n;
    column_t columns[SYM_SOURCEMAP_COLUMNS];
} block_t;


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


static bool
read_block(const uint8_t *data, size_t len, uint32_t n, block_t *block)
{
    const uint8_t *end = data + len, *pos = data + 2;
    uint32_t codes;

    if (len < 2) {
        return false;
    }

    codes = (uint32_t) sym_get16(data);
    block->n = n;

    for (size_t i = 0; i < SYM_SOURCEMAP_COLUMNS; i++) {
        pos = read_uleb(pos, end, &block->columns[i].base);
        if (pos == NULL) {
            return false;
        }
        block->columns[i].width = sym_sourcemap_width(codes >> 2 * i);
    }

    for (size_t i = 0; i < SYM_SOURCEMAP_COLUMNS; i++) {
        size_t bytes = (size_t) n * block->columns[i].width;

        if (bytes > (size_t) (end - pos)) {
            return false;
        }
        block->columns[i].data = pos;
        pos += bytes;
    }

    return true;
}


static bool
block_at(const sym_sourcemap_t *s, uint32_t number, block_t *block)
{
    uint32_t first = number * SYM_SOURCEMAP_BLOCK_TOKENS;
    uint32_t n = s->n_tokens - first < SYM_SOURCEMAP_BLOCK_TOKENS
                     ? s->n_tokens - first
                     : SYM_SOURCEMAP_BLOCK_TOKENS;
    const uint8_t *r = sym_extent_record(&s->in, s->blocks_ref, number,
                                         SYM_SOURCEMAP_BLOCK_BYTES);
    const uint8_t *data;
    size_t len;

    if (r == NULL) {
        return false;
    }

    data = sym_extent_rest(&s->in, sym_get32(r + 8), &len);
    return data != NULL && read_block(data, len, n, block);
}


static inline uint32_t
number_at(const block_t *block, sym_sourcemap_column_t which, uint32_t i)
{
    const column_t *c = &block->columns[which];
    const uint8_t *at = c->data + (size_t) c->width * i;

    switch (c->width) {
    case 0:
        return c->base;
    case 1:
        return c->base + at[0];
    case 2:
        return c->base + (uint32_t) sym_get16(at);
    default:
        return c->base + sym_get32(at);
    }
}


static inline uint64_t
position_at(const block_t *block, uint32_t i)
{
    return (uint64_t) number_at(block, SYM_SOURCEMAP_LINE, i) << 32
           | number_at(block, SYM_SOURCEMAP_COLUMN, i);
}


static sym_sourcemap_token_t
token_at(const block_t *block, uint32_t i)
{
    return (sym_sourcemap_token_t){
        .line = number_at(block, SYM_SOURCEMAP_LINE, i),
        .column = number_at(block, SYM_SOURCEMAP_COLUMN, i),
        .source = number_at(block, SYM_SOURCEMAP_SOURCE, i) - 1,
        .source_line = number_at(block, SYM_SOURCEMAP_SOURCE_LINE, i) - 1,
        .source_column = number_at(block, SYM_SOURCEMAP_SOURCE_COLUMN, i) - 1,
        .name = number_at(block, SYM_SOURCEMAP_NAME, i) - 1,
        .scope = number_at(block, SYM_SOURCEMAP_SCOPE, i) - 1,
    };
}


/* --- lookups --- */

static inline uint64_t
begin_in(const uint8_t *record)
{
    return (uint64_t) sym_get32(record) << 32 | sym_get32(record + 4);
}


/* The record of a block.  *n: number of records up to the end of its extent. */
static const uint8_t *
block_records(const sym_sourcemap_t *s, uint32_t number, size_t *n)
{
    const uint8_t *data;
    uint32_t ref;
    size_t len = 0;

    if (!sym_table_ref(s->blocks_ref, number, SYM_SOURCEMAP_BLOCK_BYTES, &ref))
    {
        return NULL;
    }

    data = sym_extent_rest(&s->in, ref, &len);
    *n = len / SYM_SOURCEMAP_BLOCK_BYTES;
    return data != NULL && *n != 0 ? data : NULL;
}


/* The first of n > 0 records that begins at or after the position; n: none
 * does.  The search has no branches that depend on data, because they would be
 * unpredictable. */
static size_t
first_record(const uint8_t *records, size_t n, uint64_t position)
{
    const uint8_t *low = records;

    while (n > 1) {
        size_t half = n / 2;
        size_t step = half * SYM_SOURCEMAP_BLOCK_BYTES;

        low += begin_in(low + step - SYM_SOURCEMAP_BLOCK_BYTES) < position
                   ? step
                   : 0;
        n -= half;
    }

    return (size_t) (low - records) / SYM_SOURCEMAP_BLOCK_BYTES
           + (begin_in(low) < position);
}


/* The first block that begins at or after the position. */
static bool
find_block(const sym_sourcemap_t *s, uint64_t position, uint32_t *number)
{
    uint32_t low = 0, high = s->n_blocks;
    const uint8_t *records;
    size_t n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        records = block_records(s, low, &n);
        if (records != NULL && high - low <= n) {
            low += (uint32_t) first_record(records, high - low, position);
            break;
        }

        records = block_records(s, middle, &n);
        if (records == NULL) {
            return false;
        }

        if (begin_in(records) < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    *number = low;
    return true;
}


/* In a line columns ascend.  Finds the first token at or after this column. */
static uint32_t
first_column(const block_t *block, uint32_t column)
{
    uint32_t low = 0, n = block->n;

    while (n > 1) {
        uint32_t half = n / 2;

        low += number_at(block, SYM_SOURCEMAP_COLUMN, low + half - 1) < column
                   ? half
                   : 0;
        n -= half;
    }

    return low + (number_at(block, SYM_SOURCEMAP_COLUMN, low) < column);
}


/* The first token of the block at or after the position; n: no token. */
static uint32_t
first_not_below(const block_t *block, uint64_t position)
{
    const column_t *line = &block->columns[SYM_SOURCEMAP_LINE];
    uint32_t low = 0, high = block->n;

    if (line->width == 0 && line->base == position >> 32) {
        return first_column(block, (uint32_t) position);
    }

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (position_at(block, middle) < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}


sym_status_t
sym_sourcemap_find(const sym_sourcemap_t *s, uint32_t line, uint32_t column,
                   sym_sourcemap_token_t *token)
{
    uint64_t position = (uint64_t) line << 32 | column;
    const uint8_t *next;
    uint32_t number, i;
    block_t block;
    size_t n;

    if (!find_block(s, position, &number)) {
        return SYM_DAMAGED;
    }

    /* the token is in the block before, unless only this block has tokens at
     * the position */
    if (number > 0) {
        if (!block_at(s, number - 1, &block)) {
            return SYM_DAMAGED;
        }

        i = first_not_below(&block, position);
        if (i < block.n && position_at(&block, i) == position) {
            *token = token_at(&block, i);
            return SYM_OK;
        }

        if (i == 0) {
            /* according to the table the block begins before */
            return SYM_DAMAGED;
        }

        *token = token_at(&block, i - 1);
    }

    if (number < s->n_blocks) {
        next = block_records(s, number, &n);
        if (next == NULL) {
            return SYM_DAMAGED;
        }

        if (begin_in(next) == position) {
            return sym_sourcemap_token(s, number * SYM_SOURCEMAP_BLOCK_TOKENS,
                                       token);
        }
    }

    return number > 0 ? SYM_OK : SYM_NOT_FOUND;
}


sym_status_t
sym_sourcemap_lookup(const sym_sourcemap_t *s, uint32_t line, uint32_t column,
                     sym_sourcemap_token_t *token)
{
    sym_status_t rc = sym_sourcemap_find(s, line, column, token);

    if (rc != SYM_OK) {
        return rc;
    }

    return token->line == line && token->source != SYM_SOURCEMAP_NONE
               ? SYM_OK
               : SYM_NOT_FOUND;
}


sym_status_t
sym_sourcemap_token(const sym_sourcemap_t *s, uint32_t number,
                    sym_sourcemap_token_t *token)
{
    block_t block;

    if (number >= s->n_tokens
        || !block_at(s, number / SYM_SOURCEMAP_BLOCK_TOKENS, &block))
    {
        return SYM_DAMAGED;
    }

    *token = token_at(&block, number % SYM_SOURCEMAP_BLOCK_TOKENS);
    return SYM_OK;
}


/* --- texts --- */

/* Reads a length and as many bytes. */
static bool
text_at(const sym_sourcemap_t *s, uint32_t ref, sym_str_t *text)
{
    const uint8_t *data, *pos;
    uint32_t n;
    size_t len;

    if (ref == 0) {
        *text = SYM_STR("");
        return true;
    }

    data = sym_extent_rest(&s->in, ref, &len);
    pos = data != NULL ? read_uleb(data, data + len, &n) : NULL;

    if (pos == NULL || n > SYM_SOURCEMAP_TEXT_MAX
        || n > len - (size_t) (pos - data))
    {
        return false;
    }

    *text = sym_str((const char *) pos, n);
    return true;
}


sym_status_t
sym_sourcemap_source(const sym_sourcemap_t *s, uint32_t number,
                     sym_sourcemap_source_t *source)
{
    const uint8_t *r = number < s->n_sources
                           ? sym_extent_record(&s->in, s->sources_ref, number,
                                               SYM_SOURCEMAP_SOURCE_BYTES)
                           : NULL;
    uint32_t flags;

    if (r == NULL || !text_at(s, sym_get32(r), &source->name)) {
        return SYM_DAMAGED;
    }

    flags = sym_get32(r + 4);
    source->is_ignored = (flags & SYM_SOURCEMAP_IGNORED) != 0;
    source->has_text = (flags & SYM_SOURCEMAP_TEXT) != 0;
    source->is_numbered = (flags & SYM_SOURCEMAP_NUMBERED) != 0;
    return SYM_OK;
}


sym_status_t
sym_sourcemap_name(const sym_sourcemap_t *s, uint32_t number, sym_str_t *name)
{
    const uint8_t *r = number < s->n_names
                           ? sym_extent_record(&s->in, s->names_ref, number,
                                               SYM_SOURCEMAP_NAME_BYTES)
                           : NULL;

    return r != NULL && text_at(s, sym_get32(r), name) ? SYM_OK : SYM_DAMAGED;
}


/* --- all of it --- */

static bool
is_below(uint32_t number, uint32_t n)
{
    return number == SYM_SOURCEMAP_NONE || number < n;
}


static bool
check_block(const sym_sourcemap_t *s, uint32_t number, uint64_t *last)
{
    const uint8_t *r = sym_extent_record(&s->in, s->blocks_ref, number,
                                         SYM_SOURCEMAP_BLOCK_BYTES);
    block_t block;

    if (r == NULL || !block_at(s, number, &block)
        || position_at(&block, 0) != begin_in(r))
    {
        return false;
    }

    for (uint32_t i = 0; i < block.n; i++) {
        sym_sourcemap_token_t token = token_at(&block, i);

        if (position_at(&block, i) < *last
            || !is_below(token.source, s->n_sources)
            || !is_below(token.name, s->n_names)
            || !is_below(token.scope, s->n_names))
        {
            return false;
        }

        *last = position_at(&block, i);
    }

    return true;
}


sym_status_t
sym_sourcemap_check(const sym_sourcemap_t *s, sym_error_t *err)
{
    sym_sourcemap_source_t source;
    sym_str_t name;
    uint64_t last = 0;

    for (uint32_t i = 0; i < s->n_blocks; i++) {
        if (!check_block(s, i, &last)) {
            return sym_fail(err, SYM_DAMAGED, "damaged tokens of a sourcemap");
        }
    }

    for (uint32_t i = 0; i < s->n_sources; i++) {
        if (sym_sourcemap_source(s, i, &source) != SYM_OK) {
            return sym_fail(err, SYM_DAMAGED, "damaged source of a sourcemap");
        }
    }

    for (uint32_t i = 0; i < s->n_names; i++) {
        if (sym_sourcemap_name(s, i, &name) != SYM_OK) {
            return sym_fail(err, SYM_DAMAGED, "damaged name of a sourcemap");
        }
    }

    return SYM_OK;
}
