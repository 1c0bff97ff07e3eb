#include "symbolicate/state.h"

/* Prefetch distances.  Each kind of data leads to the next one, so the first
 * has the largest distance. */
#define AHEAD_LEVELS 16
#define AHEAD_TEXTS 8

/* Looks up a single question. */
static sym_status_t
look_up(sym_resolver_t *r, uint32_t i, sym_level_t *levels,
        sym_answer_t *answer)
{
    sym_symcache_t *cache = sym_resolver_cache_of(r, i);

    *answer = (sym_answer_t){ 0 };

    /* the reader counts damage, and leaves an empty answer */
    return cache != NULL ? sym_symcache_lookup(cache, r->questions[i].addr,
                                               levels, answer)
                         : SYM_DAMAGED;
}


sym_status_t
sym_resolver_answer(sym_resolver_t *r, uint32_t i, sym_answer_t *answer)
{
    const sym_result_t *result = &r->results[i];

    if (result->is_open) {
        return look_up(r, i, r->spare_levels, answer);
    }

    *answer = (sym_answer_t){ .function_addr = result->function_addr,
                              .function_size = result->function_size,
                              .lang = result->lang,
                              .n_levels = result->n_levels,
                              .levels = r->levels + result->first_level };
    return result->is_damaged ? SYM_DAMAGED : SYM_OK;
}


void
sym_resolver_fetch_ahead(const sym_resolver_t *r, uint32_t i)
{
    const sym_result_t *result = &r->results[i];
    uint32_t left = r->n_questions - i, first, end;

    if (left > AHEAD_LEVELS) {
        first = result[AHEAD_LEVELS].first_level;
        __builtin_prefetch(&r->level_texts[first]);
        end = first + result[AHEAD_LEVELS].n_levels;
        __builtin_prefetch(&r->level_texts[end]);
    }

    if (left > AHEAD_TEXTS) {
        first = result[AHEAD_TEXTS].first_level;
        end = first + result[AHEAD_TEXTS].n_levels;

        for (uint32_t k = first; k < end; k++) {
            const char *name = sym_texts_at(&r->texts, r->level_texts[k].name);

            __builtin_prefetch(name);
            __builtin_prefetch(name + 64);
        }
    }
}


sym_status_t
sym_resolver_statement(sym_resolver_t *r, uint32_t i, sym_answer_t *answer)
{
    sym_status_t rc = sym_resolver_answer(r, i, answer);
    sym_level_t innermost;

    if (answer->n_levels == 0
        || !sym_symcache_statement(sym_resolver_cache_of(r, i),
                                   r->questions[i].addr, &innermost))
    {
        return rc;
    }

    /* levels are copied before they change, because other questions share
     * them */
    if (answer->levels != r->spare_levels) {
        memcpy(r->spare_levels, answer->levels,
               answer->n_levels * sizeof(*answer->levels));
        answer->levels = r->spare_levels;
    }

    answer->levels[0].file = innermost.file;
    answer->levels[0].line = innermost.line;
    return rc;
}


/* Returns the cached answer, or NULL.  Inline, because it answers most frames
 * of most requests. */
static inline const char *
kept_text(const sym_resolver_t *r, uint32_t i)
{
    const sym_answer_cache_ref_t *cached = &r->results[i].cached;
    sym_answer_cache_key_t key;

    if (cached->place == 0) {
        return NULL;
    }

    key = sym_resolver_answer_key(r, &r->questions[i]);
    return sym_answer_cache_text(r->answer_cache, &key, cached);
}


bool
sym_resolver_recall(const sym_resolver_t *r, uint32_t i, sym_str_t *text)
{
    *text = sym_str(kept_text(r, i), r->results[i].cached.len);
    return text->data != NULL;
}


bool
sym_resolver_repeat(sym_resolver_t *r, uint32_t i, sym_out_t *out)
{
    const size_t len = r->results[i].cached.len;
    const char *text = kept_text(r, i);

    if (text == NULL) {
        return false;
    }

    if (sym_out_room(out, len)) {
        memcpy(out->pos, text, len);
        out->pos += len;
    }

    return true;
}


void
sym_resolver_keep(sym_resolver_t *r, uint32_t i, const char *start,
                  uint64_t before, const sym_out_t *out)
{
    const sym_question_t *q = &r->questions[i];
    sym_answer_cache_key_t key;

    /* does not cache texts that span two windows, or are from a damaged
     * module */
    if (!r->results[i].is_met || before != out->before || out->failed
        || r->modules[q->module].cache.damaged != 0)
    {
        return;
    }

    key = sym_resolver_answer_key(r, q);
    sym_answer_cache_keep(r->answer_cache, &key, start,
                          (size_t) (out->pos - start));
}
