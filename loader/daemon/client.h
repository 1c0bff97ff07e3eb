/*
 * client.h - one connection to the daemon.
 *
 * Receives messages one at a time, each with its descriptor; sends messages,
 * and queues those that the other side does not take at once.  Never waits.  A
 * client that breaks the protocol is marked as ended, with the reason, and
 * freed later by the loop: code that is using it need not check.
 */
#ifndef SYMLOADER_DAEMON_CLIENT_H
#define SYMLOADER_DAEMON_CLIENT_H

#include "protocol/message.h"

typedef struct client_s client_t;
typedef struct client_packet_s client_packet_t;

/* docs/formats/loader-protocol.md, section 2 */
#define CLIENT_TICKETS_MAX 65536
#define CLIENT_OUT_MAX ((size_t) 4 << 20)

struct client_s {
    client_t *next; /* the owner's */
    int fd;
    uint64_t serial; /* no two clients ever have the same */
    int64_t since_ms;
    bool is_welcome;   /* HELLO is done */
    bool is_refused;   /* nothing it says counts any more */
    bool is_listening; /* it has a webhook: LISTEN */
    bool is_mute;      /* it did not answer in time: is asked no more */

    bool is_ended;
    const char *why; /* NULL: it went by itself */

    client_packet_t *first, *last; /* what waits to be sent */
    size_t out_bytes;

    /* the owner's */
    struct waiter_s *waiters;
    unsigned n_waiters, n_deposits;
};

/* Takes fd over; NULL: out of memory, fd is closed. */
client_t *client_create(int fd, uint64_t serial, int64_t now_ms);
void client_free(client_t *client);

/*
 * One message into *m, whose views lie in packet; *fd is the descriptor that
 * came along, the caller's from now on, or -1.  False: nothing there, or the
 * client has ended.
 */
bool client_receive(client_t *client, uint8_t packet[SYM_RPC_MAX],
                    sym_rpc_message_t *m, int *fd);

void client_send(client_t *client, const sym_rpc_message_t *m);

/* Sends what waits, as far as the other side takes it. */
void client_flush(client_t *client);

/* Its protocol is not ours: says so, and nothing more in either direction. */
void client_refuse(client_t *client, sym_str_t text);

/* MORE for a lease of so many bytes; false: it asks for nothing that it has
 * not, and could do so for ever.  The client has ended then. */
bool client_wants_more(client_t *client, const sym_rpc_message_t *m,
                       uint64_t lease);

/* why: static text, or NULL.  The first reason counts. */
void client_end(client_t *client, const char *why);

#endif
