/*
 * A reader's snapshot keeps pages from reuse. A writer that needs them waits
 * until the reader has moved on, a limited time and once for each snapshot.
 * After that, only the module that needs them is refused.  A writer that must
 * not block learns that it has to wait before it writes.
 */
#include <sys/socket.h>
#include <time.h>

#include "store_kit.h"

#define MIB ((uint64_t) 1 << 20)
#define EXTENTS 30 /* 2 MiB */
#define WAIT_MS 500
#define PAUSES 250 /* each of two milliseconds */

static int reader[2]; /* a request byte to it, and its answer */
static pid_t reader_pid;
static unsigned pauses, moves_at;

static void
tell_reader(void)
{
    char c = 0;

    if (write(reader[0], &c, 1) != 1 || read(reader[0], &c, 1) != 1) {
        ok(false, "the reader answers");
    }
}


/* The writer's pauses; during one of them the reader moves on. */
int
nanosleep(const struct timespec *pause, struct timespec *left)
{
    (void) pause;
    (void) left;
    if (++pauses == moves_at) {
        tell_reader();
    }
    return 0;
}


/* Takes a newer snapshot for each byte received. */
static void
read_on(int fd)
{
    sym_store_t *store = kit_reader();
    sym_snapshot_t *s;
    char c = 0;

    while (store != NULL && sym_snapshot_begin(store, &s, &kit_err) == SYM_OK
           && write(fd, &c, 1) == 1 && read(fd, &c, 1) == 1)
    {
        sym_snapshot_end(s);
    }
}


static void
start_reader(void)
{
    char c;

    (void) socketpair(AF_UNIX, SOCK_STREAM, 0, reader);
    reader_pid = fork();
    if (reader_pid == 0) {
        close(reader[0]);
        read_on(reader[1]);
        _exit(0);
    }
    close(reader[1]);
    ok(read(reader[0], &c, 1) == 1, "a reader has a snapshot");
}


static void
stop_reader(void)
{
    close(reader[0]);
    (void) waitpid(reader_pid, NULL, 0);
}


static bool
put(sym_store_t *w, unsigned n)
{
    char name[16];

    (void) snprintf(name, sizeof(name), "m%u", n);
    return kit_put(w, name, EXTENTS, 100) == SYM_OK;
}


/* A nearly full store with room for another module or two. */
static sym_store_t *
full_store_of(sym_store_options_t options)
{
    sym_store_t *w = NULL;
    unsigned n;

    options.quota = 16 * MIB;
    options.create = true;
    kit_folder();
    (void) sym_store_open_write(kit_path, &options, &w, &kit_err);
    for (n = 0; n < 20 && put(w, n); n++) {
    }
    is_u64(n, 20, "the store is full");
    return w;
}


static sym_store_t *
full_store(void)
{
    return full_store_of((sym_store_options_t){ .reader_wait_ms = WAIT_MS });
}


static void
test_moves_on(void)
{
    sym_store_t *w = full_store();
    unsigned n, waited = 0;

    start_reader();
    for (n = 20; n < 60; n++) {
        pauses = 0;
        moves_at = 3;
        if (!put(w, n)) {
            break;
        }
        waited += pauses != 0;
    }
    is_u64(n, 60, "whatever the reader pins, all modules are stored");
    ok(waited > 5, "the writer waited for the reader %u times", waited);
    is_u64(kit_faults(w), 0, "verifies");
    stop_reader();
    sym_store_close(w);
    kit_clean();
}


static sym_ingest_t *
begin_small(sym_store_t *w, const char *name)
{
    static const uint8_t data[5000];
    sym_module_key_t k = kit_key(name);
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION };
    sym_ingest_t *ingest = NULL;

    kit_err = (sym_error_t){ 0 };
    return sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &kit_err)
                       == SYM_OK
                   && sym_ingest_extent(ingest, 0, data, sizeof(data), &kit_err)
                          == SYM_OK
                   && kit_put_object(ingest, &k, &record, &kit_err) == SYM_OK
               ? ingest
               : NULL;
}


static void
test_stuck(void)
{
    sym_store_t *w = full_store();
    sym_ingest_t *small;
    unsigned n, stored = 0, waited = 0;
    sym_error_t err = { 0 };

    start_reader();
    moves_at = 0;
    for (n = 20, pauses = 0; n < 40 && pauses == 0; n++) {
        small = begin_small(w, "small");
        ok(small != NULL, "a small module is put");
        stored += put(w, n);
        is_status(sym_ingest_finish(small, &err), SYM_OK, &err, "and finished");
        waited = pauses;
    }
    is_u64(waited, PAUSES, "the writer waits once for a reader that stays");
    is_u64(stored, n - 21, "and refuses the module that needs its pages");
    is_status(kit_err.status, SYM_FULL, &kit_err, "because the store is full");
    ok(kit_has(w, "small", NULL), "the small one is stored nevertheless");

    pauses = 0;
    ok(!put(w, n), "the next is refused");
    is_u64(pauses, 0, "at once");
    is_u64(kit_faults(w), 0, "verifies");

    tell_reader();
    ok(put(w, n + 1), "when the reader has moved on, modules are stored");
    is_u64(kit_faults(w), 0, "verifies");

    while (n < 80 && put(w, n + 1)) {
        n++;
    }
    ok(n < 80, "it stays again");
    stop_reader();
    ok(put(w, n + 1), "when the reader has died, modules are stored");
    sym_store_close(w);
    kit_clean();
}


/* Puts modules until the store cannot be written to; returns their number. */
static unsigned
put_until_held(sym_store_t *w, unsigned n)
{
    unsigned first = n;

    while (n < first + 40 && sym_store_can_write(w) && put(w, n)) {
        n++;
    }
    return n - first;
}


/* How often a writer asks until it may write; does not return before. */
static unsigned
ask(sym_store_t *w)
{
    unsigned n = 0;

    while (!sym_store_can_write(w)) {
        n++;
    }
    return n;
}


static void
test_without_blocking(void)
{
    const unsigned day_ms = 86400000;
    sym_store_t *w = full_store_of((sym_store_options_t){
        .reader_wait_ms = day_ms, .never_blocks = true });

    ok(sym_store_can_write(w), "without a reader it may write");

    start_reader();
    pauses = moves_at = 0;
    ok(put_until_held(w, 20) < 40,
       "a reader pins pages: the writer has to wait");
    ok(!sym_store_can_write(w), "and again");
    tell_reader();
    ok(ask(w) < 2 && kit_put(w, "moved", 1, 100) == SYM_OK,
       "when the reader has moved on, it may write an extent");

    ok(put_until_held(w, 61) < 40, "it has to wait again");
    stop_reader();
    ok(ask(w) < 2 && kit_put(w, "died", 1, 100) == SYM_OK,
       "when the reader has died, it may write an extent");
    is_u64(pauses, 0, "no write waited");
    is_u64(kit_faults(w), 0, "verifies");
    sym_store_close(w);
    kit_clean();
}


static void
test_stuck_without_blocking(void)
{
    sym_store_t *w = full_store_of(
        (sym_store_options_t){ .reader_wait_ms = 2, .never_blocks = true });

    start_reader();
    pauses = moves_at = 0;
    ok(put_until_held(w, 20) < 40,
       "a reader pins pages: the writer has to wait");
    (void) ask(w);
    ok(!put(w, 60), "the reader stays: the module is refused");
    is_status(kit_err.status, SYM_FULL, &kit_err, "because the store is full");
    is_u64(ask(w), 0, "the writer does not wait for it again");
    is_u64(pauses, 0, "no write waited");
    stop_reader();
    sym_store_close(w);
    kit_clean();
}


int
main(void)
{
    test_moves_on();
    test_stuck();
    test_without_blocking();
    test_stuck_without_blocking();
    return done_testing();
}
