/*
 * manage.c - `symloader init`, `rm`, `evict` and `verify`.
 */
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"

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

    sym_store_close(store);
    return EXIT_FINE;
}


int
rm_run(const options_t *options)
{
    int code = EXIT_FINE;
    module_operand_t m;
    sym_store_t *store;
    int i;

    for (i = 0; i < options->n_operands; i++) {
        if (!module_operand_parse(options->operands[i], &m)) {
            return EXIT_USAGE;
        }
    }

    store = store_open_write(options, false, &code);

    for (i = 0; store != NULL && i < options->n_operands; i++) {
        sym_error_t err = { 0 };
        sym_status_t rc;

        (void) module_operand_parse(options->operands[i], &m);
        rc = sym_store_remove(store, &m.key, &err);

        if (rc == SYM_NOT_FOUND) {
            complain_about(options->operands[i], "not in the store");
            code = EXIT_PARTLY;

        } else if (rc != SYM_OK) {
            code = store_failure(options, &err);
            break;
        }
    }

    if (store != NULL) {
        sym_store_close(store);
    }

    return code;
}


int
evict_run(const options_t *options)
{
    uint64_t evicted = 0;
    int code = EXIT_FINE;
    sym_error_t err = { 0 };
    sym_store_t *store;

    if (!options->has_to) {
        complain_about("evict", "down to what size? give --to SIZE");
        return EXIT_USAGE;
    }

    store = store_open_write(options, false, &code);

    if (store == NULL) {
        return code;
    }

    if (sym_store_evict(store, options->to, &evicted, &err) != SYM_OK) {
        code = store_failure(options, &err);
    }

    sym_store_close(store);
    printf("%" PRIu64 " modules evicted\n", evicted);
    return code;
}


/* --- verify --- */

static void
report_fault(void *ctx, const sym_module_key_t *key, uint32_t extent,
             const char *what)
{
    reading_t *r = ctx;

    if (key == NULL) {
        output_printf(r->out, "store: %s\n", what);
        return;
    }

    output_text(r->out, key->name);
    output_printf(r->out, "/");
    output_text(r->out, key->id);
    output_printf(r->out, ": extent %" PRIu32 ": %s\n", extent, what);
}


static int
verify(reading_t *r)
{
    sym_store_stat_t s;
    sym_error_t err = { 0 };
    uint64_t faults = 0;

    if (sym_store_verify(r->store, report_fault, r, &faults, &err) != SYM_OK
        && faults == 0)
    {
        return store_failure(r->options, &err);
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
    return reading_run(options, verify, NULL);
}
