#include "api/sentry/dump.h"

#include "api/sentry/any.h"
#include "api/sentry/dump_walks.h"
#include "api/sentry/http.h"

void
sentry_dump_use(sym_request_t *r, const sym_crash_t *crash,
                const sentry_dump_file_t *file,
                const sentry_dump_options_t *options)
{
    sentry_dump_t *d = (sentry_dump_t *) r;

    r->form = sentry_form(r);
    d->crash = crash;
    d->file = *file;
    d->base.request.has_candidates = options->has_candidates;
    d->base.request.has_context = options->has_context;
}


bool
sentry_init_dump(sym_request_t *r, const sym_api_call_t *call)
{
    sentry_dump_t *d = (sentry_dump_t *) r;

    r->form = sentry_form(r);
    d->base.scope = sentry_read_scope(r->arena, call->query);
    d->file = (sentry_dump_file_t){ call->read, call->file };
    d->linked = call->linked;
    d->failure = call->failure;
    d->rewrite = call->rewrite;
    return d->base.scope.data != NULL;
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


static bool
add_module(sentry_dump_t *d, const sym_crash_module_t *from)
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
    m->ref.code_file = sentry_dump_text(from->code_file);
    m->ref.debug_file = sentry_dump_text(from->debug_file);
    return true;
}


/* Orders the loaded modules by address, then by size.  Returns their number. */
static uint32_t
order_modules(const sym_crash_t *crash, sym_sort_item_t *order, bool *is_fine)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < crash->n_modules; i++) {
        if (!crash->modules[i].is_unloaded) {
            order[n++] = (sym_sort_item_t){ crash->modules[i].size, i };
        }
    }

    *is_fine = sym_sort(order, n);
    for (uint32_t i = 0; i < n; i++) {
        order[i].key = crash->modules[order[i].at].addr;
    }

    *is_fine = *is_fine && sym_sort(order, n);
    return n;
}


/* A module that overlaps one before it is omitted, as in Symbolicator
 * (IntoRangeMapSafe in minidump-common). */
static sym_status_t
add_modules(sentry_dump_t *d)
{
    const sym_crash_t *crash = d->crash;
    const sym_crash_module_t *last = NULL;
    sym_sort_item_t *order =
        sym_arena_calloc(d->base.base.arena, crash->n_modules, sizeof(*order));
    bool is_fine;
    uint32_t n;

    if (order == NULL) {
        return SYM_NOMEM;
    }

    n = order_modules(crash, order, &is_fine);
    for (uint32_t i = 0; i < n && is_fine; i++) {
        const sym_crash_module_t *m = &crash->modules[order[i].at];

        if (m->size != 0 && m->size <= UINT64_MAX - m->addr
            && (last == NULL || m->addr - last->addr >= last->size))
        {
            is_fine = add_module(d, m);
            last = m;
        }
    }

    return is_fine ? sentry_sort_modules(&d->base) : SYM_NOMEM;
}


/* --- stacks --- */

static bool
add_registers(sentry_dump_t *d, const sym_crash_thread_t *t,
              sentry_stack_t *stack)
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


/* Adds all stacks; their frames are added when a walk ends. */
static sym_status_t
add_stacks(sentry_dump_t *d)
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


/* --- the request --- */

static sym_status_t
begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    sentry_dump_t *d = (sentry_dump_t *) r;

    if (d->crash->failure.len != 0) {
        sym_out_raw(out, SYM_STR("{\"status\": \"failed\", \"message\": "));
        sym_out_string(out, d->crash->failure);
        sym_out_raw(out, SYM_STR("}"));
        r->step = NULL;
        return SYM_OK;
    }

    sentry_walks_reopen(d);
    if (r->was_unsound) {
        sentry_walks_restart(d);
    }

    r->step = d->is_walked ? sentry_begin : sentry_walks_go_on;
    return r->step(r, out, budget);
}


static void
write_crash(const sentry_t *s, sym_out_t *out)
{
    const sym_crash_t *c = ((const sentry_dump_t *) s)->crash;

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
read_options(sentry_dump_t *d)
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
read_report(sentry_dump_t *d)
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


/* Returns the module that will be searched for under another name. */
static sentry_module_t *
first_module(sentry_dump_t *d)
{
    sentry_request_t *q = &d->base.request;

    return q->n_modules != 0 ? &q->modules[q->order[0].at] : NULL;
}


/* Applies the next rule; if several match a module, the first one counts. */
static sym_status_t
rewrite(sentry_dump_t *d)
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
        m->ref.debug_file = sentry_dump_text(name);
    }

    return rc == SYM_NOMEM ? rc : SYM_OK;
}


static sym_status_t
begin_walks(sentry_dump_t *d)
{
    sym_request_t *r = &d->base.base;
    sym_status_t rc;

    d->base.request.is_report = true;
    d->base.write_crash = write_crash;
    rc = add_stacks(d);
    if (rc != SYM_OK) {
        return rc;
    }

    r->stats.jobs = 1;
    r->stats.stacks = d->crash->n_threads;
    r->stats.frames = SYM_RESOLVE_CHUNK; /* not known yet: makes room for as
                                            many questions */
    return sentry_walks_prepare(d);
}


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    sentry_dump_t *d = (sentry_dump_t *) r;
    sym_status_t rc = d->crash == NULL ? read_report(d) : SYM_OK;

    (void) budget; /* the size of a report is limited elsewhere */
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
    .size = sizeof(sentry_dump_t),
    .parse = parse,
    .begin = begin,
    .resume = sentry_resume,
};
