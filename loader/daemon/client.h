/*
 * client.h - a client's connection to the daemon.
 *
 * It receives messages one at a time, each with its descriptor.  It sends
 * messages, and queues those that the other side does not accept at once.  It
 * never blocks.  A client that breaks the protocol is marked as ended, with the
 * reason, and freed later by the loop, so code that is using it need not check.
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
    uint64_t serial; /* never reused */
    int64_t since_ms;
    bool is_welcome;   /* HELLO was received */
    bool is_refused;   /* its messages are ignored */
    bool is_listening; /* it has a webhook (LISTEN) */
    bool is_mute;      /* it did not answer in time, and gets no more
                          requests */

    bool is_ended;
    const char *why; /* reason of the end; NULL: the client closed the
                        connection */

    client_packet_t *first, *last; /* queue of messages to send */
    size_t out_bytes;

    /* the owner's */
    struct waiter_s *waiters;
    unsigned n_waiters, n_deposits;
};

/* Creates a client that owns fd; NULL: out of memory, and fd is closed. */
client_t *client_create(int fd, uint64_t serial, int64_t now_ms);
void client_free(client_t *client);

/*
 * Receives one message into *m; its views point into packet.  *fd is its
 * descriptor, which the caller now owns, or -1.  False: no message, or the
 * client has ended.
 */
bool client_receive(client_t *client, uint8_t packet[SYM_RPC_MAX],
                    sym_rpc_message_t *m, int *fd);

void client_send(client_t *client, const sym_rpc_message_t *m);

/* Same with a descriptor, which the caller keeps. */
void client_send_with(client_t *client, const sym_rpc_message_t *m, int fd);

/* Answers m with DONE. */
void client_done(client_t *client, const sym_rpc_message_t *m, uint32_t flags,
                 sym_str_t text);

/* Sends as many queued messages as the other side accepts. */
void client_flush(client_t *client);

/* For a client with another protocol: sends REFUSED, and ends both
   directions. */
void client_refuse(client_t *client, sym_str_t text);

/* Checks MORE for a lease of this size.  False: the requested size is not
 * larger than the current lease, so the client could repeat the request
 * forever; it is marked as ended. */
bool client_wants_more(client_t *client, const sym_rpc_message_t *m,
                       uint64_t lease);

/* why: static text, or NULL.  Only the first reason is kept. */
void client_end(client_t *client, const char *why);

#endif
