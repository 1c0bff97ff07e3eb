#include "api/request.h"

#include <stdarg.h>
#include <stdio.h>

/* A longer message is cut. */
#define MESSAGE_MAX 200

/* Modules that wait for memory at the same time. */
#define AHEAD 16

sym_status_t
sym_request_parse(sym_request_t *r, uint32_t budget)
{
    return r->ops->parse(r, budget);
}


sym_str_t
sym_request_message(const sym_request_t *r)
{
    return r->message;
}


sym_asked_t *
sym_request_modules(sym_request_t *r, uint32_t *n)
{
    *n = r->stats.modules;
    return r->modules;
}


bool
sym_asked_is_askable(const sym_asked_t *module)
{
    return module->key.id.len != 0 && sym_module_name_ok(module->key.name);
}


sym_status_t
sym_request_answer(sym_request_t *r, const sym_view_t *view, sym_out_t *out,
                   uint32_t budget)
{
    return r->ops->answer(r, view, out, budget);
}


void
sym_request_reopen(sym_request_t *r)
{
    for (uint32_t i = 0; i < r->stats.modules; i++) {
        if (r->modules[i].found == SYM_ASKED_PENDING
            && !r->modules[i].is_settled) {
            r->modules[i].found = SYM_ASKED_MISSING;
        }
    }

    r->stats.lost = 0;
    r->stats.is_unsound = false;
    r->ops->reopen(r);
}


bool
sym_request_resume(sym_request_t *r, const sym_view_t *view)
{
    return r->ops->resume(r, view);
}


void
sym_request_fetched(sym_request_t *r, uint32_t module)
{
    r->stats.fetched += !r->modules[module].is_fetched;
    r->stats.missing--;
    r->modules[module].is_fetched = true;
}


void
sym_request_waited(sym_request_t *r, double seconds)
{
    r->stats.waited_s += seconds;
}


void
sym_request_waited_for(sym_request_t *r, uint32_t module, double seconds)
{
    r->modules[module].is_waited = true;
    r->modules[module].waited_s += seconds;
}


const sym_request_stats_t *
sym_request_stats(const sym_request_t *r)
{
    return &r->stats;
}


/* --- modules --- */

sym_status_t
sym_request_refuse(sym_request_t *r, sym_status_t status, const char *format,
                   ...)
{
    char text[MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    r->message = sym_arena_copy(r->arena, sym_cstr(text));
    return r->message.data != NULL ? status : SYM_NOMEM;
}


void
sym_request_set_up(const sym_request_t *r, sym_resolver_t *resolver)
{
    sym_resolver_use_names(resolver, r->options->names);

    if (r->options->scopes != NULL) {
        sym_resolver_use_scopes(resolver, r->options->scopes);
    }
}


void
sym_request_use_cache(const sym_request_t *r, sym_resolver_t *resolver,
                      const sym_view_t *view, uint32_t form)
{
    sym_resolver_use_cache(resolver, view->kept,
                           form != 0 ? r->cache_tag | form : 0);
}


void
sym_request_open_begin(sym_request_t *r)
{
    r->stats.missing = 0;
    r->stats.fetched_bytes = 0;
    r->n_opened = 0;
    r->hits = 0;
    r->unsettled = 0;
}


/* It may come yet, or something better; or it failed. */
static bool
is_unsettled(sym_status_t rc, const sym_missing_t *missing)
{
    return (rc == SYM_OK && missing->is_open)
           || (rc == SYM_NOT_FOUND
               && (missing->is_open || missing->state == 0
                   || missing->state == SYM_MODULE_FAILED));
}


static sym_status_t
open_module(sym_request_t *r, sym_resolver_t *resolver, uint32_t i)
{
    sym_asked_t *m = &r->modules[i];
    sym_str_t spelling = sym_spelling_of(m->id, m->key.id);
    sym_status_t rc = SYM_NOT_FOUND;

    if (sym_asked_is_askable(m)) {
        sym_missing_t told = { 0 };

        rc = sym_resolver_open(resolver, i, &m->key, spelling, &told);

        /* why it failed need not be in the store */
        if (rc == SYM_OK || told.state != 0 || !m->is_settled) {
            m->missing = told;
        }

        r->unsettled += !m->is_settled && is_unsettled(rc, &m->missing);
    }

    if (rc != SYM_OK) {
        /* found by an earlier look, and gone since: it must come again */
        m->found = m->found == SYM_ASKED_FOUND ? SYM_ASKED_MISSING : m->found;
        r->stats.missing++;
    } else if (m->is_fetched) {
        m->found = SYM_ASKED_FOUND;
        m->fetched_bytes =
            sym_resolver_source_bytes(resolver, &m->key, spelling);
        r->stats.fetched_bytes += m->fetched_bytes;
    } else {
        m->found = SYM_ASKED_FOUND;
        r->hits++;
    }

    return rc == SYM_NOMEM ? SYM_NOMEM : SYM_OK;
}


void
sym_request_lose_modules(sym_request_t *r, const sym_resolver_t *resolver)
{
    for (uint32_t i = 0; i < r->stats.modules; i++) {
        if (r->modules[i].found == SYM_ASKED_FOUND
            && sym_resolver_is_lost(resolver, i)) {
            r->modules[i].found = SYM_ASKED_PENDING;
            r->stats.lost++;
        }
    }
}


void
sym_request_note_damage(sym_request_t *r, sym_resolver_t *resolver)
{
    if (!sym_resolver_met_unsound(resolver)) {
        return;
    }

    r->stats.is_unsound = true;
    for (uint32_t i = 0; i < r->stats.modules; i++) {
        if (r->modules[i].found == SYM_ASKED_FOUND
            && sym_resolver_is_unsound(resolver, i))
        {
            r->modules[i].found = SYM_ASKED_PENDING;
            r->modules[i].is_settled = false;
            r->stats.lost++;
        }
    }
}


/* The next AHEAD of them will be opened. */
static void
expect_modules(const sym_request_t *r, sym_resolver_t *resolver)
{
    uint32_t i = r->n_opened, left = r->stats.modules - i;
    uint32_t end = left < AHEAD ? i + left : i + AHEAD;

    for (uint32_t k = i; k < end; k++) {
        sym_resolver_expect(resolver, k, &r->modules[k].key);
    }

    for (uint32_t k = i; k < end; k++) {
        sym_resolver_fetch(resolver, k);
    }
}


sym_status_t
sym_request_open_modules(sym_request_t *r, sym_resolver_t *resolver,
                         uint32_t *budget)
{
    double started = r->options->now_s();
    sym_status_t rc = SYM_OK;

    while (r->n_opened<r->stats.modules && * budget> 0 && rc == SYM_OK) {
        if (r->n_opened % AHEAD == 0) {
            expect_modules(r, resolver);
        }
        rc = open_module(r, resolver, r->n_opened++);
        --*budget;
    }

    r->stats.lookup_s += r->options->now_s() - started;

    if (rc != SYM_OK) {
        return rc;
    }

    if (r->n_opened != r->stats.modules) {
        return SYM_AGAIN;
    }

    return r->options->tells_missing && r->unsettled != 0 ? SYM_NOT_FOUND
                                                          : SYM_OK;
}
