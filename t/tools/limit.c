/*
 * limit - a program that a test runs, which must end in time.
 *
 *     limit SECONDS COMMAND [ARGUMENT...]
 *     TOOL [ARGUMENT...]          a link of that name in build/t/bin
 *
 * Under the name of a tool it runs the one that is found in SYM_PATH, with the
 * user's PATH, for at most SYM_TOOL_SECONDS (300).  A tool that is missing, or
 * has not ended by then, is named on standard error and in the file
 * SYM_TOOL_TROUBLE.  With that file t/lib/SymTools.pm fails the test, whatever
 * it makes of the exit code; the Debian package is from the table
 * SYM_TOOL_TABLE.
 *
 * The command has its own process group, of which no process survives: it is
 * killed when the time is over, and with this program.  Exit codes: the
 * command's, 124 when it was late, 127 when it is missing.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LATE = 124, ABSENT = 127, TOOL_SECONDS = 300, GRACE_SECONDS = 5 };

static void
tell(const char *text)
{
    const char *path = getenv("SYM_TOOL_TROUBLE");
    FILE *trouble = path ? fopen(path, "a") : NULL;

    fprintf(stderr, "%s\n", text);
    if (trouble) {
        fprintf(trouble, "%s\n", text);
        fclose(trouble);
    }
}

/* Finds a program in the given folders, like execvp(). */
static const char *
find(const char *name, const char *folders)
{
    static char path[4096];
    size_t len;

    for (; *folders; folders += len + (folders[len] == ':')) {
        len = strcspn(folders, ":");
        snprintf(path, sizeof(path), "%.*s/%s", (int) len, folders, name);
        if (access(path, X_OK) == 0) {
            return path;
        }
    }

    return NULL;
}

/* The table has lines "PACKAGE: TOOL TOOL...". */
static void
tell_absent(const char *name)
{
    const char *path = getenv("SYM_TOOL_TABLE");
    FILE *table = path ? fopen(path, "r") : NULL;
    char line[1024], text[2048];
    const char *word, *package;

    while (table && fgets(line, sizeof(line), table)) {
        package = strtok(line, ": \n");
        while (package && (word = strtok(NULL, ": \n"))) {
            if (strcmp(word, name) == 0) {
                snprintf(text, sizeof(text),
                         "%s is not installed: apt-get install %s", name,
                         package);
                tell(text);
                return;
            }
        }
    }

    snprintf(text, sizeof(text), "%s is not installed", name);
    tell(text);
}

/* A point of time; changes of the system clock do not affect it. */
static struct timespec
left_until(time_t end)
{
    struct timespec now, left = { 0, 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec < end) {
        left.tv_sec = end - now.tv_sec;
    }

    return left;
}

static time_t
end_after(long seconds)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + seconds;
}

/* Has the child ended?  It stays a zombie, so that its number is not reused. */
static int
has_ended(pid_t pid)
{
    siginfo_t info = { 0 };

    waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == pid;
}

/* Waits for the end of the child and forwards signals to it; 0 when it is
 * late. */
static int
wait_for(pid_t pid, const sigset_t *signals, long seconds)
{
    time_t end = end_after(seconds);
    struct timespec left;
    int number;

    while (!has_ended(pid)) {
        left = left_until(end);
        number = sigtimedwait(signals, NULL, &left);
        if (number == -1 && errno == EAGAIN) {
            return has_ended(pid);
        }
        if (number > 0 && number != SIGCHLD) {
            kill(-pid, number);
        }
    }

    return 1;
}

/* Exits in the way the command has ended. */
static int
pass_on(int status)
{
    struct rlimit none = { 0, 0 };
    sigset_t all;

    if (WIFEXITED(status)) {
        return WEXITSTATUS(status);
    }

    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    raise(WTERMSIG(status));
    return ABSENT;
}

static int
run(const char *program, char **argv, long seconds, const char *path)
{
    sigset_t signals, before;
    pid_t parent = getpid(), pid;
    char text[2048];
    int status = 0, in_time;

    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGQUIT);
    sigprocmask(SIG_BLOCK, &signals, &before);

    pid = fork();
    if (pid == -1) {
        perror("limit: fork");
        return ABSENT;
    }

    if (pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(ABSENT);
        }
        if (path) {
            setenv("PATH", path, 1);
        }
        sigprocmask(SIG_SETMASK, &before, NULL);
        execv(program, argv);
        perror(program);
        _exit(ABSENT);
    }

    setpgid(pid, pid);
    close(STDIN_FILENO); /* the pipes belong to the command alone */
    close(STDOUT_FILENO);

    in_time = wait_for(pid, &signals, seconds);
    if (!in_time) {
        snprintf(text, sizeof(text), "%s did not end in %ld s", argv[0],
                 seconds);
        tell(text);
        kill(-pid, SIGTERM);
        wait_for(pid, &signals, GRACE_SECONDS);
    }
    kill(-pid, SIGKILL);
    waitpid(pid, &status, 0);

    return in_time ? pass_on(status) : LATE;
}

/* 0: not a number. */
static long
seconds_of(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    return end != text && *end == '\0' ? n : 0;
}


int
main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    const char *path, *program, *limit;

    if (strcmp(name, "limit") == 0) {
        if (argc < 3 || seconds_of(argv[1]) <= 0) {
            fprintf(stderr, "usage: limit SECONDS COMMAND [ARGUMENT...]\n");
            return 2;
        }
        program =
            strchr(argv[2], '/') ? argv[2] : find(argv[2], getenv("PATH"));
        if (!program) {
            tell_absent(argv[2]);
            return ABSENT;
        }
        return run(program, argv + 2, seconds_of(argv[1]), NULL);
    }

    path = getenv("SYM_PATH");
    limit = getenv("SYM_TOOL_SECONDS");
    program = path ? find(name, path) : NULL;
    if (!program) {
        tell_absent(name);
        return ABSENT;
    }

    return run(program, argv, limit ? seconds_of(limit) : TOOL_SECONDS, path);
}
