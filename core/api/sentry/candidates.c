/*
 * The candidates of a module at each source (options.dif_candidates): the
 * places where its files may be.  Texts are the same as Symbolicator's.
 */
#include "api/sentry/sentry.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "api/download.h"
#include "base/hex.h"

#define NOTHING_LISTED "No object files listed on this source"
/* Room for `details`: a host's name, and two errors. */
#define DETAILS_MAX 1024

/* Initial and maximum size of a list: 64 sources with all paths of a module. */
#define CANDIDATES_MIN 8u
#define CANDIDATES_MAX 4096u

typedef struct {
    sym_str_t source;
    sym_download_t to; /* location of the file, and the result of its
                          download */
    uint32_t features; /* SYM_FEATURE_* of a file, if found */
    bool is_used;      /* the file is for symbols or sources */
    bool is_unwind;    /* the file has the unwind rules that were used */
} candidate_t;

typedef struct {
    sentry_t *s;
    uint32_t module;
    const sym_need_t *need;
    sym_object_record_t chosen; /* state 0: no result */
    sym_str_t chosen_scope;
    sym_str_t scope; /* index of the current source */
    candidate_t *list;
    uint32_t n, max;
} candidates_t;


/* --- collecting --- */

/* Returns the source's name in the request. */
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


/* Decodes a location: requests encode more characters than a path requires (RFC
 * 3986, 3.3, "pchar"), Symbolicator's locations do not.  data NULL: out of
 * memory. */
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


/* Features of a file that was loaded by hand; they are known from its
 * artifact. */
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


/* Finds the record that is used, as chosen by sym_snapshot_choose_object(). */
static void
choose(void *ctx, uint32_t source, sym_str_t scope,
       const sym_object_record_t *record)
{
    candidates_t *c = ctx;

    (void) source;
    if (record != NULL && record->state == SYM_MODULE_READY
        && (c->chosen.state == 0
            || (sym_object_is_poor(&c->chosen)
                && record->quality > c->chosen.quality)))
    {
        c->chosen = *record;
        c->chosen_scope = scope;
    }
}


static void
use(const candidates_t *c, candidate_t *one)
{
    one->is_unwind = c->need->kind == SYM_KIND_CFI;
    one->is_used = !one->is_unwind;
}


/* Sets the result of the download at a place. */
static void
tell(const candidates_t *c, const sym_place_t *place, candidate_t *one)
{
    char outcome[SYM_PLACE_OUTCOME_MAX];

    one->to.outcome = sym_arena_copy(c->s->base.arena,
                                     sym_place_outcome(place->record, outcome));
    one->to.ms = place->record->ms;
    one->to.status = sym_download_of_place(place);
}


static void
add_place(void *ctx, const sym_place_t *place)
{
    candidates_t *c = ctx;
    candidate_t *one = sym_place_is_tried(place)
                           ? add(c, c->scope, sym_place_location(place))
                           : NULL;

    if (one == NULL) {
        return;
    }

    tell(c, place, one);
    one->features = place->record->features;
    if (one->to.status == SYM_DOWNLOAD_OK && c->need->found == SYM_NEED_FOUND
        && sym_str_eq(c->scope, c->chosen_scope)
        && sym_object_is_from(&c->chosen, &place->key))
    {
        use(c, one);
    }
}


/* Whether the URL ends in the named file or its cabinet: "a.pd_" for
 * "a.pdb". */
static bool
has_name(sym_str_t url, sym_str_t name)
{
    sym_str_t last = sym_str_after_last(url, SYM_STR("/\\"));

    return name.len != 0 && last.len == name.len
           && strncasecmp(last.data, name.data, name.len - 1) == 0
           && (last.data[name.len - 1] == '_'
               || strncasecmp(last.data, name.data, name.len) == 0);
}


/*
 * Symbolicator also searches for sources in ELF debug files and PDBs (its
 * FileType::sources()), which never contain any.  The answer lists such files
 * if the source lists them for symbols.
 */
static bool
lists_more(const candidates_t *c, sym_str_t scope)
{
    sym_str_t source = source_name(c->s, scope), name = SYM_STR("");

    if (c->need->kind != SYM_KIND_SOURCES) {
        return false;
    }

    name = sym_str_after_last(c->need->ref->debug_file, SYM_STR("/\\"));

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


static sym_file_order_t
order_of(const sym_need_t *need)
{
    return need->is_thorough || sym_kind_wants_code(need->kind)
               ? SYM_CODE_FILES_FIRST
               : SYM_DEBUG_FILES_FIRST;
}


static sym_lookup_t
lookup_of(const sym_need_t *need)
{
    return (sym_lookup_t){ need->ref, need->kind, need->without };
}


static void
add_record(void *ctx, uint32_t source, sym_str_t scope,
           const sym_object_record_t *record)
{
    candidates_t *c = ctx;
    const sym_lookup_t of = lookup_of(c->need);
    bool is_chosen = c->chosen.state != 0 && sym_str_eq(scope, c->chosen_scope);
    uint32_t before = c->n;
    candidate_t *one;

    c->scope = scope;
    sym_resolver_places(c->s->answer->resolver, source, &of, order_of(c->need),
                        add_place, c);
    if (c->n != before) {
        return;
    }

    /* the file was loaded by hand, or is not from a source */
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


static void
tell_text(void *ctx, const sym_place_t *place)
{
    candidates_t *c = ctx;
    candidate_t *one = &c->list[c->n - 1];

    if (place->record != NULL) {
        tell(c, place, one);
        if (one->to.status == SYM_DOWNLOAD_OK) {
            one->to.status = place->state == SYM_MODULE_ABSENT
                                 ? SYM_DOWNLOAD_NOT_FOUND
                                 : SYM_DOWNLOAD_MALFORMED;
        }
    } else if (c->need->missing.state != SYM_MODULE_ABSENT) {
        one->to.outcome = SYM_STR("unreachable");
        one->to.status = SYM_DOWNLOAD_ERROR;
    }
}


/* Adds a text at a URL, as Symbolicator does (its source_context.rs). */
static void
add_text(candidates_t *c, sym_str_t scope)
{
    const sym_lookup_t of = lookup_of(c->need);
    candidate_t *one = c->need->found != SYM_NEED_PENDING
                           ? add(c, scope, c->need->ref->url)
                           : NULL;

    if (one == NULL) {
        return;
    }

    one->source = SYM_STR("sourcelink");
    if (c->need->found == SYM_NEED_FOUND) {
        one->to.status = SYM_DOWNLOAD_OK;
        one->features = SYM_FEATURE_SOURCES;
        return;
    }

    sym_resolver_url(c->s->answer->resolver, scope, &of, tell_text, c);
}


static void
add_texts(candidates_t *c, uint32_t module)
{
    sym_str_t scope;
    uint32_t of;

    for (uint32_t i = 0; sentry_link(c->s, i, &of, &c->need); i++) {
        if (of == module) {
            scope = c->s->base.request_sources->links->scope;
            add_text(c, scope);
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


/* One path may have been requested for several kinds of artifacts. */
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

    /* every kind of artifact that was requested; 0 also ends the list */
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


/* --- status of a module that was not found --- */

static void
take_first_error(void *ctx, const sym_place_t *place)
{
    sym_module_state_t *state = ctx;

    if (*state != 0 || !sym_place_is_tried(place)) {
        return;
    }

    switch (sym_download_of_place(place)) {
    case SYM_DOWNLOAD_OK: /* the file is valid, but useless */
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


sym_module_state_t
sentry_first_error(sentry_t *s, const sym_need_t *need)
{
    const sym_lookup_t of = lookup_of(need);
    sym_module_state_t state = (sym_module_state_t) 0;

    for (uint32_t i = 0; i < sym_request_n_scopes(&s->base) && state == 0; i++)
    {
        sym_resolver_places(s->answer->resolver, i, &of, order_of(need),
                            take_first_error, &state);
    }

    return state != 0 ? state : need->missing.state;
}
