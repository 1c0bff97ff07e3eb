#include "cli/mirror_index.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/say.h"
#include "converter/sandbox.h"
#include "unpack/input.h"

#define INDEX "index"

/* The largest window of xz takes 64 MiB. */
#define MEMORY_BYTES ((uint64_t) 1 << 30)

/* A message of the process. */
typedef struct {
    enum { AN_ENTRY, AN_ERROR, THE_END } what;
    union {
        sym_package_entry_t entry;
        char error[512];
    } is;
} message_t;


/* --- the process --- */

static bool
say_message(int fd, const message_t *m)
{
    struct iovec part = { (void *) (uintptr_t) m, sizeof(*m) };
    const struct msghdr whole = { .msg_iov = &part, .msg_iovlen = 1 };

    /* sendmsg() is the only way to write that the sandbox has */
    return sendmsg(fd, &whole, MSG_NOSIGNAL) == (ssize_t) sizeof(*m);
}


/* Ends when the other process has ended. */
static void
say_entry(void *ctx, const sym_package_entry_t *entry)
{
    const int *fd = ctx;
    message_t m = { .what = AN_ENTRY };

    m.is.entry = *entry;
    if (!say_message(*fd, &m)) {
        _exit(1);
    }
}


static sym_status_t
next_piece(void *ctx, const char **data, size_t *len, sym_error_t *err)
{
    return input_next(ctx, data, len, err);
}


/* Ends without exit handlers: there is nothing to flush. */
__attribute__((noreturn)) static void
become_reader(int fd, int file, const options_t *options)
{
    const struct rlimit cpu = { options->convert_cpu_s,
                                options->convert_cpu_s };
    input_t *in = input_create(options->max_expanded, false);
    message_t end = { .what = THE_END };
    sym_error_t err = { 0 };

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (in == NULL || setrlimit(RLIMIT_CPU, &cpu) != 0
        || !sandbox_enter(fd, MEMORY_BYTES))
    {
        _exit(1);
    }

    input_start_tar(in, file, UINT64_MAX);
    if (sym_package_index_read(next_piece, in, say_entry, &fd, &err) != SYM_OK)
    {
        end.what = AN_ERROR;
        (void) sym_error_text(&err, end.is.error, sizeof(end.is.error));
    }
    (void) say_message(fd, &end);
    _exit(0);
}


/* --- the caller --- */

bool
mirror_index_open(mirror_index_t *index, const options_t *options, int file)
{
    int fds[2];

    if (lseek(file, 0, SEEK_SET) < 0
        || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    {
        complain_about(INDEX, "%s", strerror(errno));
        return false;
    }

    *index = (mirror_index_t){ fds[0], fork() };
    if (index->pid == 0) {
        close(fds[0]);
        become_reader(fds[1], file, options);
    }

    close(fds[1]);
    if (index->pid < 0) {
        complain_about(INDEX, "cannot fork: %s", strerror(errno));
        close(index->fd);
    }

    return index->pid > 0;
}


bool
mirror_index_next(mirror_index_t *index, sym_package_entry_t *entry,
                  bool *is_complete)
{
    message_t m = { .what = THE_END };
    ssize_t n;

    do {
        n = recv(index->fd, &m, sizeof(m), 0);
    } while (n < 0 && errno == EINTR);

    if (n != (ssize_t) sizeof(m)) {
        complain_about(INDEX, "the process that reads it ended early");
    } else if (m.what == AN_ENTRY) {
        *entry = m.is.entry;
        entry->name[sizeof(entry->name) - 1] = '\0';
        entry->path[sizeof(entry->path) - 1] = '\0';
        entry->size[sizeof(entry->size) - 1] = '\0';
        entry->digest[sizeof(entry->digest) - 1] = '\0';
        return true;
    } else if (m.what == AN_ERROR) {
        complain_about(INDEX, "%.*s", (int) sizeof(m.is.error), m.is.error);
    }

    *is_complete = n == (ssize_t) sizeof(m) && m.what == THE_END;
    return false;
}


void
mirror_index_close(mirror_index_t *index)
{
    close(index->fd);
    (void) kill(index->pid, SIGKILL);
    while (waitpid(index->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}
