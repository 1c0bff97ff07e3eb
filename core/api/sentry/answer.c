#include "api/sentry/sentry.h"

#include "base/steps.h"

static sym_status_t write_stack(sym_request_t *r, sym_out_t *out,
                                uint32_t *budget);
static sym_status_t write_frames(sym_request_t *r, sym_out_t *out,
                                 uint32_t *budget);
static sym_status_t write_modules(sym_request_t *r, sym_out_t *out,
                                  uint32_t *budget);

/* --- frames before the lookup --- */

static const sentry_stack_t *
present_stack(const sentry_t *s)
{
    return &s->request.stacks[s->answer->stack];
}


/* Returns the number of a frame, counted from the innermost call. */
static uint32_t
index_of(const sentry_t *s, const sentry_stack_t *stack, uint32_t at)
{
    return s->request.is_caller_first ? stack->n - 1 - at : at;
}


static const sentry_register_t *
find_register(const sentry_stack_t *stack, const char *name)
{
    const sentry_register_t *r = stack->registers;

    while (r != NULL && (name == NULL || !sym_str_eq(r->name, sym_cstr(name))))
    {
        r = r->next;
    }

    return r;
}


/* Returns the address to look up in the module.  False: it has no address. */
static bool
find_address(sentry_t *s, const sentry_stack_t *stack,
             const sentry_frame_t *frame, uint32_t index, sentry_place_t *place)
{
    const sentry_module_t *m = &s->request.modules[place->module];
    const sentry_arch_t *arch = sentry_facts(s, place->module)->arch;
    sentry_call_t call = { .adjust = frame->adjust,
                           .is_innermost = index == 0 };
    uint64_t addr = frame->addr;

    if (m->addr == 0) {
        place->relative = addr;
        return frame->is_relative;
    }

    if (frame->is_relative) {
        addr += m->addr;
        if (addr < m->addr) {
            /* Symbolicator does not adjust this address either */
            place->relative = frame->addr;
            return true;
        }
    }

    if (call.adjust == SENTRY_ADJUST_AUTO && stack->has_adjust) {
        call.adjust = SENTRY_ADJUST_YES;
    }

    if (index == 0 && s->request.has_signal) {
        const sentry_register_t *ip = find_register(stack, arch->ip);

        call.is_crash = sentry_is_crash_signal(s->request.signal);
        call.has_ip = ip != NULL && arch->ip != NULL;
        call.ip = call.has_ip ? ip->value : 0;
    }

    addr = sentry_call_address(arch, addr, &call);
    place->relative = addr - m->addr;
    return addr >= m->addr;
}


void
sentry_locate(sentry_t *s, const sentry_stack_t *stack,
              const sentry_frame_t *frame, uint32_t index,
              sentry_place_t *place)
{
    const sym_need_t *need;

    *place = (sentry_place_t){ .module = frame->module };
    if (place->module == SENTRY_NO_MODULE) {
        place->status = SENTRY_UNKNOWN_IMAGE;
        return;
    }

    place->need = s->request.modules[place->module].need - 1;
    need = &s->base.needs[place->need];

    if (need->found != SYM_NEED_FOUND) {
        place->status =
            sentry_facts(s, place->module)->error == SYM_MODULE_MALFORMED
                ? SENTRY_MALFORMED
                : SENTRY_MISSING;
        return;
    }

    place->is_il = need->kind == SYM_KIND_PPDB;
    if (place->is_il) {
        place->status = sentry_field(frame, SENTRY_FUNCTION_ID) == NULL
                            ? SENTRY_MISSING_SYMBOL
                            : SENTRY_SYMBOLICATED;
        return;
    }

    place->status = find_address(s, stack, frame, index, place)
                            && place->relative <= UINT32_MAX
                        ? SENTRY_SYMBOLICATED
                        : SENTRY_MISSING_SYMBOL;
}


/* Looks up as many of the next frames of the stack as the budget covers. */
static void
ask_chunk(sentry_t *s, uint32_t budget)
{
    sentry_answer_t *a = s->answer;
    const sentry_stack_t *stack = present_stack(s);
    double started = s->base.options->now_s();
    uint32_t n_questions = 0;

    a->chunk = a->frame;
    a->n_chunk = stack->n - a->frame;
    a->n_chunk = a->n_chunk < budget ? a->n_chunk : budget;
    a->n_chunk =
        a->n_chunk < SYM_RESOLVE_CHUNK ? a->n_chunk : SYM_RESOLVE_CHUNK;

    for (uint32_t i = 0; i < a->n_chunk; i++) {
        uint32_t at = a->frame + i;
        sentry_place_t *place = &a->places[i];

        sentry_locate(s, stack, sentry_frame(&s->request, stack->first + at),
                      index_of(s, stack, at), place);

        if (place->status == SENTRY_SYMBOLICATED && !place->is_il) {
            place->question = n_questions;
            a->questions[n_questions++] =
                (sym_question_t){ place->need, (uint32_t) place->relative };
        }
    }

    sym_resolver_ask(a->resolver, a->questions, n_questions);
    s->base.stats.lookup_s += s->base.options->now_s() - started;
}


/* --- garbage after _start --- */

/*
 * Unwind information does not mark _start as the outermost function, so
 * unwinders find one more frame after it.  Symbolicator drops the outermost
 * frame if no module covers it and the frame before it is _start; frames that
 * are dropped themselves do not count.
 */

/* Whether the answer shows _start as the frame's function. */
static bool
is_start(sentry_t *s, const sentry_frame_t *frame, const sentry_place_t *place,
         const sym_answer_t *answer)
{
    const sentry_field_t *function = sentry_field(frame, SENTRY_FUNCTION);
    sym_str_t name = function != NULL ? function->value.text : SYM_STR("");

    if (answer->n_levels != 0
        && !sym_resolver_text(s->answer->resolver, place->need,
                              answer->levels[answer->n_levels - 1].name, &name))
    {
        return false;
    }

    return sym_str_eq(name, SYM_STR("_start"));
}


/* Looks one frame up.  False: the answer omits it. */
static bool
is_shown(sentry_t *s, const sentry_frame_t *frame, uint32_t index,
         sentry_place_t *place, sym_answer_t *answer)
{
    sentry_answer_t *a = s->answer;
    sentry_status_t status;
    sym_il_frame_t found;

    sentry_locate(s, present_stack(s), frame, index, place);
    *answer = (sym_answer_t){ 0 };
    status = place->status;

    if (place->is_il) {
        status = sentry_look_up_il(s, frame, place, &found)
                     ? SENTRY_SYMBOLICATED
                     : SENTRY_MISSING_SYMBOL;
    } else if (status == SENTRY_SYMBOLICATED) {
        a->questions[0] =
            (sym_question_t){ place->need, (uint32_t) place->relative };
        sym_resolver_ask(a->resolver, a->questions, 1);
        (void) sym_resolver_answer(a->resolver, 0, answer);
        if (!sentry_is_named(answer)) {
            *answer = (sym_answer_t){ 0 };
            status = SENTRY_MISSING_SYMBOL;
        }
    }

    return !sentry_is_dropped(frame, status);
}


static const sentry_frame_t *
frame_at(const sentry_t *s, const sentry_stack_t *stack, uint32_t index)
{
    return sentry_frame(&s->request, stack->first + index_of(s, stack, index));
}


/* Finds the outermost frame that is shown. */
static sym_status_t
look_for_start(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sentry_t *s = (sentry_t *) r;
    sentry_answer_t *a = s->answer;
    const sentry_stack_t *stack = present_stack(s);

    (void) out;
    for (; *budget > 0; --*budget) {
        const sentry_frame_t *frame;
        sentry_place_t place;
        sym_answer_t answer;

        if (++a->tail == stack->n) {
            r->step = write_frames;
            break;
        }

        frame = frame_at(s, stack, stack->n - 1 - a->tail);
        if (is_shown(s, frame, stack->n - 1 - a->tail, &place, &answer)) {
            a->drops_last = is_start(s, frame, &place, &answer);
            r->step = write_frames;
            break;
        }
    }

    return SYM_OK;
}


/* --- frames --- */

static sym_status_t
write_frames(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sentry_t *s = (sentry_t *) r;
    sentry_answer_t *a = s->answer;
    const sentry_stack_t *stack = present_stack(s);

    while (a->frame<stack->n && * budget> 0 && !out->is_full) {
        uint32_t index = index_of(s, stack, a->frame);
        sym_status_t rc = SYM_OK;

        if (a->frame >= a->chunk + a->n_chunk) {
            ask_chunk(s, *budget);
        }

        if (!a->drops_last || index + 1 != stack->n) {
            if (!a->is_begun) {
                a->level = 0;
            }
            rc = sentry_write_frame(
                s, index, sentry_frame(&s->request, stack->first + a->frame),
                &a->places[a->frame - a->chunk], out, budget);
            *budget -= *budget < a->cost ? *budget : a->cost;
            a->cost = 0;
        }

        if (rc != SYM_OK) {
            return rc == SYM_AGAIN ? SYM_OK : rc; /* the chunk is large
                                                     enough */
        }

        a->frame++;
        *budget -= *budget != 0;
    }

    if (a->frame == stack->n) {
        sym_out_raw(out, SYM_STR("]}"));
        a->stack++;
        r->step = write_stack;
    }

    return SYM_OK;
}


/* --- members around the frames --- */

static void
write_registers(const sentry_stack_t *stack, sym_out_t *out)
{
    for (const sentry_register_t *r = stack->registers; r != NULL; r = r->next)
    {
        sym_out_raw(out, r == stack->registers ? SYM_STR("\"registers\": {")
                                               : SYM_STR(", "));
        sym_out_string(out, r->name);
        sym_out_raw(out, SYM_STR(": "));
        sym_out_hex_string(out, r->value);
    }

    if (stack->registers != NULL) {
        sym_out_raw(out, SYM_STR("}, "));
    }
}


static sym_status_t
write_stack(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sentry_t *s = (sentry_t *) r;
    sentry_answer_t *a = s->answer;
    const sentry_stack_t *stack;

    --*budget;
    if (a->stack == s->request.n_stacks) {
        sym_request_note_damage(r);
        sym_out_raw(out, SYM_STR("], \"modules\": ["));
        r->step = write_modules;
        return SYM_OK;
    }

    stack = present_stack(s);
    sym_out_raw(out, a->stack == 0 ? SYM_STR("{") : SYM_STR(", {"));

    if (stack->has_thread_id) {
        sym_out_raw(out, SYM_STR("\"thread_id\": "));
        sym_out_dec(out, stack->thread_id);
        sym_out_raw(out, SYM_STR(", "));
    }

    if (stack->thread_name.data != NULL) {
        sym_out_raw(out, SYM_STR("\"thread_name\": "));
        sym_out_string(out, stack->thread_name);
        sym_out_raw(out, SYM_STR(", "));
    }

    if (stack->has_requesting) {
        sym_out_raw(out, stack->is_requesting
                             ? SYM_STR("\"is_requesting\": true, ")
                             : SYM_STR("\"is_requesting\": false, "));
    }

    write_registers(stack, out);
    sym_out_raw(out, SYM_STR("\"frames\": ["));

    a->frame = 0;
    a->chunk = 0;
    a->n_chunk = 0;
    a->is_first = true;
    a->is_begun = false;
    a->drops_last = false;
    a->tail = 0;

    r->step =
        stack->n < 2
                || frame_at(s, stack, stack->n - 1)->module != SENTRY_NO_MODULE
            ? write_frames
            : look_for_start;
    return SYM_OK;
}


static sym_status_t
write_head(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    const sentry_t *s = (const sentry_t *) r;

    (void) budget;
    sym_out_raw(out, SYM_STR("{\"status\": \"completed\", "));

    if (s->request.has_signal) {
        sym_out_raw(out, SYM_STR("\"signal\": "));
        sym_out_dec(out, s->request.signal);
        sym_out_raw(out, SYM_STR(", "));
    }

    if (s->write_crash != NULL) {
        s->write_crash(s, out);
    }

    sym_out_raw(out, SYM_STR("\"stacktraces\": ["));
    r->step = write_stack;
    return SYM_OK;
}


static sym_status_t
write_modules(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sentry_t *s = (sentry_t *) r;
    sentry_answer_t *a = s->answer;

    for (; a->module<s->request.n_modules && * budget> 0 && !out->is_full;
         a->module++)
    {
        if (!sentry_is_listed(s, a->module)) {
            sym_budget_charge(budget, 1);
            continue;
        }

        if (a->has_module) {
            sym_out_raw(out, SYM_STR(", "));
        }
        a->has_module = true;
        sym_budget_charge(budget, sentry_write_module(s, a->module, out));
    }

    if (a->module == s->request.n_modules) {
        sym_out_raw(out, SYM_STR("]}"));
        r->step = NULL;
    }

    return SYM_OK;
}


/* --- an answer in a snapshot --- */

static sentry_answer_t *
answer_create(const sentry_t *s)
{
    const sentry_request_t *q = &s->request;
    sym_arena_t *arena = s->base.arena;
    sentry_answer_t *a = sym_arena_calloc(arena, 1, sizeof(*a));
    size_t chunk =
        q->n_frames < SYM_RESOLVE_CHUNK ? q->n_frames : SYM_RESOLVE_CHUNK;

    if (a == NULL) {
        return NULL;
    }

    a->places = sym_arena_alloc(arena, chunk * sizeof(*a->places));
    a->questions = sym_arena_alloc(arena, chunk * sizeof(*a->questions));
    a->facts = sym_arena_alloc(arena, q->n_modules * sizeof(*a->facts));
    a->packages = sym_arena_calloc(arena, q->n_modules, sizeof(*a->packages));

    return a->places != NULL && a->questions != NULL && a->facts != NULL
                   && a->packages != NULL
               ? a
               : NULL;
}


sym_status_t
sentry_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sentry_t *s = (sentry_t *) r;
    sentry_answer_t *a = s->answer != NULL ? s->answer : answer_create(s);

    if (a == NULL) {
        return SYM_NOMEM;
    }

    *a = (sentry_answer_t){ .resolver = r->resolver,
                            .places = a->places,
                            .questions = a->questions,
                            .rendered = a->rendered,
                            .path = a->path,
                            .path_room = a->path_room,
                            .facts = a->facts,
                            .packages = a->packages,
                            .sources = a->sources };
    s->answer = a;

    for (uint32_t i = 0; i < s->request.n_modules; i++) {
        a->facts[i] = (sentry_facts_t){ 0 };
    }

    sym_resolver_use_style(r->resolver, SYM_DEMANGLE_PARAMS);
    r->step = write_head;
    return s->request.has_context ? sentry_begin_context(s, write_head)
                                  : write_head(r, out, budget);
}


bool
sentry_resume(sym_request_t *r)
{
    sentry_answer_t *a = ((sentry_t *) r)->answer;

    a->n_chunk = 0; /* chunks are looked up again in the new snapshot */
    a->chunk = a->frame;
    return !a->is_begun;
}
