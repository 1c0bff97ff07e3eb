/*
 * A full store without readers accepts modules of all sizes for ever: the least
 * recently used make way, wherever the free pages are.  Many modules are small,
 * so that full extents rarely find sixteen consecutive pages.
 */
#include <dlfcn.h>

#include "store_kit.h"

#define NAMES 1024
#define MODULES 3000
#define EXTENTS_MAX 80

/* Nothing must survive the test, so the test can be fast. */
int
mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode)
{
    int (*real)(MDB_env *, const char *, unsigned, mdb_mode_t);

    *(void **) &real = dlsym(RTLD_NEXT, "mdb_env_open");
    return real(env, path, flags | MDB_NOSYNC, mode);
}


static uint32_t state;

static unsigned
below(unsigned n)
{
    state = state * 1664525 + 1013904223;
    return (unsigned) ((uint64_t) state * n >> 32);
}


/* One in this many modules is large; 1: all sizes occur. */
static sym_status_t
put(sym_store_t *w, unsigned large_one_of)
{
    static const uint8_t data[SYM_EXTENT_MAX];
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION };
    uint32_t extents;
    sym_ingest_t *ingest;
    sym_module_key_t k;
    char name[16];

    (void) snprintf(name, sizeof(name), "m%u", below(NAMES));
    k = kit_key(name);
    extents = large_one_of == 1          ? 1 + below(EXTENTS_MAX)
              : below(large_one_of) == 0 ? EXTENTS_MAX
                                         : 1;

    if (sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &kit_err)
        != SYM_OK) {
        return kit_err.status;
    }

    for (uint32_t i = extents; i-- > 0;) {
        size_t len = i + 1 == extents ? 1 + below(sizeof(data)) : sizeof(data);

        if (sym_ingest_extent(ingest, i, data, len, &kit_err) != SYM_OK) {
            sym_ingest_abort(ingest);
            return kit_err.status;
        }
    }

    return kit_commit(ingest, &k, &record, &kit_err);
}


static void
fill(unsigned large_one_of)
{
    sym_store_t *w;
    unsigned n;

    state = 1;
    kit_folder();
    w = kit_writer((uint64_t) 16 << 20);
    for (n = 0; n < MODULES && put(w, large_one_of) == SYM_OK; n++) {
    }

    printf("# one of %u modules is large\n", large_one_of);
    is_u64(n, MODULES, "all modules are stored");
    is_status(kit_err.status, SYM_OK, &kit_err, "... without a failure");
    is_u64(kit_faults(w), 0, "... and the store verifies");
    sym_store_close(w);
    kit_clean();
}


int
main(void)
{
    fill(1);
    fill(16);
    fill(64);
    return done_testing();
}
