/*
 * old - store version 2, for tests of upgrades.
 *
 *     build/t/store_old STORE           gives a store the form of version 2
 *     build/t/store_old STORE read      opens one and answers what it has
 *
 * Version 2 (docs/formats/store.md, section 8): what is no symcache is not
 * there, and the index of ids has no code ids.  Nobody may be writing to the store.
 * The reader does what workers of version 2 do, and refuses other versions.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <lmdb.h>
#include <zlib.h>

#define READY 1
#define SYMCACHE_VERSION 3 /* that version 2 knew */

typedef struct {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi meta, directory, extents, ids;
} old_t;


static int
change_version(old_t *o)
{
    static char name[] = "version", writer[] = "writer";
    unsigned char value[12] = { 2 };
    MDB_val k = { 7, name }, v = { sizeof(value), value };
    unsigned crc = (unsigned) crc32(0, (const void *) name, 7);
    int rc;

    crc = (unsigned) crc32(crc, value, 8);
    memcpy(value + 8, &crc, 4);
    rc = mdb_put(o->txn, o->meta, &k, &v, 0);
    k = (MDB_val){ 6, writer };
    return rc != 0 ? rc : mdb_del(o->txn, o->meta, &k, NULL);
}


/* Only another kind's key has a NUL behind that of the name. */
static int
is_symcache(const MDB_val *k)
{
    const char *p = k->mv_data, *end = p + k->mv_size;

    for (int i = 0; p != NULL && i < 3; i++) {
        p = memchr(p, '\0', (size_t) (end - p));
        p = p != NULL ? p + 1 : NULL;
    }

    return p == NULL;
}


static int
change(old_t *o)
{
    MDB_cursor *cursor;
    MDB_val k, v;
    int rc = mdb_cursor_open(o->txn, o->directory, &cursor);

    while (rc == 0 && (rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0) {
        rc = is_symcache(&k) ? 0 : mdb_cursor_del(cursor, 0);
    }

    mdb_cursor_close(cursor);
    rc = rc == MDB_NOTFOUND ? mdb_drop(o->txn, o->ids, 0) : rc;
    rc = rc != 0 ? rc : change_version(o);
    return rc != 0 ? rc : mdb_txn_commit(o->txn);
}


/* --- a reader of version 2 --- */

/* Little endian, as all of a record. */
static uint64_t
number(const unsigned char *p, int width)
{
    uint64_t n = 0;

    while (width-- > 0) {
        n = n << 8 | p[width];
    }

    return n;
}


/* The CRC-32 is of the key, bytes 0-67, and all from 72 on. */
static int
is_sound(const MDB_val *k, const MDB_val *v)
{
    const unsigned char *p = v->mv_data;
    unsigned crc = (unsigned) crc32(0, k->mv_data, (unsigned) k->mv_size);

    if (v->mv_size < 72) {
        return 0;
    }

    crc = (unsigned) crc32(crc, p, 68);
    crc = (unsigned) crc32(crc, p + 72, (unsigned) (v->mv_size - 72));
    return p[0] == 1 && crc == number(p + 68, 4);
}


/* An extent ends with a CRC-32 of its key and of what comes before. */
static int
has_extents(const old_t *o, uint64_t module, uint64_t extents)
{
    for (uint64_t i = 0; i < extents; i++) {
        uint64_t id = module << 24 | i;
        MDB_val k = { sizeof(id), &id }, v;
        unsigned crc = (unsigned) crc32(0, (const void *) &id, sizeof(id));

        if (mdb_get(o->txn, o->extents, &k, &v) != 0 || v.mv_size < 4) {
            return 0;
        }

        crc = (unsigned) crc32(crc, v.mv_data, (unsigned) v.mv_size - 4);
        if (crc != number((const unsigned char *) v.mv_data + v.mv_size - 4, 4))
        {
            return 0;
        }
    }

    return extents != 0;
}


static const char *
find(const old_t *o, const MDB_val *key)
{
    MDB_val k = *key, v;
    const unsigned char *p;

    if (mdb_get(o->txn, o->directory, &k, &v) != 0) {
        return "not there";
    }

    p = v.mv_data;
    return !is_sound(key, &v) ? "damaged"
           : p[1] != READY    ? "negative"
           : number(p + 20, 4) != SYMCACHE_VERSION
                   || !has_extents(o, number(p + 8, 8), number(p + 16, 4))
               ? "unreadable"
               : "ready";
}


/* A line "scope/name/id" a question; a snapshot for each, in one environment
 * and with databases that were opened when the store was of version 2. */
static int
read_on(old_t *o)
{
    char line[512];
    int rc = mdb_txn_commit(o->txn); /* or the databases would be closed */

    puts("open");
    (void) fflush(stdout);

    while (rc == 0 && fgets(line, sizeof(line), stdin) != NULL) {
        MDB_val key = { strcspn(line, "\n"), line };

        for (char *p = line; (p = strchr(p, '/')) != NULL; p++) {
            *p = '\0';
        }

        rc = mdb_txn_begin(o->env, NULL, MDB_RDONLY, &o->txn);
        if (rc == 0) {
            puts(find(o, &key));
            (void) fflush(stdout);
            mdb_txn_abort(o->txn);
        }
    }

    return rc;
}


static int
is_version_2(const old_t *o)
{
    static char name[] = "version";
    MDB_val k = { 7, name }, v;

    return mdb_get(o->txn, o->meta, &k, &v) == 0 && v.mv_size == 12
           && number(v.mv_data, 8) == 2;
}


int
main(int argc, char **argv)
{
    int is_reader = argc == 3 && strcmp(argv[2], "read") == 0;
    unsigned readonly = is_reader ? MDB_RDONLY : 0;
    old_t o;
    int rc;

    if (argc != 2 && !is_reader) {
        fprintf(stderr, "usage: %s STORE [read]\n", argv[0]);
        return 2;
    }

    rc = mdb_env_create(&o.env);
    rc = rc != 0 ? rc : mdb_env_set_maxdbs(o.env, 4);
    rc = rc != 0 ? rc : mdb_env_open(o.env, argv[1], MDB_NOTLS | readonly, 0664);
    rc = rc != 0 ? rc : mdb_txn_begin(o.env, NULL, readonly, &o.txn);
    rc = rc != 0 ? rc : mdb_dbi_open(o.txn, "meta", 0, &o.meta);
    rc = rc != 0 ? rc : mdb_dbi_open(o.txn, "directory", 0, &o.directory);
    rc = rc != 0 ? rc : mdb_dbi_open(o.txn, "ids", 0, &o.ids);
    rc = rc != 0 ? rc
                 : mdb_dbi_open(o.txn, "extents", MDB_INTEGERKEY, &o.extents);

    if (rc == 0 && is_reader && !is_version_2(&o)) {
        fprintf(stderr, "%s: is not of version 2\n", argv[1]);
        return 1;
    }

    if (rc == 0) {
        rc = is_reader ? read_on(&o) : change(&o);
    }

    if (rc != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], mdb_strerror(rc));
        return 1;
    }

    mdb_env_close(o.env);
    return 0;
}
