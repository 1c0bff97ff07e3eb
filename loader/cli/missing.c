/*
 * missing.c - `symloader missing`: modules that requests are missing.
 *
 * The daemon's ledger is a file in the store's folder, so neither the daemon
 * nor nginx need run.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "cli/commands.h"
#include "explain/explain.h"
#include "ledger/page.h"

#define SOURCES_MAX (SYM_LEDGER_SOURCES_MAX / 2 + 1)

typedef struct {
    sym_ledger_entry_t *entries;
    uint32_t n;
} list_t;

static void
print_row(output_t *out, const sym_ledger_entry_t *e)
{
    char first[OUTPUT_TIME_TEXT], last[OUTPUT_TIME_TEXT];

    output_printf(out, "%8" PRIu64 "  %8" PRIu64 "  %-20s  %-20s  %-9s  ",
                  e->requests, e->frames, output_time(e->first_s, first),
                  output_time(e->last_s, last),
                  e->came_s != 0  ? "arrived"
                  : e->state == 0 ? "pending"
                                  : sym_module_state_name(e->state));
    output_text(out, e->key.name);
    output_printf(out, "/");
    output_text(out, e->key.id);

    if (e->came_s != 0) {
        output_printf(out, "  (from ");
        output_text(out, sym_scope_word(e->from));
        output_printf(out, ")");
    } else if (e->reason.len != 0) {
        output_printf(out, "  (");
        output_text(out, e->reason);
        output_printf(out, ")");
    }

    output_printf(out, "\n");
}


/* Also prints the records of the module's sources. */
static sym_status_t
print_object(session_t *r, sym_snapshot_t *snapshot,
             const sym_ledger_entry_t *e, sym_error_t *err)
{
    static sym_explained_t explained[SOURCES_MAX];
    sym_str_t names[SOURCES_MAX], sources = e->sources;
    sym_scopes_t scopes = { .names = names, .n = 1 };
    sym_arena_t arena;
    sym_status_t rc;

    names[0] = SYM_STR(SYM_SCOPE_LOCAL);
    while (scopes.n < SOURCES_MAX
           && sym_ledger_source(&sources, &names[scopes.n])) {
        scopes.n++;
    }

    output_printf(r->out, "{");
    sym_ledger_write_entry(e, &r->out->json);
    sym_arena_init(&arena, 0);
    rc = sym_explain_sources(snapshot, &scopes, &e->key, e->kind,
                             (uint32_t) time(NULL), &arena, explained,
                             &r->out->json, err);
    sym_arena_drop(&arena);
    output_printf(r->out, "}\n");
    return rc;
}


static int
print_all(session_t *r)
{
    const list_t *list = r->ctx;
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };
    sym_status_t rc = sym_snapshot_begin(r->store, &snapshot, &err);

    if (rc != SYM_OK) {
        return store_failure(r->options, &err);
    }

    if (!r->options->json) {
        output_printf(r->out, "%8s  %8s  %-20s  %-20s  %-9s  %s\n", "REQUESTS",
                      "FRAMES", "FIRST", "LAST", "STATE", "MODULE");
    }

    for (uint32_t i = 0; rc == SYM_OK && i < list->n; i++) {
        if (r->options->json) {
            rc = print_object(r, snapshot, &list->entries[i], &err);
        } else {
            print_row(r->out, &list->entries[i]);
        }
    }

    sym_snapshot_end(snapshot);
    return rc == SYM_OK ? EXIT_FINE : store_failure(r->options, &err);
}


static sym_status_t
read_list(const uint8_t *data, size_t len, list_t *list, sym_error_t *err)
{
    const sym_ledger_query_t query = { .show = SYM_LEDGER_ALL };
    sym_ledger_reader_t reader;
    uint32_t n = 0;

    if (sym_ledger_open(data, len, &reader, err) != SYM_OK) {
        return err->status;
    }

    list->entries = calloc((size_t) reader.n + 1, sizeof(*list->entries));
    if (list->entries == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    while (sym_ledger_next(&reader, &list->entries[n], err) == SYM_OK) {
        n++;
    }

    list->n = sym_ledger_select(list->entries, n, &query);
    return err->status;
}


int
missing_run(const options_t *options)
{
    sym_error_t err = { 0 };
    list_t list = { NULL, 0 };
    uint8_t *data;
    size_t len;
    int code;

    if (!options_need_store(options)) {
        return EXIT_USAGE;
    }

    if (sym_ledger_load(options->store, &data, &len, &err) == SYM_OK) {
        (void) read_list(data, len, &list, &err);
    }

    code = err.status == SYM_OK ? session_read(options, print_all, &list)
                                : store_failure(options, &err);
    free(list.entries);
    free(data);
    return code;
}
