/*
 * Damaged tables of objects and paths: verify names the damage, the next writer
 * repairs it, and sound records are kept.
 */
#include "store/write/tables.h"
#include "tables_kit.h"

static sym_object_ref_t a, b;

static const artifact_t of_a = { .scope = "one",
                                 .path = "path/a",
                                 .kind = SYM_KIND_SYMCACHE,
                                 .quality = 4,
                                 .source_bytes = 1 };
static const artifact_t of_b = { .scope = "one",
                                 .path = "path/b",
                                 .kind = SYM_KIND_SYMCACHE,
                                 .quality = 4,
                                 .source_bytes = 2,
                                 .is_named = true };

typedef struct {
    kit_lmdb_t l;
    MDB_dbi objects, names, paths;
} tables_t;

/* Keys of everything that belongs to the first artifact. */
static char key_text[OBJECT_KEY_MAX], path_text[PATH_KEY_MAX];

static MDB_val
object_key(unsigned n)
{
    sym_object_key_t o = object_of(&a, true);

    return (MDB_val){ sym_object_key_write(SYM_STR("one"), &o,
                                           SYM_KIND_SYMCACHE, n, key_text),
                      key_text };
}


static MDB_val
name_key(void)
{
    static char text[NAME_KEY_MAX];
    sym_object_key_t o = object_of(&a, true);

    return (MDB_val){
        sym_name_key_write(SYM_STR("one"), &o, SYM_KIND_SYMCACHE, text), text
    };
}


static MDB_val
path_key(void)
{
    sym_path_key_t key = { SYM_STR("one"), SYM_STR("path/a"), SYM_STR("") };

    return (MDB_val){ sym_path_record_key(&key, path_text), path_text };
}


static bool
flip_object(tables_t *t)
{
    return kit_lmdb_flip(t->l.txn, t->objects, object_key(0), 2, 4);
}


static bool
flip_path(tables_t *t)
{
    return kit_lmdb_flip(t->l.txn, t->paths, path_key(), 30, 1);
}


static bool
cut_object(tables_t *t)
{
    MDB_val k = object_key(0), v = { 20, path_text };

    return mdb_put(t->l.txn, t->objects, &k, &v, 0) == 0;
}


static bool
drop_entry(tables_t *t)
{
    MDB_val k = object_key(1);

    return k.mv_size != 0 && mdb_del(t->l.txn, t->objects, &k, NULL) == 0;
}


static bool
drop_name(tables_t *t)
{
    MDB_val k = name_key();

    return mdb_del(t->l.txn, t->names, &k, NULL) == 0;
}


static bool
drop_path(tables_t *t)
{
    MDB_val k = path_key();

    return mdb_del(t->l.txn, t->paths, &k, NULL) == 0;
}


static bool
drop_object(tables_t *t)
{
    MDB_val k = object_key(0);

    return mdb_del(t->l.txn, t->objects, &k, NULL) == 0;
}


static bool
add_entry(tables_t *t)
{
    static char wild[] = "one\0x\1\2\3";
    MDB_val k = { sizeof(wild), wild }, v = { 0, wild };

    return mdb_put(t->l.txn, t->objects, &k, &v, 0) == 0;
}


static bool
drop_extent(tables_t *t)
{
    MDB_cursor *cursor;
    MDB_val k, v;
    bool is_done;

    if (mdb_cursor_open(t->l.txn, t->l.extents, &cursor) != 0) {
        return false;
    }
    is_done = mdb_cursor_get(cursor, &k, &v, MDB_FIRST) == 0
              && mdb_cursor_del(cursor, 0) == 0;
    mdb_cursor_close(cursor);
    return is_done;
}


static bool
spoil(bool (*how)(tables_t *t))
{
    tables_t t;
    bool is_done = kit_lmdb_open(&t.l)
                   && mdb_dbi_open(t.l.txn, "objects", 0, &t.objects) == 0
                   && mdb_dbi_open(t.l.txn, "names", 0, &t.names) == 0
                   && mdb_dbi_open(t.l.txn, "paths", 0, &t.paths) == 0
                   && how(&t);

    return kit_lmdb_close(&t.l) && is_done;
}


static void
test(bool (*how)(tables_t *t), const char *what, uint64_t left)
{
    sym_path_record_t absent = path_of(SYM_PATH_ABSENT, 0);
    sym_object_ref_t code = { .code_id = a.code_id };
    uint64_t live, negatives, faults;
    sym_store_t *w;

    kit_folder();
    w = kit_writer((uint64_t) 16 << 20);
    (void) put_artifact(w, &a, &of_a, NULL, NULL);
    (void) put_artifact(w, &b, &of_b, NULL, NULL);
    (void) put_path(w, "one", "absent", "", &absent);
    sym_store_close(w);
    ok(spoil(how), "%s", what);

    w = kit_reader();
    faults = kit_faults(w);
    ok(faults != 0, "verify: %s", kit_fault);
    is_u64(answer(w, "one", &b, SYM_KIND_SYMCACHE), 2, "the other is there");
    sym_store_close(w);

    w = kit_writer(0);
    ok(w != NULL && kit_faults(w) == 0, "repaired");
    is_u64(answer(w, "one", &a, SYM_KIND_SYMCACHE), left,
           left != 0 ? "nothing is lost" : "the artifact is gone");
    is_u64(answer(w, "one", &code, SYM_KIND_SYMCACHE), left, "by each id");
    is_u64(answer(w, "one", &b, SYM_KIND_SYMCACHE), 2,
           "and the other is there");
    ok(path_in(w, "one", "absent", "").outcome == SYM_PATH_ABSENT,
       "and the absent path");
    live = w->live_pages;
    negatives = w->negatives;
    sym_store_close(w);

    w = kit_writer(0);
    ok(w->live_pages == live && w->negatives == negatives, "counted correctly");
    sym_store_close(w);
    kit_clean();
}


int
main(void)
{
    a = ref_of("a.so", ID_A, BUILD_A);
    b = ref_of("b.so", ID_B, NULL);
    test(flip_object, "a byte of an object", 0);
    test(cut_object, "a short record", 0);
    test(drop_object, "a record is missing", 0);
    test(drop_extent, "an extent is missing", 0);
    test(flip_path, "a byte of a path's record", 0);
    test(drop_path, "no record of a file", 0);
    test(drop_entry, "no entry for another id", 1);
    test(drop_name, "no entry for a name", 1);
    test(add_entry, "an invalid entry", 1);
    return done_testing();
}
