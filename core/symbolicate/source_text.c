#include "symbolicate/source_text.h"

sym_status_t
sym_source_text_create(sym_source_text_t *t, sym_arena_t *arena)
{
    *t = (sym_source_text_t){ .sources = NULL };

    for (unsigned i = 0; i < 2; i++) {
        t->blocks[i].bytes = sym_arena_alloc(arena, SYM_SOURCES_BLOCK_TEXT);
        if (t->blocks[i].bytes == NULL) {
            return SYM_NOMEM;
        }
    }

    return SYM_OK;
}


static sym_status_t
count(void *ctx, uint64_t number, uint64_t *newlines)
{
    sym_source_text_t *t = ctx;

    return sym_sources_newlines_before(t->sources, &t->file, (uint32_t) number,
                                       newlines);
}


static sym_status_t
block(void *ctx, uint64_t number, sym_str_t *bytes)
{
    sym_source_text_t *t = ctx;
    uint32_t wanted = t->file.first_block + (uint32_t) number;
    sym_source_block_t *b = &t->blocks[t->newest];
    sym_status_t rc = SYM_OK;
    uint64_t newlines;

    if (!b->is_read || b->number != wanted) {
        t->newest = 1 - t->newest;
        b = &t->blocks[t->newest];
    }

    if (!b->is_read || b->number != wanted) {
        rc = sym_sources_block(t->sources, &t->file, (uint32_t) number,
                               b->bytes, &b->len, &newlines);
        b->number = wanted;
        b->is_read = rc == SYM_OK;
    }

    *bytes = sym_str(b->bytes, b->len);
    return rc;
}


sym_context_text_t
sym_source_text(sym_source_text_t *t, const sym_sources_t *sources,
                const sym_sources_file_t *file)
{
    if (t->sources != sources || t->file.first_block != file->first_block
        || t->file.len != file->len)
    {
        t->blocks[0].is_read = t->blocks[1].is_read = false;
    }

    t->sources = sources;
    t->file = *file;
    return (sym_context_text_t){ .len = file->len,
                                 .newlines = file->lines,
                                 .block_bytes = SYM_SOURCES_BLOCK_TEXT,
                                 .ctx = t,
                                 .count = count,
                                 .block = block };
}
