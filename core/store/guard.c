/*
 * Handles faults while the mapped store is read: the file is shorter than its
 * tree expects, a disk block is unreadable, or a page of the tree was
 * overwritten.  LMDB does not check for these faults, and they must not end a
 * worker of a web server.  So a handler for SIGBUS and SIGSEGV ends the read by
 * siglongjmp().
 *
 * A fault counts if its address is in one of the store's mappings, or if it
 * happened in LMDB: a damaged node makes LMDB follow uninitialized pointers
 * (for example, a null sub-cursor).  Any other fault is a bug of ours, and ends
 * the process as usual.
 */
#include "store/env.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

/* Reads near the end of the map may go beyond it, because the length of a value
 * may be damaged, too. */
#define BEHIND ((uintptr_t) 128 * 1024)

/* Enough of a mapping's line to recognize a file, even a deleted one. */
#define TAIL 24

typedef struct {
    sigjmp_buf jump;
    volatile sig_atomic_t is_on;
} guard_t;

/*
 * Mutable globals in core/, because a signal handler has no other access to the
 * guarded call.  Each thread has at most one guarded call.
 */
static _Thread_local guard_t guard;
SYM_LMDB_TLS volatile sig_atomic_t sym_lmdb_calls;
static struct sigaction previous_bus, previous_segv;
static bool is_installed;


/* For faults outside guarded reads: restores the previous action. */
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

    /* the instruction runs again, and then the default action ends the
       process */
    (void) sigaction(signo, previous, NULL);
}


/* --- locating a fault; all of this may run in a signal handler --- */

/* The current line of /proc/self/maps: "55e0-55f0 r--s ... /store/data.mdb". */
typedef struct {
    uintptr_t from, to;
    unsigned fields; /* fields read so far, at most 2 */
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


/* Returns true if that cannot be found out. */
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
        fn(arg); /* an outer guarded call handles faults */
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
