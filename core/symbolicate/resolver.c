#include "symbolicate/state.h"

/* Number of levels kept for a chunk.  A question whose levels do not fit is
 * looked up again when its answer is read. */
#define LEVELS_PER_QUESTION 4

/* Limits the tables of extents, so that a request for many large modules does
 * not spend its memory on them. */
#define REMEMBER_BASE ((size_t) 64 * 1024)
#define REMEMBER_PER_QUESTION ((size_t) 32)

#define TEXTS_PER_QUESTION 4


static bool
take_scratch(sym_resolver_t *r, size_t n)
{
    r->max_levels = (uint32_t) (n * LEVELS_PER_QUESTION + SYM_LEVELS_MAX);
    r->order = sym_arena_alloc(r->arena, 2 * n * sizeof(*r->order));
    r->results = sym_arena_alloc(r->arena, n * sizeof(*r->results));
    r->levels = sym_arena_alloc(r->arena, (r->max_levels + SYM_LEVELS_MAX)
                                              * sizeof(*r->levels));
    if (r->order == NULL || r->results == NULL || r->levels == NULL) {
        return false;
    }

    r->order_spare = r->order + n;
    r->spare_levels = r->levels + r->max_levels;
    return true;
}


sym_resolver_t *
sym_resolver_create(sym_arena_t *arena, sym_snapshot_t *snapshot,
                    uint32_t now_s, uint32_t n_modules, uint64_t n_questions)
{
    sym_resolver_t *r = sym_arena_calloc(arena, 1, sizeof(*r));

    if (r == NULL) {
        return NULL;
    }

    r->arena = arena;
    r->store = sym_snapshot_store(snapshot);
    r->snapshot = snapshot;
    r->now_s = now_s;
    r->scopes = &sym_scopes_local;
    r->name_style = SYM_DEMANGLE_FULL;
    r->n_modules = n_modules;
    if (r->store != NULL) {
        sym_store_tell_time(r->store, now_s);
    }

    r->modules = sym_arena_calloc(arena, n_modules, sizeof(*r->modules));
    r->n_texts = n_questions * TEXTS_PER_QUESTION;
    r->remember_left = REMEMBER_BASE
                       + (n_questions < SIZE_MAX / (2 * REMEMBER_PER_QUESTION)
                              ? (size_t) n_questions * REMEMBER_PER_QUESTION
                              : 0);

    return r->modules != NULL
                   && take_scratch(r, n_questions < SYM_RESOLVE_CHUNK
                                          ? (size_t) n_questions
                                          : SYM_RESOLVE_CHUNK)
               ? r
               : NULL;
}


sym_resolver_t *
sym_resolver_create_batch(sym_arena_t *arena, uint32_t batch,
                          sym_text_style_t style)
{
    sym_resolver_t *r = sym_arena_calloc(arena, 1, sizeof(*r));

    if (r == NULL) {
        return NULL;
    }

    r->arena = arena;
    r->n_modules = 1;
    r->style = style;
    r->name_style = SYM_DEMANGLE_FULL;
    r->modules = sym_arena_calloc(arena, 1, sizeof(*r->modules));

    if (r->modules == NULL || !take_scratch(r, batch)
        || !sym_texts_init(&r->texts, arena, batch))
    {
        return NULL;
    }

    r->level_texts =
        sym_arena_alloc(arena, r->max_levels * sizeof(*r->level_texts));
    return r->level_texts != NULL ? r : NULL;
}


void
sym_resolver_use_cache(sym_resolver_t *r, sym_worker_cache_t *caches,
                       uint32_t form)
{
    if (caches != NULL && r->snapshot != NULL) {
        r->answer_cache = form != 0 ? caches->answers : NULL;
        r->module_cache = caches->modules;
        r->block_cache = caches->blocks;
        r->version = sym_snapshot_version(r->snapshot);
    }

    r->form = form;
}


void
sym_resolver_use_scopes(sym_resolver_t *r, const sym_scopes_t *scopes)
{
    r->scopes = scopes;
}


void
sym_resolver_use_names(sym_resolver_t *r, sym_names_t *names)
{
    r->names = names;
}


uint64_t
sym_resolver_damaged(const sym_resolver_t *r)
{
    uint64_t damaged = r->damaged;

    for (uint32_t i = 0; i < r->n_modules; i++) {
        damaged += r->modules[i].cache.damaged;
    }

    return damaged;
}
