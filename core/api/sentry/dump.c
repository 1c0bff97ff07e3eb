#include "api/sentry/dump.h"

#include "api/sentry/any.h"
#include "api/sentry/http.h"
#include "api/sentry/readers.h"

/* Threads that are walked at a time: one that waits for rules does not hold up
 * the others. */
#define WALKS 32

/* Frames of all threads that are shown: 512 threads have room for all of theirs.
 * More would cost hundreds of bytes each in an answer that hostile dumps fill.  The
 * thread that crashed comes first. */
#define FRAMES_MAX (512u * SYM_WALK_FRAMES_MAX)

/* A module, as the walks use it. */
typedef struct {
    bool is_tried; /* in this snapshot */
    bool is_open;
    sym_cfi_t cfi;
} rules_t;

typedef struct {
    uint32_t thread; /* SYM_CRASH_NO_THREAD: the slot is free */
    sym_walk_t walk;
} slot_t;

typedef struct {
    sentry_t base; /* first */
    const sym_crash_t *crash;
    sentry_dump_file_t file;
    const sym_request_t
        *linked;            /* has the options; NULL: the report has them */
    sym_str_t failure;      /* why there is no report, or "" */
    sym_rewrite_pt rewrite; /* NULL: no name is rewritten */
    uint32_t n_rules;       /* that were applied */
    bool is_read, is_rewritten;

    sym_walk_owner_t owner;
    sym_process_t process;
    sym_image_t *images;
    uint32_t *module_of; /* of each image */
    rules_t *rules;      /* of each module */
    slot_t *slots;
    uint8_t *ends;       /* sym_walk_end_t of each thread */
    uint32_t thread;     /* number of threads that were begun */
    uint32_t n_reserved; /* their frames, or an upper bound */
    bool is_walked;
    bool is_out_of_memory; /* a callback's failure */
} dump_t;


void
sentry_dump_use(sym_request_t *r, const sym_crash_t *crash,
                const sentry_dump_file_t *file,
                const sentry_dump_options_t *options)
{
    dump_t *d = (dump_t *) r;

    r->form = sentry_form(r);
    d->crash = crash;
    d->file = *file;
    d->base.request.has_candidates = options->has_candidates;
    d->base.request.has_context = options->has_context;
}


bool
sentry_init_dump(sym_request_t *r, const sym_api_call_t *call)
{
    dump_t *d = (dump_t *) r;

    r->form = sentry_form(r);
    d->base.scope = sentry_read_scope(r->arena, call->query);
    d->file = (sentry_dump_file_t){ call->read, call->file };
    d->linked = call->linked;
    d->failure = call->failure;
    d->rewrite = call->rewrite;
    return d->base.scope.data != NULL;
}


sym_walk_end_t
sentry_dump_end(const sym_request_t *r, uint32_t thread)
{
    const dump_t *d = (const dump_t *) r;

    return d->ends != NULL && thread < d->crash->n_threads
               ? (sym_walk_end_t) d->ends[thread]
               : SYM_WALK_NOT_ENDED;
}


sym_str_t
sentry_dump_rules(const sym_request_t *r, uint64_t addr)
{
    const dump_t *d = (const dump_t *) r;
    const uint32_t image = sym_image_at(&d->process, addr);
    const sentry_module_t *m =
        image != SYM_NO_IMAGE ? &d->base.request.modules[d->module_of[image]]
                              : NULL;

    return m != NULL && m->unwind != 0
                   && r->needs[m->unwind - 1].artifact.id != 0
               ? r->needs[m->unwind - 1].artifact.source
               : SYM_STR("");
}


/* --- modules --- */

static sym_object_type_t
type_of(sym_os_t os)
{
    switch (os) {
    case SYM_OS_WINDOWS:
        return SYM_OBJECT_PE;
    case SYM_OS_MACOS:
    case SYM_OS_IOS:
        return SYM_OBJECT_MACHO;
    case SYM_OS_LINUX:
    case SYM_OS_SOLARIS:
    case SYM_OS_ANDROID:
        return SYM_OBJECT_ELF;
    default:
        return SYM_OBJECT_UNKNOWN;
    }
}


/* An empty string counts as absent. */
static sym_str_t
text_or_null(sym_str_t text)
{
    return text.len != 0 ? text : sym_str(NULL, 0);
}


static sym_str_t
text_of_object(sym_str_t text)
{
    return text.len <= SYM_OBJECT_TEXT_MAX ? text : SYM_STR("");
}


static bool
add_module(dump_t *d, const sym_crash_module_t *from)
{
    sentry_module_t *m = sentry_add_module(&d->base);

    if (m == NULL) {
        return false;
    }

    m->code_file = text_or_null(from->code_file);
    m->debug_file = text_or_null(from->debug_file);
    m->addr = from->addr;
    m->size = from->size;
    m->has_size = from->size != 0;
    m->ref.type = type_of(d->crash->os);
    (void) sym_debug_id_read_breakpad(from->debug_id, &m->ref.debug_id);
    (void) sym_code_id_read(from->code_id, &m->ref.code_id);
    m->ref.code_file = text_of_object(from->code_file);
    m->ref.debug_file = text_of_object(from->debug_file);
    return true;
}


/* Modules in the order of their addresses; unloaded ones are omitted. */
static sym_status_t
add_modules(dump_t *d)
{
    const sym_crash_t *crash = d->crash;
    sym_arena_t *arena = d->base.base.arena;
    sym_sort_item_t *order =
        sym_arena_calloc(arena, crash->n_modules, sizeof(*order));
    uint32_t n = 0;

    if (order == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < crash->n_modules; i++) {
        if (!crash->modules[i].is_unloaded) {
            order[n++] = (sym_sort_item_t){ crash->modules[i].addr, i };
        }
    }

    if (!sym_sort(order, n)) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < n; i++) {
        if (!add_module(d, &crash->modules[order[i].at])) {
            return SYM_NOMEM;
        }
    }

    return sentry_sort_modules(&d->base);
}


/* Modules whose address ranges do not overlap: the first of two. */
static sym_status_t
add_images(dump_t *d)
{
    const sentry_request_t *q = &d->base.request;
    sym_arena_t *arena = d->base.base.arena;
    uint32_t n = 0;

    d->images = sym_arena_calloc(arena, q->n_modules, sizeof(*d->images));
    d->module_of = sym_arena_calloc(arena, q->n_modules, sizeof(*d->module_of));
    d->rules = sym_arena_calloc(arena, q->n_modules, sizeof(*d->rules));
    if (d->images == NULL || d->module_of == NULL || d->rules == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < q->n_modules; i++) {
        const sentry_module_t *m = &q->modules[i];

        if (m->size != 0 && m->size <= UINT64_MAX - m->addr
            && (n == 0
                || m->addr - d->images[n - 1].addr >= d->images[n - 1].size))
        {
            d->images[n] = (sym_image_t){ m->addr, m->size };
            d->module_of[n++] = i;
        }
    }

    sym_process_init(&d->process, d->crash->arch, d->crash->os, d->images, n,
                     &d->owner);
    return SYM_OK;
}


/* Without sources no module can be fetched. */
static const sym_object_ref_t *
ref_of(const dump_t *d, const sentry_module_t *m)
{
    static const sym_object_ref_t nothing = { .is_either = false };
    const sym_request_sources_t *sources = d->base.base.request_sources;

    return sources != NULL && sources->n == 0 ? &nothing : &m->ref;
}


/* --- requests of walks --- */

static bool
read_file(void *ctx, uint64_t at, void *to, size_t len)
{
    dump_t *d = ctx;

    return d->file.read(d->file.ctx, at, to, len);
}


/* The rules of a module are needed.  SYM_AGAIN: it is not known yet whether there
 * are any. */
static sym_status_t
need_rules(dump_t *d, uint32_t module)
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


/* The debug id that a dump lacks is that of the file that its code id found.  A
 * PDB is looked for by its name as well. */
static sym_status_t
complete_module(dump_t *d, uint32_t module, const sym_debug_id_t *id)
{
    sentry_module_t *m = &d->base.request.modules[module];
    sym_str_t name = sym_cfi_debug_file(&d->rules[module].cfi);

    /* a PE file without a debug id is stored under its code id */
    if (m->ref.debug_id.form != SYM_DEBUG_ID_NONE
        || id->form != SYM_DEBUG_ID_UUID) {
        return SYM_OK;
    }

    m->ref.debug_id = *id;
    if (m->debug_file.len == 0 && sym_str_ends_nocase(name, SYM_STR(".pdb"))) {
        m->debug_file = sym_arena_copy(d->base.base.arena, name);
        m->ref.debug_file = text_of_object(m->debug_file);
        d->is_out_of_memory |= m->debug_file.data == NULL;
    }

    return d->is_out_of_memory ? SYM_NOMEM : SYM_OK;
}


/* SYM_NOT_FOUND: there are none. */
static sym_status_t
open_rules(dump_t *d, uint32_t module, const sym_cfi_t **cfi)
{
    rules_t *rules = &d->rules[module];
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
    dump_t *d = ctx;
    const sym_cfi_t *cfi;
    sym_error_t err = { 0 };
    sym_status_t rc = open_rules(d, d->module_of[image], &cfi);

    if (rc != SYM_OK || offset > UINT32_MAX) {
        return rc == SYM_OK ? SYM_NOT_FOUND : rc;
    }

    return sym_cfi_unwind(cfi, (uint32_t) offset, callee, memory, caller, &err);
}


/* Whether the module's symbols have a function there.  SYM_AGAIN as above. */
static sym_status_t
has_symbol(dump_t *d, uint32_t module, uint32_t offset)
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

    if (need >= r->n_opened) {
        return SYM_AGAIN;
    }

    if (r->needs[need].found != SYM_NEED_FOUND) {
        return SYM_OK; /* no source has it */
    }

    question = (sym_question_t){ need, offset };
    sym_resolver_ask(r->resolver, &question, 1);
    (void) sym_resolver_answer(r->resolver, 0, &answer);
    return sentry_is_named(&answer) ? SYM_OK : SYM_NOT_FOUND;
}


/* Symbolicator refuses an address if the module has rules, and symbols, and
 * neither know it. */
static sym_status_t
is_code(void *ctx, uint32_t image, uint64_t offset)
{
    dump_t *d = ctx;
    const sym_cfi_t *cfi;
    sym_cfi_rules_t rules;
    sym_status_t rc = open_rules(d, d->module_of[image], &cfi);

    if (rc != SYM_OK) {
        return rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    if (offset > UINT32_MAX) {
        return SYM_NOT_FOUND;
    }

    return sym_cfi_lookup(cfi, (uint32_t) offset, &rules) == SYM_OK
               ? SYM_OK
               : has_symbol(d, d->module_of[image], (uint32_t) offset);
}


/* --- stacks --- */

static bool
add_registers(dump_t *d, const sym_crash_thread_t *t, sentry_stack_t *stack)
{
    for (unsigned i = SYM_UNWIND_REGISTERS; i-- > 0;) {
        const char *name = sym_crash_register_name(d->crash->arch, i);

        if (name != NULL && sym_unwind_has(&t->registers, i)
            && !sentry_add_register(&d->base, stack, sym_cstr(name),
                                    t->registers.value[i]))
        {
            return false;
        }
    }

    return true;
}


/* All stacks are there from the beginning; frames are added when a walk ends. */
static sym_status_t
add_stacks(dump_t *d)
{
    const sym_crash_t *crash = d->crash;

    for (uint32_t i = 0; i < crash->n_threads; i++) {
        const sym_crash_thread_t *t = &crash->threads[i];
        sentry_stack_t *stack = sentry_add_stack(&d->base);

        if (stack == NULL) {
            return SYM_NOMEM;
        }

        stack->has_thread_id = true;
        stack->thread_id = t->id;
        stack->thread_name = t->has_name ? t->name : sym_str(NULL, 0);
        stack->has_requesting = crash->requesting != SYM_CRASH_NO_THREAD;
        stack->is_requesting = crash->requesting == i;
        if (t->has_context && !add_registers(d, t, stack)) {
            return SYM_NOMEM;
        }
    }

    return SYM_OK;
}


static sentry_frame_t *
add_frame(dump_t *d, uint64_t addr, sentry_trust_t trust, uint32_t thread)
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
add_client_frames(dump_t *d, uint32_t thread)
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


/* The frames of a walk that has ended.  The rules of every frame's module are
 * needed, for its state in the answer. */
static bool
add_frames(dump_t *d, const sym_walk_t *w, uint32_t thread)
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
            && need_rules(d, d->module_of[from->image]) == SYM_NOMEM)
        {
            return false;
        }
    }

    return true;
}


/* The n-th thread to be walked. */
static uint32_t
nth_thread(const sym_crash_t *crash, uint32_t n)
{
    if (crash->requesting == SYM_CRASH_NO_THREAD || n > crash->requesting) {
        return n;
    }

    return n == 0 ? crash->requesting : n - 1;
}


/* Most frames that the next thread may have. */
static uint32_t
frames_left(const dump_t *d)
{
    uint32_t most = d->base.base.options->limits.frames, left;

    most = most == 0 || most > FRAMES_MAX ? FRAMES_MAX : most;
    left = most - (most < d->n_reserved ? most : d->n_reserved);
    return left < SYM_WALK_FRAMES_MAX ? left : SYM_WALK_FRAMES_MAX;
}


/* Begins with the next thread, or frees the slot. */
static void
begin_thread(dump_t *d, slot_t *slot)
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
walk_slot(dump_t *d, slot_t *slot, uint32_t *budget)
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


/* The symbols of modules that frames are in. */
static sym_status_t
need_symbols(dump_t *d)
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


/* Whether the rules of a module are awaited that may have its debug id. */
static bool
is_incomplete(dump_t *d)
{
    const sentry_request_t *q = &d->base.request;
    bool is_waiting = false;
    const sym_cfi_t *cfi;

    for (uint32_t i = 0; i < q->n_modules; i++) {
        is_waiting |= q->modules[i].unwind != 0
                      && q->modules[i].ref.debug_id.form == SYM_DEBUG_ID_NONE
                      && open_rules(d, i, &cfi) == SYM_AGAIN;
    }

    return is_waiting;
}


static sym_status_t
walk_threads(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    dump_t *d = (dump_t *) r;
    bool is_waiting = false;
    sym_status_t rc = SYM_OK;

    (void) out;
    for (unsigned i = 0; i < WALKS && rc == SYM_OK; i++) {
        rc = walk_slot(d, &d->slots[i], budget);
        is_waiting = is_waiting || d->slots[i].thread != SYM_CRASH_NO_THREAD;
    }

    if (rc != SYM_OK || is_waiting || is_incomplete(d)) {
        return d->is_out_of_memory ? SYM_NOMEM : rc; /* called again, with the
                                                        rules */
    }

    d->is_walked = true;
    r->step = sentry_begin;
    return need_symbols(d);
}


/* --- the request --- */

static void
restart(dump_t *d)
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


static sym_status_t
begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    dump_t *d = (dump_t *) r;

    if (d->crash->failure.len != 0) {
        sym_out_raw(out, SYM_STR("{\"status\": \"failed\", \"message\": "));
        sym_out_string(out, d->crash->failure);
        sym_out_raw(out, SYM_STR("}"));
        r->step = NULL;
        return SYM_OK;
    }

    for (uint32_t i = 0; i < d->base.request.n_modules; i++) {
        d->rules[i].is_tried = false;
    }

    if (r->was_unsound) {
        restart(d);
    }

    r->step = d->is_walked ? sentry_begin : walk_threads;
    return r->step(r, out, budget);
}


static void
write_crash(const sentry_t *s, sym_out_t *out)
{
    const sym_crash_t *c = ((const dump_t *) s)->crash;

    sym_out_raw(out, SYM_STR("\"timestamp\": "));
    sym_out_dec(out, c->time_s);
    sym_out_raw(out, SYM_STR(", \"system_info\": {\"os_name\": "));
    sym_out_string(out, sym_cstr(sym_crash_os_name(c->os)));
    sym_out_raw(out, SYM_STR(", \"os_version\": "));
    sym_out_string(out, c->os_version);
    sym_out_raw(out, SYM_STR(", \"os_build\": "));
    sym_out_string(out, c->os_build);
    sym_out_raw(out, SYM_STR(", \"cpu_arch\": "));
    sym_out_string(out, c->cpu);
    sym_out_raw(out, SYM_STR(", \"device_model\": \"\"}, \"crashed\": "));
    sym_out_raw(out, c->is_crash ? SYM_STR("true") : SYM_STR("false"));
    sym_out_raw(out, SYM_STR(", \"crash_reason\": \""));
    if (c->is_crash) {
        sym_out_escaped(out, c->reason);
        sym_out_printf(out, " / 0x%llx", (unsigned long long) c->address);
    }
    sym_out_raw(out, SYM_STR("\", \"assertion\": "));
    sym_out_string(out, c->assertion);
    sym_out_raw(out, SYM_STR(", "));
}


static sym_str_t
field(const sym_crash_t *crash, sym_str_t name)
{
    for (uint32_t i = 0; i < crash->n_fields; i++) {
        if (sym_str_eq(crash->fields[i].name, name)) {
            return crash->fields[i].value;
        }
    }

    return sym_str(NULL, 0);
}


static sym_status_t
read_options(dump_t *d)
{
    sym_str_t parts[SENTRY_PARTS];

    if (d->linked != NULL) {
        sentry_go_on(&d->base, d->linked);
        return SYM_OK;
    }

    for (unsigned i = 0; i < SENTRY_PARTS; i++) {
        parts[i] = field(d->crash, sentry_parts[i]);
    }

    return sentry_read_form(&d->base, parts);
}


static sym_status_t
read_report(dump_t *d)
{
    sym_request_t *r = &d->base.base;
    sym_crash_t *crash = sym_arena_calloc(r->arena, 1, sizeof(*crash));
    sym_error_t err = { 0 };
    sym_status_t rc;

    if (crash == NULL) {
        return SYM_NOMEM;
    }

    d->crash = crash;
    if (d->failure.len != 0) {
        crash->failure = d->failure;
        return SYM_OK;
    }

    rc = sym_crash_read_bytes(r->body, r->arena, crash, &err);
    if (rc != SYM_OK) {
        return rc == SYM_NOMEM
                   ? rc
                   : sym_request_refuse(r, SYM_MALFORMED, "%s", err.what);
    }

    if (crash->refusal.len != 0) {
        return sym_request_refuse(r, SYM_MALFORMED, "%.*s",
                                  (int) crash->refusal.len,
                                  crash->refusal.data);
    }

    return read_options(d);
}


/* The module that is looked for by another name. */
static sentry_module_t *
first_module(dump_t *d)
{
    sentry_request_t *q = &d->base.request;

    return q->n_modules != 0 ? &q->modules[q->order[0].at] : NULL;
}


/* Applies the next rule; of all that match the first counts. */
static sym_status_t
rewrite(dump_t *d)
{
    const sym_rewrite_t *rule = &d->base.request.rewrites[d->n_rules++];
    sentry_module_t *m = first_module(d);
    sym_str_t name = SYM_STR("");
    sym_status_t rc;

    if (d->rewrite == NULL || m == NULL || m->ref.debug_file.len == 0) {
        return SYM_OK;
    }

    rc = d->rewrite(d->base.base.arena, rule, m->ref.debug_file, &name);
    if (rc == SYM_MALFORMED) {
        return sym_request_refuse(&d->base.base, rc,
                                  "rewrite_first_module: regex parse error: "
                                  "%.*s",
                                  (int) name.len, name.data);
    }

    if (rc == SYM_OK && !d->is_rewritten) {
        d->is_rewritten = true;
        m->ref.debug_file = text_of_object(name);
    }

    return rc == SYM_NOMEM ? rc : SYM_OK;
}


static sym_status_t
begin_walks(dump_t *d)
{
    sym_request_t *r = &d->base.base;
    sym_status_t rc;

    d->base.request.is_report = true;
    d->base.write_crash = write_crash;
    d->owner = (sym_walk_owner_t){ read_file, unwind, is_code, d };
    d->slots = sym_arena_alloc(r->arena, WALKS * sizeof(*d->slots));
    d->ends = sym_arena_calloc(r->arena, d->crash->n_threads + 1, 1);
    if (d->slots == NULL || d->ends == NULL) {
        return SYM_NOMEM;
    }

    rc = add_images(d);
    rc = rc != SYM_OK ? rc : add_stacks(d);
    if (rc != SYM_OK) {
        return rc;
    }

    r->stats.jobs = 1;
    r->stats.stacks = d->crash->n_threads;
    r->stats.frames = SYM_RESOLVE_CHUNK; /* unknown yet: room for as many
                                            questions */
    restart(d);
    return SYM_OK;
}


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    dump_t *d = (dump_t *) r;
    sym_status_t rc = d->crash == NULL ? read_report(d) : SYM_OK;

    (void) budget; /* a report is limited as a whole */
    if (rc != SYM_OK || d->crash->failure.len != 0) {
        return rc;
    }

    if (!d->is_read) {
        rc = add_modules(d);
        d->is_read = true;
    }

    if (rc == SYM_OK && d->n_rules < d->base.request.n_rewrites) {
        rc = rewrite(d);
        return rc == SYM_OK ? SYM_AGAIN : rc;
    }

    return rc != SYM_OK ? rc : begin_walks(d);
}


const sym_request_ops_t sentry_dump_ops = {
    .size = sizeof(dump_t),
    .parse = parse,
    .begin = begin,
    .resume = sentry_resume,
};
