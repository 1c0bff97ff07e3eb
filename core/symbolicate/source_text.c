#include "symbolicate/source_text.h"

#include "symbolicate/artifact.h"
#include "symbolicate/state.h"

static sym_status_t
count(void *ctx, uint64_t number, uint64_t *newlines)
{
    sym_source_text_t *t = ctx;

    return sym_sources_newlines_before(t->sources, &t->file, (uint32_t) number,
                                       newlines);
}


static bool
is_of(const sym_source_block_t *b, const sym_source_text_t *t, uint32_t number)
{
    return b->sources == t->sources && b->number == number;
}


/* Returns the block if it is cached, else the least recently used one. */
static sym_source_block_t *
choose(sym_source_text_t *t, uint32_t number)
{
    sym_source_block_t *oldest = &t->blocks[0];

    if (t->last != NULL && is_of(t->last, t, number)) {
        return t->last;
    }

    for (unsigned i = 0; i < SYM_SOURCE_BLOCKS; i++) {
        sym_source_block_t *b = &t->blocks[i];

        if (is_of(b, t, number)) {
            return b;
        }
        oldest = b->used < oldest->used ? b : oldest;
    }

    return oldest;
}


/* Reads from the worker's cache if the artifact is in the store. */
static sym_status_t
unpack(sym_source_text_t *t, uint32_t number, uint32_t of_artifact,
       sym_source_block_t *b)
{
    const sym_artifact_found_t *found =
        t->sources->get == sym_artifact_extent ? t->sources->ctx : NULL;
    sym_block_cache_t *cache =
        found != NULL ? found->resolver->block_cache : NULL;
    sym_str_t kept;
    uint64_t newlines;
    sym_status_t rc;

    if (cache != NULL
        && sym_block_cache_find(cache, found->id, of_artifact, &kept)) {
        memcpy(b->bytes, kept.data, kept.len);
        b->len = kept.len;
        return SYM_OK;
    }

    t->unpacked++;
    rc = sym_sources_block(t->sources, &t->file, number, b->bytes, &b->len,
                           &newlines);
    if (rc == SYM_OK && cache != NULL) {
        sym_block_cache_put(cache, found->id, of_artifact,
                            sym_str(b->bytes, b->len));
    }

    return rc;
}


static sym_status_t
block(void *ctx, uint64_t number, sym_str_t *bytes)
{
    sym_source_text_t *t = ctx;
    uint32_t wanted = t->file.first_block + (uint32_t) number;
    sym_source_block_t *b = choose(t, wanted);

    if (!is_of(b, t, wanted)) {
        sym_status_t rc;

        if (b->bytes == NULL) {
            b->bytes = sym_arena_alloc(t->arena, SYM_SOURCES_BLOCK_TEXT);
            if (b->bytes == NULL) {
                return SYM_NOMEM;
            }
        }

        b->sources = NULL;
        rc = unpack(t, (uint32_t) number, wanted, b);
        if (rc != SYM_OK) {
            return rc;
        }

        b->sources = t->sources;
        b->number = wanted;
    }

    b->used = ++t->uses;
    t->last = b;
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
