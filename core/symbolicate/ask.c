#include "symbolicate/order.h"
#include "symbolicate/state.h"

/* Number of questions that wait for memory at the same time. */
#define GROUP 16

/* The cache slots of this many questions ahead are prefetched. */
#define AHEAD 24

static void
expect_strings(const sym_probe_t *probe, const sym_answer_t *answer)
{
    for (uint32_t k = 0; k < answer->n_levels; k++) {
        sym_symcache_expect(probe->sc, answer->levels[k].name);
        sym_symcache_expect(probe->sc, answer->levels[k].file);
    }
}


static void
keep_answer(sym_resolver_t *r, uint32_t i, const sym_probe_t *probe)
{
    sym_result_t *result = &r->results[i];
    sym_answer_t answer;

    if (r->max_levels - r->n_levels < SYM_LEVELS_MAX) {
        return;
    }

    /* the reader counts damage, and leaves an empty answer */
    result->is_damaged =
        sym_symcache_answer(probe, r->levels + r->n_levels, &answer) != SYM_OK;

    if (r->level_texts != NULL) {
        sym_resolver_expect_texts(r, &answer);
    } else {
        expect_strings(probe, &answer);
    }

    result->is_open = false;
    result->function_addr = answer.function_addr;
    result->function_size = answer.function_size;
    result->first_level = r->n_levels;
    result->n_levels = (uint16_t) answer.n_levels;
    result->lang = answer.lang;
    r->n_levels += answer.n_levels;
}


/* Gives the i-th question the answer of another one. */
static void
share_answer(sym_resolver_t *r, uint32_t i, uint32_t other)
{
    const sym_result_t own = r->results[i];

    r->results[i] = r->results[other];
    r->results[i].is_met = own.is_met;
    r->results[i].cached = own.cached;
}


/* Returns the module in a key.  Keys are close together in memory, while the
 * questions of a batch are scattered. */
static uint32_t
module_of(const sym_resolver_t *r, uint64_t key)
{
    return r->n_modules <= SYM_ORDER_MODULES
               ? SYM_ORDER_MODULE(key)
               : r->questions[SYM_ORDER_PLACE(key)].module;
}


static void
look_up_group(sym_resolver_t *r, const uint64_t *order, uint32_t n)
{
    sym_probe_t group[GROUP];
    uint32_t first_level = r->n_levels;

    for (uint32_t k = 0; k < n; k++) {
        sym_symcache_t *cache = sym_resolver_cache(r, module_of(r, order[k]));

        __builtin_prefetch(&r->results[SYM_ORDER_PLACE(order[k])], 1);
        group[k].rc = SYM_DAMAGED; /* if the module cannot be read */
        if (cache != NULL) {
            sym_symcache_seek(cache, SYM_ORDER_ADDR(order[k]), &group[k]);
        }
    }

    sym_symcache_lead(group, n);

    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = SYM_ORDER_PLACE(order[k]);

        if (k > 0 && sym_symcache_is_same(&group[k], &group[k - 1])) {
            share_answer(r, i, SYM_ORDER_PLACE(order[k - 1]));
        } else {
            keep_answer(r, i, &group[k]);
        }
    }

    if (r->level_texts != NULL) {
        sym_resolver_make_texts(r, first_level);
    }
}


static void
expect(const sym_resolver_t *r, const sym_question_t *questions, uint32_t n)
{
    for (uint32_t i = 0; r->answer_cache != NULL && i < n; i++) {
        sym_answer_cache_key_t key = sym_resolver_answer_key(r, &questions[i]);

        sym_answer_cache_expect(r->answer_cache, &key);
    }
}


/* Returns true if another request has cached the answer. */
static bool
is_cached(const sym_resolver_t *r, const sym_question_t *q,
          sym_result_t *result)
{
    sym_answer_cache_key_t key;

    *result = (sym_result_t){ .is_open = true };
    if (r->answer_cache == NULL) {
        return false;
    }

    key = sym_resolver_answer_key(r, q);
    switch (sym_answer_cache_meet(r->answer_cache, &key, &result->cached)) {
    case SYM_ANSWER_CACHE_HIT:
        return true;
    case SYM_ANSWER_CACHE_SEEN:
        result->is_met = true;
        break;
    case SYM_ANSWER_CACHE_MISS:
        break;
    }

    return false;
}


void
sym_resolver_ask(sym_resolver_t *r, const sym_question_t *questions, uint32_t n)
{
    const uint64_t *order;
    uint32_t n_new = 0;

    r->questions = questions;
    r->n_questions = n;
    r->n_levels = 0;

    if (r->texts.is_full) {
        sym_texts_forget(&r->texts);
    }

    expect(r, questions, n < AHEAD ? n : AHEAD);

    for (uint32_t i = 0; i < n; i++) {
        const sym_question_t *q = &questions[i];

        if (i + AHEAD < n) {
            expect(r, q + AHEAD, 1);
        }

        if (!is_cached(r, q, &r->results[i])) {
            r->order[n_new++] = sym_order_key(q->module, q->addr, i);
        }
    }

    /* neighbours share a block: its page, and its decoded header */
    order = sym_order_sort(r->order, r->order_spare, n_new);

    for (uint32_t i = 0; i < n_new; i += GROUP) {
        look_up_group(r, order + i, n_new - i < GROUP ? n_new - i : GROUP);
    }
}
