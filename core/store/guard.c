/*
 * A fault while the mapped store is read: the file is shorter than its tree
 * says, a disk block cannot be read, a page of the tree holds other bytes than
 * LMDB wrote.  LMDB checks none of that, and a worker of a web server must not
 * die of it.  So reading runs with a handler for SIGBUS and SIGSEGV that jumps
 * out.  Any fault counts, not only one inside the map: a damaged node makes
 * LMDB follow pointers that it never set (seen: a null sub-cursor).
 */
#include "store/env.h"

#include <setjmp.h>
#include <signal.h>

typedef struct {
    sigjmp_buf jump;
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
    if (guard.is_on) {
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


void
sym_guard_store(sym_store_t *store)
{
    (void) mdb_env_set_assert(store->env, on_assert);
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

    if (sigsetjmp(guard.jump, 0) != 0) {
        store->is_damaged = true;
        return sym_fail(err, SYM_DAMAGED,
                        "the store's pages are damaged or cannot be read");
    }

    guard.is_on = 1;
    fn(arg);
    guard.is_on = 0;
    return SYM_OK;
}
