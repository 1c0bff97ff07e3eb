#include "cli/daemon_client.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fdpass.h"
#include "common/say.h"

/* Time limit for the reply to HELLO: a running daemon sends it in its next
 * turn. */
#define HELLO_MS 10000

static bool
greet(daemon_t *d)
{
    const sym_rpc_message_t hello = {
        .type = SYM_RPC_HELLO,
        .version = SYM_RPC_VERSION,
    };
    sym_rpc_message_t m;

    if (!daemon_send(d, &hello, -1)
        || daemon_receive(d, HELLO_MS, NULL, &m) != SYM_OK)
    {
        return false;
    }

    if (m.type == SYM_RPC_REFUSED) {
        complain_about("the daemon", "%.*s", (int) m.text.len, m.text.data);
    }

    return m.type == SYM_RPC_WELCOME;
}


bool
daemon_connect(daemon_t *d, const options_t *options)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (!options_socket(options, address.sun_path)) {
        return false;
    }

    d->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (d->fd < 0) {
        return false;
    }

    if (connect(d->fd, (const struct sockaddr *) &address, sizeof(address)) != 0
        || !greet(d))
    {
        daemon_close(d);
        return false;
    }

    return true;
}


void
daemon_close(daemon_t *d)
{
    close(d->fd);
    d->fd = -1;
}


bool
daemon_send(daemon_t *d, const sym_rpc_message_t *m, int fd)
{
    uint8_t bytes[SYM_RPC_MAX];
    struct iovec iov = { bytes, sym_rpc_write(m, bytes) };

    return fdpass_send(d->fd, &iov, 1, fd);
}


sym_status_t
daemon_receive(daemon_t *d, int timeout_ms, const sigset_t *sigmask,
               sym_rpc_message_t *m)
{
    const struct timespec ts = { timeout_ms / 1000,
                                 (long) (timeout_ms % 1000) * 1000000 };
    struct pollfd p = { .fd = d->fd, .events = POLLIN };
    sym_error_t err = { 0 };
    ssize_t n;

    if (ppoll(&p, 1, timeout_ms >= 0 ? &ts : NULL, sigmask) <= 0) {
        return SYM_AGAIN;
    }

    n = recv(d->fd, d->packet, sizeof(d->packet), MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return SYM_AGAIN;
    }

    if (n <= 0 || sym_rpc_read(d->packet, (size_t) n, m, &err) != SYM_OK) {
        return SYM_IO;
    }

    return SYM_OK;
}
