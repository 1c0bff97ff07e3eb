#include "driver/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "converter/sandbox.h"
#include "common/converter_protocol.h"

/* The same program even if the file was replaced by an upgrade meanwhile. */
#define SELF "/proc/self/exe"

extern char **environ;

/* A session of its own: Ctrl-C goes to the loader, which ends its
 * converters. */
static int
spawn(const converter_limits_t *limits, int fd, pid_t *pid)
{
    char memory[24], expanded[24], threads[24];
    char archives[] = { limits->has_archives ? '1' : '0', '\0' };
    char name[] = "symloader", argument[] = CONVERT_ARGUMENT;
    char swift[PATH_MAX];
    char *const argv[] = { name,    argument, memory, expanded,
                           threads, archives, swift,  NULL };
    char *const no_environment[] = { NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int rc;

    snprintf(memory, sizeof(memory), "%" PRIu64, limits->memory_bytes);
    snprintf(expanded, sizeof(expanded), "%" PRIu64, limits->max_expanded);
    snprintf(threads, sizeof(threads), "%u", limits->threads);
    snprintf(swift, sizeof(swift), "%s",
             limits->swift != NULL ? limits->swift : "");
    sigemptyset(&none);
    sigfillset(&all);

    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    rc = posix_spawn_file_actions_adddup2(&actions, fd, CONVERTER_FD);
    rc |=
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    rc |=
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);

    if (!SANDBOX_RELAXED) { /* a sanitizer's report goes to stderr */
        rc |= posix_spawn_file_actions_addopen(&actions, 2, "/dev/null",
                                               O_WRONLY, 0);
    }

    rc |= posix_spawnattr_setsigmask(&attr, &none);
    rc |= posix_spawnattr_setsigdefault(&attr, &all);
    rc |= posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK
                                              | POSIX_SPAWN_SETSIGDEF
                                              | POSIX_SPAWN_SETSID);

    if (rc == 0) {
        rc = posix_spawn(pid, SELF, &actions, &attr, argv,
                         SANDBOX_RELAXED ? environ : no_environment);
    }

    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}


sym_status_t
converter_start(const converter_limits_t *limits, converter_t *c,
                sym_error_t *err)
{
    int fds[2];
    int rc;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot make a socket pair", errno);
    }

    rc = spawn(limits, fds[1], &c->pid);
    close(fds[1]);

    if (rc != 0) {
        close(fds[0]);
        return sym_fail_sys(err, SYM_IO,
                            "cannot start a converter (is /proc mounted?)", rc);
    }

    c->fd = fds[0];
    return SYM_OK;
}


void
converter_end(const converter_t *c)
{
    if (SANDBOX_RELAXED) { /* a sanitizer looks on while it tidies up */
        (void) shutdown(c->fd, SHUT_WR);
    } else {
        kill(c->pid, SIGKILL);
    }
}


/* Sockets are closed before a process counts as dead. */
#define DYING_MS 50

bool
converter_is_dead(const converter_t *c)
{
    const struct timespec ms = { 0, 1000000 };
    int i;

    for (i = 0; i < DYING_MS; i++) {
        siginfo_t info = { 0 };

        if (waitid(P_PID, (id_t) c->pid, &info, WEXITED | WNOHANG | WNOWAIT)
                != 0
            || info.si_pid != 0)
        {
            return true;
        }

        (void) nanosleep(&ms, NULL);
    }

    return false;
}


int
converter_reap(converter_t *c)
{
    int status = 0;

    /* One that closed its socket but lives on must go too.  For one that is
     * ending by itself this changes nothing, its status is settled. */
    kill(c->pid, SIGKILL);

    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {
    }

    close(c->fd);
    return status;
}


/* CPU time used so far, rounded up; false: the process is gone. */
static bool
cpu_seconds(pid_t pid, uint64_t *seconds)
{
    clockid_t clock;
    struct timespec ts;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) != 0)
    {
        return false;
    }

    *seconds = (uint64_t) ts.tv_sec + (ts.tv_nsec > 0);
    return true;
}


/* Only the soft limit: the loader can raise it for the next job without
 * privileges, and the sandbox keeps the converter from raising it. */
static bool
limit_cpu(pid_t pid, uint64_t end_s)
{
    struct rlimit rl = { end_s, RLIM_INFINITY };

    return prlimit(pid, RLIMIT_CPU, &rl, NULL) == 0;
}


bool
converter_limit_cpu(converter_t *c, uint64_t seconds)
{
    uint64_t used;

    if (!cpu_seconds(c->pid, &used)) {
        return false;
    }

    c->cpu_end_s = used + seconds;
    return limit_cpu(c->pid, c->cpu_end_s);
}


bool
converter_limit_part(const converter_t *c, uint64_t seconds)
{
    uint64_t used;

    if (!cpu_seconds(c->pid, &used)) {
        return false;
    }

    return limit_cpu(c->pid, seconds != 0 && used + seconds < c->cpu_end_s
                                 ? used + seconds
                                 : c->cpu_end_s);
}


static const char *
death_text(int wait_status)
{
    if (WIFEXITED(wait_status)) {
        return "the converter ended without an answer";
    }

    switch (WTERMSIG(wait_status)) {
    case SIGXCPU:
        return "the converter was killed: over its CPU time (--convert-cpu)";
    case SIGSYS:
        return "the converter was killed: it tried a forbidden system call";
    case SIGKILL:
        return "the converter was killed from outside (SIGKILL: is the machine "
               "out of memory?)";
    case SIGSEGV:
        return "the converter crashed: SIGSEGV";
    case SIGBUS:
        return "the file became shorter, or unreadable, while it was read";
    case SIGABRT:
        return "the converter crashed: SIGABRT";
    case SIGFPE:
        return "the converter crashed: SIGFPE";
    case SIGILL:
        return "the converter crashed: SIGILL";
    default:
        return "the converter was killed from outside by a signal";
    }
}


/* Whether the converter died by its limits, its sandbox or a fault: then the
 * file is malformed.  If the loader kills it, the loader has the reason. */
static bool
is_own_death(int wait_status)
{
    if (!WIFSIGNALED(wait_status)) {
        return true;
    }

    switch (WTERMSIG(wait_status)) {
    case SIGXCPU:
    case SIGSYS:
    case SIGSEGV:
    case SIGABRT:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
        return true;
    default:
        /* SIGBUS, too: files are mapped, what the system cannot give of one
         * ends its reader */
        return false;
    }
}


void
converter_death(int wait_status, sym_error_t *err)
{
    sym_fail(err, is_own_death(wait_status) ? SYM_MALFORMED : SYM_IO,
             death_text(wait_status));
}
