/*
 * One object has several artifacts.  Each is found, replaced and evicted by
 * itself; what is removed by its key goes with all of them.  A store of the
 * version that knew symcaches only is read as it is, and converted by a writer,
 * under the eyes of its readers.
 */
#include "store_kit.h"

#include <zlib.h>

#include "store/env.h"

#define MIB ((uint64_t) 1 << 20)
#define ID "0123456789ABCDEF0123456789ABCDEF1"


static sym_status_t
put(sym_store_t *w, const char *name, sym_kind_t kind, const char *bytes)
{
    sym_module_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = sym_kind_find(kind)->version,
                                   .quality = SYM_QUALITY_LINES,
                                   .source = SYM_STR("test"),
                                   .is_native = true,
                                   .code_id = SYM_STR("deadbeef") };
    sym_module_key_t key = kit_key(name);
    sym_ingest_t *ingest;

    kit_err = (sym_error_t){ 0 };
    if (sym_ingest_begin(w, &key, kind, &ingest, &kit_err) != SYM_OK) {
        return kit_err.status;
    }

    (void) sym_ingest_extent(ingest, 0, (const uint8_t *) bytes, strlen(bytes),
                             &kit_err);
    return sym_ingest_commit(ingest, &record, &kit_err);
}


/* The bytes of an artifact, "": none. */
static const char *
bytes_of(sym_store_t *store, const sym_module_key_t *key, sym_kind_t kind)
{
    static char out[64];
    sym_module_record_t record;
    sym_module_key_t found;
    sym_snapshot_t *s;
    sym_error_t err = { 0 };
    const uint8_t *data;
    size_t len;

    out[0] = '\0';
    if (sym_snapshot_begin(store, &s, &err) != SYM_OK) {
        return "no snapshot";
    }

    if (sym_snapshot_find_any(s, key, kind, &found, &record, &err) == SYM_OK
        && record.kind == kind
        && sym_snapshot_extent_checked(s, record.module_id, 0, &data, &len)
               == SYM_OK
        && len < sizeof(out))
    {
        memcpy(out, data, len);
        out[len] = '\0';
    }

    sym_snapshot_end(s);
    return out;
}


static void
has(sym_store_t *store, const char *name, sym_kind_t kind, const char *want,
    const char *what)
{
    sym_module_key_t key = kit_key(name);

    is_str(sym_cstr(bytes_of(store, &key, kind)), want, what);
}


static sym_status_t
list(void *ctx, const sym_module_key_t *key, const sym_module_record_t *record)
{
    char *out = ctx;
    size_t len = strlen(out);

    (void) snprintf(out + len, 128 - len, "%.*s:%s ", (int) key->name.len,
                    key->name.data, sym_kind_name(record->kind));
    return SYM_OK;
}


static void
lists(sym_store_t *store, const char *want, const char *what)
{
    char out[128] = "";
    sym_snapshot_t *s;

    (void) sym_snapshot_begin(store, &s, &kit_err);
    (void) sym_snapshot_each(s, list, out, &kit_err);
    sym_snapshot_end(s);
    is_str(sym_cstr(out), want, what);
}


static void
test_kinds(void)
{
    sym_module_key_t a = kit_key("a"), by_id = kit_key("other");
    sym_store_t *w;

    kit_folder();
    w = kit_writer(64 * MIB);
    (void) put(w, "a", SYM_KIND_SOURCES, "sources of a");
    (void) put(w, "ab", SYM_KIND_SYMCACHE, "symcache of ab");
    (void) put(w, "a", SYM_KIND_SYMCACHE, "symcache of a");
    lists(w, "a:symcache a:sources ab:symcache ",
          "the kinds of an object lie together");
    has(w, "a", SYM_KIND_SYMCACHE, "symcache of a", "one kind");
    has(w, "a", SYM_KIND_SOURCES, "sources of a", "the other");
    has(w, "ab", SYM_KIND_SOURCES, "sources of a", "by the id alone");
    is_str(sym_cstr(bytes_of(w, &by_id, SYM_KIND_SOURCES)), "sources of a",
           "under any name");

    (void) put(w, "a", SYM_KIND_SOURCES, "newer sources");
    has(w, "a", SYM_KIND_SOURCES, "newer sources", "replaced");
    has(w, "a", SYM_KIND_SYMCACHE, "symcache of a", "... by its kind only");
    is_u64(kit_faults(w), 0, "verify agrees");

    is_status(sym_store_remove(w, &a, SYM_KIND_SOURCES, &kit_err), SYM_OK,
              &kit_err, "one kind is removed");
    lists(w, "a:symcache ab:symcache ", "... and no other");
    is_status(sym_store_remove(w, &a, SYM_KIND_SOURCES, &kit_err),
              SYM_NOT_FOUND, &kit_err, "... once");
    (void) put(w, "a", SYM_KIND_SOURCES, "sources of a");
    is_status(sym_store_remove(w, &a, SYM_KIND_ALL, &kit_err), SYM_OK, &kit_err,
              "all kinds are removed");
    lists(w, "ab:symcache ", "... of this object");

    (void) put(w, "ab", SYM_KIND_SOURCES, "sources of ab");
    is_status(sym_store_remove_id(w, SYM_STR(""), SYM_STR(ID), &kit_err),
              SYM_OK, &kit_err, "removed by the id alone");
    lists(w, "", "... all kinds");
    is_u64(kit_faults(w), 0, "nothing is left of it");

    ok(sym_ingest_begin(w, &a, SYM_KIND_ALL, &(sym_ingest_t *){ NULL },
                        &kit_err)
           == SYM_MALFORMED,
       "a record is of one kind");
    sym_store_close(w);
    kit_clean();
}


/* --- version 2: keys end with the id, and every record is a symcache --- */

/* Gives the records of a store, all of them symcaches, the keys and checksums of
 * version 2 (docs/formats/store.md, section 8). */
static void
make_version_2(uint64_t version)
{
    uint8_t number[12], value[4096];
    MDB_val k = { 7, (void *) (uintptr_t) "version" }, v = { 12, number };
    MDB_cursor *cursor = NULL;
    kit_lmdb_t l;
    MDB_dbi ids;
    unsigned n = 0;

    memcpy(number, &version, 8);
    sym_crc_put(number + 8, sym_crc("version", 7, &version, 8));
    ok(kit_lmdb_open(&l) && mdb_put(l.txn, l.meta, &k, &v, 0) == 0
           && mdb_dbi_open(l.txn, "ids", 0, &ids) == 0
           && mdb_drop(l.txn, ids, 0) == 0
           && mdb_cursor_open(l.txn, l.directory, &cursor) == 0,
       "an older store");

    while (mdb_cursor_get(cursor, &k, &v, MDB_NEXT) == 0) {
        MDB_val key = { k.mv_size - 2, value };
        char text[512];
        uint32_t crc;

        memcpy(text, k.mv_data, key.mv_size);
        key.mv_data = text;
        memcpy(value, v.mv_data, v.mv_size);
        v.mv_data = value;

        /* of the key, bytes 0-67, and all from 72 on */
        crc = (uint32_t) crc32(0, (const void *) text, (uInt) key.mv_size);
        crc = (uint32_t) crc32(crc, value, 68);
        crc = (uint32_t) crc32(crc, value + 72, (uInt) (v.mv_size - 72));
        memcpy(value + 68, &crc, 4);
        n += mdb_cursor_del(cursor, 0) == 0
             && mdb_put(l.txn, l.directory, &key, &v, 0) == 0;
    }

    mdb_cursor_close(cursor);
    ok(kit_lmdb_close(&l) && n == 3, "... of version %u", (unsigned) version);
}


static void
make_old(uint64_t version)
{
    sym_store_t *w;

    kit_folder();
    w = kit_writer(64 * MIB);
    (void) put(w, "a", SYM_KIND_SYMCACHE, "symcache of a");
    (void) put(w, "b", SYM_KIND_SYMCACHE, "symcache of b");
    (void) put(w, "c", SYM_KIND_SYMCACHE, "symcache of c");
    sym_store_close(w);
    make_version_2(version);
}


static void
test_upgrade(void)
{
    sym_store_stat_t stat;
    sym_store_t *r, *w;
    sym_error_t err = { 0 };
    uint64_t live;

    make_old(2);
    r = kit_reader();
    ok(r != NULL, "a reader opens it");
    has(r, "a", SYM_KIND_SYMCACHE, "symcache of a", "and finds a symcache");
    has(r, "a", SYM_KIND_SOURCES, "", "other kinds are not there");
    lists(r, "a:symcache b:symcache c:symcache ", "it lists them");
    (void) sym_store_stat(r, &stat, &err);
    is_u64(stat.ready, 3, "and counts them");
    live = stat.live_bytes;

    w = kit_writer(0);
    ok(w != NULL && sym_store_converted(w) == 3, "a writer converts it");
    has(r, "a", SYM_KIND_SYMCACHE, "symcache of a", "the same reader goes on");
    (void) put(w, "b", SYM_KIND_SOURCES, "sources of b");
    has(r, "b", SYM_KIND_SOURCES, "sources of b", "and sees other kinds");
    has(r, "other", SYM_KIND_SYMCACHE, "symcache of a", "by an id alone, too");
    (void) sym_store_remove(
        w, &(sym_module_key_t){ SYM_STR(""), SYM_STR("b"), SYM_STR(ID), { 0 } },
        SYM_KIND_SOURCES, &err);
    is_u64(kit_faults(w), 0, "verify agrees");
    (void) sym_store_stat(w, &stat, &err);
    is_u64(stat.live_bytes, live, "it takes what it took");
    sym_store_close(r);
    sym_store_close(w);

    w = kit_writer(0);
    is_u64(sym_store_converted(w), 0, "the next writer has nothing to do");
    lists(w, "a:symcache b:symcache c:symcache ", "all are there");
    sym_store_close(w);
    kit_clean();
}


/* What a writer that was killed over it left: some records are converted. */
static void
test_half(void)
{
    uint8_t value[4096];
    MDB_val k = { 0, NULL }, v;
    char key[64] = "\0b\0" ID;
    size_t len = 3 + strlen(ID);
    sym_store_t *r, *w;
    uint32_t crc;
    kit_lmdb_t l;

    make_old(2);
    (void) kit_lmdb_open(&l);
    k = (MDB_val){ len, key };
    ok(mdb_get(l.txn, l.directory, &k, &v) == 0, "a record");
    memcpy(value, v.mv_data, v.mv_size);
    (void) mdb_del(l.txn, l.directory, &k, NULL);
    key[len + 1] = SYM_KIND_SYMCACHE;
    k.mv_size += 2;
    crc = (uint32_t) crc32(0, (const void *) key, (uInt) k.mv_size);
    crc = (uint32_t) crc32(crc, value, 68);
    crc = (uint32_t) crc32(crc, value + 72, (uInt) (v.mv_size - 72));
    memcpy(value + 68, &crc, 4);
    v.mv_data = value;
    ok(mdb_put(l.txn, l.directory, &k, &v, 0) == 0, "is converted");
    (void) kit_lmdb_close(&l);

    r = kit_reader();
    has(r, "a", SYM_KIND_SYMCACHE, "symcache of a", "a reader finds one");
    has(r, "b", SYM_KIND_SYMCACHE, "symcache of b", "and the other");
    sym_store_close(r);

    w = kit_writer(0);
    is_u64(sym_store_converted(w), 2, "the next writer goes on");
    lists(w, "a:symcache b:symcache c:symcache ", "all are there");
    is_u64(kit_faults(w), 0, "verify agrees");
    sym_store_close(w);
    kit_clean();
}


/* Damage is dropped on the way, as a repair would. */
static void
test_damaged(void)
{
    char key[64] = "\0b\0" ID;
    kit_lmdb_t l;
    sym_store_t *w;

    make_old(2);
    ok(kit_lmdb_open(&l)
           && kit_lmdb_flip(l.txn, l.directory,
                            (MDB_val){ 3 + strlen(ID), key }, 41, 1)
           && kit_lmdb_close(&l),
       "a damaged record");
    w = kit_writer(0);
    lists(w, "a:symcache c:symcache ", "goes");
    is_u64(kit_faults(w), 0, "with its extents");
    sym_store_close(w);
    kit_clean();
}


static void
test_version_1(void)
{
    sym_store_t *r, *w;

    make_old(1);
    r = kit_reader();
    ok(r == NULL && kit_err.status == SYM_VERSION, "no reader opens version 1");
    w = kit_writer(0);
    lists(w, "a:symcache b:symcache c:symcache ", "what was loaded stays");
    is_u64(sym_store_unowned(w), 0, "nothing was fetched");
    is_u64(kit_faults(w), 0, "verify agrees");
    sym_store_close(w);
    kit_clean();
}


int
main(void)
{
    test_kinds();
    test_upgrade();
    test_half();
    test_damaged();
    test_version_1();
    return done_testing();
}
