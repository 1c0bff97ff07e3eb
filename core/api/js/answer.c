#include "api/js/js.h"

#include <stdlib.h>

#include "base/steps.h"

static sym_status_t find_scripts(sym_request_t *r, sym_out_t *out,
                                 uint32_t *budget);
static sym_status_t find_sources(sym_request_t *r, sym_out_t *out,
                                 uint32_t *budget);
static sym_status_t write_stacks(sym_request_t *r, sym_out_t *out,
                                 uint32_t *budget);
static sym_status_t order_errors(sym_request_t *r, sym_out_t *out,
                                 uint32_t *budget);
static sym_status_t write_errors(sym_request_t *r, sym_out_t *out,
                                 uint32_t *budget);
static sym_status_t write_attempts(sym_request_t *r, sym_out_t *out,
                                   uint32_t *budget);

/* --- passes --- */

static void
begin_pass(js_t *j)
{
    j->pass++;
    js_begin_pass(j);
    j->base.step = find_scripts;
}


static void
begin_snapshot(js_t *j)
{
    j->time++;
    j->text = (sym_source_text_t){ .arena = j->base.arena };
}


sym_status_t
js_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    js_t *j = (js_t *) r;

    (void) out;
    (void) budget;
    begin_snapshot(j);
    j->is_writing = false;
    j->lost = r->stats.lost;
    begin_pass(j);
    return SYM_OK;
}


bool
js_resume(sym_request_t *r)
{
    js_t *j = (js_t *) r;

    begin_snapshot(j);
    if (!j->is_writing) {
        begin_pass(j);
        return true;
    }

    return r->stats.lost == j->lost;
}


static void
charge(js_t *j, uint32_t *budget)
{
    sym_budget_charge(budget, 1 + j->cost);
    j->cost = 0;
}


static sym_status_t
find_scripts(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    js_t *j = (js_t *) r;

    (void) out;
    for (; j->next < j->n_scripts; j->next++) {
        if (*budget == 0) {
            return SYM_AGAIN;
        }

        if (js_find_script(j, &j->scripts[j->next]) != SYM_OK) {
            return SYM_NOMEM;
        }
        charge(j, budget);
    }

    /* opens the needs of this pass first */
    if (j->waits) {
        begin_pass(j);
        return SYM_OK;
    }

    j->next = 0;
    r->step = find_sources;
    return SYM_OK;
}


static sym_status_t
find_sources(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    js_t *j = (js_t *) r;

    for (; j->next < j->request.frames.n; j->next++) {
        if (*budget == 0) {
            return SYM_AGAIN;
        }

        if (js_look_up_frame(j, js_frame(&j->request, j->next)) != SYM_OK) {
            return SYM_NOMEM;
        }
        charge(j, budget);
    }

    if (j->waits) {
        begin_pass(j);
        return SYM_OK;
    }

    j->is_writing = true;
    j->is_raw = false;
    j->errors.n = 0;
    j->n_missing = 0;
    j->context_bytes = 0;
    sym_out_raw(out, SYM_STR("{\"status\": \"completed\", \"stacktraces\": ["));
    r->step = write_stacks;
    return SYM_OK;
}


/* --- stacks --- */

static sym_status_t
write_frame(js_t *j, const js_stack_t *stack, sym_out_t *out)
{
    const js_request_t *q = &j->request;
    uint32_t n = j->frame;
    const js_frame_t *f = js_frame(q, stack->first + n), *caller = NULL;

    if (j->is_raw) {
        return js_write_raw(j, f, out);
    }

    if (q->options.is_callee_first ? n + 1 < stack->n : n != 0) {
        caller = js_frame(
            q, stack->first + (q->options.is_callee_first ? n + 1 : n - 1));
    }

    return js_write_frame(j, f, caller, out);
}


/* The answer has two lists of stacks: symbolicated, and as sent. */
static sym_status_t
write_stacks(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    js_t *j = (js_t *) r;
    const js_stack_t *stacks = j->request.stacks.items;

    for (; j->stack < j->request.stacks.n; j->stack++, j->frame = 0) {
        const js_stack_t *stack = &stacks[j->stack];

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }

        if (j->frame == 0 && !j->is_in_stack) {
            sym_budget_charge(budget, 1);
            sym_out_raw(out, j->stack != 0 ? SYM_STR(", {\"frames\": [")
                                           : SYM_STR("{\"frames\": ["));
            j->is_in_stack = true;
        }

        for (; j->frame < stack->n; j->frame++) {
            if (*budget == 0 || out->is_full) {
                return SYM_AGAIN;
            }

            sym_out_raw(out, j->frame != 0 ? SYM_STR(", ") : SYM_STR(""));
            if (write_frame(j, stack, out) != SYM_OK) {
                return SYM_NOMEM;
            }
            charge(j, budget);
        }

        sym_out_raw(out, SYM_STR("]}"));
        j->is_in_stack = false;
    }

    j->stack = j->frame = 0;
    if (j->is_raw) {
        sym_out_raw(out, SYM_STR("]"));
        r->step = order_errors;
        return SYM_OK;
    }

    sym_out_raw(out, SYM_STR("], \"raw_stacktraces\": ["));
    j->is_raw = true;
    return SYM_OK;
}


/* --- errors --- */

static int
compare_sources(const void *left, const void *right)
{
    const js_error_t *const *a = left, *const *b = right;

    return sym_str_cmp((*a)->source, (*b)->source);
}


/* Numbers the missing sources in order, for their lines. */
static sym_status_t
number_sources(js_t *j)
{
    js_error_t *errors = j->errors.items, **list;
    size_t n = 0;

    list = sym_arena_alloc(j->base.arena,
                           ((size_t) j->n_missing + 1) * sizeof(js_error_t *));
    if (list == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < j->errors.n; i++) {
        if (errors[i].type == JS_MISSING_SOURCE_CONTENT) {
            list[n++] = &errors[i];
        }
    }

    qsort(list, n, sizeof(js_error_t *), compare_sources);
    for (size_t i = 1; i < n; i++) {
        list[i]->line = list[i - 1]->line
                        + !sym_str_eq(list[i]->source, list[i - 1]->source);
    }

    return SYM_OK;
}


/* Orders errors by script, type and location. */
static sym_status_t
order_errors(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    js_t *j = (js_t *) r;
    const js_error_t *errors = j->errors.items;
    uint32_t n = j->errors.n;

    (void) out;
    (void) budget;
    j->order =
        sym_arena_alloc(j->base.arena, ((size_t) n + 1) * sizeof(*j->order));
    if (j->order == NULL || number_sources(j) != SYM_OK) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < n; i++) {
        uint64_t place = (uint64_t) errors[i].line << 32 | errors[i].column;

        j->order[i] = (sym_sort_item_t){ place + errors[i].has_column, i };
    }

    if (!sym_sort(j->order, n)) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < n; i++) {
        const js_error_t *e = &errors[j->order[i].at];

        j->order[i].key = (uint64_t) j->scripts[e->script].rank << 8 | e->type;
    }

    j->next = 0;
    j->is_first = true;
    r->step = write_errors;
    return sym_sort(j->order, n) ? SYM_OK : SYM_NOMEM;
}


static bool
is_same(const js_error_t *a, const js_error_t *b)
{
    return a->type == b->type && a->script == b->script && a->line == b->line
           && a->column == b->column && a->has_column == b->has_column;
}


static void
write_error(const js_t *j, const js_error_t *e, sym_out_t *out)
{
    static const char *const types[] = {
        [JS_INVALID_LOCATION] = "invalid_location",
        [JS_INVALID_ABS_PATH] = "invalid_abs_path",
        [JS_NO_COLUMN] = "no_column",
        [JS_MISSING_SOURCE_CONTENT] = "missing_source_content",
        [JS_MISSING_SOURCE] = "missing_source",
        [JS_MALFORMED_SOURCEMAP] = "malformed_sourcemap",
        [JS_MISSING_SOURCEMAP] = "missing_sourcemap",
        [JS_INVALID_BASE64] = "invalid_base64_sourcemap",
        [JS_SCRAPING_DISABLED] = "scraping_disabled",
    };
    const js_script_t *s = &j->scripts[e->script];

    sym_out_raw(out, SYM_STR("{\"abs_path\": "));
    sym_out_string(out, s->abs_path);
    sym_out_printf(out, ", \"type\": \"%s\"", types[e->type]);

    if (e->type == JS_INVALID_LOCATION) {
        sym_out_printf(out, ", \"line\": %u, \"col\": ", e->line);
        if (e->has_column) {
            sym_out_dec(out, e->column);
        } else {
            sym_out_raw(out, SYM_STR("null"));
        }
    } else if (e->type == JS_MISSING_SOURCE_CONTENT) {
        sym_out_raw(out, SYM_STR(", \"source\": "));
        sym_out_string(out, e->source);
        sym_out_raw(out, SYM_STR(", \"sourcemap\": "));
        sym_out_string(out, s->label);
    } else if (e->type == JS_MALFORMED_SOURCEMAP) {
        sym_out_raw(out, SYM_STR(", \"url\": "));
        sym_out_string(out, s->label);
    }

    sym_out_raw(out, SYM_STR("}"));
}


static sym_status_t
write_errors(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    js_t *j = (js_t *) r;
    const js_error_t *errors = j->errors.items;

    for (; j->next < j->errors.n; j->next++) {
        const js_error_t *e = &errors[j->order[j->next].at];

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }

        sym_budget_charge(budget, 1);
        if (j->next != 0 && is_same(e, &errors[j->order[j->next - 1].at])) {
            continue;
        }

        sym_out_raw(out,
                    j->is_first ? SYM_STR(", \"errors\": [") : SYM_STR(", "));
        write_error(j, e, out);
        j->is_first = false;
    }

    sym_out_raw(out, j->is_first ? SYM_STR("") : SYM_STR("]"));
    j->next = 0;
    r->step = write_attempts;
    return SYM_OK;
}


/* --- attempts --- */

static int
compare_attempts(const void *left, const void *right)
{
    const js_attempt_t *a = left, *b = right;

    return sym_str_cmp(a->url, b->url);
}


static void
write_attempt(js_t *j, const js_attempt_t *a, sym_out_t *out)
{
    const char *reason = a->reason;
    sym_str_t details = a->details;

    sym_out_raw(out, SYM_STR("{\"url\": "));
    sym_out_string(out, a->url);

    if (a->state == JS_TRIED) {
        reason = js_attempt_result(j, a, &details);
    }

    if (a->state == JS_NOT_ATTEMPTED) {
        sym_out_raw(out, SYM_STR(", \"status\": \"not_attempted\"}"));
    } else if (strcmp(reason, "success") == 0) {
        sym_out_raw(out, SYM_STR(", \"status\": \"success\"}"));
    } else {
        sym_out_printf(out, ", \"status\": \"failure\", \"reason\": \"%s\"",
                       reason);
        if (details.len != 0) {
            sym_out_raw(out, SYM_STR(", \"details\": "));
            sym_out_string(out, details);
        }
        sym_out_raw(out, SYM_STR("}"));
    }
}


static sym_status_t
write_attempts(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    js_t *j = (js_t *) r;
    js_attempt_t *attempts = j->attempts.items;

    if (j->next == 0 && j->attempts.n != 0) {
        qsort(attempts, j->attempts.n, sizeof(*attempts), compare_attempts);
    }

    for (; j->next < j->attempts.n; j->next++) {
        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }

        sym_budget_charge(budget, 1);
        sym_out_raw(out, j->next == 0 ? SYM_STR(", \"scraping_attempts\": [")
                                      : SYM_STR(", "));
        write_attempt(j, &attempts[j->next], out);
    }

    sym_out_raw(out, j->attempts.n != 0 ? SYM_STR("]") : SYM_STR(""));
    j->next = 0;
    if (j->request.options.explains) {
        sym_out_raw(out, SYM_STR(", \"explanations\": ["));
        j->is_first = true;
        r->step = js_write_tries;
        return SYM_OK;
    }

    sym_out_raw(out, SYM_STR("}"));
    r->step = NULL;
    return SYM_OK;
}
