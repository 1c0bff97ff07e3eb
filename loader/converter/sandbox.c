#include "converter/sandbox.h"

#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* Number of descriptors: the socket, one input, and the three standard ones. */
#define MAX_FDS 8

static bool
limit(int resource, uint64_t value)
{
    struct rlimit rl = { value, value };

    return setrlimit((__rlimit_resource_t) resource, &rl) == 0;
}


static bool
set_limits(uint64_t memory_bytes)
{
    if (!SANDBOX_RELAXED
        && !(limit(RLIMIT_AS, memory_bytes) && limit(RLIMIT_FSIZE, 0)))
    {
        return false;
    }

    return limit(RLIMIT_CORE, 0) && limit(RLIMIT_NOFILE, MAX_FDS);
}


/* Calls that are harmless with any arguments. */
static bool
allow_plain(scmp_filter_ctx filter)
{
    static const int calls[] = {
        SCMP_SYS(read),
        SCMP_SYS(pread64),
        SCMP_SYS(lseek),
        SCMP_SYS(close),
        SCMP_SYS(exit),
        SCMP_SYS(exit_group),
        SCMP_SYS(brk),
        SCMP_SYS(munmap),
        SCMP_SYS(mremap),
        SCMP_SYS(madvise),
        SCMP_SYS(restart_syscall), /* after SIGSTOP and SIGCONT */
        SCMP_SYS(clock_gettime),
        SCMP_SYS(sysinfo), /* qsort() reads the amount of memory */
        SCMP_SYS(futex),
        SCMP_SYS(rt_sigreturn),
    };
    size_t i;

    for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) != 0) {
            return false;
        }
    }

    return true;
}


/* Allows messages on the single socket, private memory that is never
 * executable, and reading files. */
static bool
allow_narrowed(scmp_filter_ctx filter, int socket_fd)
{
    /* Masked, because the upper half of an int argument is undefined. */
    const struct scmp_arg_cmp on_socket = { 0, SCMP_CMP_MASKED_EQ, UINT32_MAX,
                                            (uint32_t) socket_fd };
    const struct scmp_arg_cmp no_code = { 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0 };
    const struct scmp_arg_cmp anonymous = { 3, SCMP_CMP_MASKED_EQ,
                                            MAP_ANONYMOUS | MAP_PRIVATE
                                                | MAP_SHARED,
                                            MAP_ANONYMOUS | MAP_PRIVATE };

    const struct scmp_arg_cmp read_only = { 2, SCMP_CMP_MASKED_EQ, UINT32_MAX,
                                            PROT_READ };
    const struct scmp_arg_cmp of_file = { 3, SCMP_CMP_MASKED_EQ, UINT32_MAX,
                                          MAP_PRIVATE };

    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 1,
                            on_socket)
               == 0
           && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(recvmsg), 1,
                               on_socket)
                  == 0
           && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
                               no_code, anonymous)
                  == 0
           && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
                               read_only, of_file)
                  == 0
           && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                               no_code)
                  == 0;
}


#if SANDBOX_RELAXED

/* System calls for a sanitizer's report, which is written to standard error. */
static bool
allow_sanitizer(scmp_filter_ctx filter)
{
    static const int calls[] = {
        SCMP_SYS(getpid),      SCMP_SYS(gettid), SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(sigaltstack), SCMP_SYS(tgkill), SCMP_SYS(sched_yield),
    };
    const struct scmp_arg_cmp on_stderr = { 0, SCMP_CMP_MASKED_EQ, UINT32_MAX,
                                            2 };
    size_t i;

    for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) != 0) {
            return false;
        }
    }

    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1,
                            on_stderr)
           == 0;
}

#else

static bool
allow_sanitizer(scmp_filter_ctx filter)
{
    return filter != NULL;
}

#endif


static bool
load_filter(int socket_fd)
{
    scmp_filter_ctx filter = seccomp_init(
        SANDBOX_RELAXED ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_KILL_PROCESS);
    bool ok;

    if (filter == NULL) {
        return false;
    }

    /* Calls of another ABI (x32, i386) are never from our code. */
    ok =
        seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS)
            == 0
        /* also for the threads that are already waiting */
        && seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0
        && allow_plain(filter) && allow_narrowed(filter, socket_fd)
        && allow_sanitizer(filter) && seccomp_load(filter) == 0;

    seccomp_release(filter);
    return ok;
}


bool
sandbox_enter(int socket_fd, uint64_t memory_bytes)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
           && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0
           && set_limits(memory_bytes) && load_filter(socket_fd);
}
