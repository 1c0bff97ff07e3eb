#include "api/jvm/jvm.h"

#include "base/hash.h"
#include "base/steps.h"

/* Maximum work on all lookups of a request (base/steps.h). */
#define REQUEST_STEPS (UINT64_C(1) << 26)

/* Resetting this many mappings costs as much as a frame. */
#define STEPS_OF_FRAME 64

static sym_status_t write_exceptions(sym_request_t *r, sym_out_t *out,
                                     uint32_t *budget);
static sym_status_t write_stacks(sym_request_t *r, sym_out_t *out,
                                 uint32_t *budget);
static sym_status_t map_frames(sym_request_t *r, sym_out_t *out,
                               uint32_t *budget);
static sym_status_t write_frames(sym_request_t *r, sym_out_t *out,
                                 uint32_t *budget);
static sym_status_t write_classes(sym_request_t *r, sym_out_t *out,
                                  uint32_t *budget);
static sym_status_t write_errors(sym_request_t *r, sym_out_t *out,
                                 uint32_t *budget);
static sym_status_t write_explanations(sym_request_t *r, sym_out_t *out,
                                       uint32_t *budget);

static bool
is_spent(const sym_out_t *out, uint32_t budget)
{
    return budget == 0 || out->is_full;
}


/* --- mappings --- */

/* Opens the artifacts that were found, each once, in the order of the
 * request. */
static sym_status_t
open_mappings(jvm_t *j)
{
    sym_arena_t *arena = j->base.arena;
    jvm_mapping_t *mappings =
        sym_arena_calloc(arena, j->base.stats.modules, sizeof(*mappings));

    if (mappings == NULL) {
        return SYM_NOMEM;
    }

    j->mappings = mappings;
    j->n_mappings = 0;

    for (uint32_t i = 0; i < j->base.stats.modules; i++) {
        sym_need_t *need = &j->base.needs[i];
        jvm_mapping_t *m = &mappings[j->n_mappings];
        sym_extent_view_t *views;
        sym_error_t err = { 0 };

        if (need->kind != SYM_KIND_JVM || need->found != SYM_NEED_FOUND
            || sym_jvm_open(&m->jvm, sym_artifact_extent, &need->artifact, &err)
                   != SYM_OK
            || m->jvm.in.n > need->artifact.n_extents)
        {
            continue;
        }

        views = sym_arena_calloc(arena, m->jvm.in.n, sizeof(*views));
        if (views == NULL) {
            return SYM_NOMEM;
        }

        sym_jvm_remember(&m->jvm, views);
        m->need = i;
        j->n_mappings++;
    }

    return jvm_open_context(j);
}


/* Whether the artifact of a module is open. */
static bool
is_open(const jvm_t *j, const jvm_module_t *m)
{
    for (uint32_t i = 0; i < j->n_mappings; i++) {
        if (j->mappings[i].need == m->need) {
            return true;
        }
    }

    return false;
}


sym_status_t
jvm_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    jvm_t *j = (jvm_t *) r;
    sym_status_t rc = open_mappings(j);

    (void) budget;

    j->steps = REQUEST_STEPS;
    j->next = 0;
    j->results.n = 0;
    j->order = NULL;
    sym_out_raw(out, SYM_STR("{\"status\": \"completed\", \"exceptions\": ["));
    r->step = write_exceptions;
    return rc;
}


/* Call this before the first frame of a stack. */
static void
begin_frames(jvm_t *j)
{
    j->frame = 0;
    j->results.n = 0;
    j->can_rewrite = j->thrown.data != NULL;

    for (uint32_t i = 0; i < j->n_mappings; i++) {
        j->mappings[i].carried.is_set = false;
    }
}


bool
jvm_resume(sym_request_t *r)
{
    jvm_t *j = (jvm_t *) r;
    uint32_t n = j->n_mappings;

    /* frames of the current stack are views of the previous snapshot */
    if (r->step == write_frames) {
        r->step = map_frames;
    }

    begin_frames(j);
    return open_mappings(j) == SYM_OK && j->n_mappings == n;
}


/* --- exceptions --- */

static void
write_exception(const jvm_t *j, const jvm_exception_t *e, sym_str_t *full,
                sym_out_t *out, uint32_t *budget)
{
    sym_str_t class =
        full->data != NULL ? jvm_map_class(j, *full, budget) : sym_str(NULL, 0);
    sym_str_t module = e->module, type = e->type;
    size_t dot = class.data != NULL ? class.len : 0;

    while (dot > 0 && class.data[dot - 1] != '.') {
        dot--;
    }

    if (class.data != NULL) {
        module = sym_str(class.data, dot != 0 ? dot - 1 : 0);
        type = sym_str(class.data + dot, class.len - dot);
    }

    *full = class.data != NULL ? class : *full;
    sym_out_raw(out, SYM_STR("{\"type\": "));
    sym_out_string(out, type);
    sym_out_raw(out, SYM_STR(", \"module\": "));
    sym_out_string(out, module);
    sym_out_raw(out, SYM_STR("}"));
}


/* Makes MODULE.TYPE; data NULL: out of memory. */
static sym_str_t
full_name(const jvm_t *j, const jvm_exception_t *e)
{
    size_t len = e->module.len + 1 + e->type.len;
    char *text, *p;

    if (e->module.len == 0) {
        return e->type;
    }

    text = sym_arena_alloc(j->base.arena, len);
    if (text == NULL) {
        return sym_str(NULL, 0);
    }

    p = text;
    (void) sym_str_append(&p, e->module);
    (void) sym_str_append(&p, SYM_STR("."));
    (void) sym_str_append(&p, e->type);
    return sym_str(text, len);
}


static sym_status_t
write_exceptions(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    jvm_t *j = (jvm_t *) r;
    const jvm_exception_t *exceptions = j->request.exceptions.items;

    for (; j->next < j->request.exceptions.n; j->next++) {
        sym_str_t full;

        if (is_spent(out, *budget)) {
            return SYM_AGAIN;
        }

        full = full_name(j, &exceptions[j->next]);
        if (full.data == NULL) {
            return SYM_NOMEM;
        }

        sym_budget_charge(budget, 1);
        sym_out_raw(out, j->next != 0 ? SYM_STR(", ") : SYM_STR(""));
        write_exception(j, &exceptions[j->next], &full, out, budget);
    }

    sym_out_raw(out, SYM_STR("], \"stacktraces\": ["));
    j->next = 0;
    r->step = write_stacks;
    return SYM_OK;
}


/* --- stacks --- */

static sym_status_t
write_stacks(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    jvm_t *j = (jvm_t *) r;
    const jvm_stack_t *stacks = j->request.stacks.items, *stack;

    if (is_spent(out, *budget)) {
        return SYM_AGAIN;
    }

    if (j->next == j->request.stacks.n) {
        sym_out_raw(out, SYM_STR("], \"classes\": {"));
        j->next = 0;
        j->is_first = true;
        r->step = write_classes;
        return SYM_OK;
    }

    stack = &stacks[j->next];
    sym_budget_charge(budget, 1);
    sym_out_raw(out, j->next != 0 ? SYM_STR(", {\"exception\": ")
                                  : SYM_STR("{\"exception\": "));
    j->thrown = sym_str(NULL, 0);

    if (stack->exception.type.data == NULL) {
        sym_out_raw(out, SYM_STR("null"));
    } else {
        j->thrown = full_name(j, &stack->exception);
        if (j->thrown.data == NULL) {
            return SYM_NOMEM;
        }
        write_exception(j, &stack->exception, &j->thrown, out, budget);

        /* the stack may continue in another snapshot */
        j->thrown = sym_arena_copy(j->base.arena, j->thrown);
        if (j->thrown.data == NULL) {
            return SYM_NOMEM;
        }
    }

    sym_out_raw(out, SYM_STR(", \"frames\": ["));
    j->result = 0;
    begin_frames(j);
    sym_budget_charge(budget, 1 + j->n_mappings / STEPS_OF_FRAME);
    r->step = map_frames;
    return SYM_OK;
}


/* Writes the innermost frame first. */
static sym_status_t
map_frames(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    jvm_t *j = (jvm_t *) r;
    const jvm_stack_t *stacks = j->request.stacks.items,
                      *stack = &stacks[j->next];

    for (; j->frame < stack->n; j->frame++) {
        uint32_t number = j->request.options.is_callee_first
                              ? j->frame
                              : stack->n - 1 - j->frame;
        sym_status_t rc;

        if (is_spent(out, *budget)) {
            return SYM_AGAIN;
        }

        rc = jvm_map_frame(j, stack->first + number, number, budget);
        if (rc != SYM_OK) {
            return rc;
        }
    }

    r->step = write_frames;
    return SYM_OK;
}


static sym_status_t
write_frames(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    jvm_t *j = (jvm_t *) r;
    const jvm_result_t *results = j->results.items;

    for (; j->result < j->results.n; j->result++) {
        uint32_t number = j->request.options.is_callee_first
                              ? j->result
                              : j->results.n - 1 - j->result;

        if (is_spent(out, *budget)) {
            return SYM_AGAIN;
        }

        sym_out_raw(out, j->result != 0 ? SYM_STR(", ") : SYM_STR(""));
        jvm_write_frame(j, &results[number], out, budget);
    }

    sym_out_raw(out, SYM_STR("]}"));
    j->next++;
    r->step = write_stacks;
    return SYM_OK;
}


/* --- classes and errors --- */

/* Makes equal names adjacent. */
static sym_status_t
order_classes(jvm_t *j)
{
    const sym_str_t *classes = j->request.classes.items;
    uint32_t n = j->request.classes.n;
    sym_hash_key_t key = sym_hash_key();

    j->order =
        sym_arena_alloc(j->base.arena, ((size_t) n + 1) * sizeof(*j->order));
    if (j->order == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < n; i++) {
        j->order[i] = (sym_sort_item_t){ sym_hash(&key, classes[i]), i };
    }

    return sym_sort(j->order, n) ? SYM_OK : SYM_NOMEM;
}


static sym_status_t
write_classes(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    jvm_t *j = (jvm_t *) r;
    const sym_str_t *classes = j->request.classes.items;

    if (j->order == NULL && order_classes(j) != SYM_OK) {
        return SYM_NOMEM;
    }

    for (; j->next < j->request.classes.n; j->next++) {
        const sym_sort_item_t *item = &j->order[j->next];
        sym_str_t original;

        if (is_spent(out, *budget)) {
            return SYM_AGAIN;
        }

        sym_budget_charge(budget, 1);
        original = j->next != 0 && item[-1].key == item->key
                       ? sym_str(NULL, 0) /* once more */
                       : jvm_map_class(j, classes[item->at], budget);

        if (original.data != NULL) {
            sym_out_raw(out, j->is_first ? SYM_STR("") : SYM_STR(", "));
            sym_out_string(out, classes[item->at]);
            sym_out_raw(out, SYM_STR(": "));
            sym_out_string(out, original);
            j->is_first = false;
        }
    }

    sym_out_raw(out, SYM_STR("}, \"errors\": ["));
    j->next = 0;
    j->is_first = true;
    r->step = write_errors;
    return SYM_OK;
}


static sym_status_t
write_errors(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    jvm_t *j = (jvm_t *) r;
    const jvm_module_t *modules = j->request.modules.items;

    for (; j->next < j->request.modules.n; j->next++) {
        const jvm_module_t *m = &modules[j->next];

        if (is_spent(out, *budget)) {
            return SYM_AGAIN;
        }

        sym_budget_charge(budget, 1 + j->n_mappings / STEPS_OF_FRAME);
        if (m->is_source || is_open(j, m)) {
            continue;
        }

        sym_out_raw(out, j->is_first ? SYM_STR("{\"uuid\": ")
                                     : SYM_STR(", {\"uuid\": "));
        sym_out_string(out, sym_str(m->uuid, m->uuid_len));
        sym_out_raw(out,
                    j->base.needs[m->need].missing.state == SYM_MODULE_MALFORMED
                        ? SYM_STR(", \"type\": \"invalid\"}")
                        : SYM_STR(", \"type\": \"missing\"}"));
        j->is_first = false;
    }

    if (j->request.options.explains) {
        sym_out_raw(out, SYM_STR("], \"explanations\": ["));
        j->next = 0;
        r->step = write_explanations;
        return SYM_OK;
    }

    sym_out_raw(out, SYM_STR("]}"));
    r->step = NULL;
    return SYM_OK;
}


/* Writes which frames used each mapping or bundle. */
static void
explain(const jvm_t *j, const jvm_module_t *m, sym_out_t *out)
{
    const sym_need_t *n = &j->base.needs[m->need];

    sym_out_raw(out, SYM_STR("{\"uuid\": "));
    sym_out_string(out, sym_str(m->uuid, m->uuid_len));
    sym_out_printf(out, ", \"file\": \"%s\", \"result\": \"%s\"",
                   m->is_source ? "source" : "proguard", sym_need_word(n));
    if (n->found != SYM_NEED_FOUND && n->missing.reason.len != 0) {
        sym_out_raw(out, SYM_STR(", \"reason\": "));
        sym_out_string(out, n->missing.reason);
    }

    for (uint32_t i = 0; i < j->n_mappings; i++) {
        if (j->mappings[i].need == m->need) {
            sym_out_printf(out, ", \"classes\": %u, \"members\": %llu",
                           j->mappings[i].jvm.n_classes,
                           (unsigned long long) j->mappings[i].jvm.n_members);
        }
    }

    sym_out_raw(out, SYM_STR("}"));
}


static sym_status_t
write_explanations(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    jvm_t *j = (jvm_t *) r;
    const jvm_module_t *modules = j->request.modules.items;

    for (; j->next < j->request.modules.n; j->next++) {
        if (is_spent(out, *budget)) {
            return SYM_AGAIN;
        }

        sym_budget_charge(budget, 1 + j->n_mappings / STEPS_OF_FRAME);
        sym_out_raw(out, j->next == 0 ? SYM_STR("") : SYM_STR(", "));
        explain(j, &modules[j->next], out);
    }

    sym_out_raw(out, SYM_STR("]}"));
    r->step = NULL;
    return SYM_OK;
}
