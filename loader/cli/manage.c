/*
 * manage.c - `symloader init`, `rm`, `evict` and `verify`.
 */
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "common/module.h"

static bool
find_group(const char *name, uint32_t *gid)
{
    const struct group *group;

    errno = 0;
    group = getgrnam(name);

    if (group == NULL) {
        complain_about(name, "%s",
                       errno != 0 && errno != ENOENT ? strerror(errno)
                                                     : "no such group");
        return false;
    }

    *gid = (uint32_t) group->gr_gid;
    return true;
}


int
init_run(const options_t *options)
{
    sym_store_options_t how = {
        .quota = options->quota,
        .max_readers = options->max_readers,
        .create = true,
    };
    sym_store_t *store;
    sym_error_t err = { 0 };

    if (options->group != NULL) {
        if (!find_group(options->group, &how.gid)) {
            return EXIT_USAGE;
        }

        how.has_gid = true;
    }

    if (sym_store_open_write(options->store, &how, &store, &err) != SYM_OK) {
        return store_failure(options, &err);
    }

    store_warn_large(options, store);
    sym_store_close(store);
    return EXIT_FINE;
}


/* kinds: a bit for each; 0: only records of paths were removed. */
static void
print_removed(output_t *out, const char *operand, uint32_t kinds)
{
    const char *before = ": ";

    output_text(out, sym_cstr(operand));
    output_printf(out, ": removed");

    for (unsigned kind = 0; kind <= SYM_KIND_MAX; kind++) {
        if (kinds >> kind & 1) {
            output_printf(out, "%s%s", before, sym_kind_name(kind));
            before = ", ";
        }
    }

    output_printf(out, "\n");
}


/* Removes the module of an operand; false: the others would fail, too. */
static bool
remove_module(session_t *s, const char *operand)
{
    module_operand_t m;
    sym_kind_counts_t before;
    sym_error_t err = { 0 };
    sym_status_t rc;

    /* rm_run() has checked that all operands are modules */
    (void) module_operand_parse(operand, s->options->source, &m);
    before = sym_store_removed(s->store);
    rc = module_remove(s->store, &m.key, &err);

    if (rc == SYM_NOT_FOUND) {
        complain_about(operand, "not in the store");
        s->code = EXIT_PARTLY;
        return true;
    }

    if (rc != SYM_OK) {
        s->code = store_failure(s->options, &err);
        return false;
    }

    print_removed(s->out, operand, module_removed_kinds(s->store, &before));
    return true;
}


static int
rm(session_t *s)
{
    int i;

    for (i = 0; i < s->options->n_operands; i++) {
        if (!remove_module(s, s->options->operands[i])) {
            break;
        }
    }

    return s->code;
}


/* Same through a daemon, which also drops its own data about the modules. */
static int
invalidate(const options_t *options, daemon_t *d, const char *operand,
           output_t *out)
{
    sym_rpc_message_t m = { .type = SYM_RPC_INVALIDATE }, done;
    module_operand_t module;

    (void) module_operand_parse(operand, options->source, &module);
    m.key = module.key;

    if (!daemon_send(d, &m, -1) || daemon_receive(d, -1, NULL, &done) != SYM_OK
        || done.type != SYM_RPC_DONE)
    {
        complain_about(options->store, "its daemon has gone");
        return EXIT_STORE;
    }

    if (done.text.len > 0) {
        complain_about(operand, "%.*s", (int) done.text.len, done.text.data);
        return EXIT_STORE;
    }

    if (!(done.flags & SYM_RPC_DID)) {
        complain_about(operand, "not in the store");
        return EXIT_PARTLY;
    }

    print_removed(out, operand, done.kind);
    return EXIT_FINE;
}


static int
rm_by_daemon(const options_t *options, daemon_t *d)
{
    output_t *out = output_create();
    int code = EXIT_FINE, i;

    if (out == NULL) {
        return EXIT_OUTPUT;
    }

    for (i = 0; i < options->n_operands && code != EXIT_STORE; i++) {
        int one = invalidate(options, d, options->operands[i], out);

        code = one != EXIT_FINE ? one : code;
    }

    return output_end(out, code);
}


int
rm_run(const options_t *options)
{
    module_operand_t m;
    int i;

    for (i = 0; i < options->n_operands; i++) {
        if (!module_operand_parse(options->operands[i], options->source, &m)) {
            return EXIT_USAGE;
        }
    }

    return session_write(options, rm, rm_by_daemon);
}


static int
evict(session_t *s)
{
    const sym_kind_counts_t before = sym_store_removed(s->store);
    const char *between = " (";
    uint64_t evicted = 0;
    sym_kind_counts_t now;
    sym_error_t err = { 0 };
    int code = EXIT_FINE;

    if (sym_store_evict(s->store, s->options->to, &evicted, &err) != SYM_OK) {
        code = store_failure(s->options, &err);
    }

    output_printf(s->out, "%" PRIu64 " module%s evicted", evicted,
                  evicted == 1 ? "" : "s");
    now = sym_store_removed(s->store);

    for (unsigned kind = 0; kind <= SYM_KIND_MAX; kind++) {
        uint64_t n = now.n[kind] - before.n[kind];

        if (n != 0) {
            output_printf(s->out, "%s%s %" PRIu64, between, sym_kind_name(kind),
                          n);
            between = ", ";
        }
    }

    output_printf(s->out, "%s\n", evicted != 0 ? ")" : "");
    return code;
}


int
evict_run(const options_t *options)
{
    if (!options->has_to) {
        complain_about("evict", "no size given; use --to SIZE");
        return EXIT_USAGE;
    }

    return session_write(options, evict, NULL);
}


/* --- verify --- */

static void
report_fault(void *ctx, const sym_module_key_t *key, sym_kind_t kind,
             uint32_t extent, const char *what)
{
    session_t *r = ctx;

    if (key == NULL) {
        output_printf(r->out, "store: %s\n", what);
        return;
    }

    if (key->scope.len != 0) {
        output_text(r->out, key->scope);
        output_printf(r->out, ": ");
    }
    output_text(r->out, key->name);
    output_printf(r->out, "/");
    output_text(r->out, key->id);
    output_printf(r->out, ": %s: extent %" PRIu32 ": %s\n", sym_kind_name(kind),
                  extent, what);
}


/* Checks contents in addition to checksums: each kind verifies its
 * artifacts. */
typedef struct {
    session_t *session;
    sym_snapshot_t *snapshot;
    uint64_t module_id; /* id of the current artifact */
    uint64_t faults;
} kinds_t;

static sym_status_t
get_extent(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const kinds_t *k = ctx;

    return sym_snapshot_extent(k->snapshot, k->module_id, number, data, len);
}


/* It is not a fault if this program cannot read the version. */
static sym_status_t
verify_kind(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    kinds_t *k = ctx;
    char id[SYM_CODE_ID_MAX];
    const sym_extent_source_t extents = { get_extent, k, record->extents };
    const sym_kind_row_t *kind = sym_kind_find(record->kind);
    sym_error_t err = { 0 };

    k->module_id = record->module_id;
    if (record->state == SYM_MODULE_READY
        && sym_kind_reads(record->kind, record->kind_version)
        && sym_kind_verify(kind, &extents, &err) != SYM_OK)
    {
        const sym_module_key_t key = { .scope = scope,
                                       .name = record->object.name,
                                       .id = sym_object_shown_id(
                                           &record->object, id) };

        k->faults++;
        report_fault(k->session, &key, record->kind, 0, err.what);
    }

    return SYM_OK;
}


static void
verify_kinds(void *ctx)
{
    kinds_t *k = ctx;
    sym_error_t err = { 0 };

    (void) sym_snapshot_each(k->snapshot, verify_kind, k, &err);
}


static int
verify(session_t *r)
{
    sym_store_stat_t s;
    sym_error_t err = { 0 };
    uint64_t faults = 0;

    if (sym_store_verify(r->store, report_fault, r, &faults, &err) != SYM_OK
        && faults == 0)
    {
        return store_failure(r->options, &err);
    }

    if (faults == 0) {
        kinds_t k = { .session = r };

        if (sym_snapshot_begin(r->store, &k.snapshot, &err) != SYM_OK) {
            return store_failure(r->options, &err);
        }

        (void) sym_store_guarded(r->store, verify_kinds, &k, &err);
        sym_snapshot_end(k.snapshot);
        faults = k.faults;

        if (err.status != SYM_OK) {
            return store_failure(r->options, &err);
        }
    }

    if (faults > 0) {
        output_printf(r->out, "%" PRIu64 " faults\n", faults);
        return EXIT_STORE;
    }

    if (sym_store_stat(r->store, &s, &err) != SYM_OK) {
        return store_failure(r->options, &err);
    }

    output_printf(r->out,
                  "no faults in %" PRIu64 " modules, %" PRIu64 " extents\n",
                  s.modules, s.extents);
    return EXIT_FINE;
}


int
verify_run(const options_t *options)
{
    return session_read(options, verify, NULL);
}
