#include "api/tecken/answer.h"

static sym_status_t write_line(sym_request_t *r, sym_out_t *out,
                               uint32_t *budget);
static sym_status_t write_stack(sym_request_t *r, sym_out_t *out,
                                uint32_t *budget);
static sym_status_t write_entries(sym_request_t *r, sym_out_t *out,
                                  uint32_t *budget);


/* Updates pairs with the results of their modules. */
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


/* Number of frames left in this job, capped at a chunk. */
static uint32_t
frames_ahead(const sym_tecken_t *t, uint32_t most)
{
    const answer_t *a = t->answer;
    const uint32_t *stacks = t->request.stacks.items;
    uint32_t n = stacks[a->stack] - a->number;
    uint32_t stop = stack_end(present_job(t));

    /* also at most a chunk of stacks, because stacks may be empty */
    stop = stop - a->stack < SYM_RESOLVE_CHUNK ? stop
                                               : a->stack + SYM_RESOLVE_CHUNK;

    for (uint32_t s = a->stack + 1; s < stop && n < most; s++) {
        n = stacks[s] < most - n ? n + stacks[s] : most;
    }

    return n < most ? n : most;
}


/* Looks up as many of the next frames as the budget allows. */
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
write_frames(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
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
            return rc == SYM_AGAIN ? SYM_OK : rc; /* the chunk is large
                                                     enough */
        }

        a->frame++;
        a->number++;
        *budget -= *budget != 0;
    }

    if (a->number == n) {
        sym_out_raw(out, SYM_STR("]"));
        a->stack++;
        r->step = write_stack;
    }

    return SYM_OK;
}


/* --- members around the frames --- */

static const line_t *
present_line(const sym_tecken_t *t)
{
    return (const line_t *) t->request.lines.items + t->answer->line;
}


static void
end_line(sym_request_t *r, sym_out_t *out)
{
    sym_tecken_t *t = (sym_tecken_t *) r;

    sym_out_raw(out, t->is_bulk ? SYM_STR("}\n") : SYM_STR("}"));
    t->answer->line++;
    r->step = write_line;
}


static sym_status_t
write_job(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
    answer_t *a = t->answer;
    bool is_v5 = t->version == 5;

    (void) budget;
    if (a->job == request_line_end(&t->request, a->line)) {
        sym_out_raw(out, is_v5 ? SYM_STR("]") : SYM_STR(""));
        if (t->has_debug) {
            r->step = tecken_debug;
        } else {
            end_line(r, out);
        }
        return SYM_OK;
    }

    if (is_v5) {
        sym_out_raw(out, a->job == present_line(t)->jobs
                             ? SYM_STR("{\"stacks\": [")
                             : SYM_STR(", {\"stacks\": ["));
    }

    a->first_entry = present_job(t)->first_entry;
    a->stack = present_job(t)->first_stack;
    r->step = write_stack;
    return SYM_OK;
}


static sym_status_t
write_stack(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
    answer_t *a = t->answer;
    const job_t *job = present_job(t);

    --*budget;
    if (a->stack != stack_end(job)) {
        sym_out_raw(out, a->stack == job->first_stack ? SYM_STR("[")
                                                      : SYM_STR(", ["));
        a->number = 0;
        r->step = write_frames;
        return SYM_OK;
    }

    sym_request_note_damage(r);

    if (t->version == 5) {
        sym_out_raw(out, SYM_STR("], \"found_modules\": {"));
    } else {
        sym_out_raw(out, SYM_STR("], \"knownModules\": ["));
    }

    a->next = job->first_entry;
    a->is_first = true;
    r->step = write_entries;
    return SYM_OK;
}


static sym_str_t
found_word(const sym_tecken_t *t, const pair_t *pair)
{
    const sym_need_t *need;

    if (pair->used == 0 || pair->line != t->answer->line + 1) {
        return SYM_STR("null");
    }

    need = &t->base.needs[pair->used - 1];

    switch (need->found) {
    case SYM_NEED_FOUND:
        return SYM_STR("true");
    case SYM_NEED_MISSING:
        /* in a bulk answer, no header can report a failure */
        return t->is_bulk && need->missing.state == SYM_MODULE_FAILED
                   ? SYM_STR("null")
                   : SYM_STR("false");
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

    if (t->version == 5) {
        /* an object has each key once, so the first one counts */
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


static sym_status_t
write_entries(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
    answer_t *a = t->answer;
    const job_t *job = present_job(t);
    const uint32_t *entries = t->request.entries.items;
    pair_t *pairs = t->request.pairs.items;
    uint32_t end = job->first_entry + job->n_entries;

    for (; a->next<end && * budget> 0 && !out->is_full; a->next++, --*budget) {
        write_entry(t, &pairs[entries[a->next]], out);
    }

    if (a->next == end) {
        sym_out_raw(out, t->version == 5 ? SYM_STR("}}") : SYM_STR("]"));
        a->job++;
        r->step = write_job;
    }

    return SYM_OK;
}


static sym_status_t
write_line(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sym_tecken_t *t = (sym_tecken_t *) r;

    if (t->answer->line == t->request.lines.n) {
        r->step = NULL;
        return SYM_OK;
    }

    --*budget;
    if (t->is_bulk) {
        (void) request_mark(&t->request, t->answer->line);
    }

    if (present_line(t)->error.data != NULL) {
        sym_out_raw(out, SYM_STR("{\"title\": "));
        sym_out_string(out, present_line(t)->error);
        end_line(r, out);
        return SYM_OK;
    }

    sym_out_raw(out, t->version == 5 ? SYM_STR("{\"results\": [")
                                     : SYM_STR("{\"symbolicatedStacks\": ["));
    r->step = write_job;
    return SYM_OK;
}


/* --- an answer in a snapshot --- */

static answer_t *
answer_create(sym_tecken_t *t)
{
    const request_t *q = &t->request;
    sym_arena_t *arena = t->base.arena;
    answer_t *a = sym_arena_calloc(arena, 1, sizeof(*a));
    size_t chunk =
        q->n_frames < SYM_RESOLVE_CHUNK ? q->n_frames : SYM_RESOLVE_CHUNK;

    if (a == NULL) {
        return NULL;
    }

    a->shown = sym_arena_alloc(arena, q->pairs.n * sizeof(*a->shown));
    a->questions = sym_arena_alloc(arena, chunk * sizeof(*a->questions));
    return a->shown != NULL && a->questions != NULL ? a : NULL;
}


sym_status_t
tecken_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sym_tecken_t *t = (sym_tecken_t *) r;
    answer_t *a = t->answer != NULL ? t->answer : answer_create(t);
    pair_t *pairs = t->request.pairs.items;

    (void) out;
    (void) budget;
    if (a == NULL) {
        return SYM_NOMEM;
    }

    *a = (answer_t){ .resolver = r->resolver,
                     .shown = a->shown,
                     .questions = a->questions };
    t->answer = a;

    for (uint32_t i = 0; i < t->request.pairs.n; i++) {
        a->shown[i] = (shown_t){ 0 };
        pairs[i].job = 0;
        pairs[i].stacks = 0;
    }

    share_modules(t);
    r->step = write_line;
    return SYM_OK;
}


bool
tecken_resume(sym_request_t *r)
{
    sym_tecken_t *t = (sym_tecken_t *) r;

    share_modules(t);
    t->answer->chunk_end = t->answer->frame; /* chunks are looked up again in
                                                the new snapshot */
    return true;
}
