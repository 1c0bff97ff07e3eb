/*
 * One object has several artifacts.  Each is found, replaced and evicted by
 * itself; what is removed by its key goes with all of them.  A store of the
 * version that knew symcaches only is read as it is, and upgraded by a writer
 * under the eyes of its readers, who find symcaches where they were.
 */
#include "store_kit.h"

#include <zlib.h>

#include "store/env.h"

#define MIB ((uint64_t) 1 << 20)
#define ID "0123456789ABCDEF0123456789ABCDEF1"


static sym_status_t
put_at(sym_store_t *w, const sym_module_key_t *key, sym_kind_t kind,
       const char *bytes)
{
    sym_module_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = sym_kind_find(kind)->version,
                                   .quality = SYM_QUALITY_LINES,
                                   .source = SYM_STR("test"),
                                   .is_native = true,
                                   .code_id = SYM_STR("deadbeef") };
    sym_ingest_t *ingest;

    kit_err = (sym_error_t){ 0 };
    if (sym_ingest_begin(w, key, kind, &ingest, &kit_err) != SYM_OK) {
        return kit_err.status;
    }

    (void) sym_ingest_extent(ingest, 0, (const uint8_t *) bytes, strlen(bytes),
                             &kit_err);
    return sym_ingest_commit(ingest, &record, &kit_err);
}


static sym_status_t
put(sym_store_t *w, const char *name, sym_kind_t kind, const char *bytes)
{
    sym_module_key_t key = kit_key(name);

    return put_at(w, &key, kind, bytes);
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


/* An id that begins with another one is another object's. */
static void
test_longer_id(sym_store_t *w)
{
    sym_module_key_t a = kit_key("a"), longer = a;

    longer.id = SYM_STR(ID "2");
    (void) put(w, "a", SYM_KIND_SYMCACHE, "symcache of a");
    (void) put(w, "a", SYM_KIND_SOURCES, "sources of a");
    (void) put_at(w, &longer, SYM_KIND_SYMCACHE, "of another age");
    (void) put_at(w, &longer, SYM_KIND_SOURCES, "sources of another age");
    lists(w, "a:symcache a:sources a:symcache a:sources ab:symcache ",
          "kinds lie together where one id begins with another");
    (void) sym_store_remove(w, &a, SYM_KIND_ALL, &kit_err);
    lists(w, "a:symcache a:sources ab:symcache ", "one object's are removed");
    is_str(sym_cstr(bytes_of(w, &longer, SYM_KIND_SYMCACHE)), "of another age",
           "... and no other's");
    (void) sym_store_remove(w, &longer, SYM_KIND_ALL, &kit_err);
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
    test_longer_id(w);

    (void) put(w, "ab", SYM_KIND_SOURCES, "sources of ab");
    is_status(sym_store_remove_ids(w, &(sym_module_key_t){ .id = SYM_STR(ID) },
                                   &kit_err),
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


/* --- version 2: every record is a symcache, and no code id in the index --- */

static void
make_version(uint64_t version)
{
    uint8_t number[12];
    MDB_val k = { 7, (void *) (uintptr_t) "version" }, v = { 12, number };
    MDB_val writer = { 6, (void *) (uintptr_t) "writer" };
    kit_lmdb_t l;
    MDB_dbi ids;

    memcpy(number, &version, 8);
    sym_crc_put(number + 8, sym_crc("version", 7, &version, 8));
    ok(kit_lmdb_open(&l) && mdb_put(l.txn, l.meta, &k, &v, 0) == 0
           && mdb_dbi_open(l.txn, "ids", 0, &ids) == 0
           && mdb_drop(l.txn, ids, 0) == 0
           && mdb_del(l.txn, l.meta, &writer, NULL) == 0 && kit_lmdb_close(&l),
       "a store of version %u", (unsigned) version);
}


/* What version 2 says of a record and its first extent (docs/store.md of that
 * version): the key ends with the id, and the CRC-32 is of the key, bytes 0-67
 * and all from 72 on; byte 20 has the version of the symcache. */
static void
reads_as_version_2(const char *name)
{
    char key[64] = "";
    size_t len = (size_t) snprintf(key + 1, 60, "%s", name) + 2;
    MDB_val k = { len + strlen(ID), key }, v;
    const uint8_t *p;
    uint32_t crc, stored, format;
    bool is_there;
    kit_lmdb_t l;

    (void) snprintf(key + len, sizeof(key) - len, "%s", ID);
    is_there = kit_lmdb_open(&l) && mdb_get(l.txn, l.directory, &k, &v) == 0
               && v.mv_size >= 72;
    ok(is_there, "%s lies where version 2 has it", name);
    if (is_there) {
        p = v.mv_data;
        crc = (uint32_t) crc32(0, (const void *) key, (uInt) k.mv_size);
        crc = (uint32_t) crc32(crc, p, 68);
        crc = (uint32_t) crc32(crc, p + 72, (uInt) (v.mv_size - 72));
        memcpy(&stored, p + 68, 4);
        memcpy(&format, p + 20, 4);
        ok(p[0] == 1 && p[1] == 1 && format == 3 && crc == stored,
           "... and is a record of version 2");
    }
    (void) kit_lmdb_close(&l);
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
    make_version(version);
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
    ok(w != NULL && sym_store_is_upgraded(w), "a writer upgrades it");
    has(r, "a", SYM_KIND_SYMCACHE, "symcache of a", "the same reader goes on");
    (void) put(w, "b", SYM_KIND_SOURCES, "sources of b");
    has(r, "b", SYM_KIND_SOURCES, "sources of b", "and sees other kinds");
    has(r, "other", SYM_KIND_SYMCACHE, "symcache of a", "by an id alone, too");
    (void) sym_store_remove(
        w, &(sym_module_key_t){ .name = SYM_STR("b"), .id = SYM_STR(ID) },
        SYM_KIND_SOURCES, &err);
    is_u64(kit_faults(w), 0, "verify agrees");
    (void) sym_store_stat(w, &stat, &err);
    is_u64(stat.live_bytes, live, "it takes what it took");
    sym_store_close(r);
    sym_store_close(w);

    w = kit_writer(0);
    ok(!sym_store_is_upgraded(w), "the next writer has nothing to do");
    lists(w, "a:symcache b:symcache c:symcache ", "all are there");
    (void) put(w, "d", SYM_KIND_SOURCES, "sources of d");
    (void) put(w, "d", SYM_KIND_SYMCACHE, "symcache of d");
    sym_store_close(w);
    reads_as_version_2("a");
    reads_as_version_2("d");
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
    test_damaged();
    test_version_1();
    return done_testing();
}
