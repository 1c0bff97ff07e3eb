/*
 * list.c - `symloader ls` and `symloader stat`: the contents of the store.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"

/* Its remaining time, and why the module is missing. */
static void
print_negative(output_t *out, const sym_object_record_t *m)
{
    char expires[OUTPUT_TIME_TEXT];

    output_printf(out, "  (%s",
                  sym_variant_is_in(m->asked) ? "as Sentry's API asks, " : "");

    if (m->expires_at != 0) {
        output_printf(out, "%s %s: ",
                      sym_module_expired(m, time(NULL)) ? "expired" : "until",
                      output_time(m->expires_at, expires));
    }

    output_text(out, m->reason);
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
    sym_snapshot_t *snapshot;
    const char *pattern; /* NULL: all */
    int from_width;      /* of the longest source's name */
    bool found;
} listing_t;


static void
print_row(output_t *out, const listing_t *l, sym_str_t scope,
          const sym_object_record_t *m)
{
    bool is_ready = m->state == SYM_MODULE_READY;
    sym_str_t from = sym_scope_word(scope);
    char id[SYM_CODE_ID_MAX];
    char size[OUTPUT_SIZE_TEXT], source[OUTPUT_SIZE_TEXT];
    char stored[OUTPUT_TIME_TEXT], used[OUTPUT_TIME_TEXT];

    output_printf(out, "%-9s  %-17s  %10s  %10s  %-20s  %-20s  %-8s  ",
                  sym_module_state_name(m->state),
                  is_ready ? quality_name(m) : "-", output_size(m->bytes, size),
                  output_size(m->source_bytes, source),
                  output_time(m->stored_at, stored),
                  output_time(m->used_at, used), sym_kind_name(m->kind));
    output_text(out, from);
    output_printf(out, "%*s", l->from_width + 2 - (int) from.len, "");
    output_text(out, m->object.name);
    output_printf(out, "/");
    output_text(out, sym_object_shown_id(&m->object, id));

    if (!is_ready) {
        print_negative(out, m);
    }

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
    if (sym_variant_is_in(m->asked)) {
        output_key_string(out, "variant", m->asked, &first);
        output_key_string(
            out, "code_id",
            sym_str(m->object.code_id.text, m->object.code_id.len), &first);
    }
    output_key_string(out, "from", sym_scope_word(scope), &first);
    output_key_string(out, "kind", sym_cstr(sym_kind_name(m->kind)), &first);
    output_key_string(out, "state", sym_cstr(sym_module_state_name(m->state)),
                      &first);

    if (m->state == SYM_MODULE_READY) {
        output_key_string(out, "quality", sym_cstr(quality_name(m)), &first);
        output_key_dec(out, "bytes", m->bytes, &first);
        output_key_dec(out, "source_bytes", m->source_bytes, &first);

    } else {
        output_key_string(out, "reason", m->reason, &first);
        output_key_dec(out, "expires_at", m->expires_at, &first);
    }

    output_key_string(out, "source", sym_snapshot_source(l->snapshot, scope, m),
                      &first);
    output_key_dec(out, "stored_at", (uint64_t) m->stored_at, &first);
    output_key_dec(out, "used_at", m->used_at, &first);
    output_printf(out, "}\n");
}


/* Whether a pattern with wildcards fits the name, the id or both; one without
 * wildcards may be anywhere in them.  Ignores case. */
static bool
fits(const char *pattern, const sym_object_record_t *m)
{
    char both[SYM_NAME_MAX + 1 + SYM_CODE_ID_MAX + 1], text[SYM_CODE_ID_MAX];
    sym_str_t id = sym_object_shown_id(&m->object, text);
    char *shown_id;

    snprintf(both, sizeof(both), "%.*s/%.*s", (int) m->object.name.len,
             m->object.name.data, (int) id.len, id.data);

    if (strpbrk(pattern, "*?[") == NULL) {
        return strcasestr(both, pattern) != NULL;
    }

    if (fnmatch(pattern, both, FNM_CASEFOLD) == 0) {
        return true;
    }

    shown_id = strrchr(both, '/');
    *shown_id++ = '\0';
    return fnmatch(pattern, both, FNM_CASEFOLD) == 0
           || fnmatch(pattern, shown_id, FNM_CASEFOLD) == 0;
}


static bool
is_listed(const session_t *r, sym_str_t scope,
          const sym_object_record_t *record)
{
    const listing_t *l = r->ctx;
    const char *source = r->options->source;

    return (source == NULL
            || sym_str_eq(scope, sym_scope_of_word(sym_cstr(source))))
           && (l->pattern == NULL || fits(l->pattern, record));
}


static sym_status_t
measure_module(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    const session_t *r = ctx;
    listing_t *l = r->ctx;
    int width = (int) sym_scope_word(scope).len;

    if (width > l->from_width && is_listed(r, scope, record)) {
        l->from_width = width;
    }

    return SYM_OK;
}


static sym_status_t
list_module(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    const session_t *r = ctx;
    listing_t *l = r->ctx;

    if (!is_listed(r, scope, record)) {
        return SYM_OK;
    }

    l->found = true;

    if (r->options->json) {
        print_object(r->out, l, scope, record);

    } else {
        print_row(r->out, l, scope, record);
    }

    return SYM_OK;
}


static sym_status_t
list_modules(session_t *r, sym_snapshot_t *snapshot, sym_error_t *err)
{
    listing_t *l = r->ctx;
    sym_error_t again = { 0 }; /* the second walk reports it */

    l->snapshot = snapshot;
    if (!r->options->json) {
        (void) sym_snapshot_each(snapshot, measure_module, r, &again);
        output_printf(r->out,
                      "%-9s  %-17s  %10s  %10s  %-20s  %-20s  %-8s  %-*s  %s\n",
                      "STATE", "QUALITY", "SIZE", "SOURCE", "STORED", "USED",
                      "KIND", l->from_width, "FROM", "MODULE");
    }

    /* The store gives its modules sorted by source, name, id. */
    return sym_snapshot_each(snapshot, list_module, r, err);
}


static int
ls(session_t *r)
{
    const listing_t *l = r->ctx;
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };
    sym_status_t rc = sym_snapshot_begin(r->store, &snapshot, &err);

    if (rc != SYM_OK) {
        return store_failure(r->options, &err);
    }

    rc = list_modules(r, snapshot, &err);
    sym_snapshot_end(snapshot);

    if (rc != SYM_OK) {
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
                  "modules       %" PRIu64 " (ready %" PRIu64
                  ", absent %" PRIu64 ", failed %" PRIu64 ", malformed %" PRIu64
                  ")\n",
                  s->modules, s->ready, s->absent, s->failed, s->malformed);
    output_printf(out,
                  "extents       %" PRIu64 "\n"
                  "evicted       %" PRIu64 "\n"
                  "readers       %u of %u, %u reading\n"
                  "transactions  %" PRIu64 "\n",
                  s->extents, s->evicted, s->readers, s->max_readers,
                  s->reading, s->last_txn);
}


/* Without the end of the line. */
static void
print_stat_json(output_t *out, const sym_store_stat_t *s)
{
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {
        { "quota", s->quota },           { "temp_limit", s->temp_limit },
        { "live_bytes", s->live_bytes }, { "live_limit", s->live_limit },
        { "file_bytes", s->file_bytes }, { "file_limit", s->file_limit },
        { "free_bytes", s->free_bytes }, { "map_bytes", s->map_bytes },
        { "modules", s->modules },       { "ready", s->ready },
        { "absent", s->absent },         { "failed", s->failed },
        { "malformed", s->malformed },   { "extents", s->extents },
        { "evicted", s->evicted },       { "readers", s->readers },
        { "reading", s->reading },       { "max_readers", s->max_readers },
        { "last_txn", s->last_txn },
    };
    bool first = true;
    size_t i;

    output_printf(out, "{");

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        output_key_dec(out, rows[i].key, rows[i].value, &first);
    }
}


/* Records of one source.  They are adjacent in a walk, because a key begins
 * with its source. */
typedef struct {
    session_t *session;
    char scope[SYM_SCOPE_MAX];
    size_t scope_len;
    uint64_t records, bytes;
    uint64_t states[SYM_MODULE_MALFORMED + 1];
    sym_kind_counts_t kinds; /* of all sources */
    bool first;
} source_stat_t;


static void
print_source(source_stat_t *s)
{
    sym_str_t name = sym_scope_word(sym_str(s->scope, s->scope_len));
    output_t *out = s->session->out;
    char bytes[OUTPUT_SIZE_TEXT];
    bool first = true;

    if (s->records == 0) {
        return;
    }

    if (!s->session->options->json) {
        output_printf(out, "from          ");
        output_text(out, name);
        output_printf(
            out,
            ": %" PRIu64 " (ready %" PRIu64 ", absent %" PRIu64
            ", failed %" PRIu64 ", malformed %" PRIu64 "), %s\n",
            s->records, s->states[SYM_MODULE_READY],
            s->states[SYM_MODULE_ABSENT], s->states[SYM_MODULE_FAILED],
            s->states[SYM_MODULE_MALFORMED], output_size(s->bytes, bytes));
        return;
    }

    output_printf(out, s->first ? "{" : ", {");
    s->first = false;
    output_key_string(out, "from", name, &first);
    output_key_dec(out, "modules", s->records, &first);
    output_key_dec(out, "bytes", s->bytes, &first);

    for (int i = SYM_MODULE_READY; i <= SYM_MODULE_MALFORMED; i++) {
        output_key_dec(out, sym_module_state_name((sym_module_state_t) i),
                       s->states[i], &first);
    }

    output_printf(out, "}");
}


static sym_status_t
count_of_source(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    source_stat_t *s = ctx;

    if (!sym_str_eq(scope, sym_str(s->scope, s->scope_len))) {
        print_source(s);
        s->records = 0;
        s->bytes = 0;
        memset(s->states, 0, sizeof(s->states));
        memcpy(s->scope, scope.data, scope.len);
        s->scope_len = scope.len;
    }

    s->records++;
    s->bytes += record->bytes;
    s->states[record->state]++;
    s->kinds.n[record->kind & SYM_KIND_MAX]++;
    return SYM_OK;
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
    source_stat_t s = { .session = r, .first = true };
    sym_snapshot_t *snapshot;
    sym_status_t rc = sym_snapshot_begin(r->store, &snapshot, err);

    if (rc == SYM_OK) {
        rc = sym_snapshot_each(snapshot, count_of_source, &s, err);
        sym_snapshot_end(snapshot);
        print_source(&s);
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
