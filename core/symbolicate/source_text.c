#include "symbolicate/source_text.h"

static sym_status_t
count(void *ctx, uint64_t number, uint64_t *newlines)
{
    sym_source_text_t *t = ctx;

    return sym_sources_newlines_before(t->sources, &t->file, (uint32_t) number,
                                       newlines);
}


/* The block if it is cached; else the least recently used one. */
static sym_source_block_t *
choose(sym_source_text_t *t, uint32_t number)
{
    sym_source_block_t *oldest = &t->blocks[0];

    for (unsigned i = 0; i < SYM_SOURCE_BLOCKS; i++) {
        sym_source_block_t *b = &t->blocks[i];

        if (b->sources == t->sources && b->number == number) {
            return b;
        }
        oldest = b->used < oldest->used ? b : oldest;
    }

    return oldest;
}


static sym_status_t
block(void *ctx, uint64_t number, sym_str_t *bytes)
{
    sym_source_text_t *t = ctx;
    uint32_t wanted = t->file.first_block + (uint32_t) number;
    sym_source_block_t *b = choose(t, wanted);
    uint64_t newlines;

    if (b->sources != t->sources || b->number != wanted) {
        sym_status_t rc;

        if (b->bytes == NULL) {
            b->bytes = sym_arena_alloc(t->arena, SYM_SOURCES_BLOCK_TEXT);
            if (b->bytes == NULL) {
                return SYM_NOMEM;
            }
        }

        b->sources = NULL;
        t->unpacked++;
        rc = sym_sources_block(t->sources, &t->file, (uint32_t) number,
                               b->bytes, &b->len, &newlines);
        if (rc != SYM_OK) {
            return rc;
        }

        b->sources = t->sources;
        b->number = wanted;
    }

    b->used = ++t->uses;
    *bytes = sym_str(b->bytes, b->len);
    return SYM_OK;
}


sym_context_text_t
sym_source_text(sym_source_text_t *t, const sym_sources_t *sources,
                const sym_sources_file_t *file)
{
    t->sources = sources;
    t->file = *file;
    return (sym_context_text_t){ .len = file->len,
                                 .newlines = file->lines,
                                 .block_bytes = SYM_SOURCES_BLOCK_TEXT,
                                 .ctx = t,
                                 .count = count,
                                 .block = block };
}
