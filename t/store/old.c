/*
 * old - gives a store the form of version 2, for tests of upgrades.
 *
 *     build/t/store_old STORE
 *
 * Version 2 (docs/formats/store.md, section 8): keys of the directory end with
 * the id, what is no symcache is not there, and no code id stands in the index.
 * Nobody may be writing to the store.
 */
#include <stdio.h>
#include <string.h>

#include <lmdb.h>
#include <zlib.h>

#define KIND_BYTES 2
#define SYMCACHE 1

typedef struct {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi meta, directory, ids;
} old_t;


static int
change_version(old_t *o)
{
    static char name[] = "version";
    unsigned char value[12] = { 2 };
    MDB_val k = { 7, name }, v = { sizeof(value), value };
    unsigned crc = (unsigned) crc32(0, (const void *) name, 7);

    crc = (unsigned) crc32(crc, value, 8);
    memcpy(value + 8, &crc, 4);
    return mdb_put(o->txn, o->meta, &k, &v, 0);
}


/* The record at the cursor; its CRC-32 is of the key, bytes 0-67, and all from
 * 72 on. */
static int
change_record(old_t *o, MDB_cursor *cursor, const MDB_val *k, const MDB_val *v)
{
    unsigned char key[512], value[8192];
    MDB_val new_key = { k->mv_size - KIND_BYTES, key };
    MDB_val new_value = { v->mv_size, value };
    const unsigned char *kind =
        (const unsigned char *) k->mv_data + k->mv_size - 1;
    unsigned crc;
    int rc;

    if (k->mv_size > sizeof(key) || v->mv_size > sizeof(value)
        || v->mv_size < 72) {
        return MDB_CORRUPTED;
    }

    if (*kind != SYMCACHE) {
        return mdb_cursor_del(cursor, 0);
    }

    memcpy(key, k->mv_data, new_key.mv_size);
    memcpy(value, v->mv_data, v->mv_size);
    crc = (unsigned) crc32(0, key, (unsigned) new_key.mv_size);
    crc = (unsigned) crc32(crc, value, 68);
    crc = (unsigned) crc32(crc, value + 72, (unsigned) (v->mv_size - 72));
    memcpy(value + 68, &crc, 4);

    rc = mdb_cursor_del(cursor, 0);
    return rc != 0 ? rc
                   : mdb_put(o->txn, o->directory, &new_key, &new_value, 0);
}


static int
change(old_t *o)
{
    MDB_cursor *cursor;
    MDB_val k, v;
    int rc = mdb_cursor_open(o->txn, o->directory, &cursor);

    while (rc == 0 && (rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0) {
        rc = change_record(o, cursor, &k, &v);
    }

    mdb_cursor_close(cursor);
    rc = rc == MDB_NOTFOUND ? mdb_drop(o->txn, o->ids, 0) : rc;
    rc = rc != 0 ? rc : change_version(o);
    return rc != 0 ? rc : mdb_txn_commit(o->txn);
}


int
main(int argc, char **argv)
{
    old_t o;
    int rc;

    if (argc != 2) {
        fprintf(stderr, "usage: %s STORE\n", argv[0]);
        return 2;
    }

    rc = mdb_env_create(&o.env);
    rc = rc != 0 ? rc : mdb_env_set_maxdbs(o.env, 4);
    rc = rc != 0 ? rc : mdb_env_open(o.env, argv[1], MDB_NOTLS, 0664);
    rc = rc != 0 ? rc : mdb_txn_begin(o.env, NULL, 0, &o.txn);
    rc = rc != 0 ? rc : mdb_dbi_open(o.txn, "meta", 0, &o.meta);
    rc = rc != 0 ? rc : mdb_dbi_open(o.txn, "directory", 0, &o.directory);
    rc = rc != 0 ? rc : mdb_dbi_open(o.txn, "ids", 0, &o.ids);
    rc = rc != 0 ? rc : change(&o);

    if (rc != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], mdb_strerror(rc));
        return 1;
    }

    mdb_env_close(o.env);
    return 0;
}
