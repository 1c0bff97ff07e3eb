/*
 * Frames of .NET through the engine: an artifact of kind `ppdb` in a store
 * answers a method and IL offset with the file, line and language.  A damaged
 * page of the store gives an error, and a missing artifact gives no answer.
 */
#include <sys/mman.h>

#include "artifacts/ppdb/write/ppdb_writer.h"
#include "base/language.h"
#include "store_kit.h"
#include "symbolicate/artifact.h"
#include "artifacts/ppdb/read/il.h"

#define METHODS 20000 /* several extents */
#define POINTS 12

static sym_store_t *store;
static sym_snapshot_t *snapshot;


static sym_status_t
put_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
           sym_error_t *err)
{
    return sym_ingest_extent(ctx, number, data, len, err);
}


/* Method m has a point every 10 offsets, in line 1000 * (m % 7) and the
 * following ones; every fourth method has none. */
static sym_status_t
write_ppdb(sym_ingest_t *ingest)
{
    sym_ppdb_writer_t *w =
        sym_ppdb_writer_create(put_extent, ingest, METHODS, &kit_err);
    sym_writer_stats_t stats;
    uint32_t one, other;

    (void) sym_ppdb_add_document(w, SYM_STR("C:\\src\\app\\Main.cs"),
                                 SYM_LANG_CSHARP, &one);
    (void) sym_ppdb_add_document(w, SYM_STR("/src/lib.fs"), SYM_LANG_FSHARP,
                                 &other);

    for (uint32_t m = 1; m <= METHODS; m++) {
        sym_ppdb_given_t points[POINTS];

        for (uint32_t i = 0; i < POINTS; i++) {
            points[i] = (sym_ppdb_given_t){ 5 + 10 * i, 1000 * (m % 7) + i,
                                            m % 2 == 0 ? one : other };
        }

        (void) sym_ppdb_add_method(w, m, points, m % 4 != 0 ? POINTS : 0);
    }

    (void) sym_ppdb_finish(w, false, &stats);
    sym_ppdb_writer_free(w);
    return kit_err.status;
}


static void
put_ppdb(void)
{
    sym_store_t *w = kit_writer(64 << 20);
    sym_module_key_t key = kit_key("app.pdb");
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_PPDB_VERSION,
                                   .quality = SYM_PPDB_LINES,
                                   .path = SYM_STR("test") };
    sym_ingest_t *ingest;

    ok(sym_ingest_begin_object(w, SYM_KIND_PPDB, &ingest, &kit_err) == SYM_OK
           && write_ppdb(ingest) == SYM_OK
           && kit_commit(ingest, &key, &record, &kit_err) == SYM_OK,
       "a store with a ppdb");
    sym_store_close(w);
}


/* The method and offset to look up. */
static sym_status_t
ask(const sym_ppdb_t *ppdb, uint32_t method, uint32_t offset,
    sym_il_frame_t *frame)
{
    return sym_il_answer(ppdb, method, offset, frame);
}


static sym_status_t
find(sym_resolver_t *r, const sym_module_key_t *key, sym_kind_t kind,
     sym_artifact_found_t *artifact, sym_missing_t *missing)
{
    const sym_object_ref_t ref = kit_ref(key);

    return sym_artifact_find(r, SYM_STR(""), &(sym_lookup_t){ &ref, kind, 0 },
                             artifact, missing);
}


static void
test_answers(sym_resolver_t *r, sym_arena_t *arena)
{
    sym_module_key_t key = kit_key("app.pdb");
    sym_artifact_found_t artifact;
    sym_missing_t missing;
    sym_error_t err = { 0 };
    sym_extent_source_t extents;
    sym_il_frame_t f;
    sym_ppdb_t ppdb;
    unsigned wrong = 0;

    ok(find(r, &key, SYM_KIND_PPDB, &artifact, &missing) == SYM_OK,
       "the artifact that answers by IL is found");
    extents = sym_artifact_extents(&artifact);
    ok(extents.n > 4, "it has several extents");
    (void) is_status(sym_il_open(&ppdb, arena, &extents, &err), SYM_OK, &err,
                     "it opens");

    ok(ask(&ppdb, 6, 5, &f) == SYM_OK, "an even method");
    is_str(f.folder, "C:\\src\\app\\", "its folder");
    is_str(f.file, "Main.cs", "its file");
    is_str(sym_cstr(sym_language_name(f.lang)), "csharp", "its language");
    is_u64(f.line, 6000, "its line");
    ok(ask(&ppdb, 0x06000005, 5 + 17, &f) == SYM_OK, "an odd one by its token");
    is_str(f.folder, "/src/", "its folder");
    is_str(f.file, "lib.fs", "its file");
    is_str(sym_cstr(sym_language_name(f.lang)), "fsharp", "its language");
    is_u64(f.line, 5001, "its line");
    ok(ask(&ppdb, 6, 4, &f) == SYM_NOT_FOUND, "before the first point");
    ok(ask(&ppdb, 8, 5, &f) == SYM_NOT_FOUND, "a method without points");
    ok(ask(&ppdb, METHODS + 1, 5, &f) == SYM_NOT_FOUND, "no such method");
    ok(ask(&ppdb, 0, 5, &f) == SYM_NOT_FOUND, "method 0");
    ok(ask(&ppdb, 0x02000006, 5, &f) == SYM_NOT_FOUND, "the token of a type");

    for (uint32_t m = 1; m <= METHODS; m++) {
        for (uint32_t offset = 5; offset < 200 && m % 4 != 0; offset += 3) {
            uint32_t i = (offset - 5) / 10;

            i = i < POINTS ? i : POINTS - 1;
            wrong += ask(&ppdb, m, offset, &f) != SYM_OK
                     || f.line != 1000 * (m % 7) + i;
        }
    }

    is_u64(wrong, 0, "every method and offset");
    is_u64(sym_resolver_damaged(r), 0, "nothing is damaged");
}


static void
test_others(sym_resolver_t *r)
{
    sym_module_key_t other = kit_key("other.pdb"), key = kit_key("app.pdb");
    sym_artifact_found_t artifact;
    sym_missing_t missing;

    other.id = SYM_STR("0123456789ABCDEF0123456789ABCDEF2");
    ok(find(r, &other, SYM_KIND_PPDB, &artifact, &missing) == SYM_NOT_FOUND,
       "another object is not found");
    ok(find(r, &key, SYM_KIND_SYMCACHE, &artifact, &missing) == SYM_NOT_FOUND,
       "nor another kind of the same");
}


/* Changes the second offset of a method in every sixteenth page that has one,
 * except in the extent with the header, without which nothing is found. */
static void
damage_store(void)
{
    static const uint8_t offsets[] = { 5, 15, 25, 35, 45, 55 };
    char path[128];
    struct stat st;
    uint8_t *map, *at, *first;
    int fd;

    kit_file(path, "data.mdb");
    fd = open(path, O_RDWR);

    if (fd < 0 || fstat(fd, &st) != 0) {
        ok(false, "the store's file is open");
        return;
    }

    map = mmap(NULL, (size_t) st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
               fd, 0);

    first = memmem(map, (size_t) st.st_size, "SYMP", 4);

    for (size_t from = 0; from + 4096 <= (size_t) st.st_size; from += 65536) {
        at = memmem(map + from, 4096, offsets, sizeof(offsets));
        if (at != NULL && (at < first || at - first > SYM_EXTENT_MAX)) {
            at[1] ^= 1;
        }
    }

    munmap(map, (size_t) st.st_size);
    (void) close(fd);
}


/* The checksum of an extent is verified when it is first read. */
static void
test_damage(sym_arena_t *arena)
{
    sym_module_key_t key = kit_key("app.pdb");
    sym_artifact_found_t artifact;
    sym_missing_t missing;
    sym_error_t err = { 0 };
    sym_extent_source_t extents;
    sym_resolver_t *r;
    sym_il_frame_t f;
    sym_ppdb_t ppdb;
    unsigned damaged = 0, wrong = 0;
    sym_status_t rc;

    store = kit_reader();
    if (store == NULL
        || sym_snapshot_begin(store, &snapshot, &kit_err) != SYM_OK) {
        ok(false, "the store opens");
        return;
    }

    r = sym_resolver_create(arena, snapshot, 1000, 1, 1);
    rc = find(r, &key, SYM_KIND_PPDB, &artifact, &missing);
    extents = sym_artifact_extents(&artifact);
    rc = rc == SYM_OK ? sym_il_open(&ppdb, arena, &extents, &err) : rc;

    for (uint32_t m = 1; rc == SYM_OK && m <= METHODS; m++) {
        sym_status_t answer = ask(&ppdb, m, 15, &f);

        damaged += answer == SYM_DAMAGED;
        wrong += answer == SYM_OK && f.line != 1000 * (m % 7) + 1;
    }

    ok(rc == SYM_OK && damaged != 0, "damaged pages are detected");
    is_u64(wrong, 0, "and answer nothing");
    ok(sym_resolver_damaged(r) != 0, "they are counted");
    sym_snapshot_end(snapshot);
    sym_store_close(store);
}


int
main(void)
{
    sym_arena_t arena;
    sym_resolver_t *r;

    sym_arena_init(&arena, 0);
    kit_folder();
    put_ppdb();
    store = kit_reader();

    if (ok(store != NULL
               && sym_snapshot_begin(store, &snapshot, &kit_err) == SYM_OK,
           "a reader"))
    {
        r = sym_resolver_create(&arena, snapshot, 1000, 1, 1);
        test_answers(r, &arena);
        test_others(r);
        sym_snapshot_end(snapshot);
        sym_store_close(store);
        damage_store();
        test_damage(&arena);
    }

    sym_arena_drop(&arena);
    kit_clean();
    return done_testing();
}
