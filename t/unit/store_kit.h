/*
 * store_kit.h - shared by the tests of the store: a temporary folder, modules
 * whose bytes follow from their name, and checks of LMDB's data through LMDB
 * itself.
 */
#ifndef SYM_UNIT_STORE_KIT_H
#define SYM_UNIT_STORE_KIT_H

#include <dirent.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "object/ref_key.h"
#include "store/write_object.h"
#include "artifacts/symcache/format.h"
#include "tap.h"

static char kit_path[64];
static sym_error_t kit_err;

__attribute__((unused)) static void
kit_folder(void)
{
    (void) snprintf(kit_path, sizeof(kit_path), "/tmp/symstore.XXXXXX");
    if (mkdtemp(kit_path) == NULL) {
        perror("mkdtemp");
        exit(1);
    }
}


__attribute__((unused)) static void
kit_file(char out[128], const char *file)
{
    (void) snprintf(out, 128, "%s/%s", kit_path, file);
}


__attribute__((unused)) static void
kit_clean(void)
{
    DIR *dir = opendir(kit_path);
    struct dirent *e;

    while (dir != NULL && (e = readdir(dir)) != NULL) {
        (void) unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir == NULL || closedir(dir) != 0 || rmdir(kit_path) != 0) {
        ok(false, "temporary folder removed");
    }
}


__attribute__((unused)) static sym_store_t *
kit_writer(uint64_t quota)
{
    sym_store_options_t options = { .quota = quota, .create = true };
    sym_store_t *store = NULL;

    kit_err = (sym_error_t){ 0 };
    (void) sym_store_open_write(kit_path, &options, &store, &kit_err);
    return store;
}


__attribute__((unused)) static sym_store_t *
kit_reader(void)
{
    sym_store_t *store = NULL;

    kit_err = (sym_error_t){ 0 };
    (void) sym_store_open_read(kit_path, &store, &kit_err);
    return store;
}


__attribute__((unused)) static sym_module_key_t
kit_key(const char *name)
{
    return (
        sym_module_key_t){ .scope = SYM_STR(""),
                           .name = sym_cstr(name),
                           .id = SYM_STR("0123456789ABCDEF0123456789ABCDEF1") };
}


/* The object of a key: its name is part of it. */
__attribute__((unused)) static sym_object_ref_t
kit_ref(const sym_module_key_t *key)
{
    sym_object_ref_t ref;

    sym_object_ref_of_key(key, &ref);
    return ref;
}


/* Puts an artifact of a key into the batch. */
__attribute__((unused)) static sym_status_t
kit_put_object(sym_ingest_t *ingest, const sym_module_key_t *key,
               const sym_object_record_t *record, sym_error_t *err)
{
    sym_object_ref_t ref = kit_ref(key);
    sym_object_record_t own = *record;
    const sym_object_put_t put = { .scope = key->scope, .record = &own };
    bool is_kept;

    own.object.name = key->name;
    own.object.debug_id = ref.debug_id;
    return sym_ingest_put_object(ingest, &put, &is_kept, err);
}


/* The same, and commits it. */
__attribute__((unused)) static sym_status_t
kit_commit(sym_ingest_t *ingest, const sym_module_key_t *key,
           const sym_object_record_t *record, sym_error_t *err)
{
    return kit_put_object(ingest, key, record, err) == SYM_OK
               ? sym_ingest_finish(ingest, err)
               : err->status;
}


/* The object of a key. */
__attribute__((unused)) static sym_status_t
kit_find(sym_snapshot_t *snapshot, const sym_module_key_t *key, sym_kind_t kind,
         sym_object_record_t *record, sym_error_t *err)
{
    const sym_object_ref_t ref = kit_ref(key);

    return sym_snapshot_object(snapshot, key->scope, &ref, kind, record, err);
}


__attribute__((unused)) static sym_status_t
kit_remove(sym_store_t *store, const sym_module_key_t *key, sym_kind_t kind,
           sym_error_t *err)
{
    const sym_object_ref_t ref = kit_ref(key);

    return sym_store_remove_objects(store, &key->scope, &ref, kind, err);
}


/* A byte of an extent, derived from its module, number and offset. */
__attribute__((unused)) static uint8_t
kit_byte(const char *name, uint32_t extent, size_t at)
{
    uint32_t h = 2166136261u;

    for (const char *p = name; *p != '\0'; p++) {
        h = (h ^ (uint8_t) *p) * 16777619u;
    }
    return (uint8_t) (h + extent * 131 + at / 251);
}


/* Stores a module: full extents, and a last one of `tail` bytes. */
__attribute__((unused)) static sym_status_t
kit_put(sym_store_t *store, const char *name, uint32_t extents, size_t tail)
{
    static uint8_t data[SYM_EXTENT_MAX];
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION,
                                   .quality = SYM_QUALITY_LINES,
                                   .path = SYM_STR("test") };
    sym_module_key_t k = kit_key(name);
    sym_ingest_t *ingest;

    kit_err = (sym_error_t){ 0 };
    if (sym_ingest_begin_object(store, SYM_KIND_SYMCACHE, &ingest, &kit_err)
        != SYM_OK)
    {
        return kit_err.status;
    }

    for (uint32_t i = extents; i-- > 0;) {
        size_t len = i + 1 == extents ? tail : sizeof(data);

        for (size_t at = 0; at < len; at++) {
            data[at] = kit_byte(name, i, at);
        }
        if (sym_ingest_extent(ingest, i, data, len, &kit_err) != SYM_OK) {
            sym_ingest_abort(ingest);
            return kit_err.status;
        }
    }

    return kit_commit(ingest, &k, &record, &kit_err);
}


/* Puts a record into the batch: there is no file at the path of this name. */
__attribute__((unused)) static bool
kit_put_absence(sym_store_t *store, const char *name, uint32_t expires_at,
                sym_path_ticket_t *ticket)
{
    const sym_path_record_t record = { .outcome = SYM_PATH_ABSENT,
                                       .status = 404,
                                       .reason = SYM_STR("no such file"),
                                       .expires_at = expires_at };
    const sym_path_key_t key = { .path = sym_cstr(name) };

    kit_err = (sym_error_t){ 0 };
    return sym_store_put_path(store, &key, &record, ticket, &kit_err) == SYM_OK;
}


/* The same, and commits it. */
__attribute__((unused)) static bool
kit_put_absent(sym_store_t *store, const char *name, uint32_t expires_at)
{
    sym_path_ticket_t ticket;

    return kit_put_absence(store, name, expires_at, &ticket)
           && sym_store_flush_path(store, &ticket, &kit_err) == SYM_OK;
}


__attribute__((unused)) static bool
kit_has_path(sym_store_t *store, const char *name)
{
    const sym_path_key_t key = { .path = sym_cstr(name) };
    sym_path_record_t record;
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };
    sym_status_t rc;

    if (sym_snapshot_begin(store, &snapshot, &err) != SYM_OK) {
        return false;
    }

    rc = sym_snapshot_path(snapshot, &key, &record, &err);
    sym_snapshot_end(snapshot);
    return rc == SYM_OK;
}


/* The length of all files of the store. */
__attribute__((unused)) static uint64_t
kit_disk_bytes(void)
{
    DIR *dir = opendir(kit_path);
    uint64_t bytes = 0;
    struct dirent *e;
    struct stat st;

    while (dir != NULL && (e = readdir(dir)) != NULL) {
        if (fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
        {
            bytes += (uint64_t) st.st_size;
        }
    }
    if (dir == NULL || closedir(dir) != 0 || bytes == 0) {
        return UINT64_MAX;
    }
    return bytes;
}


/* Every byte of the module is there, and as kit_put() wrote it. */
__attribute__((unused)) static bool
kit_is_whole(sym_snapshot_t *snapshot, const char *name, uint32_t extents,
             size_t tail)
{
    sym_module_key_t k = kit_key(name);
    sym_object_record_t record;
    sym_error_t err = { 0 };

    if (kit_find(snapshot, &k, SYM_KIND_SYMCACHE, &record, &err) != SYM_OK
        || record.extents != extents)
    {
        return false;
    }

    for (uint32_t i = 0; i < extents; i++) {
        const uint8_t *data;
        size_t len;

        if (sym_snapshot_extent(snapshot, record.module_id, i, &data, &len)
                != SYM_OK
            || len != (i + 1 == extents ? tail : SYM_EXTENT_MAX))
        {
            return false;
        }
        for (size_t at = 0; at < len; at++) {
            if (data[at] != kit_byte(name, i, at)) {
                return false;
            }
        }
    }

    return true;
}


__attribute__((unused)) static bool
kit_has(sym_store_t *store, const char *name, sym_object_record_t *record)
{
    sym_module_key_t k = kit_key(name);
    sym_object_record_t unused;
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };
    sym_status_t rc;

    if (sym_snapshot_begin(store, &snapshot, &err) != SYM_OK) {
        return false;
    }
    rc = kit_find(snapshot, &k, SYM_KIND_SYMCACHE,
                  record != NULL ? record : &unused, &err);
    sym_snapshot_end(snapshot);
    return rc == SYM_OK;
}


/* The last fault that verify reported. */
static const char *kit_fault;

__attribute__((unused)) static void
kit_note(void *ctx, const sym_module_key_t *k, sym_kind_t kind, uint32_t extent,
         const char *what)
{
    (void) ctx;
    (void) k;
    (void) kind;
    (void) extent;
    kit_fault = what;
}


/* Faults that verify finds; UINT64_MAX: it could not finish. */
__attribute__((unused)) static uint64_t
kit_faults(sym_store_t *store)
{
    uint64_t n = 0;
    sym_error_t err = { 0 };

    kit_fault = "";
    return sym_store_verify(store, kit_note, NULL, &n, &err) == SYM_OK
               ? n
               : UINT64_MAX;
}


/* Key of the symcache of kit_key() in the table of objects. */
__attribute__((unused)) static MDB_val
kit_object_key(char buf[128], const char *name)
{
    static const char id[] = "\0d\x01\x23\x45\x67\x89\xab\xcd\xef"
                             "\x01\x23\x45\x67\x89\xab\xcd\xef\0\0\0\x01";
    size_t len = sizeof(id) - 1;

    memcpy(buf, id, len);
    len += 1 + (size_t) snprintf(buf + len, 128 - len, "%s", name);
    buf[len++] = SYM_KIND_SYMCACHE;
    return (MDB_val){ len, buf };
}


/* --- the store seen through LMDB; no handle of ours may be open --- */

typedef struct {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi meta, objects, names, extents;
} kit_lmdb_t;

__attribute__((unused)) static bool
kit_lmdb_open(kit_lmdb_t *l)
{
    return mdb_env_create(&l->env) == 0 && mdb_env_set_maxdbs(l->env, 7) == 0
           && mdb_env_open(l->env, kit_path, 0, 0644) == 0
           && mdb_txn_begin(l->env, NULL, 0, &l->txn) == 0
           && mdb_dbi_open(l->txn, "meta", 0, &l->meta) == 0
           && mdb_dbi_open(l->txn, "objects", 0, &l->objects) == 0
           && mdb_dbi_open(l->txn, "names", 0, &l->names) == 0
           && mdb_dbi_open(l->txn, "extents", MDB_INTEGERKEY, &l->extents) == 0;
}


__attribute__((unused)) static bool
kit_lmdb_close(kit_lmdb_t *l)
{
    int rc = mdb_txn_commit(l->txn);

    mdb_env_close(l->env);
    return rc == 0;
}


/* Changes one byte of the value of a key. */
__attribute__((unused)) static bool
kit_lmdb_flip(MDB_txn *txn, MDB_dbi dbi, MDB_val key, size_t at, uint8_t bits)
{
    uint8_t copy[70000];
    MDB_val val;

    if (mdb_get(txn, dbi, &key, &val) != 0 || at >= val.mv_size
        || val.mv_size > sizeof(copy))
    {
        return false;
    }

    memcpy(copy, val.mv_data, val.mv_size);
    copy[at] ^= bits;
    val.mv_data = copy;
    return mdb_put(txn, dbi, &key, &val, 0) == 0;
}


__attribute__((unused)) static uint64_t
kit_lmdb_entries(kit_lmdb_t *l, MDB_dbi dbi)
{
    MDB_stat stat;

    return mdb_stat(l->txn, dbi, &stat) == 0 ? stat.ms_entries : UINT64_MAX;
}

#endif
