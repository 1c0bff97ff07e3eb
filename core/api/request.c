#include "api/request.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/steps.h"

/* Maximum length of a message; longer ones are cut. */
#define MESSAGE_MAX 512

/* A module is looked up in each scope; this many scopes take as long as a
 * frame. */
#define SCOPES_PER_FRAME 4

/* Number of modules that are opened together, so that their cache misses
 * overlap. */
#define AHEAD 16

/* Initial room for needs of later rounds. */
#define NEEDS_MIN 16

sym_request_t *
sym_request_create(sym_arena_t *arena, const sym_request_ops_t *ops,
                   const sym_request_options_t *options, sym_str_t body)
{
    sym_request_t *r = sym_arena_calloc(arena, 1, ops->size);
    sym_request_options_t *copy = sym_arena_alloc(arena, sizeof(*copy));

    if (r == NULL || copy == NULL) {
        return NULL;
    }

    *copy = *options;
    r->ops = ops;
    r->arena = arena;
    r->body = body;
    r->options = copy;
    return r;
}


/* Reading the clock is a noticeable cost in a request of two frames. */
static void
start_clock(sym_request_t *r)
{
    r->started_s = r->is_timed ? r->options->now_s() : 0;
}


static void
stop_clock(sym_request_t *r)
{
    r->spent_s += r->is_timed ? r->options->now_s() - r->started_s : 0;
}


double
sym_request_spent_s(const sym_request_t *r)
{
    return r->spent_s + r->stats.waited_s + r->options->now_s() - r->started_s;
}


sym_status_t
sym_request_parse(sym_request_t *r, uint32_t budget)
{
    sym_status_t rc;

    start_clock(r);
    rc = r->ops->parse(r, budget);
    stop_clock(r);
    return rc;
}


sym_str_t
sym_request_message(const sym_request_t *r)
{
    return r->message;
}


static uint32_t
n_needs(const sym_request_t *r)
{
    return r->stats.modules + r->n_further;
}


sym_need_t *
sym_request_modules(sym_request_t *r, uint32_t *n)
{
    *n = r->stats.modules;
    return r->needs;
}


sym_need_t *
sym_request_needs(sym_request_t *r, uint32_t *n)
{
    *n = n_needs(r);
    return r->needs;
}


const char *
sym_need_word(const sym_need_t *need)
{
    return need->found == SYM_NEED_FOUND ? "found"
           : need->found == SYM_NEED_PENDING
               ? "pending"
               : sym_module_state_name(need->missing.state);
}


bool
sym_need_is_askable(const sym_need_t *need)
{
    sym_ref_key_t key;

    return sym_ref_key(need->ref, &key);
}


bool
sym_request_key(const sym_request_t *r, const sym_need_t *need,
                sym_ref_key_t *key)
{
    if (!sym_ref_key(need->ref, key)) {
        return false;
    }

    if (need->ref->url.len != 0 && r->request_sources != NULL) {
        key->key.scope = need->is_artifact
                             ? r->request_sources->artifacts->scope
                             : r->request_sources->links->scope;
    }

    return true;
}


void
sym_request_fetched(sym_request_t *r, uint32_t need)
{
    /* only modules count in statistics */
    if (need < r->stats.modules) {
        r->stats.fetched += !r->needs[need].is_fetched;
        r->stats.missing--;
    }

    r->needs[need].is_fetched = true;
}


void
sym_request_waited(sym_request_t *r, double seconds)
{
    r->stats.waited_s += seconds;
}


void
sym_request_waited_for(sym_request_t *r, uint32_t need, double seconds)
{
    r->needs[need].is_waited = true;
    r->needs[need].waited_s += seconds;
}


const sym_request_stats_t *
sym_request_stats(const sym_request_t *r)
{
    return &r->stats;
}


void
sym_request_stats_add(sym_request_stats_t *sum, const sym_request_stats_t *part)
{
    sum->jobs += part->jobs;
    sum->stacks += part->stacks;
    sum->frames += part->frames;
    sum->modules += part->modules;
    sum->missing += part->missing;
    sum->fetched += part->fetched;
    sum->fetched_bytes += part->fetched_bytes;
    sum->waited_s += part->waited_s;
    sum->lost += part->lost;
    sum->lookup_s += part->lookup_s;
    sum->damaged += part->damaged;
}


/* --- needs --- */

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


/* Whether a need is pending, has failed, or may be improved. */
static bool
is_unsettled(sym_status_t rc, const sym_missing_t *missing)
{
    return (rc == SYM_OK && missing->is_open)
           || (rc == SYM_NOT_FOUND
               && (missing->is_open || missing->state == 0
                   || missing->state == SYM_MODULE_FAILED));
}


/* The resolver opens only symcaches; for other kinds it knows only whether they
 * exist. */
static sym_status_t
look_for(sym_request_t *r, uint32_t i, const sym_ref_key_t *k,
         sym_missing_t *missing)
{
    sym_need_t *m = &r->needs[i];
    const sym_lookup_t of = { m->ref, m->kind, m->without };

    return m->kind == SYM_KIND_SYMCACHE
               ? sym_resolver_open(r->resolver, i, &k->key, &of, missing)
               : sym_artifact_find(r->resolver, k->key.scope, &of, &m->artifact,
                                   missing);
}


/* Makes room for all needs: modules have the same numbers in the resolver. */
static bool
reserve_modules(sym_request_t *r)
{
    uint32_t n = n_needs(r);

    while (n > r->stats.modules && r->needs[n - 1].kind != SYM_KIND_SYMCACHE) {
        n--;
    }

    return sym_resolver_reserve(r->resolver, n);
}


/* Returns the key of a need.  Those of modules were made in advance.  NULL: no
 * source can have the object. */
static const sym_ref_key_t *
key_of(const sym_request_t *r, uint32_t i, sym_ref_key_t *own)
{
    if (i < r->stats.modules) {
        const sym_ref_key_t *key = &r->ahead[i % AHEAD];

        return key->key.id.len != 0 ? key : NULL;
    }

    return sym_request_key(r, &r->needs[i], own) ? own : NULL;
}


static sym_status_t
open_need(sym_request_t *r, uint32_t i)
{
    sym_need_t *m = &r->needs[i];
    sym_status_t rc = SYM_NOT_FOUND;
    sym_ref_key_t own;
    const sym_ref_key_t *k = key_of(r, i, &own);

    if (k != NULL) {
        sym_missing_t told = { 0 };

        rc = look_for(r, i, k, &told);

        /* the store may have no reason for a failure */
        if (rc == SYM_OK || told.state != 0 || !m->is_settled) {
            m->missing = told;
        }

        r->unsettled += !m->is_settled && is_unsettled(rc, &m->missing);
    }

    if (rc != SYM_OK) {
        /* it was found earlier, but is now removed: it must be fetched again */
        m->found = m->found == SYM_NEED_FOUND ? SYM_NEED_MISSING : m->found;
        r->stats.missing += i < r->stats.modules;
    } else if (m->is_fetched) {
        m->found = SYM_NEED_FOUND;
        m->fetched_bytes = sym_resolver_source_bytes(
            r->resolver, &(sym_lookup_t){ m->ref, m->kind, 0 });
        r->stats.fetched_bytes += i < r->stats.modules ? m->fetched_bytes : 0;
    } else {
        m->found = SYM_NEED_FOUND;
        r->hits += i < r->stats.modules;
    }

    return rc == SYM_NOMEM ? SYM_NOMEM : SYM_OK;
}


/* Whether the artifact of a need still exists in another snapshot. */
static bool
is_lost(const sym_request_t *r, uint32_t i)
{
    return r->needs[i].kind == SYM_KIND_SYMCACHE
               ? sym_resolver_is_lost(r->resolver, i)
               : sym_artifact_is_lost(&r->needs[i].artifact);
}


static bool
is_unsound(const sym_request_t *r, uint32_t i)
{
    return r->needs[i].kind == SYM_KIND_SYMCACHE
               ? sym_resolver_is_unsound(r->resolver, i)
               : r->needs[i].artifact.is_unsound;
}


/* For another snapshot: removed modules become pending. */
static void
lose_modules(sym_request_t *r)
{
    for (uint32_t i = 0; i < n_needs(r); i++) {
        if (r->needs[i].found == SYM_NEED_FOUND && is_lost(r, i)) {
            r->needs[i].found = SYM_NEED_PENDING;
            r->stats.lost++;
        }
    }
}


sym_status_t
sym_request_cut(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    (void) r;
    (void) out;
    (void) budget;
    return SYM_TRUNCATED;
}


void
sym_request_note_damage(sym_request_t *r)
{
    if (!sym_resolver_met_unsound(r->resolver)) {
        return;
    }

    r->stats.is_unsound = true;
    for (uint32_t i = 0; i < n_needs(r); i++) {
        if (r->needs[i].found == SYM_NEED_FOUND && is_unsound(r, i)) {
            r->needs[i].found = SYM_NEED_PENDING;
            r->needs[i].is_settled = false;
            r->stats.lost++;
        }
    }
}


/* Makes room for another need. */
static sym_status_t
make_room(sym_request_t *r)
{
    uint32_t n = n_needs(r);

    if (r->n_further == r->max_further) {
        uint32_t more = r->max_further == 0 ? NEEDS_MIN : r->max_further;
        sym_need_t *grown =
            sym_arena_alloc(r->arena, ((size_t) n + more) * sizeof(*grown));

        if (grown == NULL) {
            return SYM_NOMEM;
        }

        if (n != 0) {
            memcpy(grown, r->needs, n * sizeof(*grown));
        }
        r->needs = grown;
        r->max_further += more;
    }

    return SYM_OK;
}


sym_status_t
sym_request_need_object(sym_request_t *r, const sym_object_ref_t *ref,
                        sym_kind_t kind, uint32_t *need)
{
    if (make_room(r) != SYM_OK) {
        return SYM_NOMEM;
    }

    *need = n_needs(r);
    r->needs[*need] =
        (sym_need_t){ .ref = ref, .kind = kind, .found = SYM_NEED_MISSING };
    r->n_further++;
    return SYM_OK;
}


sym_status_t
sym_request_need(sym_request_t *r, uint32_t of, sym_kind_t kind, uint32_t *need)
{
    uint32_t last = of;
    sym_status_t rc;

    while (r->needs[last].kind != kind && r->needs[last].next != 0) {
        last = r->needs[last].next;
    }

    if (r->needs[last].kind == kind) {
        *need = last;
        return SYM_OK;
    }

    rc = sym_request_need_object(r, r->needs[last].ref, kind, need);
    if (rc == SYM_OK) {
        r->needs[*need].is_thorough = r->needs[last].is_thorough;
        r->needs[last].next = *need;
    }

    return rc;
}


static sym_status_t
add_text_need(sym_request_t *r, sym_str_t url, uint32_t *need)
{
    sym_object_ref_t *ref = sym_arena_calloc(r->arena, 1, sizeof(*ref));

    if (ref == NULL) {
        return SYM_NOMEM;
    }

    ref->url = sym_arena_copy(r->arena, url);
    return ref->url.data != NULL
               ? sym_request_need_object(r, ref, SYM_KIND_SOURCES, need)
               : SYM_NOMEM;
}


sym_status_t
sym_request_need_text(sym_request_t *r, sym_str_t url, bool is_new,
                      uint32_t *need)
{
    uint32_t n_links = 0;

    for (uint32_t i = r->stats.modules; i < n_needs(r); i++) {
        if (r->needs[i].ref->url.len != 0) {
            *need = i;
            n_links++;
            if (sym_str_eq(r->needs[i].ref->url, url)) {
                return SYM_OK;
            }
        }
    }

    if (!is_new || n_links == SYM_REQUEST_LINKS_MAX) {
        return SYM_NOT_FOUND;
    }

    return add_text_need(r, url, need);
}


/* Prefetches the next AHEAD modules, because they will be opened next. */
static void
expect_modules(const sym_request_t *r)
{
    uint32_t i = r->n_opened, left = r->stats.modules - i;
    uint32_t end = left < AHEAD ? i + left : i + AHEAD;

    for (uint32_t k = i; k < end; k++) {
        sym_ref_key_t *key = &r->ahead[k % AHEAD];

        (void) sym_ref_key(r->needs[k].ref, key);
        sym_resolver_expect(r->resolver, k, &key->key);
    }

    for (uint32_t k = i; k < end; k++) {
        sym_resolver_fetch(r->resolver, k);
    }
}


uint32_t
sym_request_n_scopes(const sym_request_t *r)
{
    return r->scopes != NULL            ? r->scopes->n
           : r->options->scopes != NULL ? r->options->scopes->n
                                        : 1;
}


/* SYM_NOT_FOUND: the server must settle some needs. */
static sym_status_t
open_needs(sym_request_t *r, uint32_t *budget)
{
    uint32_t cost = 1 + sym_request_n_scopes(r) / SCOPES_PER_FRAME;
    double started = r->options->now_s();
    sym_status_t rc = SYM_OK;
    bool is_told;

    if (r->ahead == NULL) {
        r->ahead = sym_arena_alloc(r->arena, AHEAD * sizeof(*r->ahead));
        if (r->ahead == NULL) {
            return SYM_NOMEM;
        }
    }

    while (r->n_opened < n_needs(r) && *budget > 0 && rc == SYM_OK) {
        if (r->n_opened < r->stats.modules && r->n_opened % AHEAD == 0) {
            expect_modules(r);
        }
        rc = open_need(r, r->n_opened++);
        sym_budget_charge(budget, cost);
    }

    r->stats.lookup_s += r->options->now_s() - started;

    if (rc != SYM_OK) {
        return rc;
    }

    if (r->n_opened != n_needs(r)) {
        return SYM_AGAIN;
    }

    /* only once: after that, the server may settle all of them without
     * reopening */
    is_told = r->options->tells_missing && r->unsettled != 0;
    r->unsettled = 0;
    return is_told ? SYM_NOT_FOUND : SYM_OK;
}


/* --- the answer --- */

static void
use_cache(sym_request_t *r, const sym_view_t *view)
{
    sym_resolver_use_cache(r->resolver, view->kept,
                           r->form != 0 ? r->cache_tag | r->form : 0);
}


/* Opens everything in this snapshot before the first step. */
static sym_status_t
begin(sym_request_t *r, const sym_view_t *view)
{
    const sym_scopes_t *scopes =
        r->scopes != NULL ? r->scopes : r->options->scopes;

    r->resolver = sym_resolver_create(r->arena, view->snapshot, view->now_s,
                                      r->stats.modules, r->stats.frames);
    if (r->resolver == NULL || !reserve_modules(r)) {
        r->resolver = NULL;
        return SYM_NOMEM;
    }

    sym_resolver_use_names(r->resolver, r->options->names);
    if (scopes != NULL) {
        sym_resolver_use_scopes(r->resolver, scopes);
    }
    use_cache(r, view);

    r->stats.missing = 0;
    r->stats.fetched_bytes = 0;
    r->n_opened = 0;
    r->hits = 0;
    r->unsettled = 0;
    r->is_opening = true;
    r->step = r->ops->begin;
    return SYM_OK;
}


static sym_status_t
go_on(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    bool is_first = r->step == r->ops->begin;
    sym_status_t rc;

    if (r->is_opening) {
        rc = open_needs(r, budget);
        r->is_opening = rc == SYM_AGAIN;
        return rc;
    }

    rc = r->step(r, out, budget);
    r->is_opening = rc == SYM_OK && r->n_opened != n_needs(r);
    if (r->is_opening && !reserve_modules(r)) {
        return SYM_NOMEM;
    }

    r->was_unsound = r->was_unsound && !(is_first && rc == SYM_OK);
    return rc;
}


sym_status_t
sym_request_answer(sym_request_t *r, const sym_view_t *view, sym_out_t *out,
                   uint32_t budget)
{
    sym_status_t rc;

    start_clock(r);
    rc = r->resolver != NULL ? SYM_OK : begin(r, view);

    while (rc == SYM_OK && (r->is_opening || r->step != NULL)) {
        rc = budget == 0 || out->is_full ? SYM_AGAIN : go_on(r, out, &budget);
    }

    if (r->resolver != NULL) {
        sym_request_note_damage(r);
        r->stats.damaged = sym_resolver_damaged(r->resolver);
    }

    stop_clock(r);
    return out->failed ? SYM_NOMEM : rc;
}


bool
sym_request_resume(sym_request_t *r, const sym_view_t *view)
{
    sym_resolver_resume(r->resolver, view->snapshot);
    use_cache(r, view);
    lose_modules(r);
    return r->ops->resume == NULL || r->ops->resume(r);
}


void
sym_request_reopen(sym_request_t *r)
{
    for (uint32_t i = 0; i < n_needs(r); i++) {
        if (r->needs[i].found == SYM_NEED_PENDING && !r->needs[i].is_settled) {
            r->needs[i].found = SYM_NEED_MISSING;
        }
    }

    r->was_unsound = r->was_unsound || r->stats.is_unsound;
    r->stats.lost = 0;
    r->stats.is_unsound = false;
    r->resolver = NULL;
}
