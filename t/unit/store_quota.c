/*
 * The quota includes everything on disk, whatever arrives at once and whoever
 * reads; a store that cannot take more keeps serving what it has, and accepts
 * modules again as soon as there is room.
 */
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "store_kit.h"

#define MIB ((uint64_t) 1 << 20)
#define FULL_EXTENTS(mib) ((uint32_t) ((mib) *16))

static void
test_too_small(void)
{
    sym_store_options_t many = { .quota = 16 * MIB,
                                 .max_readers = 200000,
                                 .create = true };
    sym_store_t *w = NULL;
    char file[128], text[256];

    kit_folder();
    ok(kit_writer(16 * MIB - 1) == NULL, "less than 16 MiB: refused");
    is_u64(kit_err.status, SYM_LIMIT, "as a limit");
    ok(strstr(sym_error_text(&kit_err, text, sizeof(text)), "16 MiB") != NULL,
       "which the error names");
    kit_file(file, "data.mdb");
    ok(access(file, F_OK) != 0, "and nothing is created");

    kit_err = (sym_error_t){ 0 };
    is_status(sym_store_open_write(kit_path, &many, &w, &kit_err), SYM_LIMIT,
              &kit_err, "no room next to the table of readers");
    kit_clean();

    kit_folder();
    w = kit_writer(16 * MIB);
    ok(w != NULL, "16 MiB is enough");
    is_u64(sym_store_temp_bytes(w), 2 * MIB, "an eighth is for other files");
    is_status(kit_put(w, "a", FULL_EXTENTS(5), 10), SYM_OK, &kit_err,
              "and uses 5 MiB");
    sym_store_close(w);

    w = kit_writer(1 * MIB);
    ok(w == NULL && kit_err.status == SYM_LIMIT, "nor can it be reduced");
    w = kit_writer(0);
    ok(w != NULL && kit_has(w, "a", NULL), "and nothing changes");
    sym_store_close(w);
    kit_clean();
}


/* One of several modules that arrive in turns, an extent each. */
typedef struct {
    sym_ingest_t *ingest;
    char name[16];
    uint32_t extents, next;
} arrival_t;

static bool
arrive(sym_store_t *w, arrival_t *a, unsigned n, uint32_t extents)
{
    (void) snprintf(a->name, sizeof(a->name), "n%u", n);
    a->extents = extents;
    a->next = 0;
    kit_err = (sym_error_t){ 0 };
    return sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &a->ingest, &kit_err)
           == SYM_OK;
}


/* Its next extent or its end; false: refused, and abandoned. */
static bool
go_on(arrival_t *a)
{
    static uint8_t data[SYM_EXTENT_MAX];
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION };
    const sym_module_key_t k = kit_key(a->name);
    sym_ingest_t *ingest = a->ingest;

    kit_err = (sym_error_t){ 0 };
    if (a->next == a->extents) {
        a->ingest = NULL;
        return kit_commit(ingest, &k, &record, &kit_err) == SYM_OK;
    }

    for (size_t at = 0; at < sizeof(data); at++) {
        data[at] = kit_byte(a->name, a->next, at);
    }
    if (sym_ingest_extent(ingest, a->next++, data, sizeof(data), &kit_err)
        != SYM_OK)
    {
        a->ingest = NULL;
        sym_ingest_abort(ingest);
        return false;
    }
    return true;
}


/* Writes ten times the quota, eight modules at a time.  A reader keeps reading,
 * first from its old snapshot, then from a newer one. */
static void
test_at_once(void)
{
    uint64_t most = 0, put = 0, refused = 0, stored = 0;
    sym_snapshot_t *old = NULL;
    arrival_t a[8] = { { 0 } };
    bool is_there;
    sym_store_t *w;
    unsigned n = 0, torn = 0, gone = 0;

    kit_folder();
    w = kit_writer(64 * MIB);
    is_there = kit_put(w, "first", 30, 1000) == SYM_OK;
    (void) sym_snapshot_begin(w, &old, &kit_err);

    while (put < 640 * MIB) {
        arrival_t *one = &a[n++ % 8];

        if (one->ingest == NULL) {
            (void) arrive(w, one, n, 1 + n * 7919 % 120);
        } else if (!go_on(one)) {
            refused++;
        } else {
            put += SYM_EXTENT_MAX;
            stored += one->ingest == NULL;
        }
        if (n % 64 == 0) {
            uint64_t bytes = kit_disk_bytes();

            most = bytes > most ? bytes : most;
            torn += is_there && !kit_is_whole(old, "first", 30, 1000);
        }
        /* reads for a few MiB, and once for so long that the store is full */
        if (n % 64 == 0 && (n < 4096 || n > 8192)) {
            gone += !kit_has(w, "first", NULL);
            sym_snapshot_end(old);
            is_there = kit_put(w, "first", 30, 1000) == SYM_OK;
            (void) sym_snapshot_begin(w, &old, &kit_err);
        }
    }

    for (unsigned i = 0; i < 8; i++) {
        if (a[i].ingest != NULL) {
            sym_ingest_abort(a[i].ingest);
        }
    }
    ok(most <= 56 * MIB, "%llu bytes on disk at most, of 56 MiB",
       (unsigned long long) most);
    ok(most > 45 * MIB, "which were requested");
    is_u64(torn, 0, "a reader's snapshot does not change");
    ok(refused > 0 && gone > 0, "even if evicted, or if the store is full");
    ok(stored > 80, "%u stored, %u refused", (unsigned) stored,
       (unsigned) refused);
    sym_snapshot_end(old);
    is_u64(kit_faults(w), 0, "verifies");
    sym_store_close(w);
    kit_clean();
}


/* The reader's pages fill the store.  A refused module is rolled back
 * completely, and its room is free when the reader is gone. */
static void
test_taken_back(void)
{
    sym_store_stat_t stat;
    sym_snapshot_t *old;
    arrival_t a = { 0 };
    kit_lmdb_t l;
    sym_store_t *w;
    unsigned refused = 0;
    char name[16];

    kit_folder();
    w = kit_writer(32 * MIB);
    for (unsigned i = 0; i < 4; i++) {
        (void) snprintf(name, sizeof(name), "m%u", i);
        (void) kit_put(w, name, FULL_EXTENTS(5), 1000);
    }
    (void) sym_snapshot_begin(w, &old, &kit_err);

    for (unsigned i = 0; i < 40; i++) {
        (void) arrive(w, &a, i, FULL_EXTENTS(10));
        while (a.ingest != NULL && go_on(&a)) {
        }
        refused += kit_err.status == SYM_FULL;
    }
    ok(refused > 30, "%u of 40 refused because of a reader", refused);
    ok(kit_disk_bytes() <= 28 * MIB, "the quota is kept");
    ok(kit_is_whole(old, "m0", FULL_EXTENTS(5), 1000), "the reader continues");
    sym_snapshot_end(old);

    for (unsigned i = 0; i < 3; i++) {
        (void) snprintf(name, sizeof(name), "k%u", i);
        is_status(kit_put(w, name, FULL_EXTENTS(8), 1000), SYM_OK, &kit_err,
                  "it ends: new modules are stored");
    }
    is_u64(kit_faults(w), 0, "verifies");
    (void) sym_store_stat(w, &stat, &kit_err);
    ok(stat.live_bytes <= stat.live_limit, "below the limit");

    /* the reported size is LMDB's */
    sym_store_close(w);
    (void) kit_lmdb_open(&l);
    is_u64(kit_lmdb_entries(&l, l.extents), stat.extents,
           "nothing is left of those refused");
    (void) kit_lmdb_close(&l);
    kit_clean();
}


/* Like a disk that is full, and then has room again. */
static void
test_disk_comes_back(void)
{
    struct rlimit limit = { 24 * MIB, RLIM_INFINITY }, before;
    sym_store_stat_t stat;
    unsigned refused = 0, whole = 0;
    sym_snapshot_t *s;
    kit_lmdb_t l;
    sym_store_t *w;
    char name[16];

    (void) getrlimit(RLIMIT_FSIZE, &before);
    limit.rlim_max = before.rlim_max;

    kit_folder();
    w = kit_writer(256 * MIB);
    (void) kit_put(w, "a", FULL_EXTENTS(4), 10);
    ok(setrlimit(RLIMIT_FSIZE, &limit) == 0, "24 MiB and no more");
    for (unsigned i = 0; i < 6; i++) {
        (void) snprintf(name, sizeof(name), "big%u", i);
        refused += kit_put(w, name, FULL_EXTENTS(30), 10) == SYM_FULL;
    }
    is_u64(refused, 6, "30 MiB: store full, again and again");
    is_status(kit_put(w, "b", 4, 10), SYM_OK, &kit_err,
              "a small module is stored");
    (void) sym_snapshot_begin(w, &s, &kit_err);
    ok(kit_is_whole(s, "a", FULL_EXTENTS(4), 10) && kit_is_whole(s, "b", 4, 10),
       "stored modules are read");
    sym_snapshot_end(s);

    ok(setrlimit(RLIMIT_FSIZE, &before) == 0, "there is room again");
    for (unsigned i = 0; i < 6; i++) {
        (void) snprintf(name, sizeof(name), "big%u", i);
        (void) kit_put(w, name, FULL_EXTENTS(30), 10);
        (void) sym_snapshot_begin(w, &s, &kit_err);
        whole += kit_is_whole(s, name, FULL_EXTENTS(30), 10);
        sym_snapshot_end(s);
    }
    is_u64(whole, 6, "the same process stores them all");
    is_u64(kit_faults(w), 0, "verifies");
    (void) sym_store_stat(w, &stat, &kit_err);
    sym_store_close(w);
    (void) kit_lmdb_open(&l);
    is_u64(kit_lmdb_entries(&l, l.extents), stat.extents,
           "nothing is left of those refused");
    (void) kit_lmdb_close(&l);
    kit_clean();
}


/* There is no room even to delete what was refused: a reader pins all free
 * pages, and the file cannot grow.  It is deleted later. */
static void
test_stays_behind(void)
{
    struct rlimit limit, before;
    sym_store_stat_t stat;
    sym_snapshot_t *old;
    arrival_t a = { 0 };
    kit_lmdb_t l;
    sym_store_t *w;

    (void) getrlimit(RLIMIT_FSIZE, &before);
    limit = before;

    kit_folder();
    w = kit_writer(64 * MIB);
    (void) kit_put(w, "a", 10, 10);
    (void) sym_snapshot_begin(w, &old, &kit_err);
    (void) arrive(w, &a, 1, FULL_EXTENTS(20));
    for (unsigned i = 0; i < FULL_EXTENTS(10); i++) {
        (void) go_on(&a);
    }
    ok(a.ingest != NULL, "10 MiB of a module are stored");

    (void) sym_store_stat(w, &stat, &kit_err);
    limit.rlim_cur = (rlim_t) stat.file_bytes;
    ok(setrlimit(RLIMIT_FSIZE, &limit) == 0, "the disk is full");
    while (a.ingest != NULL && go_on(&a)) {
    }
    is_status(kit_err.status, SYM_FULL, &kit_err, "it is refused");
    kit_err = (sym_error_t){ 0 };
    (void) sym_store_evict(w, 0, NULL, &kit_err);
    is_status(kit_err.status, SYM_FULL, &kit_err, "nothing can be deleted");
    ok(kit_is_whole(old, "a", 10, 10), "the reader continues");

    ok(setrlimit(RLIMIT_FSIZE, &before) == 0, "there is room again");
    sym_snapshot_end(old);
    is_status(kit_put(w, "b", 10, 10), SYM_OK, &kit_err, "the next is stored");
    (void) sym_store_stat(w, &stat, &kit_err);
    is_u64(stat.extents, 20, "two modules are there");
    sym_store_close(w);
    (void) kit_lmdb_open(&l);
    is_u64(kit_lmdb_entries(&l, l.extents), 20, "and no other extent");
    (void) kit_lmdb_close(&l);
    kit_clean();
}


/* As in the loader: many in one transaction. */
#define MADE_UP 500u

static void
made_up_name(unsigned n, char name[40])
{
    (void) snprintf(name, 40, "%08x%08x.so", n * 2654435761u, n);
}


static void
put_made_up(sym_store_t *w, unsigned first, uint32_t expires_at)
{
    sym_path_ticket_t ticket = { 0 };
    bool are_put = true;
    char name[40];

    for (unsigned i = 0; i < MADE_UP; i++) {
        made_up_name(first + i, name);
        are_put = are_put && kit_put_absence(w, name, expires_at, &ticket);
    }
    ok(are_put && sym_store_flush_path(w, &ticket, &kit_err) == SYM_OK,
       "500 made up names");
}


/* Invented names evict no module, however many there are. */
static void
test_made_up_names(void)
{
    uint32_t now = (uint32_t) time(NULL);
    unsigned n_ready = 0, there = 0;
    sym_store_stat_t stat;
    sym_store_t *w;
    char name[40];

    kit_folder();
    w = kit_writer(16 * MIB);
    do {
        (void) snprintf(name, sizeof(name), "ready%u", n_ready++);
        (void) kit_put(w, name, 1, 30000);
        (void) sym_store_stat(w, &stat, &kit_err);
    } while (stat.live_bytes < stat.live_limit / 16 * 14);

    for (unsigned i = 0; i < 21000; i += MADE_UP) {
        put_made_up(w, i, now + 3600);
    }
    made_up_name(20999, name);
    ok(kit_has_path(w, name), "the last of 21,000 made up names is known");

    for (unsigned i = 0; i < n_ready; i++) {
        (void) snprintf(name, sizeof(name), "ready%u", i);
        there += kit_has(w, name, NULL);
    }
    (void) sym_store_stat(w, &stat, &kit_err);
    is_u64(there, n_ready, "they have evicted no module");
    ok(stat.absent > 500 && stat.absent < 21000, "but each other");
    ok(stat.live_bytes <= stat.live_limit, "all stay below their limit");
    is_u64(kit_faults(w), 0, "verifies");
    sym_store_close(w);
    kit_clean();
}


/* A path without a file is worth less than any module; one that has expired is
 * worth nothing. */
static void
test_negatives_go_first(void)
{
    uint32_t now = (uint32_t) time(NULL);
    sym_object_record_t record;
    sym_store_stat_t stat;
    uint64_t evicted = 0, ready, live;
    sym_store_t *w;
    char name[16];
    unsigned gone = 0;

    kit_folder();
    w = kit_writer(64 * MIB);
    for (unsigned i = 0; i < 10; i++) {
        (void) snprintf(name, sizeof(name), "ready%u", i);
        (void) kit_put(w, name, 2, 100);
        (void) kit_has(w, name, &record);
        sym_store_touch(w, record.slot, 1000 + i);
    }
    (void) sym_store_stat(w, &stat, &kit_err);
    ready = stat.live_bytes;
    (void) kit_put_absent(w, "counts", now + 100000);
    (void) kit_put_absent(w, "for ever", 0);
    (void) sym_store_stat(w, &stat, &kit_err);
    live = stat.live_bytes;
    for (unsigned i = 0; i < 20; i++) {
        (void) snprintf(name, sizeof(name), "old%u", i);
        (void) kit_put_absent(w, name, now - 1 - i);
    }

    is_status(sym_store_evict(w, live, &evicted, &kit_err), SYM_OK, &kit_err,
              "evict as much as the expired ones take");
    for (unsigned i = 0; i < 20; i++) {
        (void) snprintf(name, sizeof(name), "old%u", i);
        gone += !kit_has_path(w, name);
    }
    is_u64(gone, 20, "the expired ones are evicted");
    is_u64(evicted, 20, "and nothing else");
    (void) sym_store_evict(w, live - 1, NULL, &kit_err);
    ok(kit_has_path(w, "counts") != kit_has_path(w, "for ever"),
       "then the others without a file");
    (void) sym_store_evict(w, ready, NULL, &kit_err);
    ok(!kit_has_path(w, "counts") && !kit_has_path(w, "for ever")
           && kit_has(w, "ready0", NULL),
       "all of them before any module");
    (void) sym_store_evict(w, ready - 1, NULL, &kit_err);
    ok(!kit_has(w, "ready0", NULL) && kit_has(w, "ready1", NULL),
       "then the least recently used module");
    sym_store_close(w);
    kit_clean();
}


static bool
is_malformed(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    unsigned *asked = ctx;

    (void) scope;
    (*asked)++;
    return record->state == SYM_MODULE_MALFORMED;
}


static void
test_drop(void)
{
    sym_object_record_t record = { .state = SYM_MODULE_MALFORMED,
                                   .reason = SYM_STR("no MODULE line") };
    sym_store_stat_t stat;
    sym_snapshot_t *old;
    uint64_t dropped = 99;
    sym_ingest_t *ingest;
    arrival_t a = { 0 };
    unsigned asked = 0;
    sym_store_t *w;
    char name[16];

    kit_folder();
    w = kit_writer(64 * MIB);
    (void) kit_put(w, "ready", 20, 100);
    (void) kit_put_absent(w, "absent", 0);
    for (unsigned i = 0; i < 1300; i++) {
        (void) snprintf(name, sizeof(name), "bad%u", i);
        sym_module_key_t k = kit_key(name);
        (void) sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &kit_err);
        (void) kit_commit(ingest, &k, &record, &kit_err);
    }
    (void) arrive(w, &a, 1, 3);
    (void) go_on(&a);
    (void) sym_snapshot_begin(w, &old, &kit_err);

    is_status(sym_store_drop(w, is_malformed, &asked, &dropped, &kit_err),
              SYM_OK, &kit_err, "drop the malformed ones");
    is_u64(dropped, 1300, "all of it");
    is_u64(asked, 1301, "each was requested once");
    (void) sym_store_stat(w, &stat, &kit_err);
    is_u64(stat.malformed, 0, "none is left");
    ok(stat.modules == 1 && stat.absent == 1 && stat.evicted == 0,
       "the others are");
    is_u64(stat.live_bytes / SYM_PAGE, 19 * 16 + 1 + 1, "their room is free");
    ok(go_on(&a) && go_on(&a) && go_on(&a) && kit_has(w, a.name, NULL),
       "a module in progress continues");
    sym_snapshot_end(old);

    is_status(sym_store_drop(w, is_malformed, &asked, NULL, &kit_err), SYM_OK,
              &kit_err, "dropping nothing is not an error");
    is_u64(kit_faults(w), 0, "verifies");
    sym_store_close(w);
    kit_clean();
}


int
main(void)
{
    (void) signal(SIGXFSZ, SIG_IGN); /* so that a write fails with EFBIG */
    test_too_small();
    test_at_once();
    test_taken_back();
    test_disk_comes_back();
    test_stays_behind();
    test_negatives_go_first();
    test_made_up_names();
    test_drop();
    return done_testing();
}
