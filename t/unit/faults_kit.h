/*
 * faults_kit.h - makes LMDB's writes fail: one of them, all from one on, or the
 * writer is killed there.  A test that includes this is linked with wrappers
 * for them (Makefile: *_faults).
 */
#ifndef SYM_UNIT_FAULTS_KIT_H
#define SYM_UNIT_FAULTS_KIT_H

#include <lmdb.h>
#include <stdbool.h>
#include <unistd.h>

/* --- failing writes: the next writes_left succeed --- */

typedef enum { FAIL_ONCE, FAIL_ON, KILLED } fault_t;

static unsigned long writes_left = (unsigned long) -1;
static fault_t fault;
static bool is_refused;

/* LMDB marks a transaction in which a write failed, and refuses to commit it.
 * This failure is not marked, because no caller may rely on the mark. */
static bool
may_write(void)
{
    if (writes_left == (unsigned long) -1 || writes_left-- != 0) {
        return true;
    }

    if (fault == KILLED) {
        _exit(0);
    }

    is_refused = true;
    writes_left = fault == FAIL_ON ? 0 : (unsigned long) -1;
    return false;
}


/* clang-format off */
#undef mdb_put
#undef mdb_del
#undef mdb_cursor_del
#undef mdb_cursor_open
#undef mdb_env_open
#undef mdb_txn_commit
/* clang-format on */

int __real_mdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data,
                   unsigned flags);
int __real_mdb_del(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data);
int __real_mdb_cursor_del(MDB_cursor *cursor, unsigned flags);
int __real_mdb_cursor_open(MDB_txn *txn, MDB_dbi dbi, MDB_cursor **cursor);
int __real_mdb_env_open(MDB_env *env, const char *path, unsigned flags,
                        mdb_mode_t mode);
int __real_mdb_txn_commit(MDB_txn *txn);
int __wrap_mdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data,
                   unsigned flags);
int __wrap_mdb_del(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data);
int __wrap_mdb_cursor_del(MDB_cursor *cursor, unsigned flags);
int __wrap_mdb_cursor_open(MDB_txn *txn, MDB_dbi dbi, MDB_cursor **cursor);
int __wrap_mdb_env_open(MDB_env *env, const char *path, unsigned flags,
                        mdb_mode_t mode);
int __wrap_mdb_txn_commit(MDB_txn *txn);

int
__wrap_mdb_put(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data,
               unsigned flags)
{
    return may_write() ? __real_mdb_put(txn, dbi, key, data, flags)
                       : MDB_MAP_FULL;
}


int
__wrap_mdb_del(MDB_txn *txn, MDB_dbi dbi, MDB_val *key, MDB_val *data)
{
    return may_write() ? __real_mdb_del(txn, dbi, key, data) : MDB_MAP_FULL;
}


int
__wrap_mdb_cursor_del(MDB_cursor *cursor, unsigned flags)
{
    return may_write() ? __real_mdb_cursor_del(cursor, flags) : MDB_MAP_FULL;
}


int
__wrap_mdb_cursor_open(MDB_txn *txn, MDB_dbi dbi, MDB_cursor **cursor)
{
    return may_write() ? __real_mdb_cursor_open(txn, dbi, cursor)
                       : MDB_MAP_FULL;
}


int
__wrap_mdb_txn_commit(MDB_txn *txn)
{
    if (may_write()) {
        return __real_mdb_txn_commit(txn);
    }

    mdb_txn_abort(txn);
    return MDB_MAP_FULL;
}


/* A killed writer's pages reach the file without a sync, and the test is fast. */
int
__wrap_mdb_env_open(MDB_env *env, const char *path, unsigned flags,
                    mdb_mode_t mode)
{
    return __real_mdb_env_open(env, path, flags | MDB_NOSYNC, mode);
}

#endif
