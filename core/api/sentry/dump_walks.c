#include "api/sentry/dump_walks.h"

/* Number of threads that are walked at a time, so that one that waits for rules
 * does not block the others. */
#define WALKS 32

/* Maximum number of frames of all threads together: 512 threads have room for
 * all of their frames.  More would cost hundreds of bytes each, in an answer
 * that hostile dumps could fill.  The crashed thread is first. */
#define FRAMES_MAX (512u * SYM_WALK_FRAMES_MAX)

/* Image n is module n. */
static sym_status_t
add_images(sentry_dump_t *d)
{
    const sentry_request_t *q = &d->base.request;
    sym_arena_t *arena = d->base.base.arena;

    d->images = sym_arena_calloc(arena, q->n_modules, sizeof(*d->images));
    d->rules = sym_arena_calloc(arena, q->n_modules, sizeof(*d->rules));
    if (d->images == NULL || d->rules == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < q->n_modules; i++) {
        d->images[i] = (sym_image_t){ q->modules[i].addr, q->modules[i].size };
    }

    sym_process_init(&d->process, d->crash->arch, d->crash->os, d->images,
                     q->n_modules, &d->owner);
    return SYM_OK;
}


/* Without sources, no module can be fetched. */
static const sym_object_ref_t *
ref_of(const sentry_dump_t *d, const sentry_module_t *m)
{
    static const sym_object_ref_t nothing = { .is_either = false };
    const sym_request_sources_t *sources = d->base.base.request_sources;

    return sources != NULL && sources->n == 0 ? &nothing : &m->ref;
}


/* --- requests of walks --- */

static bool
read_file(void *ctx, uint64_t at, void *to, size_t len)
{
    sentry_dump_t *d = ctx;

    return d->file.read(d->file.ctx, at, to, len);
}


/* Requests the rules of a module.  SYM_AGAIN: it is not known yet whether it
 * has rules. */
static sym_status_t
need_rules(sentry_dump_t *d, uint32_t module)
{
    sentry_module_t *m = &d->base.request.modules[module];
    sym_request_t *r = &d->base.base;
    uint32_t need;

    if (m->unwind == 0) {
        if (sym_request_need_object(r, ref_of(d, m), SYM_KIND_CFI, &need)
            != SYM_OK) {
            d->is_out_of_memory = true;
            return SYM_NOMEM;
        }
        r->needs[need].is_thorough = d->base.request.has_candidates;
        m->unwind = need + 1;
    }

    return m->unwind <= r->n_opened ? SYM_OK : SYM_AGAIN;
}


/* If a dump lacks a debug id or file, it comes from the executable that was found
 * by the code id. */
static sym_status_t
complete_module(sentry_dump_t *d, uint32_t module, const sym_debug_id_t *id)
{
    sentry_module_t *m = &d->base.request.modules[module];
    sym_str_t name = sym_cfi_debug_file(&d->rules[module].cfi);

    /* a PE file without a debug id is stored under its code id */
    if (m->ref.debug_id.form == SYM_DEBUG_ID_NONE
        && id->form == SYM_DEBUG_ID_UUID) {
        m->ref.debug_id = *id;
    }

    if (m->debug_file.len == 0 && name.len != 0) {
        m->debug_file = sym_arena_copy(d->base.base.arena, name);
        m->ref.debug_file = sentry_dump_text(m->debug_file);
        d->is_out_of_memory |= m->debug_file.data == NULL;
    }

    return d->is_out_of_memory ? SYM_NOMEM : SYM_OK;
}


/* SYM_NOT_FOUND: the module has no rules. */
static sym_status_t
open_rules(sentry_dump_t *d, uint32_t module, const sym_cfi_t **cfi)
{
    sentry_dump_rules_t *rules = &d->rules[module];
    sym_status_t rc = need_rules(d, module);
    sym_error_t err = { 0 };
    sym_need_t *need;

    if (rc != SYM_OK) {
        return rc;
    }

    need = &d->base.base.needs[d->base.request.modules[module].unwind - 1];
    if (!rules->is_tried) {
        rules->is_tried = true;
        rules->is_open = need->found == SYM_NEED_FOUND
                         && sym_cfi_open(&rules->cfi, sym_artifact_extent,
                                         &need->artifact, &err)
                                == SYM_OK;
        if (rules->is_open
            && complete_module(d, module, &need->artifact.debug_id) != SYM_OK)
        {
            return SYM_NOMEM;
        }
    }

    *cfi = &rules->cfi;
    return rules->is_open ? SYM_OK : SYM_NOT_FOUND;
}


static sym_status_t
unwind(void *ctx, uint32_t image, uint64_t offset,
       const sym_unwind_registers_t *callee, const sym_unwind_memory_t *memory,
       sym_unwind_registers_t *caller)
{
    sentry_dump_t *d = ctx;
    const sym_cfi_t *cfi;
    sym_error_t err = { 0 };
    sym_status_t rc = open_rules(d, image, &cfi);

    if (rc != SYM_OK || offset > UINT32_MAX) {
        return rc == SYM_OK ? SYM_NOT_FOUND : rc;
    }

    return sym_cfi_unwind(cfi, (uint32_t) offset, callee, memory, caller, &err);
}


/* Whether the module's symbols contain a function at the offset.  SYM_AGAIN as
 * above. */
static sym_status_t
has_symbol(sentry_dump_t *d, uint32_t module, uint32_t offset)
{
    const sentry_module_t *m = &d->base.request.modules[module];
    sym_request_t *r = &d->base.base;
    sym_question_t question;
    sym_answer_t answer = { 0 };
    uint32_t need;

    if (sym_request_need(r, m->unwind - 1, SYM_KIND_SYMCACHE, &need) != SYM_OK)
    {
        d->is_out_of_memory = true;
        return SYM_NOMEM;
    }

    r->needs[need].is_thorough = d->base.request.has_candidates;
    if (need >= r->n_opened) {
        return SYM_AGAIN;
    }

    if (r->needs[need].found != SYM_NEED_FOUND) {
        return SYM_OK; /* no source has the symbols */
    }

    question = (sym_question_t){ need, offset };
    sym_resolver_ask(r->resolver, &question, 1);
    (void) sym_resolver_answer(r->resolver, 0, &answer);
    return sentry_is_named(&answer) ? SYM_OK : SYM_NOT_FOUND;
}


/* Symbolicator rejects an address if the module has rules and symbols, and
 * neither cover it. */
static sym_status_t
is_code(void *ctx, uint32_t image, uint64_t offset)
{
    sentry_dump_t *d = ctx;
    const sym_cfi_t *cfi;
    sym_cfi_rules_t rules;
    sym_status_t rc = open_rules(d, image, &cfi);

    if (rc != SYM_OK) {
        return rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    if (offset > UINT32_MAX) {
        return SYM_NOT_FOUND;
    }

    /* Symbolicator looks at STACK CFI, of which a PDB has none: it accepts any
     * address */
    if (cfi->arch == SYM_UNWIND_X86 && (cfi->flags & SYM_CFI_FLAG_WINDOWS) != 0)
    {
        return SYM_OK;
    }

    return sym_cfi_lookup(cfi, (uint32_t) offset, &rules) == SYM_OK
               ? SYM_OK
               : has_symbol(d, image, (uint32_t) offset);
}


/* --- frames --- */

static sentry_frame_t *
add_frame(sentry_dump_t *d, uint64_t addr, sentry_trust_t trust,
          uint32_t thread)
{
    sentry_frame_t *frame = sentry_add_frame_to(&d->base, thread);

    if (frame != NULL) {
        frame->addr = addr;
        frame->trust = (uint8_t) trust;
        frame->module = sentry_module_of(&d->base.request, frame);
    }

    return frame;
}


static bool
add_client_frames(sentry_dump_t *d, uint32_t thread)
{
    const sym_crash_thread_t *t = &d->crash->threads[thread];

    for (uint32_t i = 0; i < t->n_frames; i++) {
        const sym_crash_frame_t *from = &d->crash->frames[t->first_frame + i];
        sentry_frame_t *frame =
            add_frame(d, from->addr, SENTRY_TRUST_PREWALKED, thread);

        if (frame == NULL
            || (from->function.len != 0
                && !sentry_add_field(&d->base, frame, SENTRY_FUNCTION,
                                     from->function)))
        {
            return false;
        }
    }

    return true;
}


/* Adds the frames of a walk that has ended.  Requests the rules of every
 * frame's module, because the answer shows their state. */
static bool
add_frames(sentry_dump_t *d, const sym_walk_t *w, uint32_t thread)
{
    static const sentry_trust_t trusts[] = {
        [SYM_TRUST_CONTEXT] = SENTRY_TRUST_CONTEXT,
        [SYM_TRUST_CFI] = SENTRY_TRUST_CFI,
        [SYM_TRUST_FP] = SENTRY_TRUST_FP,
        [SYM_TRUST_SCAN] = SENTRY_TRUST_SCAN,
    };

    d->ends[thread] = (uint8_t) w->end;
    d->n_reserved -= w->max_frames - w->n_frames;
    if (d->crash->threads[thread].n_frames != 0) {
        return add_client_frames(d, thread);
    }

    for (uint32_t i = 0; i < w->n_frames; i++) {
        const sym_walk_frame_t *from = &w->frames[i];
        sentry_frame_t *frame =
            add_frame(d, from->pc, trusts[from->trust], thread);

        if (frame == NULL) {
            return false;
        }

        frame->adjust = i != 0 && from->is_interrupted ? SENTRY_ADJUST_NO
                                                       : SENTRY_ADJUST_AUTO;
        if (from->image != SYM_NO_IMAGE
            && need_rules(d, from->image) == SYM_NOMEM) {
            return false;
        }
    }

    return true;
}


/* Returns the n-th thread to walk. */
static uint32_t
nth_thread(const sym_crash_t *crash, uint32_t n)
{
    if (crash->requesting == SYM_CRASH_NO_THREAD || n > crash->requesting) {
        return n;
    }

    return n == 0 ? crash->requesting : n - 1;
}


/* Maximum number of frames for the next thread. */
static uint32_t
frames_left(const sentry_dump_t *d)
{
    uint32_t most = d->base.base.options->limits.frames, left;

    most = most == 0 || most > FRAMES_MAX ? FRAMES_MAX : most;
    left = most - (most < d->n_reserved ? most : d->n_reserved);
    return left < SYM_WALK_FRAMES_MAX ? left : SYM_WALK_FRAMES_MAX;
}


/* Begins with the next thread, or frees the slot. */
static void
begin_thread(sentry_dump_t *d, sentry_dump_slot_t *slot)
{
    const sym_crash_thread_t *t;
    uint32_t most;

    slot->thread = SYM_CRASH_NO_THREAD;
    while (d->thread < d->crash->n_threads) {
        uint32_t thread = nth_thread(d->crash, d->thread++);

        most = frames_left(d);
        if (most == 0) {
            d->ends[thread] = SYM_WALK_LIMIT;
            continue;
        }

        slot->thread = thread;
        d->n_reserved += most;
        t = &d->crash->threads[thread];
        sym_walk_begin(&slot->walk, &d->process,
                       t->has_context ? &t->registers : NULL, &t->stack, most);
        return;
    }
}


/* SYM_OK: its thread waits for rules, or no thread is left. */
static sym_status_t
walk_slot(sentry_dump_t *d, sentry_dump_slot_t *slot, uint32_t *budget)
{
    while (slot->thread != SYM_CRASH_NO_THREAD) {
        sym_status_t rc = sym_walk_step(&slot->walk, budget);

        if (d->is_out_of_memory) {
            return SYM_NOMEM;
        }

        if (rc == SYM_AGAIN) {
            return *budget == 0 ? SYM_AGAIN : SYM_OK;
        }

        if (!add_frames(d, &slot->walk, slot->thread)) {
            return SYM_NOMEM;
        }
        begin_thread(d, slot);
        *budget -= *budget != 0;
    }

    return SYM_OK;
}


/* Requests the symbols of modules that contain frames. */
static sym_status_t
need_symbols(sentry_dump_t *d)
{
    sentry_request_t *q = &d->base.request;
    sym_request_t *r = &d->base.base;

    for (uint32_t i = 0; i < q->n_frames; i++) {
        uint32_t module = sentry_frame(q, i)->module, need;
        sentry_module_t *m;
        sym_status_t rc;

        if (module == SENTRY_NO_MODULE || q->modules[module].need != 0) {
            continue;
        }

        m = &q->modules[module];
        rc = m->unwind != 0
                 ? sym_request_need(r, m->unwind - 1, SYM_KIND_SYMCACHE, &need)
                 : sym_request_need_object(r, ref_of(d, m), SYM_KIND_SYMCACHE,
                                           &need);
        if (rc != SYM_OK) {
            return rc;
        }

        r->needs[need].is_thorough = q->has_candidates;
        m->need = need + 1;
    }

    r->stats.frames = q->n_frames;
    return SYM_OK;
}


/* Whether a module without a debug id or file still waits for its rules, which may
 * have them. */
static bool
is_incomplete(sentry_dump_t *d)
{
    const sentry_request_t *q = &d->base.request;
    bool is_waiting = false;
    const sym_cfi_t *cfi;

    for (uint32_t i = 0; i < q->n_modules; i++) {
        const sentry_module_t *m = &q->modules[i];

        is_waiting |= m->unwind != 0
                      && (m->ref.debug_id.form == SYM_DEBUG_ID_NONE
                          || m->debug_file.len == 0)
                      && open_rules(d, i, &cfi) == SYM_AGAIN;
    }

    return is_waiting;
}


sym_status_t
sentry_walks_go_on(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sentry_dump_t *d = (sentry_dump_t *) r;
    bool is_waiting = false;
    sym_status_t rc = SYM_OK;

    (void) out;
    for (unsigned i = 0; i < WALKS && rc == SYM_OK; i++) {
        rc = walk_slot(d, &d->slots[i], budget);
        is_waiting = is_waiting || d->slots[i].thread != SYM_CRASH_NO_THREAD;
    }

    if (rc != SYM_OK || is_waiting || is_incomplete(d)) {
        return d->is_out_of_memory ? SYM_NOMEM : rc; /* called again when the
                                                        rules have arrived */
    }

    d->is_walked = true;
    r->step = sentry_begin;
    return need_symbols(d);
}


/* --- beginning and end --- */

void
sentry_walks_restart(sentry_dump_t *d)
{
    sentry_request_t *q = &d->base.request;

    q->n_frames = 0;
    for (uint32_t i = 0; i < q->n_stacks; i++) {
        q->stacks[i].n = 0;
    }

    d->is_walked = false;
    d->thread = 0;
    d->n_reserved = 0;
    for (unsigned i = 0; i < WALKS; i++) {
        begin_thread(d, &d->slots[i]);
    }
}


sym_status_t
sentry_walks_prepare(sentry_dump_t *d)
{
    sym_arena_t *arena = d->base.base.arena;
    sym_status_t rc;

    d->owner = (sym_walk_owner_t){ read_file, unwind, is_code, d };
    d->slots = sym_arena_alloc(arena, WALKS * sizeof(*d->slots));
    d->ends = sym_arena_calloc(arena, d->crash->n_threads + 1, 1);
    if (d->slots == NULL || d->ends == NULL) {
        return SYM_NOMEM;
    }

    rc = add_images(d);
    if (rc == SYM_OK) {
        sentry_walks_restart(d);
    }

    return rc;
}


void
sentry_walks_reopen(sentry_dump_t *d)
{
    for (uint32_t i = 0; i < d->base.request.n_modules; i++) {
        d->rules[i].is_tried = false;
    }
}


sym_walk_end_t
sentry_dump_end(const sym_request_t *r, uint32_t thread)
{
    const sentry_dump_t *d = (const sentry_dump_t *) r;

    return d->ends != NULL && thread < d->crash->n_threads
               ? (sym_walk_end_t) d->ends[thread]
               : SYM_WALK_NOT_ENDED;
}


sym_str_t
sentry_dump_rules(const sym_request_t *r, uint64_t addr)
{
    const sentry_dump_t *d = (const sentry_dump_t *) r;
    const uint32_t image = sym_image_at(&d->process, addr);
    const sentry_module_t *m =
        image != SYM_NO_IMAGE ? &d->base.request.modules[image] : NULL;

    return m != NULL && m->unwind != 0
                   && r->needs[m->unwind - 1].artifact.id != 0
               ? r->needs[m->unwind - 1].artifact.source
               : SYM_STR("");
}
