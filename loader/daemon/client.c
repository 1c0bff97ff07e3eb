#include "daemon/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct client_packet_s {
    client_packet_t *next;
    int fd; /* -1: none */
    size_t len;
    uint8_t bytes[];
};

/* A message has at most one descriptor; extra ones from an unknown client are
   closed. */
#define FDS_ROOM 4

typedef union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(FDS_ROOM * sizeof(int))];
} control_t;


client_t *
client_create(int fd, uint64_t serial, int64_t now_ms)
{
    client_t *client = calloc(1, sizeof(*client));

    if (client == NULL) {
        close(fd);
        return NULL;
    }

    client->fd = fd;
    client->serial = serial;
    client->since_ms = now_ms;
    return client;
}


static void
drop_first(client_t *client)
{
    client_packet_t *packet = client->first;

    client->first = packet->next;
    client->out_bytes -= sizeof(*packet) + packet->len;
    if (packet->fd >= 0) {
        close(packet->fd);
    }
    free(packet);
}


void
client_free(client_t *client)
{
    while (client->first != NULL) {
        drop_first(client);
    }

    close(client->fd);
    free(client);
}


void
client_end(client_t *client, const char *why)
{
    if (!client->is_ended) {
        client->is_ended = true;
        client->why = why;
    }
}


bool
client_wants_more(client_t *client, const sym_rpc_message_t *m, uint64_t lease)
{
    if (m->length > lease) {
        return true;
    }

    client_end(client, "MORE that asks for no more than it has");
    return false;
}


/* --- receiving --- */

/* Returns the first descriptor received, and closes the others; *n: their
   number. */
static int
take_descriptors(struct msghdr *mh, unsigned *n)
{
    struct cmsghdr *c;
    int first = -1;

    *n = 0;

    for (c = CMSG_FIRSTHDR(mh); c != NULL; c = CMSG_NXTHDR(mh, c)) {
        size_t i, count;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
            continue;
        }

        count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        for (i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));

            if ((*n)++ == 0) {
                first = fd;
            } else {
                close(fd);
            }
        }
    }

    return first;
}


static bool
wants_descriptor(const sym_rpc_message_t *m)
{
    return m->type == SYM_RPC_INGEST || m->type == SYM_RPC_DEPOSIT
           || m->type == SYM_RPC_MAKE
           || (m->type == SYM_RPC_UPLOAD && (m->flags & SYM_RPC_EMPTY) == 0)
           || (m->type == SYM_RPC_GIVEN && (m->flags & SYM_RPC_THERE) != 0);
}


/* Whether the packet is a message of the protocol, with the descriptor that the
   message requires. */
static bool
understand(client_t *client, const uint8_t *packet, size_t len, unsigned n_fds,
           bool is_fd_lost, sym_rpc_message_t *m)
{
    sym_error_t err = { 0 };

    if (sym_rpc_read(packet, len, m, &err) != SYM_OK) {
        client_end(client, err.what != NULL ? err.what : "no message");
        return false;
    }

    if (n_fds + is_fd_lost != (wants_descriptor(m) ? 1 : 0)) {
        client_end(client, n_fds + is_fd_lost == 0
                               ? "a message without its descriptor"
                               : "a message with an unexpected descriptor");
        return false;
    }

    return true;
}


/* Returns the length of a packet; 0: there is nothing to handle. */
static size_t
receive(client_t *client, uint8_t packet[SYM_RPC_MAX], control_t *control,
        struct msghdr *mh)
{
    struct iovec iov = { packet, SYM_RPC_MAX };
    ssize_t n;

    *mh = (struct msghdr){ .msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = control->bytes,
                           .msg_controllen = sizeof(control->bytes) };

    do {
        n = recvmsg(client->fd, mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);

    if (n < 0) {
        mh->msg_controllen = 0;

        if (errno != EAGAIN) {
            client_end(client, NULL);
        }

        return 0;
    }

    if (n == 0) {
        client_end(client, NULL);
    }

    mh->msg_iov = NULL;
    return (size_t) n;
}


bool
client_receive(client_t *client, uint8_t packet[SYM_RPC_MAX],
               sym_rpc_message_t *m, int *fd)
{
    control_t control;
    struct msghdr mh;
    unsigned n_fds;
    size_t len;

    *fd = -1;

    if (client->is_ended) {
        return false;
    }

    len = receive(client, packet, &control, &mh);
    *fd = take_descriptors(&mh, &n_fds);

    if (len > 0 && !client->is_refused) {
        /* truncated although there was room: this process has no free
         * descriptor */
        bool is_fd_lost = (mh.msg_flags & MSG_CTRUNC) && n_fds < FDS_ROOM;

        if ((mh.msg_flags & MSG_TRUNC)
            || ((mh.msg_flags & MSG_CTRUNC) && !is_fd_lost)) {
            client_end(client, "a message that is too long");

        } else if (understand(client, packet, len, n_fds, is_fd_lost, m)) {
            return true;
        }
    }

    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }

    return false;
}


/* --- sending --- */

/* Sends a packet.  False: not now, or never (then the client has ended). */
static bool
send_now(client_t *client, const uint8_t *bytes, size_t len, int fd)
{
    struct iovec iov = { (void *) (uintptr_t) bytes, len };
    control_t control = { 0 };
    struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
    struct cmsghdr *c = &control.align;
    ssize_t n;

    if (fd >= 0) {
        mh.msg_control = control.bytes;
        mh.msg_controllen = CMSG_SPACE(sizeof(int));
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof(int));
    }

    do {
        n = sendmsg(client->fd, &mh, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);

    if (n < 0 && errno != EAGAIN) {
        client_end(client, NULL);
    }

    return n >= 0;
}


static void
keep(client_t *client, const uint8_t *bytes, size_t len, int fd)
{
    client_packet_t *packet = malloc(sizeof(*packet) + len);
    int copy = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

    if (packet == NULL || (fd >= 0 && copy < 0)) {
        free(packet);
        client_end(client, "out of memory");
        return;
    }

    packet->next = NULL;
    packet->fd = copy;
    packet->len = len;
    memcpy(packet->bytes, bytes, len);

    if (client->first == NULL) {
        client->first = packet;
    } else {
        client->last->next = packet;
    }

    client->last = packet;
    client->out_bytes += sizeof(*packet) + len;

    if (client->out_bytes > CLIENT_OUT_MAX) {
        client_end(client, "it does not read its answers");
    }
}


void
client_send(client_t *client, const sym_rpc_message_t *m)
{
    client_send_with(client, m, -1);
}


void
client_send_with(client_t *client, const sym_rpc_message_t *m, int fd)
{
    uint8_t bytes[SYM_RPC_MAX];
    size_t len;

    if (client->is_ended || client->is_refused) {
        return;
    }

    len = sym_rpc_write(m, bytes);

    if (client->first != NULL || !send_now(client, bytes, len, fd)) {
        if (!client->is_ended) {
            keep(client, bytes, len, fd);
        }
    }
}


void
client_done(client_t *client, const sym_rpc_message_t *m, uint32_t flags,
            sym_str_t text)
{
    const sym_rpc_message_t done = {
        .type = SYM_RPC_DONE, .ticket = m->ticket, .flags = flags, .text = text
    };

    client_send(client, &done);
}


void
client_flush(client_t *client)
{
    while (client->first != NULL && !client->is_ended) {
        const client_packet_t *first = client->first;

        if (!send_now(client, first->bytes, first->len, first->fd)) {
            return;
        }

        drop_first(client);
    }
}


void
client_refuse(client_t *client, sym_str_t text)
{
    const sym_rpc_message_t m = { .type = SYM_RPC_REFUSED, .text = text };

    /* Lets the other side close: if we closed with unread bytes, the system
     * would drop our last message. */
    client_send(client, &m);
    client->is_refused = true;
    (void) shutdown(client->fd, SHUT_WR);
}
