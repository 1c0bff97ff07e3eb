#include "daemon/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/str.h"

/* The first descriptor that systemd passes, sd_listen_fds(3). */
#define LISTEN_FDS_START 3

/* Backlog of the socket. */
#define BACKLOG 512

/*
 * After a daemon was killed, a converter that was just forked holds its socket
 * until it calls exec() or ends.  So the start checks again for a second.
 */
#define ANSWER_TRIES 20
#define ANSWER_PAUSE_NS (50L * 1000 * 1000)

/* --- a socket from systemd --- */

static bool
env_number(const char *name, uint64_t *n)
{
    const char *text = getenv(name);

    return text != NULL && sym_dec_read(sym_cstr(text), n);
}


static bool
socket_option_is(int fd, int option, int value)
{
    int is;
    socklen_t len = sizeof(is);

    return getsockopt(fd, SOL_SOCKET, option, &is, &len) == 0 && is == value;
}


/* SYM_NOT_FOUND: systemd has passed no socket. */
static sym_status_t
take_passed(listen_t *l, sym_error_t *err)
{
    uint64_t pid, n;
    bool is_passed = env_number("LISTEN_PID", &pid)
                     && pid == (uint64_t) getpid()
                     && env_number("LISTEN_FDS", &n) && n > 0;

    /* must not be inherited by our converters */
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");

    if (!is_passed) {
        return SYM_NOT_FOUND;
    }

    if (!socket_option_is(LISTEN_FDS_START, SO_DOMAIN, AF_UNIX)
        || !socket_option_is(LISTEN_FDS_START, SO_TYPE, SOCK_SEQPACKET)
        || !socket_option_is(LISTEN_FDS_START, SO_ACCEPTCONN, 1))
    {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the socket that was passed is not a listening unix "
                        "socket of packets (ListenSequentialPacket=)");
    }

    l->fd = LISTEN_FDS_START;
    (void) fcntl(l->fd, F_SETFD, FD_CLOEXEC);
    (void) fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK);
    return SYM_OK;
}


/* --- a socket of our own --- */

/* Whether a process holds the listening socket. */
static bool
is_held(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_connected;

    is_connected =
        fd >= 0
        && (connect(fd, (const struct sockaddr *) address, sizeof(*address))
                == 0
            || errno == EAGAIN);

    if (fd >= 0) {
        close(fd);
    }

    return is_connected;
}


/* Same after the time that a fork needs. */
static bool
stays_held(const struct sockaddr_un *address)
{
    const struct timespec pause = { .tv_nsec = ANSWER_PAUSE_NS };

    for (int i = 0; i < ANSWER_TRIES; i++) {
        if (!is_held(address)) {
            return false;
        }

        (void) nanosleep(&pause, NULL);
    }

    return true;
}


/* Removes the file of a socket only if nobody listens on it. */
static sym_status_t
remove_stale(const struct sockaddr_un *address, sym_error_t *err)
{
    struct stat st;

    if (lstat(address->sun_path, &st) != 0) {
        return SYM_OK;
    }

    if (!S_ISSOCK(st.st_mode)) {
        return sym_fail(err, SYM_IO, "its path exists and is not a socket");
    }

    if (stays_held(address)) {
        return sym_fail(err, SYM_BUSY, "another program listens to the socket");
    }

    (void) unlink(address->sun_path);
    return SYM_OK;
}


static bool
find_gid(const options_t *options, gid_t *gid, sym_error_t *err)
{
    struct stat st;
    const struct group *group;

    if (options->socket_group != NULL) {
        errno = 0;
        group = getgrnam(options->socket_group);

        if (group == NULL) {
            sym_fail(err, SYM_IO, "no such group: --socket-group");
            return false;
        }

        *gid = group->gr_gid;
        return true;
    }

    if (stat(options->store, &st) != 0) {
        sym_fail_sys(err, SYM_IO, "cannot stat the store's folder", errno);
        return false;
    }

    *gid = st.st_gid;
    return true;
}


/* No client can connect before listen(), so permissions are set in time. */
static sym_status_t
bind_and_listen(listen_t *l, const options_t *options, sym_error_t *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    gid_t gid;

    memcpy(address.sun_path, l->path, sizeof(address.sun_path));

    if (remove_stale(&address, err) != SYM_OK || !find_gid(options, &gid, err))
    {
        return err->status;
    }

    if (bind(l->fd, (const struct sockaddr *) &address, sizeof(address)) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot make the socket", errno);
    }

    l->is_ours = true;

    if (chown(l->path, (uid_t) -1, gid) != 0) {
        return sym_fail_sys(err, SYM_IO,
                            "cannot give the socket to its group "
                            "(--socket-group)",
                            errno);
    }

    if (chmod(l->path, options->socket_mode) != 0
        || listen(l->fd, BACKLOG) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot listen to the socket", errno);
    }

    return SYM_OK;
}


sym_status_t
listen_open(listen_t *l, const options_t *options, sym_error_t *err)
{
    sym_status_t rc;

    *l = (listen_t){ .fd = -1 };

    if (!options_socket(options, l->path)) {
        return sym_fail(err, SYM_LIMIT,
                        "the socket's path is too long (give --socket)");
    }

    rc = take_passed(l, err);

    if (rc != SYM_NOT_FOUND) {
        return rc;
    }

    l->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (l->fd < 0) {
        return sym_fail_sys(err, SYM_IO, "cannot make a socket", errno);
    }

    rc = bind_and_listen(l, options, err);

    if (rc != SYM_OK) {
        listen_close(l);
    }

    return rc;
}


void
listen_close(listen_t *l)
{
    if (l->is_ours) {
        (void) unlink(l->path);
        l->is_ours = false;
    }

    if (l->fd >= 0) {
        close(l->fd);
        l->fd = -1;
    }
}
