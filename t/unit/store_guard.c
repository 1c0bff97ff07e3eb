/*
 * The guard catches faults in the store's pages, and no others: a bug of our
 * own must end the process at once, and not be reported as damage.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "store/env.h"
#include "store_kit.h"

static sym_store_t *reader;
static sym_snapshot_t *snapshot;

static void
read_null(void *arg)
{
    volatile char *volatile nowhere = (char *) (uintptr_t) 8;

    (void) arg;
    (void) *nowhere;
}


/* Reads past the end of a file that is not the store's. */
static void
read_other_map(void *arg)
{
    volatile char *other;
    int fd = fileno(tmpfile());

    (void) arg;
    other = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    (void) *other;
}


/* Reads past the end of the store's own file, which was truncated. */
static void
read_extent(void *arg)
{
    const uint8_t *data = NULL;
    size_t len = 0;
    uint64_t sum = 0;

    (void) arg;
    (void) sym_snapshot_extent(snapshot, 1, 0, &data, &len);
    for (size_t i = 0; i < len; i++) {
        sum += data[i];
    }
    ok(sum == 1, "reads beyond the file"); /* not reached */
}


/* The exit code of a process that runs fn under the guard, or 100 + the
 * signal. */
static int
end_of(void (*fn)(void *))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        struct rlimit none = { 0, 0 };
        sym_error_t err = { 0 };

        (void) setrlimit(RLIMIT_CORE, &none);
        _exit(sym_store_guarded(reader, fn, NULL, &err) == SYM_DAMAGED ? 1 : 0);
    }

    (void) waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 100 + WTERMSIG(status) : WEXITSTATUS(status);
}


int
main(void)
{
    char file[PATH_MAX];
    sym_store_t *w;

    /* a sanitizer's handler, to which the guard would pass the fault */
    (void) signal(SIGSEGV, SIG_DFL);
    (void) signal(SIGBUS, SIG_DFL);

    kit_folder();
    w = kit_writer(64 << 20);
    is_status(kit_put(w, "a", 4, 100), SYM_OK, &kit_err, "a module");
    sym_store_close(w);

    reader = kit_reader();
    is_status(sym_snapshot_begin(reader, &snapshot, &kit_err), SYM_OK, &kit_err,
              "a snapshot");
    is_u64((uint64_t) sym_lmdb_calls, 0, "no call of LMDB is running");

    is_u64((uint64_t) end_of(read_null), 100 + SIGSEGV,
           "a null pointer of ours is a crash");
    is_u64((uint64_t) end_of(read_other_map), 100 + SIGBUS,
           "so is a page of another file");

    sym_env_file(file, reader->path, DATA_FILE);
    is_u64((uint64_t) truncate(file, 16384), 0, "the file is truncated");
    is_u64((uint64_t) end_of(read_extent), 1,
           "a missing page of the store is damage");
    return done_testing();
}
