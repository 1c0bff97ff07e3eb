#include "api/tecken/answer.h"

/* --- modules --- */

/* Forms of its texts in the cache. */
enum { FORM_NONE, FORM_DEMANGLED, FORM_AS_KEPT };


static void
use_cache(const sym_tecken_t *t, const sym_view_t *view)
{
    uint32_t form =
        t->base.options->names != NULL ? FORM_DEMANGLED : FORM_AS_KEPT;

    /* a name is all that v4 writes: not worth keeping */
    sym_request_use_cache(&t->base, t->answer->resolver, view,
                          t->options.version == 5 ? form : FORM_NONE);
}


static answer_t *
answer_create(sym_tecken_t *t, const sym_view_t *view)
{
    const request_t *q = &t->request;
    answer_t *a = sym_arena_calloc(t->base.arena, 1, sizeof(*a));
    size_t chunk =
        q->n_frames < SYM_RESOLVE_CHUNK ? q->n_frames : SYM_RESOLVE_CHUNK;

    if (a == NULL) {
        return NULL;
    }

    sym_request_open_begin(&t->base);
    a->resolver =
        sym_resolver_create(t->base.arena, view->store, view->snapshot,
                            view->now_s, t->base.stats.modules, q->n_frames);
    if (a->resolver != NULL) {
        sym_request_set_up(&t->base, a->resolver);
    }

    a->shown = sym_arena_calloc(t->base.arena, q->pairs.n, sizeof(*a->shown));
    a->questions =
        sym_arena_alloc(t->base.arena, chunk * sizeof(*a->questions));

    return a->resolver != NULL && a->shown != NULL && a->questions != NULL
               ? a
               : NULL;
}


static sym_status_t
open_modules(sym_tecken_t *t, uint32_t *budget)
{
    answer_t *a = t->answer;
    sym_status_t rc = sym_request_open_needs(&t->base, a->resolver, budget);

    if (rc == SYM_OK || rc == SYM_NOT_FOUND) {
        a->step = STEP_HEAD;
    }

    return rc;
}


/* Pairs learn what became of their modules. */
static void
share_modules(sym_tecken_t *t)
{
    answer_t *a = t->answer;
    const pair_t *pairs = t->request.pairs.items;

    for (uint32_t i = 0; i < t->request.pairs.n; i++) {
        if (pairs[i].used != 0) {
            a->shown[i].module = pairs[i].used - 1;
            a->shown[i].is_found =
                t->base.needs[pairs[i].used - 1].found == SYM_NEED_FOUND;
        }
    }
}


/* --- frames --- */

static const job_t *
present_job(const sym_tecken_t *t)
{
    return (const job_t *) t->request.jobs.items + t->answer->job;
}


static uint32_t
stack_end(const job_t *job)
{
    return job->first_stack + job->n_stacks;
}


/* How many frames come next in this job, as far as it matters. */
static uint32_t
frames_ahead(const sym_tecken_t *t, uint32_t most)
{
    const answer_t *a = t->answer;
    const uint32_t *stacks = t->request.stacks.items;
    uint32_t n = stacks[a->stack] - a->number;
    uint32_t stop = stack_end(present_job(t));

    /* at most a chunk of stacks too: they may be empty */
    stop = stop - a->stack < SYM_RESOLVE_CHUNK ? stop
                                               : a->stack + SYM_RESOLVE_CHUNK;

    for (uint32_t s = a->stack + 1; s < stop && n < most; s++) {
        n = stacks[s] < most - n ? n + stacks[s] : most;
    }

    return n < most ? n : most;
}


/* Looks up what the next frames ask, so many that the budget covers them. */
static void
ask_chunk(sym_tecken_t *t, uint32_t budget)
{
    answer_t *a = t->answer;
    double started = t->base.options->now_s();
    uint32_t n = frames_ahead(
        t, budget < SYM_RESOLVE_CHUNK ? budget : SYM_RESOLVE_CHUNK);

    a->chunk_end = a->frame + n;
    a->n_questions = 0;
    a->next_question = 0;

    for (uint32_t i = a->frame; i < a->chunk_end; i++) {
        frame_t frame = request_frame_at(&t->request, i);
        shown_t *shown;

        if (answer_asks(a, &t->request, frame, &shown)) {
            a->questions[a->n_questions++] =
                (sym_question_t){ shown->module, frame.value };
        }
    }

    sym_resolver_ask(a->resolver, a->questions, a->n_questions);
    t->base.stats.lookup_s += t->base.options->now_s() - started;
}


static sym_status_t
write_frames(sym_tecken_t *t, sym_out_t *out, uint32_t *budget)
{
    answer_t *a = t->answer;
    uint32_t n = ((const uint32_t *) t->request.stacks.items)[a->stack];
    sym_status_t rc;

    while (a->number<n && * budget> 0 && !out->is_full) {
        if (a->frame == a->chunk_end) {
            ask_chunk(t, *budget);
        }

        if (a->number != 0 && !a->is_begun) {
            sym_out_raw(out, SYM_STR(", "));
        }

        rc = answer_frame(t, request_frame_at(&t->request, a->frame), out,
                          budget);
        if (rc != SYM_OK) {
            return rc == SYM_AGAIN ? SYM_OK : rc; /* enough for now */
        }

        a->frame++;
        a->number++;
        *budget -= *budget != 0;
    }

    if (a->number == n) {
        sym_out_raw(out, SYM_STR("]"));
        a->stack++;
        a->step = STEP_STACK;
    }

    return SYM_OK;
}


/* --- what stands around them --- */

static void
write_head(sym_tecken_t *t, sym_out_t *out)
{
    answer_t *a = t->answer;

    share_modules(t);

    if (t->options.version == 5) {
        sym_out_raw(out, SYM_STR("{\"results\": ["));
    } else {
        sym_out_raw(out, SYM_STR("{\"symbolicatedStacks\": ["));
    }

    a->step = STEP_JOB;
}


static void
write_job(sym_tecken_t *t, sym_out_t *out)
{
    answer_t *a = t->answer;

    if (a->job == t->request.jobs.n) {
        if (t->options.version == 5) {
            sym_out_raw(out, SYM_STR("]"));
        }
        a->step = STEP_DEBUG;
        return;
    }

    if (t->options.version == 5) {
        sym_out_raw(out, a->job == 0 ? SYM_STR("{\"stacks\": [")
                                     : SYM_STR(", {\"stacks\": ["));
    }

    a->first_entry = present_job(t)->first_entry;
    a->stack = present_job(t)->first_stack;
    a->step = STEP_STACK;
}


static void
write_stack(sym_tecken_t *t, sym_out_t *out)
{
    answer_t *a = t->answer;
    const job_t *job = present_job(t);

    if (a->stack != stack_end(job)) {
        sym_out_raw(out, a->stack == job->first_stack ? SYM_STR("[")
                                                      : SYM_STR(", ["));
        a->number = 0;
        a->step = STEP_FRAMES;
        return;
    }

    sym_request_note_damage(&t->base, a->resolver);

    if (t->options.version == 5) {
        sym_out_raw(out, SYM_STR("], \"found_modules\": {"));
    } else {
        sym_out_raw(out, SYM_STR("], \"knownModules\": ["));
    }

    a->next = job->first_entry;
    a->is_first = true;
    a->step = STEP_ENTRIES;
}


static sym_str_t
found_word(const sym_tecken_t *t, const pair_t *pair)
{
    sym_need_state_t found =
        pair->used == 0 ? SYM_NEED_UNUSED : t->base.needs[pair->used - 1].found;

    switch (found) {
    case SYM_NEED_FOUND:
        return SYM_STR("true");
    case SYM_NEED_MISSING:
        return SYM_STR("false");
    default:
        return SYM_STR("null");
    }
}


static void
write_entry(sym_tecken_t *t, pair_t *pair, sym_out_t *out)
{
    answer_t *a = t->answer;
    sym_str_t word = found_word(t, pair);
    bool is_new = pair->job != a->job + 1;

    pair->job = a->job + 1;

    if (is_new && word.data[0] != 'n') {
        a->settled++;
        pair->stacks++;
    }

    if (t->options.version == 5) {
        /* an object has each key once: its first place */
        if (!is_new) {
            return;
        }
        sym_out_raw(out, a->is_first ? SYM_STR("\"") : SYM_STR(", \""));
        sym_out_raw(out, pair->name);
        sym_out_raw(out, SYM_STR("/"));
        sym_out_raw(out, pair->id);
        sym_out_raw(out, SYM_STR("\": "));
    } else if (!a->is_first) {
        sym_out_raw(out, SYM_STR(", "));
    }

    a->is_first = false;
    sym_out_raw(out, word);
}


static void
write_entries(sym_tecken_t *t, sym_out_t *out, uint32_t *budget)
{
    answer_t *a = t->answer;
    const job_t *job = present_job(t);
    const uint32_t *entries = t->request.entries.items;
    pair_t *pairs = t->request.pairs.items;
    uint32_t end = job->first_entry + job->n_entries;

    for (; a->next<end && * budget> 0 && !out->is_full; a->next++, --*budget) {
        write_entry(t, &pairs[entries[a->next]], out);
    }

    if (a->next == end) {
        sym_out_raw(out,
                    t->options.version == 5 ? SYM_STR("}}") : SYM_STR("]"));
        a->job++;
        a->step = STEP_JOB;
    }
}


/* --- the driver --- */

/* The next step goes through a list from its beginning. */
static void
begin_list(answer_t *a, step_t step)
{
    a->next = 0;
    a->is_first = true;
    a->step = step;
}


static void
write_debug(sym_tecken_t *t, sym_out_t *out)
{
    if (t->options.debug) {
        debug_head(t, out);
        begin_list(t->answer, STEP_DEBUG_SIZES);
    } else {
        sym_out_raw(out, SYM_STR("}"));
        t->answer->step = STEP_DONE;
    }
}


static void
write_debug_map(sym_tecken_t *t, debug_map_t map, step_t next, sym_out_t *out,
                uint32_t *budget)
{
    if (debug_map(t, map, budget, out)) {
        begin_list(t->answer, next);
    }
}


static void
write_debug_totals(sym_tecken_t *t, double started, sym_out_t *out)
{
    debug_totals(t,
                 t->spent_s + t->base.stats.waited_s + t->base.options->now_s()
                     - started,
                 out);
    begin_list(t->answer, STEP_DEBUG_MODULES);
}


static void
write_debug_modules(sym_tecken_t *t, sym_out_t *out, uint32_t *budget)
{
    answer_t *a = t->answer;

    debug_modules(t, budget, out);

    if (a->next == t->request.pairs.n) {
        debug_tail(t, out);
        sym_out_raw(out, SYM_STR("}"));
        a->step = STEP_DONE;
    }
}


static sym_status_t
write_next(sym_tecken_t *t, double started, sym_out_t *out, uint32_t *budget)
{
    switch (t->answer->step) {
    case STEP_MODULES:
        return open_modules(t, budget);
    case STEP_HEAD:
        write_head(t, out);
        break;
    case STEP_JOB:
        write_job(t, out);
        break;
    case STEP_STACK:
        --*budget;
        write_stack(t, out);
        break;
    case STEP_FRAMES:
        return write_frames(t, out, budget);
    case STEP_ENTRIES:
        write_entries(t, out, budget);
        break;
    case STEP_DEBUG:
        write_debug(t, out);
        break;
    case STEP_DEBUG_SIZES:
        write_debug_map(t, DEBUG_SIZES, STEP_DEBUG_TIMES, out, budget);
        break;
    case STEP_DEBUG_TIMES:
        write_debug_map(t, DEBUG_TIMES, STEP_DEBUG_FAIL_TIMES, out, budget);
        break;
    case STEP_DEBUG_FAIL_TIMES:
        write_debug_map(t, DEBUG_FAIL_TIMES, STEP_DEBUG_TOTALS, out, budget);
        break;
    case STEP_DEBUG_TOTALS:
        write_debug_totals(t, started, out);
        break;
    case STEP_DEBUG_MODULES:
        write_debug_modules(t, out, budget);
        break;
    case STEP_DONE:
        break;
    }

    return SYM_OK;
}


sym_status_t
tecken_answer(sym_request_t *r, const sym_view_t *view, sym_out_t *out,
              uint32_t budget)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
    double started = debug_now(t);
    sym_status_t rc = SYM_OK;

    if (t->answer == NULL) {
        t->answer = answer_create(t, view);
        if (t->answer == NULL) {
            return SYM_NOMEM;
        }
        use_cache(t, view);
    }

    while (rc == SYM_OK && t->answer->step != STEP_DONE) {
        if (budget == 0 || out->is_full) {
            rc = SYM_AGAIN;
        } else {
            rc = write_next(t, started, out, &budget);
        }
    }

    t->spent_s += debug_now(t) - started;
    sym_request_note_damage(&t->base, t->answer->resolver);
    t->base.stats.damaged = sym_resolver_damaged(t->answer->resolver);
    return out->failed ? SYM_NOMEM : rc;
}


bool
tecken_resume(sym_request_t *r, const sym_view_t *view)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
    answer_t *a = t->answer;

    sym_resolver_resume(a->resolver, view->store, view->snapshot);
    use_cache(t, view);
    sym_request_lose_modules(r, a->resolver);
    share_modules(t);
    a->chunk_end = a->frame; /* to be asked again */
    return true;
}
