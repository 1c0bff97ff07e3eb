#include "cli/batch.h"

#include <stdio.h>
#include <stdlib.h>

#include "symbolicate/order.h"
#include "common/large_array.h"

/* Questions that wait for memory together. */
#define GROUP 16u

/* Answers whose texts are fetched while one is printed. */
#define AHEAD 8u

/* Levels that are kept at a time, unless it is one answer's. */
#define LEVELS_MANY ((size_t) 1 << 20)
#define LEVELS_FIRST ((size_t) 4 * SYM_LEVELS_MAX)
#define QUESTIONS_FIRST 512u
#define GROWTH 16u

_Static_assert(BATCH_MAX <= 1u << SYM_ORDER_PLACE_BITS, "all can be sorted");
_Static_assert(QUESTIONS_FIRST *GROWTH *GROWTH == BATCH_MAX, "as they grow");
_Static_assert(SYM_LEVELS_MAX <= UINT16_MAX, "they can be counted");

struct batch_s {
    string_cache_t *texts;
    uint32_t n; /* questions */
    uint32_t printed, answered;
    uint32_t most; /* that are answered at a time */
    batch_level_t *levels;
    size_t n_levels, levels_room;
    question_t *questions;
    uint64_t *order; /* twice as many: to sort them takes room */
    uint32_t room;   /* of both */
    sym_level_t found[GROUP][SYM_LEVELS_MAX];
};


static bool
grow(batch_t *b)
{
    uint32_t room = b->room == 0 ? QUESTIONS_FIRST : GROWTH * b->room;
    question_t *questions = large_array_grow(
        b->questions, b->n * sizeof(*questions), room * sizeof(*questions));
    uint64_t *order;

    if (questions == NULL) {
        return false;
    }

    b->questions = questions;
    order = large_array_grow(b->order, 0, 2 * (size_t) room * sizeof(*order));

    if (order == NULL) {
        return false;
    }

    b->order = order;
    b->room = room;
    return true;
}


batch_t *
batch_create(const string_cache_style_t *style)
{
    batch_t *b = calloc(1, sizeof(*b));

    if (b != NULL) {
        b->most = BATCH_MAX;
        b->levels = malloc(LEVELS_FIRST * sizeof(*b->levels));
        b->levels_room = LEVELS_FIRST;
        b->texts = string_cache_create(style);
    }

    if (b == NULL || b->levels == NULL || b->texts == NULL) {
        fprintf(stderr, "symloader: out of memory\n");
        batch_free(b);
        return NULL;
    }

    return b;
}


void
batch_free(batch_t *b)
{
    if (b != NULL) {
        string_cache_free(b->texts);
        free(b->levels);
        free(b->questions);
        free(b->order);
        free(b);
    }
}


bool
batch_is_full(const batch_t *b)
{
    return b->n == BATCH_MAX;
}


bool
batch_ask(batch_t *b, uint64_t addr, bool is_address)
{
    if (b->n == b->room && !grow(b)) {
        return false;
    }

    b->questions[b->n++] =
        (question_t){ .addr = addr, .is_address = is_address };
    return true;
}


/* --- answering --- */

static bool
make_room(batch_t *b)
{
    size_t room = GROWTH * b->levels_room;
    batch_level_t *levels;

    if (b->levels_room - b->n_levels >= SYM_LEVELS_MAX) {
        return true;
    }

    levels = large_array_grow(b->levels, b->n_levels * sizeof(*levels),
                              room * sizeof(*levels));

    if (levels == NULL) {
        return false;
    }

    b->levels = levels;
    b->levels_room = room;
    return true;
}


/* Texts that are not known yet come last, and wait for memory together. */
static bool
keep_answer(batch_t *b, question_t *q, const sym_answer_t *answer)
{
    q->function_addr = answer->function_addr;
    q->function_size = answer->function_size;
    q->first_level = (uint32_t) b->n_levels;
    q->n_levels = (uint16_t) answer->n_levels;

    if (!make_room(b)) {
        return false;
    }

    for (uint32_t i = 0; i < answer->n_levels; i++) {
        b->levels[b->n_levels++] = (batch_level_t){
            .text = string_cache_find(b->texts, answer, i),
            .line = answer->levels[i].line,
        };
    }

    return true;
}


static void
make_texts(batch_t *b, const question_t *q, const sym_answer_t *answer)
{
    batch_level_t *levels = b->levels + q->first_level;

    for (uint32_t i = 0; i < q->n_levels; i++) {
        if (levels[i].text == TEXT_MISSING) {
            levels[i].text = string_cache_make(b->texts, answer, i);
        }
    }
}


static question_t *
question_of(batch_t *b, uint64_t key)
{
    return &b->questions[SYM_ORDER_PLACE(key)];
}


static void
share_answer(question_t *q, const question_t *with)
{
    const uint64_t addr = q->addr;

    *q = *with;
    q->addr = addr;
}


static bool
answer_group(batch_t *b, module_t *m, const uint64_t *order, uint32_t n)
{
    sym_probe_t probes[GROUP];
    sym_answer_t answers[GROUP];
    bool is_shared[GROUP] = { false };

    for (uint32_t i = 0; i < n; i++) {
        __builtin_prefetch(question_of(b, order[i]), 1);
        sym_symcache_seek(&m->cache, SYM_ORDER_ADDR(order[i]), &probes[i]);
    }

    sym_symcache_lead(probes, n);

    for (uint32_t i = 0; i < n; i++) {
        is_shared[i] =
            i > 0 && sym_symcache_is_same(&probes[i], &probes[i - 1]);

        if (is_shared[i]) {
            continue;
        }

        /* damaged bytes are no reason to keep the other answers back */
        question_of(b, order[i])->is_damaged =
            sym_symcache_answer(&probes[i], b->found[i], &answers[i]) != SYM_OK;
        string_cache_expect(b->texts, &answers[i]);
    }

    for (uint32_t i = 0; i < n; i++) {
        question_t *q = question_of(b, order[i]);

        if (is_shared[i]) {
            share_answer(q, question_of(b, order[i - 1]));
        } else if (!keep_answer(b, q, &answers[i])) {
            return false;
        }
    }

    for (uint32_t i = 0; i < n; i++) {
        if (!is_shared[i]) {
            make_texts(b, question_of(b, order[i]), &answers[i]);
        }
    }

    return true;
}


static bool
is_too_much(const batch_t *b)
{
    return b->n_levels > LEVELS_MANY || string_cache_are_many(b->texts);
}


/* The questions from the first on, as far as memory goes. */
static bool
answer_sorted(batch_t *b, module_t *m, uint32_t first, uint32_t n)
{
    const uint64_t *order;
    uint32_t n_addresses = 0;

    b->n_levels = 0;

    for (uint32_t i = first; i < first + n; i++) {
        question_t *q = &b->questions[i];

        q->n_levels = 0;

        /* a symcache knows no address past 32 bits */
        if (q->is_address && q->addr <= UINT32_MAX) {
            b->order[n_addresses++] = sym_order_key(0, (uint32_t) q->addr, i);
        }
    }

    order = sym_order_sort(b->order, b->order + b->room, n_addresses);

    for (uint32_t i = 0; i < n_addresses && (n == 1 || !is_too_much(b));
         i += GROUP) {
        uint32_t left = n_addresses - i;

        if (!answer_group(b, m, order + i, left < GROUP ? left : GROUP)) {
            return false;
        }
    }

    return !string_cache_failed(b->texts);
}


bool
batch_answer(batch_t *b, module_t *m)
{
    uint32_t left = b->n - b->answered;
    uint32_t n = left < b->most ? left : b->most;

    string_cache_begin(b->texts, m);

    if (!answer_sorted(b, m, b->answered, n)) {
        return false;
    }

    while (n > 1 && is_too_much(b)) {
        b->most = n /= 2;
        string_cache_forget(b->texts);

        if (!answer_sorted(b, m, b->answered, n)) {
            return false;
        }
    }

    b->answered += n;
    return true;
}


/* --- printing --- */

/* What the next ones show lies all over the place. */
static void
fetch_texts(const batch_answer_t *a)
{
    for (uint32_t i = 0; i < a->question->n_levels; i++) {
        string_cache_fetch(a->texts, a->levels[i].text);
    }
}


static batch_answer_t
answer_at(const batch_t *b, uint32_t i)
{
    const question_t *q = &b->questions[i];

    return (batch_answer_t){ .question = q,
                             .levels = b->levels + q->first_level,
                             .texts = string_cache_bytes(b->texts) };
}


bool
batch_next(batch_t *b, batch_answer_t *a)
{
    uint32_t i = b->printed, left = b->answered - i;

    if (left == 0) {
        return false;
    }

    if (left > 2 * AHEAD) {
        __builtin_prefetch(answer_at(b, i + 2 * AHEAD).levels);
    }

    if (left > AHEAD) {
        const batch_answer_t next = answer_at(b, i + AHEAD);

        fetch_texts(&next);
    }

    *a = answer_at(b, i);
    b->printed++;
    return true;
}


bool
batch_is_done(const batch_t *b)
{
    return b->answered == b->n;
}


void
batch_clear(batch_t *b)
{
    b->n = 0;
    b->answered = 0;
    b->printed = 0;
}
