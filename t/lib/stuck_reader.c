/*
 * stuck_reader.c - a process that keeps one snapshot of a store.
 *
 * Its argument is the store's folder.  It prints a line when it has the snapshot,
 * and keeps that until its standard input ends.
 */
#include <stdio.h>
#include <unistd.h>

#include <lmdb.h>

int
main(int argc, char **argv)
{
    MDB_env *env;
    MDB_txn *txn;
    char c;

    if (argc != 2 || mdb_env_create(&env) != 0
        || mdb_env_set_maxdbs(env, 16) != 0
        || mdb_env_open(env, argv[1], MDB_RDONLY | MDB_NOTLS, 0) != 0
        || mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) != 0)
    {
        return 1;
    }

    puts("reading");
    (void) fflush(stdout);
    while (read(STDIN_FILENO, &c, 1) == 1) {
    }
    return 0;
}
