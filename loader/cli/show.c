/*
 * show.c - `symloader show`: all that is known about one module.
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
} show_t;

static const struct {
    sym_info_t which;
    const char *key;
} info_rows[] = {
    { SYM_INFO_CODE_FILE, "code_file" },
    { SYM_INFO_CODE_ID, "code_id" },
    { SYM_INFO_OS, "os" },
    { SYM_INFO_ARCH, "arch" },
};
#define N_INFO_ROWS (sizeof(info_rows) / sizeof(info_rows[0]))

typedef struct {
    const char *key;
    uint64_t value;
} count_row_t;
#define N_COUNT_ROWS 10

static void
fill_counts(show_t *s, count_row_t rows[N_COUNT_ROWS])
{
    sym_symcache_counts_t c;

    sym_symcache_counts(&s->module.cache, &c);

    rows[0] = (count_row_t){ "functions", c.functions };
    rows[1] = (count_row_t){ "publics", c.publics };
    rows[2] = (count_row_t){ "lines", c.lines };
    rows[3] = (count_row_t){ "inlines", c.inlines };
    rows[4] = (count_row_t){ "segments", c.segments };
    rows[5] = (count_row_t){ "inline_nodes", c.nodes };
    rows[6] = (count_row_t){ "strings", c.strings };
    rows[7] = (count_row_t){ "string_bytes", c.string_bytes };
    rows[8] = (count_row_t){ "dropped", c.dropped };
    rows[9] = (count_row_t){ "truncated", c.truncated };
}


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
    const sym_module_record_t *m = &s->module.record;
    char stored[OUTPUT_TIME_TEXT], used[OUTPUT_TIME_TEXT];

    print_row_text(out, "name", s->module.key.name);
    print_row_text(out, "id", s->module.key.id);
    print_row_text(out, "from", sym_scope_word(s->module.key.scope));
    print_row_text(out, "state", sym_cstr(sym_module_state_name(m->state)));
    print_row_text(out, "source", m->source);
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
print_negative_text(output_t *out, const sym_module_record_t *m)
{
    char expires[OUTPUT_TIME_TEXT];

    print_row_text(out, "reason", m->reason);
    output_printf(out, "%-13s %s%s\n", "expires",
                  m->expires_at != 0 ? output_time(m->expires_at, expires)
                                     : "never",
                  sym_module_expired(m, time(NULL)) ? " (has expired)" : "");
}


static void
print_ready_text(output_t *out, show_t *s)
{
    const sym_module_record_t *m = &s->module.record;
    count_row_t rows[N_COUNT_ROWS];
    size_t i;

    print_row_text(out, "quality", sym_cstr(sym_quality_name(m->quality)));
    print_row_text(out, "incomplete", m->reason);

    for (i = 0; i < N_INFO_ROWS; i++) {
        print_row_text(out, info_rows[i].key,
                       module_info(&s->module, info_rows[i].which));
    }

    output_printf(out,
                  "%-13s %" PRIu32 "\n%-13s %" PRIu64 "\n%-13s %" PRIu64
                  "\n%-13s %" PRIu64 "\n%-13s %" PRIu32 "\n",
                  "format", m->kind_version, "source_bytes", m->source_bytes,
                  "bytes", m->bytes, "stored_bytes", m->pages * 4096, "extents",
                  m->extents);

    fill_counts(s, rows);

    for (i = 0; i < N_COUNT_ROWS; i++) {
        output_printf(out, "%-13s %" PRIu64 "\n", rows[i].key, rows[i].value);
    }
}


static void
print_ready_json(output_t *out, show_t *s, bool *first)
{
    const sym_module_record_t *m = &s->module.record;
    count_row_t rows[N_COUNT_ROWS];
    size_t i;

    output_key_string(out, "quality", sym_cstr(sym_quality_name(m->quality)),
                      first);
    output_key_string(out, "incomplete", m->reason, first);

    for (i = 0; i < N_INFO_ROWS; i++) {
        output_key_string(out, info_rows[i].key,
                          module_info(&s->module, info_rows[i].which), first);
    }

    output_key_dec(out, "format", m->kind_version, first);
    output_key_dec(out, "source_bytes", m->source_bytes, first);
    output_key_dec(out, "bytes", m->bytes, first);
    output_key_dec(out, "stored_bytes", m->pages * 4096, first);
    output_key_dec(out, "extents", m->extents, first);

    fill_counts(s, rows);

    for (i = 0; i < N_COUNT_ROWS; i++) {
        output_key_dec(out, rows[i].key, rows[i].value, first);
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
print_json(output_t *out, show_t *s)
{
    const sym_module_record_t *m = &s->module.record;
    bool first = true;

    output_printf(out, "{");
    output_key_string(out, "name", s->module.key.name, &first);
    output_key_string(out, "id", s->module.key.id, &first);
    output_key_string(out, "from", sym_scope_word(s->module.key.scope), &first);
    output_key_string(out, "state", sym_cstr(sym_module_state_name(m->state)),
                      &first);
    output_key_string(out, "source", m->source, &first);
    output_key_dec(out, "stored_at", (uint64_t) m->stored_at, &first);
    output_key_dec(out, "used_at", m->used_at, &first);

    if (m->state == SYM_MODULE_READY) {
        print_ready_json(out, s, &first);

    } else {
        output_key_string(out, "reason", m->reason, &first);
        output_key_dec(out, "expires_at", m->expires_at, &first);
    }

    print_attempts_json(out, m->attempts, &first);
    output_printf(out, "}\n");
}


static void
print_text(output_t *out, show_t *s)
{
    print_record_text(out, s);

    if (s->module.record.state == SYM_MODULE_READY) {
        print_ready_text(out, s);

    } else {
        print_negative_text(out, &s->module.record);
    }

    print_attempts_text(out, s->module.record.attempts);
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

    rc = module_open(&s->module, snapshot, &s->operand.key, &err);

    if (rc == SYM_OK) {
        if (r->options->json) {
            print_json(r->out, s);

        } else {
            print_text(r->out, s);
        }
    }

    sym_snapshot_end(snapshot);

    if (rc == SYM_NOT_FOUND) {
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
