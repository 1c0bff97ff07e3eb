/*
 * lmdb_churn - checks that a store that is always full keeps its size.
 *
 *     build/bench/lmdb_churn FOLDER [QUOTA_MIB [TIMES [SEED [HOLD]]]]
 *
 * Puts TIMES (10) times the quota (512 MiB) through a store made in FOLDER:
 * modules of log-normal size, 4 KiB to a fifth of the quota (100 MiB at most),
 * each of full extents and a shorter one; a tenth of them absent ones without
 * an extent; one in four replaces another; a reader marks every third as used.
 * Every HOLD (64; 0: never) modules it holds a snapshot while a complete module
 * is written, which pins the pages freed meanwhile.  After each multiple of the
 * quota it prints the file size relative to live bytes and to the file's limit;
 * at the end, how often the map was full, and whether the store verifies.  The
 * folder is kept.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "store/write_object.h"
#include "artifacts/symcache/format.h"

#define MIB ((uint64_t) 1 << 20)
#define NAMES 4000

typedef struct {
    sym_store_t *writer, *reader;
    sym_snapshot_t *held;
    uint64_t state; /* of the random numbers */
    uint64_t put_bytes, modules, full;
    uint64_t largest;
    uint64_t hold;
    double worst; /* file size / its limit under the quota */
} churn_t;

static uint8_t data[SYM_EXTENT_MAX];


/* splitmix64: the same numbers on every machine. */
static uint64_t
random_u64(churn_t *c)
{
    uint64_t z = c->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}


static double
random_unit(churn_t *c)
{
    return ((double) (random_u64(c) >> 11) + 0.5) / 9007199254740992.0;
}


/* Median 300 KiB; one in forty is over 20 MiB. */
static uint64_t
random_size(churn_t *c)
{
    double normal = sqrt(-2 * log(random_unit(c)))
                    * cos(6.283185307179586 * random_unit(c));
    double size = exp(log(300 * 1024.0) + 2.15 * normal);

    if (size < 4096) {
        return 4096;
    }
    return size > (double) c->largest ? c->largest : (uint64_t) size;
}


static sym_status_t
put_extents(sym_ingest_t *ingest, uint64_t size, sym_error_t *err)
{
    for (uint32_t i = 0; size > 0; i++) {
        size_t len = size < sizeof(data) ? (size_t) size : sizeof(data);

        if (sym_ingest_extent(ingest, i, data, len, err) != SYM_OK) {
            return err->status;
        }
        size -= len;
    }

    return SYM_OK;
}


static void
put_module(churn_t *c)
{
    bool is_absent = random_u64(c) % 10 == 0;
    sym_object_record_t record = {
        .object = { .debug_id = { .form = SYM_DEBUG_ID_UUID } },
        .state = SYM_MODULE_READY,
        .kind_version = SYM_SYMCACHE_VERSION,
        .path = SYM_STR("/srv/symbols/module.pdb/0123456789/module.sym"),
    };
    const uint64_t size = is_absent ? 0 : random_size(c);
    const sym_object_put_t put = { .scope = SYM_STR(""), .record = &record };
    const sym_path_record_t absent = { .outcome = SYM_PATH_ABSENT };
    sym_error_t err = { 0 };
    sym_path_ticket_t ticket;
    sym_ingest_t *ingest;
    bool is_kept;
    char name[32];

    record.object.name =
        sym_str(name, (size_t) snprintf(name, sizeof(name), "module%u.pdb",
                                        (unsigned) (random_u64(c) % 4 == 0
                                                        ? random_u64(c) % NAMES
                                                        : c->modules + NAMES)));

    if (is_absent) {
        const sym_path_key_t path = { SYM_STR("s"), record.object.name,
                                      SYM_STR("") };

        if (sym_store_put_path(c->writer, &path, &absent, &ticket, &err)
            == SYM_OK) {
            (void) sym_store_flush_path(c->writer, &ticket, &err);
        }
    } else if (sym_ingest_begin_object(c->writer, SYM_KIND_SYMCACHE, &ingest,
                                       &err)
               != SYM_OK)
    {
        die("begin", &err);
    } else if (put_extents(ingest, size, &err) != SYM_OK) {
        sym_ingest_abort(ingest);
    } else if (sym_ingest_put_object(ingest, &put, &is_kept, &err) == SYM_OK) {
        (void) sym_ingest_finish(ingest, &err);
    }

    if (err.status == SYM_FULL) {
        c->full++;
    } else if (err.status != SYM_OK) {
        die("put", &err);
    }

    c->modules++;
    c->put_bytes += size;
}


static sym_status_t
mark(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    churn_t *c = ctx;

    (void) scope;
    if (random_u64(c) % 3 == 0) {
        sym_store_touch(c->reader, record->slot, record->used_at + 1);
    }
    return SYM_OK;
}


/* A reader like a worker of nginx: short snapshots, sometimes a longer one. */
static void
read_some(churn_t *c)
{
    sym_error_t err = { 0 };

    if (c->held != NULL) {
        sym_snapshot_end(c->held);
        c->held = NULL;
    }

    if (c->modules % 16 == 0
        && sym_snapshot_begin(c->reader, &c->held, &err) == SYM_OK)
    {
        if (c->modules % 256 == 0) {
            (void) sym_snapshot_each(c->held, mark, c, &err);
        }
        if (c->hold == 0 || c->modules % c->hold != 0) {
            sym_snapshot_end(c->held);
            c->held = NULL;
        }
    }

    if (err.status != SYM_OK) {
        die("read", &err);
    }
}


static void
print_line(churn_t *c, unsigned round, double seconds)
{
    sym_error_t err = { 0 };
    sym_store_stat_t s;

    if (sym_store_stat(c->reader, &s, &err) != SYM_OK) {
        die("stat", &err);
    }

    double ratio = (double) s.file_bytes / (double) s.live_bytes;
    double of_limit = (double) s.file_bytes / (double) s.file_limit;

    /* it never shrinks */
    c->worst = of_limit;

    printf("%2ux  %8" PRIu64 " MiB put, %6" PRIu64 " modules there, live %7.1f "
           "MiB, file %7.1f MiB = %.3f of live, %.3f of its limit, evicted "
           "%" PRIu64 ", %.0f MiB/s\n",
           round, c->put_bytes / MIB, s.modules,
           (double) s.live_bytes / (double) MIB,
           (double) s.file_bytes / (double) MIB, ratio, of_limit, s.evicted,
           (double) c->put_bytes / (double) MIB / seconds);
    fflush(stdout);
}


static void
print_fault(void *ctx, const sym_module_key_t *key, sym_kind_t kind,
            uint32_t extent, const char *what)
{
    (void) ctx;
    (void) kind;
    printf("fault: %.*s, extent %u: %s\n", (int) key->name.len, key->name.data,
           extent, what);
}


int
main(int argc, char **argv)
{
    uint64_t quota = (argc > 2 ? strtoull(argv[2], NULL, 10) : 512) * MIB;
    unsigned times = argc > 3 ? (unsigned) strtoul(argv[3], NULL, 10) : 10;
    churn_t c = { .state = argc > 4 ? strtoull(argv[4], NULL, 10) : 1,
                  .hold = argc > 5 ? strtoull(argv[5], NULL, 10) : 64,
                  .largest = quota / 5 < 100 * MIB ? quota / 5 : 100 * MIB };
    sym_store_options_t options = { .quota = quota, .create = true };
    sym_error_t err = { 0 };
    uint64_t faults = 0;
    double start = now_s();

    if (argc < 2 || quota == 0) {
        fprintf(stderr,
                "usage: lmdb_churn FOLDER [QUOTA_MIB [TIMES [SEED [HOLD]]]]\n");
        return 2;
    }

    for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = (uint8_t) random_u64(&c);
    }

    if (sym_store_open_write(argv[1], &options, &c.writer, &err) != SYM_OK
        || sym_store_open_read(argv[1], &c.reader, &err) != SYM_OK)
    {
        die(argv[1], &err);
    }

    for (unsigned round = 1; round <= times; round++) {
        while (c.put_bytes < round * quota) {
            put_module(&c);
            read_some(&c);
        }
        print_line(&c, round, now_s() - start);
    }

    if (c.held != NULL) {
        sym_snapshot_end(c.held);
    }

    if (sym_store_verify(c.reader, print_fault, NULL, &faults, &err) != SYM_OK)
    {
        die("verify", &err);
    }

    printf("modules refused (map full): %" PRIu64 "; file at most %.3f of its "
           "limit; faults: %" PRIu64 "\n",
           c.full, c.worst, faults);
    sym_store_close(c.reader);
    sym_store_close(c.writer);
    return c.full != 0 || faults != 0;
}
