/*
 * Modules of debug files are found by an id alone: the debug id, or the code id
 * as a client sends it.  The index keeps step with the directory, an entry that
 * leads nowhere is no answer, and a store that has no index gets one.
 */
#include "store_kit.h"

#define DEBUG_ID "F3C1BCC02798E36F53058404B2831D9E0"
#define CODE_ID "c0bcc3f19827fe653058404b2831d9e6a1b2c3d4"
#define CODE_ID_READ "C0BCC3F19827FE653058404B2831D9E6A1B2C3D4"

#define PORTABLE "1D6929B4468B4DB893899A12BD257E1B"

typedef struct {
    const char *name, *id, *code_id;
    sym_module_state_t state;
    uint8_t quality;
    bool is_native;
} module_t;

static const module_t native = { "cdef.debug",     DEBUG_ID,          CODE_ID,
                                 SYM_MODULE_READY, SYM_QUALITY_LINES, true };


static sym_module_key_t
key_of(const char *name, const char *id)
{
    return (sym_module_key_t){ .scope = SYM_STR(""),
                               .name = sym_cstr(name),
                               .id = sym_cstr(id) };
}


static sym_status_t
put(sym_store_t *store, const module_t *m)
{
    sym_module_record_t record = { .state = m->state,
                                   .kind_version = SYM_SYMCACHE_VERSION,
                                   .quality = m->quality,
                                   .source = SYM_STR("test"),
                                   .is_native = m->is_native,
                                   .code_id = sym_cstr(m->code_id) };
    sym_module_key_t key = key_of(m->name, m->id);
    sym_ingest_t *ingest;

    kit_err = (sym_error_t){ 0 };
    if (sym_ingest_begin(store, &key, SYM_KIND_SYMCACHE, &ingest, &kit_err)
        != SYM_OK)
    {
        return kit_err.status;
    }

    (void) sym_ingest_extent(ingest, 0, (const uint8_t *) "bytes", 5, &kit_err);
    return sym_ingest_commit(ingest, &record, &kit_err);
}


/* Name of what answers to (name, id), in a place of its own; "": nothing. */
static const char *
answers(sym_store_t *store, const char *name, const char *id)
{
    static char out[256];
    sym_module_key_t key = key_of(name, id), found;
    sym_module_record_t record;
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };

    out[0] = '\0';
    if (sym_snapshot_begin(store, &snapshot, &err) != SYM_OK) {
        return "no snapshot";
    }

    if (sym_snapshot_find_read(snapshot, &key, SYM_KIND_SYMCACHE, &found,
                               &record, &err)
        == SYM_OK)
    {
        (void) snprintf(out, sizeof(out), "%.*s %s", (int) found.name.len,
                        found.name.data, sym_module_state_name(record.state));
    }
    sym_snapshot_end(snapshot);
    return out;
}


static void
says(sym_store_t *store, const char *name, const char *id, const char *want,
     const char *what)
{
    is_str(sym_cstr(answers(store, name, id)), want, what);
}


/* By the code id that an API gave beside the debug id. */
static void
says_by_code_id(sym_store_t *store, const char *code_id, bool is_found,
                const char *what)
{
    sym_module_key_t key =
                         key_of("libc.so.6", "00000000000000000000000000000000"
                                             "1"),
                     found;
    sym_module_record_t record;
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };

    key.code_id = sym_cstr(code_id);
    (void) sym_snapshot_begin(store, &snapshot, &err);
    ok((sym_snapshot_find_any(snapshot, &key, SYM_KIND_SYMCACHE, &found,
                              &record, &err)
        == SYM_OK)
           == is_found,
       "%s", what);
    sym_snapshot_end(snapshot);
}


/* Ids are whole: none is known by what it begins with, however long it is. */
static void
test_code_ids(void)
{
    static const char longest[] =
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    char other[sizeof(longest)];
    sym_store_t *w;

    kit_folder();
    w = kit_writer(0);
    (void) put(w, &(module_t){ "long.debug", DEBUG_ID, longest,
                               SYM_MODULE_READY, SYM_QUALITY_LINES, true });
    (void) put(w, &(module_t){ "short.debug",
                               "AAAAAAAABBBBCCCCDDDDEEEEEEEEEEEE0", "deadbeef",
                               SYM_MODULE_READY, SYM_QUALITY_LINES, true });

    says_by_code_id(w, longest, true, "a code id of 64 bytes");
    says_by_code_id(w, "deadbeef", true, "one of 4");
    says_by_code_id(w, "DEADBEEF", true, "in another spelling");
    says_by_code_id(w, "deadbee", false, "not what it begins with");
    says_by_code_id(w, "deadbeef00", false, "nor with more behind");
    memcpy(other, longest, sizeof(other));
    other[127] = '0';
    says_by_code_id(w, other, false, "the last digit counts");
    says_by_code_id(w, DEBUG_ID, false, "a debug id is no code id");
    says_by_code_id(w, "", false, "none");
    is_u64(kit_faults(w), 0, "verify agrees");
    sym_store_close(w);
    kit_clean();
}


/* Name of what a key has by its ids; "": nothing. */
static void
asks(sym_store_t *store, const char *name, const char *id, const char *code_id,
     const char *want, const char *what)
{
    sym_module_key_t key = key_of(name, id), found;
    sym_module_record_t record = { 0 };
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };
    bool is_found;

    key.code_id = sym_cstr(code_id);
    (void) sym_snapshot_begin(store, &snapshot, &err);
    is_found = sym_snapshot_find_any(snapshot, &key, SYM_KIND_SYMCACHE, &found,
                                     &record, &err)
               == SYM_OK;
    is_str(is_found ? found.name : SYM_STR(""), want, what);
    sym_snapshot_end(snapshot);
}


/* A debug id and a code id may have the same digits: a question says which it
 * means, and no id is known by how it reads. */
static void
test_same_digits(void)
{
    static const char longer[] = CODE_ID "0011", other[] = CODE_ID "2233";
    static const char age[] = "F3C1BCC02798E36F53058404B2831D9E1";
    sym_module_key_t key = key_of("absent", CODE_ID_READ);
    sym_module_record_t record = { .state = SYM_MODULE_ABSENT,
                                   .source = SYM_STR("test"),
                                   .code_id = sym_cstr(longer) };
    sym_ingest_t *ingest;
    sym_store_t *w;

    kit_folder();
    w = kit_writer(0);
    (void) put(w, &native);
    asks(w, "x", CODE_ID_READ, "", "", "a debug id is not a code id's digits");
    asks(w, "x", CODE_ID_READ, CODE_ID, "cdef.debug", "a code id is");

    /* 17 bytes, which read as a debug id with an age */
    (void) put(w, &(module_t){ "short.debug", DEBUG_ID,
                               "f3c1bcc02798e36f53058404b2831d9e01",
                               SYM_MODULE_READY, SYM_QUALITY_LINES, true });
    asks(w, "x", age, "", "", "nor less its zeros");
    (void) put(w, &(module_t){ "age.debug", age, "", SYM_MODULE_READY,
                               SYM_QUALITY_PUBLICS, true });
    asks(w, "x", age, "", "age.debug", "the module with that debug id");

    (void) put(w, &(module_t){ "z", CODE_ID_READ, "", SYM_MODULE_READY,
                               SYM_QUALITY_INLINES, true });
    asks(w, "x", CODE_ID_READ, "", "z", "the one with that debug id");
    asks(w, "x", CODE_ID_READ, CODE_ID, "cdef.debug",
         "the one with that code id, first");

    asks(w, "z", CODE_ID_READ, longer, "", "a longer code id: neither");
    (void) put(w, &(module_t){ "long.debug", DEBUG_ID, longer, SYM_MODULE_READY,
                               SYM_QUALITY_LINES, true });
    asks(w, "x", CODE_ID_READ, longer, "long.debug", "... but its own");
    asks(w, "x", CODE_ID_READ, other, "", "and not for its first 40 digits");

    ok(sym_ingest_begin(w, &key, SYM_KIND_SYMCACHE, &ingest, &kit_err) == SYM_OK
           && sym_ingest_commit(ingest, &record, &kit_err) == SYM_OK,
       "a code id that is not to be had");
    sym_store_close(w);
    w = kit_writer(0);
    (void) sym_store_remove(w,
                            &(sym_module_key_t){ .scope = SYM_STR(""),
                                                 .name = SYM_STR("long.debug"),
                                                 .id = SYM_STR(DEBUG_ID) },
                            SYM_KIND_SYMCACHE, &kit_err);
    asks(w, "absent", CODE_ID_READ, longer, "absent", "... counts for it");
    asks(w, "absent", CODE_ID_READ, other, "", "... and not for another");
    is_u64(kit_faults(w), 0, "verify agrees");
    sym_store_close(w);
    kit_clean();
}


static void
test_finding(void)
{
    sym_store_t *w;

    kit_folder();
    w = kit_writer(0);
    ok(put(w, &native) == SYM_OK, "a debug file's module");
    says(w, "cdef.debug", DEBUG_ID, "cdef.debug ready", "by name and id");
    says(w, "libc.so.6", DEBUG_ID, "cdef.debug ready", "by debug id alone");
    says(w, "libc.so.6", CODE_ID_READ, "cdef.debug ready", "by code id");
    says(w, "", CODE_ID_READ, "cdef.debug ready", "without any name");
    says(w, "libc.so.6", "F3C1BCC02798E36F53058404B2831D9E1", "",
         "another age is another module");
    says(w, "libc.so.6", "F3C1BCC02798E36F53058404B2831D9E", "",
         "what an id begins with is none");

    (void) put(w, &(module_t){ "xul.so", "AAAAAAAABBBBCCCCDDDDEEEEEEEEEEEE0",
                               CODE_ID, SYM_MODULE_READY, SYM_QUALITY_INLINES,
                               false });
    says(w, "libxul.so", "AAAAAAAABBBBCCCCDDDDEEEEEEEEEEEE0", "",
         "a .sym file's module needs its name");

    (void) put(w, &(module_t){ "libc.so.6", DEBUG_ID, "", SYM_MODULE_ABSENT, 0,
                               false });
    says(w, "libc.so.6", DEBUG_ID, "cdef.debug ready",
         "what is known not to be had hides nothing");
    is_u64(kit_faults(w), 0, "verify agrees");

    (void) put(w, &(module_t){ "better", DEBUG_ID, CODE_ID, SYM_MODULE_READY,
                               SYM_QUALITY_INLINES, true });
    (void) put(w, &(module_t){ "worse", DEBUG_ID, CODE_ID, SYM_MODULE_READY,
                               SYM_QUALITY_PUBLICS, true });
    says(w, "libc.so.6", DEBUG_ID, "better ready", "of several the best");

    /* its debug id is the other's code id, as it reads */
    (void) put(w, &(module_t){ "z", CODE_ID_READ, "", SYM_MODULE_READY,
                               SYM_QUALITY_PUBLICS, true });
    says(w, "libc.so.6", CODE_ID_READ, "z ready",
         "a debug id goes before what reads like one");
    is_u64(kit_faults(w), 0, "verify agrees");
    sym_store_close(w);
    kit_clean();
}


static void
test_going(void)
{
    sym_module_key_t key = key_of("cdef.debug", DEBUG_ID);
    sym_error_t err = { 0 };
    module_t changed = native;
    uint64_t evicted;
    sym_store_t *w;

    kit_folder();
    w = kit_writer(0);
    (void) put(w, &native);
    ok(sym_store_remove(w, &key, SYM_KIND_SYMCACHE, &err) == SYM_OK, "removed");
    says(w, "libc.so.6", DEBUG_ID, "", "... and not found by its id");
    is_u64(kit_faults(w), 0, "... nothing is left of it");

    (void) put(w, &native);
    changed.code_id = "ffffffffffffffffffffffffffffffffffffffff";
    (void) put(w, &changed);
    says(w, "libc.so.6", CODE_ID_READ, "", "replaced: the old code id is gone");
    says(w, "libc.so.6", "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
         "cdef.debug ready", "... the new one is there");

    changed.is_native = false;
    (void) put(w, &changed);
    says(w, "libc.so.6", DEBUG_ID, "", "replaced by a .sym file's");
    is_u64(kit_faults(w), 0, "... nothing is left of it");

    (void) put(w, &native);
    ok(sym_store_evict(w, 0, &evicted, &err) == SYM_OK && evicted == 1,
       "evicted");
    says(w, "libc.so.6", DEBUG_ID, "", "... and not found by its id");
    is_u64(kit_faults(w), 0, "... nothing is left of it");
    sym_store_close(w);
    kit_clean();
}


static void
test_removing_by_id(void)
{
    const sym_module_key_t key = key_of("", CODE_ID_READ);
    sym_error_t err = { 0 };
    sym_store_t *w;

    kit_folder();
    w = kit_writer(0);
    (void) put(w, &native);
    (void) put(w, &(module_t){ "libc.so.6", CODE_ID_READ, "", SYM_MODULE_ABSENT,
                               0, false });
    (void) put(w, &(module_t){ "libc.so.6", DEBUG_ID, "", SYM_MODULE_ABSENT, 0,
                               false });

    ok(sym_store_remove_ids(w, &key, &err) == SYM_OK, "all of a code id");
    says(w, "cdef.debug", DEBUG_ID, "", "... the module is gone");
    says(w, "libc.so.6", CODE_ID_READ, "", "... and that it is absent");
    says(w, "libc.so.6", DEBUG_ID, "libc.so.6 absent",
         "... what is known of another id stays");
    ok(sym_store_remove_ids(w, &key, &err) == SYM_NOT_FOUND,
       "a second time: nothing");
    is_u64(kit_faults(w), 0, "verify agrees");
    sym_store_close(w);
    kit_clean();
}


static sym_status_t
remove_ids(sym_store_t *store, const char *id, const char *code_id)
{
    sym_module_key_t key = key_of("", id);
    sym_error_t err = { 0 };

    key.code_id = sym_cstr(code_id);
    return sym_store_remove_ids(store, &key, &err);
}


/* What shares the first 40 digits, or has them for a debug id, is left alone. */
static void
test_removing_whole_ids(void)
{
    static const char one[] = CODE_ID "001122334455667788990011";
    static const char other[] = CODE_ID "001122334455667788990022";
    sym_store_t *w;

    kit_folder();
    w = kit_writer(0);
    (void) put(w, &(module_t){ "one.debug", "A" PORTABLE, one, SYM_MODULE_READY,
                               SYM_QUALITY_LINES, true });
    (void) put(w, &(module_t){ "other.debug", "B" PORTABLE, other,
                               SYM_MODULE_READY, SYM_QUALITY_LINES, true });
    (void) put(w, &(module_t){ "z", CODE_ID_READ, "", SYM_MODULE_READY,
                               SYM_QUALITY_LINES, true });
    (void) put(w, &native);
    (void) put(w, &(module_t){ "x", CODE_ID_READ, other, SYM_MODULE_ABSENT, 0,
                               false });

    ok(remove_ids(w, CODE_ID_READ, one) == SYM_OK, "a long code id, cut");
    asks(w, "y", "", one, "", "... its module is gone");
    ok(remove_ids(w, "", one) == SYM_NOT_FOUND, "... with nothing besides");
    asks(w, "x", CODE_ID_READ, other, "other.debug", "... not a longer one");
    asks(w, "y", CODE_ID_READ, "", "z", "... nor a debug id");
    asks(w, "y", "", CODE_ID, "cdef.debug", "... nor a shorter one");

    ok(remove_ids(w, "", CODE_ID) == SYM_OK, "a code id of 40 digits");
    asks(w, "y", "", CODE_ID, "", "... its module is gone");
    asks(w, "y", CODE_ID_READ, "", "z", "... not that debug id");
    asks(w, "y", "", other, "other.debug", "... nor a longer one");

    ok(remove_ids(w, CODE_ID_READ, CODE_ID) == SYM_OK, "either id");
    asks(w, "y", CODE_ID_READ, "", "", "... that debug id");
    ok(remove_ids(w, "", other) == SYM_OK, "the other long one");
    asks(w, "x", CODE_ID_READ, other, "", "... and that it was absent");
    is_u64(kit_faults(w), 0, "verify agrees");
    sym_store_close(w);
    kit_clean();
}


/* Symbol servers write an age of their own of portable PDBs. */
static void
test_removing_any_age(void)
{
    sym_module_key_t key = key_of("", PORTABLE "FFFFFFFF");
    sym_error_t err = { 0 };
    sym_store_t *w;

    kit_folder();
    w = kit_writer(0);
    (void) put(w, &(module_t){ "a.pdb", PORTABLE "AB8CF31E", "",
                               SYM_MODULE_READY, SYM_QUALITY_LINES, true });
    (void) put(w, &(module_t){ "b.pdb", PORTABLE "1", "", SYM_MODULE_READY,
                               SYM_QUALITY_LINES, true });
    (void) put(w, &(module_t){ "c.pdb", PORTABLE "FFFFFFFF", "",
                               SYM_MODULE_ABSENT, 0, false });
    /* its code id reads like another age of the same GUID: two entries */
    (void) put(w, &(module_t){ "d.zip", PORTABLE "1", PORTABLE,
                               SYM_MODULE_READY, SYM_QUALITY_LINES, true });
    (void) put(w, &native);

    ok(remove_ids(w, PORTABLE "FFFFFFFE", "") == SYM_NOT_FOUND, "another age");
    says(w, "a.pdb", PORTABLE "AB8CF31E", "a.pdb ready", "... counts");
    key.scope = SYM_STR("s");
    ok(sym_store_remove_ids(w, &key, &err) == SYM_NOT_FOUND,
       "the age of all, in another scope");
    ok(remove_ids(w, PORTABLE "FFFFFFFF", "") == SYM_OK, "the age of all");
    says(w, "a.pdb", PORTABLE "AB8CF31E", "", "... removes every age");
    says(w, "b.pdb", PORTABLE "1", "", "... and every module");
    says(w, "c.pdb", PORTABLE "FFFFFFFF", "", "... and what was absent");
    says(w, "d.zip", PORTABLE "1", "", "... and what two entries lead to");
    says(w, "cdef.debug", DEBUG_ID, "cdef.debug ready", "... of this GUID");
    is_u64(kit_faults(w), 0, "verify agrees");
    sym_store_close(w);
    kit_clean();
}


/* Opens the index behind the store's back; gives its number of entries. */
static uint64_t
change_index(int (*change)(MDB_txn *txn, MDB_dbi ids))
{
    uint64_t entries = UINT64_MAX;
    kit_lmdb_t l;
    MDB_dbi ids;

    if (kit_lmdb_open(&l) && mdb_dbi_open(l.txn, "ids", 0, &ids) == 0
        && change(l.txn, ids) == 0)
    {
        entries = kit_lmdb_entries(&l, ids);
    }

    ok(kit_lmdb_close(&l), "the index is changed");
    return entries;
}


static int
empty(MDB_txn *txn, MDB_dbi ids)
{
    return mdb_drop(txn, ids, 0);
}

static int
add_dangling(MDB_txn *txn, MDB_dbi ids)
{
    MDB_val key = { 0, NULL }, val = { 0, (void *) (uintptr_t) "" };
    char text[256];

    (void) snprintf(text, sizeof(text), "_%s_gone_%s", DEBUG_ID, DEBUG_ID);
    key = (MDB_val){ strlen(text), text };
    for (size_t i = 0; i < key.mv_size; i++) {
        text[i] = (char) (text[i] == '_' ? '\0' : text[i]);
    }

    return mdb_put(txn, ids, &key, &val, 0);
}


static int
count(MDB_txn *txn, MDB_dbi ids)
{
    (void) txn;
    (void) ids;
    return 0;
}


static void
make_store(void)
{
    sym_store_t *w;

    kit_folder();
    w = kit_writer(0);
    (void) put(w, &native);
    (void) put(
        w, &(module_t){ "absent", DEBUG_ID, "", SYM_MODULE_ABSENT, 0, false });
    sym_store_close(w);
}


static void
test_repair(void)
{
    sym_store_t *s;

    make_store();
    is_u64(change_index(empty), 0, "without its entries");
    s = kit_reader();
    is_u64(kit_faults(s), 2, "verify misses a module's, and a negative's");
    is_str(sym_cstr(kit_fault), "module is not found by its ids", "... so");
    sym_store_close(s);
    s = kit_writer(0);
    says(s, "libc.so.6", CODE_ID_READ, "cdef.debug ready",
         "the next writer makes them anew");
    is_u64(kit_faults(s), 0, "... all of them");
    sym_store_close(s);

    is_u64(change_index(add_dangling), 5, "with one that leads nowhere");
    s = kit_reader();
    says(s, "libc.so.6", DEBUG_ID, "cdef.debug ready", "... it is passed over");
    is_u64(kit_faults(s), 1, "verify finds it");
    is_str(sym_cstr(kit_fault), "ids belong to no module", "... so");
    sym_store_close(s);
    sym_store_close(kit_writer(0));
    is_u64(change_index(count), 4, "... and the next writer drops it");
    kit_clean();
}


int
main(void)
{
    test_finding();
    test_code_ids();
    test_same_digits();
    test_going();
    test_removing_by_id();
    test_removing_whole_ids();
    test_removing_any_age();
    test_repair();
    return done_testing();
}
