/*
 * A fault while the mapped store is read: the file is shorter than its tree
 * says, a disk block cannot be read, a page of the tree holds other bytes than
 * LMDB wrote.  LMDB checks none of that, and a worker of a web server must not
 * die of it.  So reading runs with a handler for SIGBUS and SIGSEGV that jumps
 * out.
 *
 * A fault counts if its address lies in one of the store's mappings, or if LMDB
 * was called: a damaged node makes it follow pointers that it never set (seen: a
 * null sub-cursor).  Any other is a bug of ours, and ends the process as it
 * would without us.
 */
#include "store/env.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

/* What is read at the end of the map may lie behind it: a value's length is as
 * damaged as anything else. */
#define BEHIND ((uintptr_t) 128 * 1024)

/* Enough of a mapping's line to know it by its file, also a removed one. */
#define TAIL 24

typedef struct {
    sigjmp_buf jump;
    volatile sig_atomic_t is_on;
} guard_t;

/*
 * Mutable globals of core/: a signal handler has no other way to know what was
 * under way.  One guarded call at a time in a thread.
 */
static _Thread_local guard_t guard;
SYM_LMDB_TLS volatile sig_atomic_t sym_lmdb_calls;
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


/* --- where a fault was; all of it may run in a signal handler --- */

/* The present line of /proc/self/maps: "55e0-55f0 r--s ... /store/data.mdb". */
typedef struct {
    uintptr_t from, to;
    unsigned fields; /* ended so far, at most 2 */
    char tail[TAIL + 1];
} mapping_t;


static bool
ends_line(mapping_t *m, char c)
{
    if (c == '\n') {
        return true;
    }

    if (m->fields < 2 && (c == '-' || c == ' ')) {
        m->fields++;
    } else if (m->fields < 2) {
        uintptr_t *number = m->fields == 0 ? &m->from : &m->to;

        *number =
            *number << 4 | (uintptr_t) (c <= '9' ? c - '0' : c - 'a' + 10);
    } else {
        memmove(m->tail, m->tail + 1, TAIL - 1);
        m->tail[TAIL - 1] = c;
    }

    return false;
}


static bool
is_of_store(const mapping_t *m)
{
    return strstr(m->tail, "/" DATA_FILE) != NULL
           || strstr(m->tail, "/" LOCK_FILE) != NULL
           || strstr(m->tail, "/" CLOCK_FILE) != NULL;
}


/* Where it cannot be told, it is as if it were. */
static bool
lies_in_store(uintptr_t at)
{
    char bytes[1024];
    mapping_t m = { .tail = "                        " };
    bool is_inside = false;
    ssize_t n;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return true;
    }

    while (!is_inside && (n = read(fd, bytes, sizeof(bytes))) > 0) {
        for (ssize_t i = 0; i < n && !is_inside; i++) {
            if (ends_line(&m, bytes[i])) {
                is_inside =
                    at >= m.from && at < m.to + BEHIND && is_of_store(&m);
                m.from = m.to = 0;
                m.fields = 0;
            }
        }
    }

    (void) close(fd);
    return is_inside;
}


static void
on_fault(int signo, siginfo_t *info, void *context)
{
    if (guard.is_on
        && (sym_lmdb_calls != 0 || lies_in_store((uintptr_t) info->si_addr)))
    {
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
        sym_lmdb_calls = 0;
        store->is_damaged = true;
        return sym_fail(err, SYM_DAMAGED,
                        "the store's pages are damaged or cannot be read");
    }

    guard.is_on = 1;
    fn(arg);
    guard.is_on = 0;
    return SYM_OK;
}
