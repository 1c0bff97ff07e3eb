/*
 * Room for a batch in LMDB's map.
 *
 * The quota leaves more pages free than a batch needs, but LMDB cannot reuse a
 * page that a reader may still read, and an extent needs consecutive pages.  A
 * write without such pages loses the complete transaction, with the data of all
 * modules in it.  So the pages that LMDB can use are counted before a batch
 * begins.  If there are too few, the writer waits a moment for readers, because
 * their snapshots are short.  A writer that must not block asks whether it has
 * to wait (sym_store_can_write()) before it writes.
 */
#include "store/write/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Pause while waiting for readers, in milliseconds. */
#define PAUSE_MS 2

/* Room for other changes of a batch than its extents, and for evictions, which
 * must always be possible: a 64th of the file, at most 4 MiB. */
#define RESERVE_SHIFT 6
#define RESERVE_MAX ((uint64_t) 4 << 20)

/* Evicts a 16th of the modules to get consecutive pages. */
#define EVICT_PART 16

/* LMDB's own database of pages that transactions have freed. */
#define FREE_DBI 0

typedef struct {
    sym_store_t *store;
    uint64_t run;    /* consecutive pages for each value */
    uint64_t enough; /* counting stops at this number of pages */
    uint64_t pages;  /* all pages that LMDB can use */
    uint64_t values; /* values that fit into these pages */

    uint64_t last;   /* last transaction */
    uint64_t oldest; /* oldest snapshot of a reader, or the last transaction */
    bool is_own;     /* the oldest snapshot is one of this process */
} room_t;

/* Parses a line of LMDB's list of readers: process, thread and snapshot. */
static int
note_reader(const char *line, void *ctx)
{
    room_t *r = ctx;
    unsigned long long txnid;
    char *thread, *number, *end;
    long pid = strtol(line, &thread, 10);

    (void) strtoull(thread, &number, 16);
    txnid = strtoull(number, &end, 10);

    /* the headline and readers without a snapshot have no number */
    if (thread != line && end != number && txnid <= r->oldest) {
        r->is_own = pid == (long) getpid() || (txnid == r->oldest && r->is_own);
        r->oldest = txnid;
    }

    return 0;
}


/* Number of values that fit into these pages; the pages are in ascending or
   descending order. */
static uint64_t
count_values(const uint64_t *pages, size_t n, uint64_t run)
{
    uint64_t values = 0, len = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_next =
            i != 0
            && (pages[i] == pages[i - 1] + 1 || pages[i] + 1 == pages[i - 1]);

        len = is_next ? len + 1 : 1;
        if (len == run) {
            values++;
            len = 0;
        }
    }

    return values;
}


/* A record is a count and that many page numbers, the last page first.  One
 * record is usually enough; otherwise a run may continue in the next record. */
static int
count_freed(room_t *r, MDB_txn *txn)
{
    uint64_t tail = r->values, id;
    sym_ids_t all = { 0 };
    MDB_cursor *cursor;
    MDB_val k, v;
    int rc = mdb_cursor_open(txn, FREE_DBI, &cursor);

    if (rc != 0) {
        return rc;
    }

    while (r->values * r->run < r->enough
           && (rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0
           && k.mv_size == sizeof(id) && v.mv_size >= sizeof(id)
           && (memcpy(&id, k.mv_data, sizeof(id)), id < r->oldest))
    {
        const uint64_t *list = v.mv_data;
        size_t n = v.mv_size / sizeof(*list) - 1;

        n = list[0] < n ? (size_t) list[0] : n;
        for (size_t i = 1; i <= n && rc == 0; i++) {
            rc = sym_ids_add(&all, list[i]) ? 0 : ENOMEM;
        }
        if (rc != 0) {
            break;
        }

        r->pages += n;
        r->values += count_values(list + 1, n, r->run);
    }

    if (r->values * r->run < r->enough) {
        sym_ids_sort(&all);
        r->values = tail + count_values(all.ids, all.n, r->run);
    }

    mdb_cursor_close(cursor);
    free(all.ids);
    return rc == MDB_NOTFOUND ? 0 : rc;
}


/* Counts pages until they suffice. */
static sym_status_t
count_room(sym_store_t *store, uint64_t run, uint64_t enough, room_t *r,
           sym_error_t *err)
{
    sym_snapshot_t *s;
    MDB_envinfo info;
    uint64_t used;
    int rc;

    (void) mdb_env_info(store->env, &info);
    used = info.me_last_pgno + 2; /* me_last_pgno does not include the last
                                     page */
    *r = (room_t){ .store = store,
                   .run = run,
                   .enough = enough,
                   .pages = info.me_mapsize / STORE_PAGE,
                   .last = info.me_last_txnid,
                   .oldest = info.me_last_txnid };
    r->pages -= r->pages < used ? r->pages : used;
    r->values = r->pages / run;
    if (r->values * run >= enough) {
        return SYM_OK;
    }

    (void) mdb_reader_list(store->env, note_reader, r);
    if (sym_snapshot_begin(store, &s, err) != SYM_OK) {
        return err->status;
    }

    rc = count_freed(r, s->txn);
    sym_snapshot_end(s);
    return rc == 0 ? SYM_OK
                   : sym_lmdb_fail(err, "cannot look for free pages", rc);
}


/* Whether there is a reader to wait for.  A reader that did not end in time
   before does not count. */
static bool
may_move_on(const room_t *r)
{
    return r->oldest < r->last && !r->is_own
           && r->oldest != r->store->stuck_reader;
}


/* Counts the pages.  Returns true if there are too few and readers may release
 * more. */
static bool
must_wait(sym_store_t *store, uint64_t run, uint64_t enough, room_t *r,
          sym_error_t *err)
{
    return count_room(store, run, enough, r, err) == SYM_OK
           && r->values * run < enough && may_move_on(r);
}


/* Waits until there is enough room, or waiting is useless. */
static sym_status_t
wait_for_readers(sym_store_t *store, uint64_t run, uint64_t enough, room_t *r,
                 sym_error_t *err)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };

    for (unsigned i = 0; i < store->reader_wait_ms / PAUSE_MS; i++) {
        if (!must_wait(store, run, enough, r, err)) {
            return err->status;
        }

        /* a dead reader never ends its snapshot */
        if (i == 0 && sym_store_reader_check(store, NULL, err) != SYM_OK) {
            return err->status;
        }
        (void) nanosleep(&pause, NULL);
    }

    store->stuck_reader = r->oldest;
    return SYM_OK;
}


/*
 * No reader holds pages, but the free ones are fragmented.  Evicts modules;
 * LMDB reuses their pages after two commits.
 */
static sym_status_t
evict_for_rows(sym_store_t *store, sym_error_t *err)
{
    uint64_t live = store->live_pages * STORE_PAGE + store->negatives, n;
    MDB_txn *txn;
    int rc;

    if (sym_store_evict(store, live - live / EVICT_PART, NULL, err) != SYM_OK
        || sym_batch(store, &txn, err) != SYM_OK)
    {
        return err->status;
    }

    rc = sym_meta_get(store, txn, "evicted", &n);
    rc = rc != 0 ? rc : sym_meta_put(store, txn, "evicted", n);
    return rc == 0
               ? sym_batch_commit(store, err)
               : sym_batch_failed(store, "cannot write to the store", rc, err);
}


/* Pages needed for values.  LMDB takes single pages, such as those of its
 * trees, from runs of free pages, too. */
static uint64_t
without_reserve(const room_t *r, uint64_t reserve)
{
    uint64_t room = r->values * r->run;

    room = room < r->pages ? room : r->pages;
    return room < reserve ? 0 : room - reserve;
}


/* Number of consecutive pages for a full extent. */
static uint64_t
full_run(void)
{
    return sym_value_pages(SYM_EXTENT_MAX + CRC_BYTES);
}


static uint64_t
reserve_of(const sym_store_t *store)
{
    uint64_t bytes = store->budget.file_bytes >> RESERVE_SHIFT;

    return (bytes < RESERVE_MAX ? bytes : RESERVE_MAX) / STORE_PAGE;
}


/* Pages needed for a batch that begins with values of this many pages. */
static uint64_t
enough_for(const sym_store_t *store, uint64_t pages)
{
    return store->budget.batch_bytes / STORE_PAGE + pages + reserve_of(store);
}


/* Measures the room for values of this many pages. */
static sym_status_t
measure(sym_store_t *store, uint64_t pages, room_t *r, sym_error_t *err)
{
    uint64_t reserve = reserve_of(store), enough = enough_for(store, pages);
    uint64_t run = full_run();
    sym_status_t rc = store->never_blocks
                          ? count_room(store, run, enough, r, err)
                          : wait_for_readers(store, run, enough, r, err);

    if (rc != SYM_OK) {
        return rc;
    }

    /* a full extent may not fit, but this one may */
    if (without_reserve(r, reserve) < pages && pages < run
        && count_room(store, pages, enough, r, err) != SYM_OK)
    {
        return err->status;
    }

    store->room = without_reserve(r, reserve);
    store->room_run = r->run;
    return SYM_OK;
}


sym_status_t
sym_await_room(sym_store_t *store, uint64_t pages, sym_error_t *err)
{
    unsigned dead;
    room_t r;

    while (measure(store, pages, &r, err) == SYM_OK && store->room < pages) {
        /* a reader that did not end in time may have died since */
        if (sym_store_reader_check(store, &dead, err) != SYM_OK) {
            break;
        }

        if (dead > 0) {
            continue;
        }

        if (r.oldest < r.last || store->live_pages == 0) {
            return sym_fail(err, SYM_FULL,
                            "the store's map is full: readers hold the pages "
                            "that are free");
        }

        if (evict_for_rows(store, err) != SYM_OK) {
            break;
        }
    }

    return err->status;
}


static int64_t
monotonic_ms(void)
{
    struct timespec ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


bool
sym_store_can_write(sym_store_t *store)
{
    uint64_t run = full_run();
    sym_error_t err = { 0 };
    room_t r;

    if (!store->never_blocks || (store->room >= run && store->room_run >= run))
    {
        return true;
    }

    /* if this fails, the next write reports it */
    if (sym_make_room(store, run, &err) != SYM_OK
        || sym_batch_commit(store, &err) != SYM_OK
        || !must_wait(store, run, enough_for(store, run), &r, &err))
    {
        store->waits_until_ms = 0;
        return true;
    }

    if (store->waits_until_ms == 0) {
        store->waits_until_ms = monotonic_ms() + store->reader_wait_ms;
    }

    if (monotonic_ms() < store->waits_until_ms) {
        /* a dead reader never ends its snapshot */
        (void) sym_store_reader_check(store, NULL, &err);
        return false;
    }

    store->stuck_reader = r.oldest;
    store->waits_until_ms = 0;
    return true;
}
