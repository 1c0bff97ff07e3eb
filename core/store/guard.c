/*
 * A fault while the mapped store is read: the file is shorter than its tree
 * says, a disk block cannot be read, a page of the tree holds other bytes than
 * LMDB wrote.  LMDB checks none of that, and a worker of a web server must not
 * die of it.  So reading runs with a handler for SIGBUS and SIGSEGV that jumps
 * out, if the fault lies in this store's map or LMDB itself gives up.
 */
#include "store/env.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

typedef struct {
    sigjmp_buf jump;
    uintptr_t map, map_end;
    volatile sig_atomic_t is_on;
} guard_t;

/*
 * The one mutable global of core/: a signal handler has no other way to know
 * what was under way.  One guarded call at a time in a thread.
 */
static _Thread_local guard_t guard;
static struct sigaction previous_bus, previous_segv;
static bool is_installed;


/* Not a fault of a guarded read: does what would have been done without us. */
static void
pass_on(int signo, siginfo_t *info, void *context)
{
    const struct sigaction *previous =
        signo == SIGBUS ? &previous_bus : &previous_segv;

    if ((previous->sa_flags & SA_SIGINFO) && previous->sa_sigaction != NULL) {
        previous->sa_sigaction(signo, info, context);
        return;
    }

    if (previous->sa_handler != SIG_DFL && previous->sa_handler != SIG_IGN) {
        previous->sa_handler(signo);
        return;
    }

    /* back at the faulting instruction the default action ends us */
    (void) sigaction(signo, previous, NULL);
}


static void
on_fault(int signo, siginfo_t *info, void *context)
{
    uintptr_t addr = (uintptr_t) info->si_addr;

    if (guard.is_on && addr >= guard.map && addr < guard.map_end) {
        guard.is_on = 0;
        siglongjmp(guard.jump, 1);
    }

    pass_on(signo, info, context);
}


static void
on_assert(MDB_env *env, const char *text)
{
    (void) env;
    (void) text;

    if (guard.is_on) {
        guard.is_on = 0;
        siglongjmp(guard.jump, 1);
    }
}


static void
install(void)
{
    struct sigaction action = { .sa_sigaction = on_fault,
                                .sa_flags = SA_SIGINFO | SA_NODEFER };

    if (!is_installed) {
        (void) sigemptyset(&action.sa_mask);
        (void) sigaction(SIGBUS, &action, &previous_bus);
        (void) sigaction(SIGSEGV, &action, &previous_segv);
        is_installed = true;
    }
}


/* A damaged offset in the last page can point so far behind it. */
#define MAP_SLACK ((uintptr_t) 128 << 10)

/* LMDB tells nobody where it has mapped the file; the kernel does. */
static void
find_map(sym_store_t *store)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];

    if (maps == NULL) {
        return;
    }

    while (fgets(line, sizeof(line), maps) != NULL) {
        uintptr_t start, end;
        uint64_t ino;

        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %" SCNu64,
                   &start, &end, &ino)
                == 3
            && ino == store->ino && end - start > store->map_end - store->map)
        {
            store->map = start;
            store->map_end = end;
        }
    }

    (void) fclose(maps);
}


void
sym_guard_store(sym_store_t *store)
{
    (void) mdb_env_set_assert(store->env, on_assert);
    find_map(store);
}


sym_status_t
sym_store_guarded(sym_store_t *store, void (*fn)(void *), void *arg,
                  sym_error_t *err)
{
    if (guard.is_on) {
        fn(arg); /* the outer call guards it */
        return SYM_OK;
    }

    install();

    /* while the store is being opened its map is not known: any fault counts */
    guard.map = store->map;
    guard.map_end =
        store->map_end != 0 ? store->map_end + MAP_SLACK : UINTPTR_MAX;

    if (sigsetjmp(guard.jump, 0) != 0) {
        return sym_fail(err, SYM_DAMAGED,
                        "the store's pages are damaged or cannot be read");
    }

    guard.is_on = 1;
    fn(arg);
    guard.is_on = 0;
    return SYM_OK;
}
