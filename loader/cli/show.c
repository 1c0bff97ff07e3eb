/*
 * show.c - `symloader show`: all facts about one module.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "cli/commands.h"
#include "common/module.h"
#include "protocol/attempts.h"

typedef struct {
    module_operand_t operand;
    module_t module;
    output_t *out;
    bool is_json;
    bool first;         /* JSON: no key written yet */
    bool has_sizes;     /* they come before the counts of its kind */
    unsigned n_records; /* shown so far, of one object */
} show_t;

static void
print_row_text(output_t *out, const char *key, sym_str_t value)
{
    output_printf(out, "%-13s ", key);
    output_text(out, value.len != 0 ? value : SYM_STR("-"));
    output_printf(out, "\n");
}


static void
print_record_text(output_t *out, show_t *s)
{
    const sym_object_record_t *m = &s->module.record;
    char stored[OUTPUT_TIME_TEXT], used[OUTPUT_TIME_TEXT];

    print_row_text(out, "name", s->module.key.name);
    print_row_text(out, "id", s->module.key.id);
    print_row_text(out, "from", sym_scope_word(s->module.key.scope));
    print_row_text(out, "kind", sym_cstr(sym_kind_name(m->kind)));
    print_row_text(out, "state", sym_cstr(sym_module_state_name(m->state)));
    print_row_text(out, "source", module_source(&s->module));
    print_row_text(out, "stored", sym_cstr(output_time(m->stored_at, stored)));
    print_row_text(out, "used", sym_cstr(output_time(m->used_at, used)));
}


static void
print_attempts_text(output_t *out, sym_str_t lines)
{
    sym_attempt_t a;

    while (sym_attempts_line(&lines, &a)) {
        output_printf(out, "%-13s ", "attempt");
        output_text(out, a.source);
        output_printf(out, ": ");
        output_text(out, a.outcome);
        output_printf(out, ", %" PRIu64 " bytes, %" PRIu64 " ms, ", a.bytes,
                      a.ms);
        output_text(out, a.url);
        output_printf(out, "\n");
    }
}


static void
print_negative_text(output_t *out, const sym_object_record_t *m)
{
    char expires[OUTPUT_TIME_TEXT];

    print_row_text(out, "reason", m->reason);
    output_printf(out, "%-13s %s%s\n", "expires",
                  m->expires_at != 0 ? output_time(m->expires_at, expires)
                                     : "never",
                  sym_module_expired(m, time(NULL)) ? " (has expired)" : "");
}


static void
put_text(void *ctx, const char *key, sym_str_t value)
{
    show_t *s = ctx;

    if (s->is_json) {
        output_key_string(s->out, key, value, &s->first);
    } else {
        print_row_text(s->out, key, value);
    }
}


static void
put_number(show_t *s, const char *key, uint64_t value)
{
    if (s->is_json) {
        output_key_dec(s->out, key, value, &s->first);
    } else {
        output_printf(s->out, "%-13s %" PRIu64 "\n", key, value);
    }
}


static void
put_sizes(show_t *s)
{
    const sym_object_record_t *m = &s->module.record;

    put_number(s, "format", m->kind_version);
    put_number(s, "source_bytes", m->source_bytes);
    put_number(s, "bytes", m->bytes);
    put_number(s, "stored_bytes", m->pages * 4096);
    put_number(s, "extents", m->extents);
    s->has_sizes = true;
}


static void
put_count(void *ctx, const char *key, uint64_t value)
{
    show_t *s = ctx;

    if (!s->has_sizes) {
        put_sizes(s);
    }

    put_number(s, key, value);
}


/* Facts from the artifact's kind: texts, then counts. */
static void
print_ready(show_t *s, const sym_kind_row_t *kind)
{
    const sym_object_record_t *m = &s->module.record;
    const sym_extent_source_t extents = module_extents(&s->module);
    const sym_kind_facts_t facts = { put_text, put_count, s };
    sym_error_t err = { 0 };
    char text[256];

    s->has_sizes = false;
    put_text(s, "quality", sym_cstr(kind->quality_name(m->quality)));
    put_text(s, "incomplete", m->reason);

    if (kind->describe(&extents, &facts, &err) != SYM_OK) {
        put_text(s, "damaged",
                 sym_cstr(sym_error_text(&err, text, sizeof(text))));
    }

    if (!s->has_sizes) {
        put_sizes(s);
    }
}


static void
print_attempts_json(output_t *out, sym_str_t lines, bool *first)
{
    bool first_attempt = true;
    sym_attempt_t a;

    output_key(out, "attempts", first);
    output_printf(out, "[");

    while (sym_attempts_line(&lines, &a)) {
        bool first_key = true;

        output_printf(out, first_attempt ? "{" : ",{");
        first_attempt = false;
        output_key_string(out, "source", a.source, &first_key);
        output_key_string(out, "status", a.outcome, &first_key);
        output_key_dec(out, "bytes", a.bytes, &first_key);
        output_key_dec(out, "ms", a.ms, &first_key);
        output_key_string(out, "url", a.url, &first_key);
        output_printf(out, "}");
    }

    output_printf(out, "]");
}


static void
print_json(output_t *out, show_t *s, const sym_kind_row_t *kind)
{
    const sym_object_record_t *m = &s->module.record;
    bool first = true;

    output_printf(out, "{");
    output_key_string(out, "name", s->module.key.name, &first);
    output_key_string(out, "id", s->module.key.id, &first);
    output_key_string(out, "from", sym_scope_word(s->module.key.scope), &first);
    output_key_string(out, "kind", sym_cstr(sym_kind_name(m->kind)), &first);
    output_key_string(out, "state", sym_cstr(sym_module_state_name(m->state)),
                      &first);
    output_key_string(out, "source", module_source(&s->module), &first);
    output_key_dec(out, "stored_at", (uint64_t) m->stored_at, &first);
    output_key_dec(out, "used_at", m->used_at, &first);

    if (m->state == SYM_MODULE_READY) {
        s->first = first;
        print_ready(s, kind);

    } else {
        output_key_string(out, "reason", m->reason, &first);
        output_key_dec(out, "expires_at", m->expires_at, &first);
    }

    print_attempts_json(out, m->attempts, &first);
    output_printf(out, "}\n");
}


static void
print_text(output_t *out, show_t *s, const sym_kind_row_t *kind)
{
    print_record_text(out, s);

    if (s->module.record.state == SYM_MODULE_READY) {
        print_ready(s, kind);

    } else {
        print_negative_text(out, &s->module.record);
    }

    print_attempts_text(out, s->module.record.attempts);
}


/* The record of one kind, if there is one. */
static sym_status_t
show_kind(show_t *s, sym_snapshot_t *snapshot, const sym_kind_row_t *kind,
          sym_error_t *err)
{
    sym_status_t rc =
        module_open(&s->module, snapshot, &s->operand.key, kind->kind, err);

    if (rc != SYM_OK) {
        return err->status;
    }

    if (s->is_json) {
        print_json(s->out, s, kind);
    } else {
        output_printf(s->out, s->n_records != 0 ? "\n" : "");
        print_text(s->out, s, kind);
    }

    s->n_records++;
    return SYM_OK;
}


static int
show(session_t *r)
{
    show_t *s = r->ctx;
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };
    sym_status_t rc = sym_snapshot_begin(r->store, &snapshot, &err);

    if (rc != SYM_OK) {
        return store_failure(r->options, &err);
    }

    s->out = r->out;
    s->is_json = r->options->json;

    for (size_t i = 0; i < SYM_KINDS && rc == SYM_OK; i++) {
        rc = show_kind(s, snapshot, sym_kinds[i], &err);
    }

    sym_snapshot_end(snapshot);

    if (rc == SYM_OK && s->n_records == 0) {
        complain_about(r->options->operands[0], "not in the store");
        return EXIT_PARTLY;
    }

    return rc == SYM_OK ? EXIT_FINE : store_failure(r->options, &err);
}


int
show_run(const options_t *options)
{
    show_t *s = calloc(1, sizeof(*s));
    int code = EXIT_USAGE;

    if (s == NULL) {
        complain_about("show", "out of memory");
        return EXIT_STORE;
    }

    if (module_operand_parse(options->operands[0], options->source,
                             &s->operand)) {
        code = session_read(options, show, s);
    }

    free(s);
    return code;
}
