/*
 * A damaged store: verify names each kind of fault, other modules can still be
 * read, the next writer drops the broken ones, and a reader that faults
 * repeatedly leaks nothing.
 */
#include "store_kit.h"

static void
make_store(void)
{
    sym_store_t *w;

    kit_folder();
    w = kit_writer((uint64_t) 64 << 20);
    (void) kit_put(w, "a", 3, 100);
    (void) kit_put(w, "b", 2, 5000);
    (void) kit_put(w, "c", 1, 10);
    sym_store_close(w);
}


/* Flips a byte of an extent's value, then runs verify. */
static void
flip_extent(uint64_t module_id, uint32_t number, size_t at, const char *name)
{
    uint64_t id = module_id << 24 | number;
    MDB_val key = { sizeof(id), &id };
    kit_lmdb_t l;
    sym_store_t *r;

    make_store();
    ok(kit_lmdb_open(&l) && kit_lmdb_flip(l.txn, l.extents, key, at, 4)
           && kit_lmdb_close(&l),
       "flip: %s", name);
    r = kit_reader();
    is_u64(kit_faults(r), 1, name);
    is_str(sym_cstr(kit_fault), "extent's checksum is wrong", name);
    sym_store_close(r);
    kit_clean();
}


static void
test_extents(void)
{
    kit_lmdb_t l;
    uint64_t id = (uint64_t) 1 << 24 | 1;
    uint64_t foreign = (uint64_t) 77 << 24;
    MDB_val key = { sizeof(id), &id },
            val = { 5, (void *) (uintptr_t) "12345" };
    sym_store_t *r, *w;

    flip_extent(1, 0, 0, "first byte of an extent");
    flip_extent(1, 1, SYM_EXTENT_MAX - 1, "last byte of a full extent");
    flip_extent(1, 2, 100, "first byte of a checksum");
    flip_extent(3, 0, 13, "last byte of a checksum");

    make_store();
    (void) kit_lmdb_open(&l);
    (void) mdb_del(l.txn, l.extents, &key, NULL);
    (void) kit_lmdb_close(&l);
    r = kit_reader();
    is_u64(kit_faults(r), 2, "an extent is missing: it, and the size");
    sym_store_close(r);
    w = kit_writer(0);
    is_u64(kit_faults(w), 0, "the next writer drops such a module");
    ok(!kit_has(w, "a", NULL) && kit_has(w, "b", NULL) && kit_has(w, "c", NULL),
       "and no other");
    sym_store_close(w);
    kit_clean();

    make_store();
    (void) kit_lmdb_open(&l);
    key.mv_data = &foreign;
    (void) mdb_put(l.txn, l.extents, &key, &val, 0);
    (void) kit_lmdb_close(&l);
    r = kit_reader();
    is_u64(kit_faults(r), 1, "an extent without an owner");
    is_str(sym_cstr(kit_fault), "extents belong to no module", "says so");
    sym_store_close(r);
    w = kit_writer(0);
    is_u64(kit_faults(w), 0, "the next writer drops it");
    ok(kit_has(w, "a", NULL) && kit_has(w, "b", NULL), "and nothing else");
    sym_store_close(w);
    kit_clean();
}


/* Each byte of a record in turn: the next writer drops the record with its
 * extents, and the others stay complete. */
static void
test_records(void)
{
    unsigned found = 0, repaired = 0, n = 99; /* 94, "b", "test" */
    char buf[128];

    for (unsigned at = 0; at < n; at++) {
        MDB_val key = kit_object_key(buf, "b");
        sym_store_t *r, *w;
        sym_snapshot_t *s;
        kit_lmdb_t l;

        if (at == 0) {
            continue; /* the version: another test's */
        }

        make_store();
        if (!kit_lmdb_open(&l) || !kit_lmdb_flip(l.txn, l.objects, key, at, 1)
            || !kit_lmdb_close(&l))
        {
            ok(false, "flip");
            return;
        }

        r = kit_reader();
        found += kit_faults(r) >= 1
                 && (strcmp(kit_fault, "record of an object is damaged") == 0
                     || strcmp(kit_fault, "extents belong to no module") == 0);
        sym_store_close(r);

        w = kit_writer(0);
        (void) sym_snapshot_begin(w, &s, &kit_err);
        repaired += kit_faults(w) == 0 && !kit_has(w, "b", NULL)
                    && kit_is_whole(s, "a", 3, 100)
                    && kit_is_whole(s, "c", 1, 10);
        sym_snapshot_end(s);
        sym_store_close(w);

        (void) kit_lmdb_open(&l);
        repaired -= kit_lmdb_entries(&l, l.extents) != 4
                    || kit_lmdb_entries(&l, l.objects) != 2;
        (void) kit_lmdb_close(&l);
        kit_clean();
    }

    is_u64(found, n - 1, "verify finds every flipped byte of a record");
    is_u64(repaired, n - 1, "the next writer drops that module completely");
}


static void
test_numbers(void)
{
    static const char *const names[] = { "version", "next", "quota",
                                         "evicted" };

    for (unsigned i = 0; i < 4; i++) {
        MDB_val key = { strlen(names[i]), (void *) (uintptr_t) names[i] };
        kit_lmdb_t l;
        sym_store_t *r;

        make_store();
        (void) kit_lmdb_open(&l);
        ok(kit_lmdb_flip(l.txn, l.meta, key, 3, 128), "flip %s", names[i]);
        (void) kit_lmdb_close(&l);
        r = kit_reader();
        ok(r == NULL ? kit_err.status == SYM_DAMAGED
                     : kit_faults(r) == UINT64_MAX,
           "the number '%s' is checked", names[i]);
        sym_store_close(r);
        kit_clean();
    }
}


static unsigned
count_lines(const char *file)
{
    FILE *f = fopen(file, "r");
    unsigned n = 0;
    int c;

    while (f != NULL && (c = getc(f)) != EOF) {
        n += c == '\n';
    }
    if (f != NULL) {
        (void) fclose(f);
    }
    return n;
}


static unsigned
count_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned n = 0;

    while (dir != NULL && readdir(dir) != NULL) {
        n++;
    }
    if (dir != NULL) {
        (void) closedir(dir);
    }
    return n;
}


static void
read_module(void *arg)
{
    (void) kit_is_whole(arg, "a", 3, 100);
}


/* A bad page must not leak a worker's descriptors or address space. */
static void
test_abandon(void)
{
    char file[128];
    unsigned faults = 0, files = 0, maps = 0;

    make_store();
    kit_file(file, "data.mdb");
    (void) chmod(file, 0644);

    for (unsigned i = 0; i < 60; i++) {
        sym_store_t *r = kit_reader();
        sym_snapshot_t *s;
        struct stat st;

        if (r == NULL || stat(file, &st) != 0) {
            ok(false, "open");
            break;
        }
        (void) sym_snapshot_begin(r, &s, &kit_err);
        (void) truncate(file, (off_t) 3 * 4096);
        kit_err = (sym_error_t){ 0 };
        faults += sym_store_guarded(r, read_module, s, &kit_err) == SYM_DAMAGED;
        (void) truncate(file, st.st_size);
        sym_store_abandon(r);

        /* the pages are zeros now; write them again */
        if (i == 9) {
            files = count_files();
            maps = count_lines("/proc/self/maps");
        }
        (void) unlink(file);
        sym_store_t *w = kit_writer((uint64_t) 64 << 20);
        (void) kit_put(w, "a", 3, 100);
        sym_store_close(w);
    }

    is_u64(faults, 60, "60 faults survived");
    is_u64(count_files(), files, "no descriptor is leaked");
    ok(count_lines("/proc/self/maps") <= maps + 2, "nor a mapping");
    kit_clean();
}


/* Slots of the use clock: those in use are not assigned again after the writer
 * restarts. */
static void
test_slots(void)
{
    sym_object_record_t record;
    uint64_t seen = 0;
    sym_store_t *w;
    char name[8];

    kit_folder();
    for (unsigned i = 0; i < 40; i++) {
        w = kit_writer((uint64_t) 64 << 20);
        (void) snprintf(name, sizeof(name), "m%u", i);
        (void) kit_put(w, name, 1, 10);
        if (kit_has(w, name, &record) && record.slot < 64) {
            seen |= (uint64_t) 1 << record.slot;
        }
        sym_store_close(w);
    }
    is_u64(seen, ((uint64_t) 1 << 40) - 1, "each module has its own slot");

    sym_module_key_t k = kit_key("m7");
    w = kit_writer(0);
    kit_err = (sym_error_t){ 0 };
    (void) kit_has(w, "m7", &record);
    (void) kit_remove(w, &k, SYM_KIND_SYMCACHE, &kit_err);
    uint32_t slot = record.slot;
    (void) kit_put(w, "new", 1, 10);
    (void) kit_has(w, "new", &record);
    is_u64(record.slot, slot, "a free slot is used again");
    sym_store_close(w);
    kit_clean();
}


static void
test_hole(void)
{
    static const uint8_t data[10];
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION };
    sym_module_key_t k = kit_key("hole");
    sym_ingest_t *ingest;
    sym_store_t *w;

    kit_folder();
    w = kit_writer((uint64_t) 64 << 20);
    (void) sym_ingest_begin_object(w, SYM_KIND_SYMCACHE, &ingest, &kit_err);
    (void) sym_ingest_extent(ingest, 0, data, sizeof(data), &kit_err);
    (void) sym_ingest_extent(ingest, 2, data, sizeof(data), &kit_err);
    is_status(kit_commit(ingest, &k, &record, &kit_err), SYM_MALFORMED,
              &kit_err, "a module that lacks an extent is refused");
    ok(!kit_has(w, "hole", NULL), "and not found");
    sym_store_close(w);

    kit_lmdb_t l;
    (void) kit_lmdb_open(&l);
    is_u64(kit_lmdb_entries(&l, l.extents), 0, "nor are its extents");
    (void) kit_lmdb_close(&l);
    kit_clean();
}


int
main(void)
{
    test_extents();
    test_records();
    test_numbers();
    test_abandon();
    test_slots();
    test_hole();
    return done_testing();
}
