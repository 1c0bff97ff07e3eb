/*
 * crashpad.c - a client of Crashpad's handler: it starts the program that the first
 * argument names, with the arguments in HANDLER_ARGUMENTS (one a line), and asks it for
 * a dump when the program crashes (Crashpad, util/linux/exception_handler_protocol.h).
 * It says "dumped" then, and waits for the end of its input, so that the handler is not
 * ended before its upload.
 */
#define _GNU_SOURCE

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client.h"

#define ARGUMENTS_MAX 32
#define VERSION 1
#define DUMP_REQUEST 1

enum { CREDENTIALS, FORK_BROKER, SET_PTRACER, DUMP_COMPLETE, DUMP_FAILED };

typedef struct __attribute__((packed)) {
    uint64_t siginfo, context;
    int32_t thread;
} exception_t;

typedef struct __attribute__((packed)) {
    int32_t version;
    uint32_t type;
    uint64_t stack;
    uint64_t exception;
    char others[4096 - 8]; /* as large as a path, which other requests have */
} request_t;

typedef struct __attribute__((packed)) {
    uint32_t type;
    int32_t pid;
} reply_t;

static int handler = -1;


static void
ask_for_dump(int number, siginfo_t *info, void *ctx)
{
    exception_t exception = { (uintptr_t) info, (uintptr_t) ctx,
                              (int32_t) syscall(SYS_gettid) };
    request_t request = { .version = VERSION,
                          .type = DUMP_REQUEST,
                          .stack = (uintptr_t) &request,
                          .exception = (uintptr_t) &exception };
    reply_t reply = { CREDENTIALS, 0 };
    char end;

    (void) number;
    if (send(handler, &request, sizeof(request), MSG_NOSIGNAL) != (ssize_t) sizeof(request)) {
        _exit(4);
    }

    while (reply.type != DUMP_COMPLETE) {
        if (recv(handler, &reply, sizeof(reply), 0) != (ssize_t) sizeof(reply)) {
            _exit(5);
        }

        if (reply.type == SET_PTRACER) {
            int32_t result = prctl(PR_SET_PTRACER, (long) reply.pid, 0, 0, 0);

            if (send(handler, &result, sizeof(result), MSG_NOSIGNAL) < 0) {
                _exit(6);
            }
        } else if (reply.type != DUMP_COMPLETE) {
            _exit(7);
        }
    }

    if (write(STDOUT_FILENO, "dumped\n", 7) != 7) {
        _exit(8);
    }
    while (read(STDIN_FILENO, &end, 1) > 0) {
    }
    _exit(0);
}


void
crash_client_start(char **argv)
{
    struct sigaction action = { .sa_sigaction = ask_for_dump, .sa_flags = SA_SIGINFO };
    char fd[64], *arguments[ARGUMENTS_MAX + 3] = { argv[1], fd }, *more;
    int ends[2], n = 2, on = 1;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0
        || setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0)
    {
        _exit(9);
    }

    if (fork() == 0) {
        close(ends[0]);
        snprintf(fd, sizeof(fd), "--initial-client-fd=%d", ends[1]);
        more = strdup(getenv("HANDLER_ARGUMENTS"));
        for (more = strtok(more, "\n"); more != NULL && n < ARGUMENTS_MAX;
             more = strtok(NULL, "\n"))
        {
            arguments[n++] = more;
        }
        execv(argv[1], arguments);
        _exit(10);
    }

    close(ends[1]);
    handler = ends[0];
    sigaction(SIGSEGV, &action, NULL);
}
