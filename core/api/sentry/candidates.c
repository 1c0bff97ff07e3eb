/*
 * The candidates of a module at each source (options.dif_candidates), from the
 * attempts in the records of its artifacts.  Texts are Symbolicator's.
 */
#include "api/sentry/sentry.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "api/download.h"
#include "base/hex.h"
#include "protocol/message.h"

#define NOTHING_LISTED "No object files listed on this source"
/* Room for `details`: a host's name, and two errors. */
#define DETAILS_MAX 1024

/* Initial and largest size of a list: 64 sources with all paths of a module. */
#define CANDIDATES_MIN 8u
#define CANDIDATES_MAX 4096u

typedef struct {
    sym_str_t source;
    sym_download_t to; /* its location, and how that ended */
    uint32_t features; /* SYM_RPC_* of a file that was found */
    bool is_used;      /* for symbols or sources */
    bool is_unwind;    /* it has the unwind rules that were used */
} candidate_t;

typedef struct {
    sentry_t *s;
    uint32_t module;
    const sym_need_t *need;
    sym_object_record_t chosen; /* state 0: none */
    sym_str_t chosen_scope, chosen_file;
    candidate_t *list;
    uint32_t n, max;
} candidates_t;


/* --- outcomes --- */

static bool
is_redirect(uint64_t status)
{
    return status >= 301 && status <= 308 && status != 304;
}


static bool
is_skipped(const sym_attempt_t *attempt)
{
    return sym_str_eq(attempt->outcome, SYM_STR("skipped"));
}


/* The next attempt at a path; a redirected one has the outcome of its last hop.
 * False: no more attempts. */
static bool
next_place(sym_str_t *text, sym_attempt_t *attempt)
{
    sym_attempt_t step;
    bool is_led = false;

    while (sym_attempts_next(text, &step)) {
        sym_str_t url = is_led ? attempt->url : step.url;

        if (is_skipped(&step)) {
            continue;
        }

        *attempt = step;
        attempt->url = url;
        is_led = is_redirect(sym_download_http(step.outcome)) && text->len != 0;
        if (!is_led) {
            return true;
        }
    }

    return is_led;
}


/* --- collecting --- */

/* The source's name in the request. */
static sym_str_t
source_name(const sentry_t *s, sym_str_t scope)
{
    const sym_request_sources_t *sources = s->base.request_sources;

    for (uint32_t i = 0; sources != NULL && i < sources->n; i++) {
        if (sym_str_eq(sources->sources[i].scope, scope)) {
            return sources->sources[i].id;
        }
    }

    return sym_scope_word(scope);
}


/* Requests encode more than a path must have encoded (RFC 3986, 3.3, "pchar");
 * Symbolicator's locations do not.  A null text: out of memory. */
static sym_str_t
location_of(const candidates_t *c, sym_str_t url)
{
    char *text = sym_arena_alloc(c->s->base.arena, url.len + 1);
    size_t len = 0;

    if (text == NULL) {
        return sym_str(NULL, 0);
    }

    for (size_t i = 0; i < url.len; i++) {
        int byte = url.data[i] == '%' ? sym_hex_percent(url, i) : -1;

        if (byte > 0 && strchr("!$&'()*+,:;=@", byte) != NULL) {
            text[len++] = (char) byte;
            i += 2;
        } else {
            text[len++] = url.data[i];
        }
    }

    return sym_str(text, len);
}


static candidate_t *
add(candidates_t *c, sym_str_t scope, sym_str_t url)
{
    sym_str_t location = location_of(c, url);

    if (location.data == NULL) {
        return NULL;
    }

    if (c->n == c->max) {
        uint32_t max = c->max == 0 ? CANDIDATES_MIN : 2 * c->max;
        candidate_t *list =
            max > CANDIDATES_MAX
                ? NULL
                : sym_arena_alloc(c->s->base.arena, max * sizeof(*list));

        if (list == NULL) {
            return NULL;
        }

        if (c->n != 0) {
            memcpy(list, c->list, c->n * sizeof(*list));
        }
        c->list = list;
        c->max = max;
    }

    c->list[c->n] = (candidate_t){ .source = source_name(c->s, scope),
                                   .to.location = location,
                                   .to.status = SYM_DOWNLOAD_NOT_FOUND };
    return &c->list[c->n++];
}


/* Features of a file that was never rated: those of its artifact, if any. */
static uint32_t
features_of(const candidates_t *c, const candidate_t *one)
{
    const sentry_facts_t *facts;

    if (!one->is_used && !one->is_unwind) {
        return 0;
    }

    if (c->need->kind != SYM_KIND_SYMCACHE) {
        return sym_kind_find(c->need->kind)->features;
    }

    facts = sentry_facts(c->s, c->module);

    return (facts->has_debug_info ? SYM_FEATURE_DEBUG_INFO : 0)
           | (facts->has_symbols ? SYM_FEATURE_SYMBOLS : 0)
           | (facts->has_unwind_info ? SYM_FEATURE_UNWIND_INFO : 0);
}


/* The record that is used, as chosen by sym_snapshot_choose(). */
static void
choose(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    candidates_t *c = ctx;

    if (record != NULL && record->state == SYM_MODULE_READY
        && (c->chosen.state == 0
            || (sym_object_is_poor(&c->chosen)
                && record->quality > c->chosen.quality)))
    {
        c->chosen = *record;
        c->chosen_scope = scope;
        c->chosen_file =
            sym_resolver_file(c->s->answer->resolver, scope, record);
    }
}


static void
use(const candidates_t *c, candidate_t *one)
{
    one->is_unwind = c->need->kind == SYM_KIND_CFI;
    one->is_used = !one->is_unwind;
}


static void
add_attempt(candidates_t *c, sym_str_t scope, sym_module_state_t state,
            const sym_attempt_t *attempt)
{
    candidate_t *one = add(c, scope, attempt->url);

    if (one == NULL) {
        return;
    }

    one->to.outcome = attempt->outcome;
    one->to.ms = attempt->ms;
    one->to.status = sym_download_of(attempt);
    if (one->to.status == SYM_DOWNLOAD_OK && c->need->found == SYM_NEED_FOUND
        && sym_str_eq(scope, c->chosen_scope)
        && sym_str_eq(attempt->url, c->chosen_file))
    {
        use(c, one);
    }
    one->features = sym_attempt_features(attempt);
    if (one->features == 0 && one->to.status == SYM_DOWNLOAD_OK
        && state == SYM_MODULE_MALFORMED)
    {
        one->to.status = SYM_DOWNLOAD_MALFORMED;
    }
    if (one->features == 0 && one->to.status == SYM_DOWNLOAD_OK) {
        one->features = features_of(c, one);
    }
}


/* The part after the last slash or backslash. */
static sym_str_t
last_part(sym_str_t path)
{
    size_t start = path.len;

    while (start > 0 && path.data[start - 1] != '/'
           && path.data[start - 1] != '\\') {
        start--;
    }

    return sym_str(path.data + start, path.len - start);
}


/* Whether the URL has the named file or its cabinet: "a.pd_" for "a.pdb". */
static bool
has_name(sym_str_t url, sym_str_t name)
{
    sym_str_t last = last_part(url);

    return name.len != 0 && last.len == name.len
           && strncasecmp(last.data, name.data, name.len - 1) == 0
           && (last.data[name.len - 1] == '_'
               || strncasecmp(last.data, name.data, name.len) == 0);
}


/*
 * Symbolicator also looks for sources in ELF debug files and PDBs (its
 * FileType::sources()), which never have any.  A source that lists one of these
 * for symbols does list files.
 */
static bool
lists_more(const candidates_t *c, sym_str_t scope)
{
    sym_str_t source = source_name(c->s, scope), name = SYM_STR("");

    if (c->need->kind != SYM_KIND_SOURCES) {
        return false;
    }

    name = last_part(c->need->ref->debug_file);

    for (uint32_t i = 0; i < c->n; i++) {
        sym_str_t url = c->list[i].to.location;

        if (sym_str_eq(c->list[i].source, source)
            && (sym_str_ends_nocase(url, SYM_STR(".debug"))
                || sym_str_ends_nocase(url, SYM_STR("/debuginfo"))
                || has_name(url, name)))
        {
            return true;
        }
    }

    return false;
}


static void
add_record(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    candidates_t *c = ctx;
    bool is_chosen = c->chosen.state != 0 && sym_str_eq(scope, c->chosen_scope);
    sym_str_t text = record != NULL ? record->attempts : SYM_STR("");
    uint32_t before = c->n;
    sym_attempt_t attempt;
    candidate_t *one;

    while (next_place(&text, &attempt)) {
        add_attempt(c, scope, record->state, &attempt);
    }

    if (c->n != before) {
        return;
    }

    /* loaded by hand, or not from a source */
    if (record != NULL && record->state == SYM_MODULE_READY) {
        one = is_chosen ? add(c, scope, record->path) : NULL;
        if (one != NULL) {
            one->to.status = SYM_DOWNLOAD_OK;
            use(c, one);
            one->features = features_of(c, one);
        }
        return;
    }

    if (scope.len != 0 && c->need->found != SYM_NEED_PENDING
        && !lists_more(c, scope))
    {
        (void) add(c, scope, SYM_STR(NOTHING_LISTED));
    }
}


/* Adds a text at a URL, as Symbolicator does (its source_context.rs). */
static void
add_text(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    candidates_t *c = ctx;
    sym_str_t text = record != NULL ? record->attempts : SYM_STR("");
    sym_attempt_t attempt;
    candidate_t *one;

    if (c->need->found == SYM_NEED_PENDING) {
        return;
    }

    one = add(c, scope, c->need->ref->url);
    if (one == NULL) {
        return;
    }

    one->source = SYM_STR("sourcelink");
    if (c->need->found == SYM_NEED_FOUND) {
        one->to.status = SYM_DOWNLOAD_OK;
        one->features = SYM_FEATURE_SOURCES;
        return;
    }

    if (next_place(&text, &attempt)) {
        one->to.outcome = attempt.outcome;
        one->to.ms = attempt.ms;
        one->to.status = sym_download_of(&attempt);
        if (one->to.status == SYM_DOWNLOAD_OK) {
            one->to.status = record->state == SYM_MODULE_ABSENT
                                 ? SYM_DOWNLOAD_NOT_FOUND
                                 : SYM_DOWNLOAD_MALFORMED;
        }
    } else if (c->need->missing.state != SYM_MODULE_ABSENT) {
        one->to.outcome = SYM_STR("unreachable");
        one->to.status = SYM_DOWNLOAD_ERROR;
    }
}


static void
add_texts(candidates_t *c, uint32_t module)
{
    sym_str_t scope;
    uint32_t of;

    for (uint32_t i = 0; sentry_link(c->s, i, &of, &c->need); i++) {
        if (of == module) {
            scope = c->s->base.request_sources->links->scope;
            sym_resolver_record(c->s->answer->resolver, scope, c->need->ref,
                                SYM_KIND_SOURCES, add_text, c);
        }
    }
}


static int
compare(const void *a, const void *b)
{
    const candidate_t *x = a, *y = b;
    int order = sym_str_cmp(x->source, y->source);

    return order != 0 ? order : sym_str_cmp(x->to.location, y->to.location);
}


/* One path may have been requested for several kinds of artifact. */
static void
unite(candidates_t *c)
{
    uint32_t n = 0;

    if (c->n != 0) {
        qsort(c->list, c->n, sizeof(*c->list), compare);
    }

    for (uint32_t i = 0; i < c->n; i++) {
        candidate_t *last = n != 0 ? &c->list[n - 1] : NULL;

        if (last == NULL || compare(last, &c->list[i]) != 0) {
            c->list[n++] = c->list[i];
            continue;
        }

        c->list[i].features |= last->features;
        c->list[i].is_used |= last->is_used;
        c->list[i].is_unwind |= last->is_unwind;
        if (last->to.status == SYM_DOWNLOAD_OK) {
            c->list[i].to.status = SYM_DOWNLOAD_OK;
        }
        *last = c->list[i];
    }

    c->n = n;
}


/* --- writing --- */

static void
write_bool(sym_out_t *out, sym_str_t key, bool is_true)
{
    sym_out_raw(out, key);
    sym_out_raw(out, is_true ? SYM_STR("true") : SYM_STR("false"));
}


static void
write_one(const candidate_t *c, sym_out_t *out)
{
    static const char *const words[] = { [SYM_DOWNLOAD_OK] = "ok",
                                         [SYM_DOWNLOAD_MALFORMED] = "malformed",
                                         [SYM_DOWNLOAD_NOPERM] = "noperm",
                                         [SYM_DOWNLOAD_NOT_FOUND] = "notfound",
                                         [SYM_DOWNLOAD_ERROR] = "error" };
    char details[DETAILS_MAX];
    size_t len = sym_download_details(&c->to, SYM_DOWNLOAD_FAILED, details,
                                      sizeof(details));

    sym_out_raw(out, SYM_STR("{\"source\": "));
    sym_out_string(out, c->source);
    sym_out_raw(out, SYM_STR(", \"location\": "));
    sym_out_string(out, c->to.location);
    sym_out_raw(out, SYM_STR(", \"download\": {\"status\": \""));
    sym_out_raw(out, sym_cstr(words[c->to.status]));
    sym_out_raw(out, SYM_STR("\""));

    if (c->to.status == SYM_DOWNLOAD_OK) {
        write_bool(out, SYM_STR(", \"features\": {\"has_debug_info\": "),
                   c->features & SYM_FEATURE_DEBUG_INFO);
        write_bool(out, SYM_STR(", \"has_unwind_info\": "),
                   c->features & SYM_FEATURE_UNWIND_INFO);
        write_bool(out, SYM_STR(", \"has_symbols\": "),
                   c->features & SYM_FEATURE_SYMBOLS);
        write_bool(out, SYM_STR(", \"has_sources\": "),
                   c->features & SYM_FEATURE_SOURCES);
        sym_out_raw(out, SYM_STR("}"));

    } else if (len != 0) {
        sym_out_raw(out, SYM_STR(", \"details\": "));
        sym_out_string(out, sym_str(details, len));
    }

    sym_out_raw(out, SYM_STR("}"));
    if (c->is_unwind) {
        sym_out_raw(out, SYM_STR(", \"unwind\": {\"status\": \"ok\"}"));
    }
    if (c->is_used && !(c->features & SYM_FEATURE_SOURCES)) {
        sym_out_raw(out, SYM_STR(", \"debug\": {\"status\": \"ok\"}"));
    }
    sym_out_raw(out, SYM_STR("}"));
}


uint32_t
sentry_write_candidates(sentry_t *s, uint32_t module, sym_out_t *out)
{
    candidates_t c = { .s = s, .module = module };
    const sentry_module_t *m = &s->request.modules[module];
    uint32_t need = m->unwind != 0 ? m->unwind : m->need, cost = 0;

    /* each kind of artifact that was requested; 0 also ends the list */
    while (need != 0) {
        c.need = &s->base.needs[need - 1];
        c.chosen = (sym_object_record_t){ 0 };
        sym_resolver_records(s->answer->resolver, c.need->ref, c.need->kind,
                             choose, &c);
        sym_resolver_records(s->answer->resolver, c.need->ref, c.need->kind,
                             add_record, &c);
        cost += 2 * sym_request_n_scopes(&s->base);
        need = c.need->next != 0 ? c.need->next + 1 : 0;
    }

    add_texts(&c, module);
    cost += (uint32_t) c.n;
    unite(&c);
    for (uint32_t i = 0; i < c.n; i++) {
        sym_out_raw(out,
                    i == 0 ? SYM_STR(", \"candidates\": [") : SYM_STR(", "));
        write_one(&c.list[i], out);
    }

    if (c.n != 0) {
        sym_out_raw(out, SYM_STR("]"));
    }

    return cost;
}


/* --- the status of a module that was not found --- */

static void
take_first_error(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    sym_module_state_t *state = ctx;
    sym_str_t text = record != NULL ? record->attempts : SYM_STR("");
    sym_attempt_t attempt;

    (void) scope;
    while (*state == 0 && next_place(&text, &attempt)) {
        switch (sym_download_of(&attempt)) {
        case SYM_DOWNLOAD_OK: /* valid, but useless */
            break;
        case SYM_DOWNLOAD_MALFORMED:
            *state = SYM_MODULE_MALFORMED;
            break;
        case SYM_DOWNLOAD_NOT_FOUND:
            *state = SYM_MODULE_ABSENT;
            break;
        default:
            *state = SYM_MODULE_FAILED;
        }
    }
}


sym_module_state_t
sentry_first_error(sentry_t *s, const sym_need_t *need)
{
    sym_module_state_t state = (sym_module_state_t) 0;

    sym_resolver_records(s->answer->resolver, need->ref, need->kind,
                         take_first_error, &state);
    return state != 0 ? state : need->missing.state;
}
