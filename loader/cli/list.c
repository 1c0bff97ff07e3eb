/*
 * list.c - `symloader ls` and `symloader stat`: the contents of the store.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "places/places.h"

/* Prints the remaining time, and why there is no module. */
static void
print_negative(output_t *out, uint32_t expires_at, bool is_expired,
               sym_str_t outcome, sym_str_t reason)
{
    char expires[OUTPUT_TIME_TEXT];

    output_printf(out, "  (");
    if (expires_at != 0) {
        output_printf(out, "%s %s: ", is_expired ? "expired" : "until",
                      output_time(expires_at, expires));
    }

    output_text(out, outcome);
    output_printf(out, outcome.len != 0 && reason.len != 0 ? ": " : "");
    output_text(out, reason);
    output_printf(out, ")");
}


static const char *
quality_name(const sym_object_record_t *m)
{
    const sym_kind_row_t *kind = sym_kind_find(m->kind);

    return kind != NULL ? kind->quality_name(m->quality) : "-";
}


/* State of `ls`. */
typedef struct {
    session_t *session;
    sym_snapshot_t *snapshot;
    sym_error_t *err;
    const char *pattern; /* NULL: all */
    int from_width;      /* width of the longest source's name */
    bool is_measured;
    bool found;
} listing_t;

#define COLUMNS "%-9s  %-17s  %10s  %10s  %-20s  %-20s  %-8s  "

static void
print_from(output_t *out, const listing_t *l, sym_str_t scope)
{
    sym_str_t from = sym_scope_word(scope);

    output_text(out, from);
    output_printf(out, "%*s", l->from_width + 2 - (int) from.len, "");
}


static void
print_row(output_t *out, const listing_t *l, sym_str_t scope,
          const sym_object_record_t *m)
{
    bool is_ready = m->state == SYM_MODULE_READY;
    char id[SYM_CODE_ID_MAX];
    char size[OUTPUT_SIZE_TEXT], source[OUTPUT_SIZE_TEXT];
    char stored[OUTPUT_TIME_TEXT], used[OUTPUT_TIME_TEXT];

    output_printf(out, COLUMNS, sym_module_state_name(m->state),
                  is_ready ? quality_name(m) : "-", output_size(m->bytes, size),
                  output_size(m->source_bytes, source),
                  output_time(m->stored_at, stored),
                  output_time(m->used_at, used), sym_kind_name(m->kind));
    print_from(out, l, scope);
    output_text(out, m->object.name);
    output_printf(out, "/");
    output_text(out, sym_object_shown_id(&m->object, id));

    if (!is_ready) {
        print_negative(out, m->expires_at, sym_module_expired(m, time(NULL)),
                       SYM_STR(""), m->reason);
    }

    output_printf(out, "\n");
}


static void
print_path_row(output_t *out, const listing_t *l, const sym_place_t *place)
{
    const sym_path_record_t *r = place->record;
    char text[SYM_PLACE_OUTCOME_MAX];
    char source[OUTPUT_SIZE_TEXT], stored[OUTPUT_TIME_TEXT];

    output_printf(out, COLUMNS, sym_path_outcome_name(r->outcome), "-", "-",
                  output_size(r->bytes, source),
                  output_time(r->stored_at, stored), "-", "-");
    print_from(out, l, place->key.scope);
    output_text(out, place->key.path);
    print_negative(out, r->expires_at, sym_is_past(r->expires_at, time(NULL)),
                   sym_place_outcome(r, text), r->reason);
    output_printf(out, "\n");
}


static void
print_object(output_t *out, const listing_t *l, sym_str_t scope,
             const sym_object_record_t *m)
{
    char id[SYM_CODE_ID_MAX];
    bool first = true;

    output_printf(out, "{");
    output_key_string(out, "name", m->object.name, &first);
    output_key_string(out, "id", sym_object_shown_id(&m->object, id), &first);
    output_key_string(out, "source", sym_scope_word(scope), &first);
    output_key_string(out, "kind", sym_cstr(sym_kind_name(m->kind)), &first);
    output_key_string(out, "state", sym_cstr(sym_module_state_name(m->state)),
                      &first);

    if (m->state == SYM_MODULE_READY) {
        output_key_string(out, "quality", sym_cstr(quality_name(m)), &first);
        output_key_dec(out, "bytes", m->bytes, &first);
        output_key_dec(out, "file_bytes", m->source_bytes, &first);

    } else {
        output_key_string(out, "reason", m->reason, &first);
        output_key_dec(out, "expires_at", m->expires_at, &first);
    }

    output_key_string(out, "file", sym_snapshot_source(l->snapshot, scope, m),
                      &first);
    output_key_dec(out, "stored_at", (uint64_t) m->stored_at, &first);
    output_key_dec(out, "used_at", m->used_at, &first);
    output_printf(out, "}\n");
}


static void
print_path(output_t *out, const sym_place_t *place)
{
    const sym_path_record_t *r = place->record;
    char text[SYM_PLACE_OUTCOME_MAX];
    bool first = true;

    output_printf(out, "{");
    output_key_string(out, "path", place->key.path, &first);
    output_key_string(out, "source", sym_scope_word(place->key.scope), &first);
    output_key_string(out, "state", sym_cstr(sym_path_outcome_name(r->outcome)),
                      &first);
    output_key_string(out, "outcome", sym_place_outcome(r, text), &first);
    output_key_string(out, "reason", r->reason, &first);
    output_key_string(out, "url", r->url, &first);
    output_key_dec(out, "file_bytes", r->bytes, &first);
    output_key_dec(out, "expires_at", r->expires_at, &first);
    output_key_dec(out, "stored_at", (uint64_t) r->stored_at, &first);
    output_printf(out, "}\n");
}


/* Whether a pattern with wildcards matches a text, or the part before or after
 * its last slash; without wildcards, whether the text contains it.  Ignores
 * case. */
static bool
fits(const char *pattern, sym_str_t head, sym_str_t tail)
{
    char both[PATH_MAX];
    char *last;

    snprintf(both, sizeof(both), "%.*s%s%.*s", (int) head.len, head.data,
             head.len != 0 ? "/" : "", (int) tail.len, tail.data);

    if (strpbrk(pattern, "*?[") == NULL) {
        return strcasestr(both, pattern) != NULL;
    }

    if (fnmatch(pattern, both, FNM_CASEFOLD) == 0) {
        return true;
    }

    last = strrchr(both, '/');
    if (last == NULL) {
        return false;
    }

    *last++ = '\0';
    return fnmatch(pattern, both, FNM_CASEFOLD) == 0
           || fnmatch(pattern, last, FNM_CASEFOLD) == 0;
}


static bool
is_selected(const listing_t *l, sym_str_t scope)
{
    const char *source = l->session->options->source;

    return source == NULL
           || sym_str_eq(scope, sym_scope_of_word(sym_cstr(source)));
}


static void
measure(listing_t *l, sym_str_t scope)
{
    int width = (int) sym_scope_word(scope).len;

    l->from_width = width > l->from_width ? width : l->from_width;
}


static sym_status_t
list_module(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    listing_t *l = ctx;
    char id[SYM_CODE_ID_MAX];

    if (!is_selected(l, scope)
        || (l->pattern != NULL
            && !fits(l->pattern, record->object.name,
                     sym_object_shown_id(&record->object, id))))
    {
        return SYM_OK;
    }

    l->found = true;
    if (!l->is_measured) {
        measure(l, scope);
    } else if (l->session->options->json) {
        print_object(l->session->out, l, scope, record);
    } else {
        print_row(l->session->out, l, scope, record);
    }

    return SYM_OK;
}


/* Lists paths without a useful file. */
static sym_status_t
list_path(void *ctx, const sym_path_shown_t *key,
          const sym_path_record_t *record)
{
    listing_t *l = ctx;
    const sym_place_t place = sym_place_of(key, record);

    if (record->artifacts != 0
        || (l->pattern != NULL && !fits(l->pattern, SYM_STR(""), key->path)))
    {
        return SYM_OK;
    }

    l->found = true;
    if (!l->is_measured) {
        measure(l, key->scope);
    } else if (l->session->options->json) {
        print_path(l->session->out, &place);
    } else {
        print_path_row(l->session->out, l, &place);
    }

    return SYM_OK;
}


static sym_status_t
list_paths(void *ctx, sym_str_t scope)
{
    listing_t *l = ctx;
    sym_store_mark_t mark = { .len = 0 };
    uint64_t records = UINT64_MAX;

    return is_selected(l, scope) ? sym_snapshot_paths(
               l->snapshot, scope, &mark, &records, list_path, l, l->err)
                                 : SYM_OK;
}


/* Lists modules by source, name and id; then paths by source. */
static void
list_all(listing_t *l, sym_error_t *err)
{
    sym_error_t of_paths = { 0 };

    l->err = &of_paths;
    if (sym_snapshot_each(l->snapshot, list_module, l, err) == SYM_OK
        || err->status == SYM_DAMAGED)
    {
        (void) sym_snapshot_scopes(l->snapshot, list_paths, l, &of_paths);
    }
    l->err = NULL;

    if (err->status == SYM_OK) {
        *err = of_paths;
    }
}


static void
list_modules(listing_t *l, sym_error_t *err)
{
    const session_t *r = l->session;
    sym_error_t again = { 0 }; /* errors are reported by the second walk */

    if (!r->options->json) {
        list_all(l, &again);
        output_printf(r->out, COLUMNS "%-*s  %s\n", "STATE", "QUALITY", "SIZE",
                      "FILE", "STORED", "USED", "KIND", l->from_width, "SOURCE",
                      "MODULE OR PATH");
    }

    l->is_measured = true;
    list_all(l, err);
}


static int
ls(session_t *r)
{
    listing_t *l = r->ctx;
    sym_error_t err = { 0 };
    sym_status_t rc = sym_snapshot_begin(r->store, &l->snapshot, &err);

    if (rc != SYM_OK) {
        return store_failure(r->options, &err);
    }

    l->session = r;
    list_modules(l, &err);
    sym_snapshot_end(l->snapshot);

    if (err.status != SYM_OK) {
        return store_failure(r->options, &err);
    }

    if (l->pattern != NULL && !l->found) {
        complain_about(l->pattern, "no module matches");
        return EXIT_PARTLY;
    }

    return EXIT_FINE;
}


int
ls_run(const options_t *options)
{
    listing_t l = { .from_width = sizeof("FROM") - 1 };

    if (options->n_operands != 0) {
        l.pattern = options->operands[0];
    }

    return session_read(options, ls, &l);
}


/* --- stat --- */

static void
print_stat_text(output_t *out, const sym_store_stat_t *s)
{
    char quota[OUTPUT_SIZE_TEXT], temp[OUTPUT_SIZE_TEXT];
    char live[OUTPUT_SIZE_TEXT], live_limit[OUTPUT_SIZE_TEXT];
    char file[OUTPUT_SIZE_TEXT], file_limit[OUTPUT_SIZE_TEXT];
    char unused[OUTPUT_SIZE_TEXT], map[OUTPUT_SIZE_TEXT];

    output_printf(
        out,
        "quota         %s, %s of it for temporary files\n"
        "live bytes    %s of at most %s\n"
        "file bytes    %s of at most %s%s\n"
        "free in file  %s\n"
        "map bytes     %s\n",
        output_size(s->quota, quota), output_size(s->temp_limit, temp),
        output_size(s->live_bytes, live),
        output_size(s->live_limit, live_limit),
        output_size(s->file_bytes, file),
        output_size(s->file_limit, file_limit),
        s->file_bytes > s->file_limit ? " (from before; it never shrinks)" : "",
        output_size(s->free_bytes, unused), output_size(s->map_bytes, map));
    output_printf(out,
                  "modules       %" PRIu64 " (ready %" PRIu64 ")\n"
                  "paths         %" PRIu64 " (absent %" PRIu64
                  ", failed %" PRIu64 ", malformed %" PRIu64 ")\n",
                  s->modules, s->ready, s->paths, s->absent, s->failed,
                  s->malformed);
    output_printf(out,
                  "extents       %" PRIu64 "\n"
                  "evicted       %" PRIu64 "\n"
                  "readers       %u of %u, %u reading\n"
                  "transactions  %" PRIu64 "\n",
                  s->extents, s->evicted, s->readers, s->max_readers,
                  s->reading, s->last_txn);
}


/* Returns the line without its end. */
static void
print_stat_json(output_t *out, const sym_store_stat_t *s)
{
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {
        { "quota", s->quota },
        { "temp_limit", s->temp_limit },
        { "live_bytes", s->live_bytes },
        { "live_limit", s->live_limit },
        { "file_bytes", s->file_bytes },
        { "file_limit", s->file_limit },
        { "free_bytes", s->free_bytes },
        { "map_bytes", s->map_bytes },
        { "modules", s->modules },
        { "ready", s->ready },
        { "absent", s->absent },
        { "failed", s->failed },
        { "malformed", s->malformed },
        { "paths", s->paths },
        { "extents", s->extents },
        { "evicted", s->evicted },
        { "readers", s->readers },
        { "reading", s->reading },
        { "max_readers", s->max_readers },
        { "last_txn", s->last_txn },
    };
    bool first = true;
    size_t i;

    output_printf(out, "{");

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        output_key_dec(out, rows[i].key, rows[i].value, &first);
    }
}


/* Counts of one source. */
typedef struct {
    session_t *session;
    sym_snapshot_t *snapshot;
    sym_error_t *err;
    uint64_t modules, paths, bytes;
    uint64_t states[SYM_MODULE_MALFORMED + 1]; /* READY: modules; other states:
                                                  paths */
    sym_kind_counts_t kinds;                   /* total of all sources */
    bool first;
} source_stat_t;


static void
print_source(source_stat_t *s, sym_str_t scope)
{
    output_t *out = s->session->out;
    char bytes[OUTPUT_SIZE_TEXT];
    bool first = true;

    if (!s->session->options->json) {
        output_printf(out, "source        ");
        output_text(out, sym_scope_word(scope));
        output_printf(
            out,
            ": %" PRIu64 " modules, %" PRIu64 " paths (absent %" PRIu64
            ", failed %" PRIu64 ", malformed %" PRIu64 "), %s\n",
            s->modules, s->paths, s->states[SYM_MODULE_ABSENT],
            s->states[SYM_MODULE_FAILED], s->states[SYM_MODULE_MALFORMED],
            output_size(s->bytes, bytes));
        return;
    }

    output_printf(out, s->first ? "{" : ", {");
    s->first = false;
    output_key_string(out, "source", sym_scope_word(scope), &first);
    output_key_dec(out, "modules", s->modules, &first);
    output_key_dec(out, "paths", s->paths, &first);
    output_key_dec(out, "bytes", s->bytes, &first);

    for (int i = SYM_MODULE_READY; i <= SYM_MODULE_MALFORMED; i++) {
        output_key_dec(out, sym_module_state_name((sym_module_state_t) i),
                       s->states[i], &first);
    }

    output_printf(out, "}");
}


static sym_status_t
count_module(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    source_stat_t *s = ctx;

    (void) scope;
    s->modules++;
    s->bytes += record->bytes;
    s->states[record->state]++;
    s->kinds.n[record->kind & SYM_KIND_MAX]++;
    return SYM_OK;
}


static sym_status_t
count_path(void *ctx, const sym_path_shown_t *key,
           const sym_path_record_t *record)
{
    source_stat_t *s = ctx;

    (void) key;
    s->paths++;
    s->states[SYM_MODULE_ABSENT] += record->outcome == SYM_PATH_ABSENT;
    s->states[SYM_MODULE_FAILED] += record->outcome == SYM_PATH_FAILED;
    s->states[SYM_MODULE_MALFORMED] += record->outcome == SYM_PATH_MALFORMED;
    return SYM_OK;
}


static sym_status_t
count_source(void *ctx, sym_str_t scope)
{
    source_stat_t *s = ctx;
    sym_store_mark_t mark = { .len = 0 }, of_paths = { .len = 0 };
    uint64_t records = UINT64_MAX;

    s->modules = s->paths = s->bytes = 0;
    memset(s->states, 0, sizeof(s->states));

    if (sym_snapshot_objects(s->snapshot, &scope, &mark, &records, count_module,
                             s, s->err)
            == SYM_OK
        && sym_snapshot_paths(s->snapshot, scope, &of_paths, &records,
                              count_path, s, s->err)
               == SYM_OK)
    {
        print_source(s, scope);
    }

    return s->err->status;
}


static void
print_kinds(const session_t *r, const sym_kind_counts_t *kinds)
{
    bool first = true;

    for (size_t i = 0; i < SYM_KINDS; i++) {
        const char *name = sym_kinds[i]->name;
        uint64_t n = kinds->n[sym_kinds[i]->kind];

        if (r->options->json) {
            output_key_dec(r->out, name, n, &first);
        } else {
            output_printf(r->out, "kind          %s: %" PRIu64 "\n", name, n);
        }
    }
}


static sym_status_t
print_sources(session_t *r, sym_kind_counts_t *kinds, sym_error_t *err)
{
    source_stat_t s = { .session = r, .err = err, .first = true };
    sym_status_t rc = sym_snapshot_begin(r->store, &s.snapshot, err);

    if (rc == SYM_OK) {
        rc = sym_snapshot_scopes(s.snapshot, count_source, &s, err);
        sym_snapshot_end(s.snapshot);
    }

    *kinds = s.kinds;
    return rc;
}


static int
stat_store(session_t *r)
{
    sym_store_stat_t s;
    sym_kind_counts_t kinds;
    sym_error_t err = { 0 };
    sym_status_t rc;

    if (sym_store_stat(r->store, &s, &err) != SYM_OK) {
        return store_failure(r->options, &err);
    }

    if (r->options->json) {
        print_stat_json(r->out, &s);
        output_printf(r->out, ", \"sources\": [");
        rc = print_sources(r, &kinds, &err);
        output_printf(r->out, "], \"kinds\": {");
        print_kinds(r, &kinds);
        output_printf(r->out, "}}\n");

    } else {
        print_stat_text(r->out, &s);
        rc = print_sources(r, &kinds, &err);
        print_kinds(r, &kinds);
    }

    return rc == SYM_OK ? EXIT_FINE : store_failure(r->options, &err);
}


int
stat_run(const options_t *options)
{
    return session_read(options, stat_store, NULL);
}
