#include "driver/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "converter/convert.h"
#include "converter/sandbox.h"
#include "common/converter_protocol.h"

/* Starts the same program, even if an upgrade has replaced the file. */
#define SELF "/proc/self/exe"

extern char **environ;

/* The command line of a converter. */
typedef struct {
    char name[10], argument[12];
    char memory[24], expanded[24], threads[24], archives[2], calls[2];
    char swift[PATH_MAX];
    char *argv[2 + CONVERT_ARGUMENTS + 1];
} command_line_t;

static void
make_command_line(const converter_limits_t *limits, command_line_t *c)
{
    char *const argv[] = { c->name,     c->argument, c->memory,
                           c->expanded, c->threads,  c->archives,
                           c->swift,    c->calls,    NULL };

    snprintf(c->name, sizeof(c->name), "symloader");
    snprintf(c->argument, sizeof(c->argument), CONVERT_ARGUMENT);
    snprintf(c->memory, sizeof(c->memory), "%" PRIu64, limits->memory_bytes);
    snprintf(c->expanded, sizeof(c->expanded), "%" PRIu64,
             limits->max_expanded);
    snprintf(c->threads, sizeof(c->threads), "%u", limits->threads);
    snprintf(c->archives, sizeof(c->archives), "%d", limits->has_archives);
    snprintf(c->calls, sizeof(c->calls), "%d", limits->finds_calls);
    snprintf(c->swift, sizeof(c->swift), "%s",
             limits->swift != NULL ? limits->swift : "");
    memcpy(c->argv, argv, sizeof(argv));
}


/* Starts a new session: Ctrl-C reaches only the loader, which ends its
 * converters. */
static int
spawn(char *const argv[], int fd, pid_t *pid)
{
    char *const no_environment[] = { NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int rc;

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


static sym_status_t
make_sockets(int fds[2], sym_error_t *err)
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0
               ? SYM_OK
               : sym_fail_sys(err, SYM_IO, "cannot make a socket pair", errno);
}


/* Keeps the loader's end of the sockets if the converter runs. */
static void
take_socket(converter_t *c, const int fds[2], bool is_started)
{
    close(fds[1]);

    if (is_started) {
        c->fd = fds[0];
    } else {
        close(fds[0]);
    }
}


sym_status_t
converter_start(const converter_limits_t *limits, converter_t *c,
                sym_error_t *err)
{
    command_line_t line;
    int fds[2];
    int rc;

    if (make_sockets(fds, err) != SYM_OK) {
        return err->status;
    }

    make_command_line(limits, &line);
    rc = spawn(line.argv, fds[1], &c->pid);
    take_socket(c, fds, rc == 0);
    return rc == 0
               ? SYM_OK
               : sym_fail_sys(err, SYM_IO,
                              "cannot start a converter (is /proc mounted?)",
                              rc);
}


/* --- by a fork --- */

/* Restores signal actions: the loader ignores some signals.  It handles none
 * before it forks; a sanitizer keeps its own. */
static bool
reset_signals(void)
{
    const struct sigaction by_default = { .sa_handler = SIG_DFL };
    struct sigaction old;
    sigset_t none;

    for (int i = 1; i < NSIG; i++) {
        if (sigaction(i, NULL, &old) == 0 && old.sa_handler == SIG_IGN) {
            (void) sigaction(i, &by_default, NULL);
        }
    }

    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) == 0;
}


static bool
set_descriptors(int fd)
{
    int null;

    if (dup2(fd, CONVERTER_FD) < 0) {
        return false;
    }

    null = open("/dev/null", O_RDWR);
    return null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0
           && (SANDBOX_RELAXED || dup2(null, 2) >= 0);
}


static void
wipe_words(char **words)
{
    for (; words != NULL && *words != NULL; words++) {
        explicit_bzero(*words, strlen(*words));
    }
}


/* Wipes the loader's arguments and environment, except its name for ps. */
static void
forget_words(char **argv)
{
    wipe_words(argv + (argv[0] != NULL));
    wipe_words(environ);
    environ = NULL;
}


/* Replaces the random bytes from which the key of hash tables is made, because
 * a converter must not know the loader's. */
static bool
renew_random(void)
{
    void *bytes = (void *) (uintptr_t) getauxval(AT_RANDOM);

    return bytes != NULL && getrandom(bytes, 16, 0) == 16;
}


_Noreturn static void
become_converter(command_line_t *line, char **argv, int fd)
{
    if (setsid() < 0 || !reset_signals() || !set_descriptors(fd)
        || !renew_random()) {
        convert_refuse(fd, "the converter cannot leave the loader's session");
        _exit(1);
    }

    forget_words(argv);
    _exit(convert_main(line->argv + 2)); /* closes other descriptors */
}


/* Environment variables that the dynamic linker and the allocator used at the
 * start of this program.  A program started without an environment does not
 * have them. */
static bool
has_tuned_start(void)
{
    static const char *const prefixes[] = { "LD_", "MALLOC_",
                                            "GLIBC_TUNABLES=" };

    for (char **word = environ; word != NULL && *word != NULL; word++) {
        for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
            if (strncmp(*word, prefixes[i], strlen(prefixes[i])) == 0) {
                return true;
            }
        }
    }

    return false;
}


sym_status_t
converter_fork(const converter_limits_t *limits, char **argv, converter_t *c,
               sym_error_t *err)
{
    command_line_t line;
    int fds[2];

    if (has_tuned_start()) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the start of this program is tuned");
    }

    if (make_sockets(fds, err) != SYM_OK) {
        return err->status;
    }

    make_command_line(limits, &line);
    c->pid = fork();

    if (c->pid == 0) {
        close(fds[0]);
        become_converter(&line, argv, fds[1]);
    }

    take_socket(c, fds, c->pid > 0);
    return c->pid > 0
               ? SYM_OK
               : sym_fail_sys(err, SYM_IO, "cannot fork a converter", errno);
}


void
converter_end(const converter_t *c)
{
    if (SANDBOX_RELAXED) { /* a sanitizer checks the cleanup */
        (void) shutdown(c->fd, SHUT_WR);
    } else {
        kill(c->pid, SIGKILL);
    }
}


/* Sockets are closed before a process counts as ended. */
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

    /* A converter that closed its socket but still runs must end, too.  If it
     * is already ending, its status is kept. */
    kill(c->pid, SIGKILL);

    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {
    }

    close(c->fd);
    return status;
}


/* Returns the CPU time so far, rounded up; false: the process has ended. */
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


/* Sets only the soft limit: the loader can raise it without privileges for the
 * next job, and the sandbox keeps the converter from raising it. */
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


/* Whether the converter was ended by its limits, its sandbox or a fault: then
 * the file is malformed.  If the loader kills it, the loader has the reason. */
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
        /* includes SIGBUS: files are mapped, and an unreadable page ends the
         * reader */
        return false;
    }
}


void
converter_death(int wait_status, sym_error_t *err)
{
    sym_fail(err, is_own_death(wait_status) ? SYM_MALFORMED : SYM_IO,
             death_text(wait_status));
}
