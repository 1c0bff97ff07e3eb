/*
 * daemon_client.h - a client of `symloader serve`, for commands whose store the
 * daemon uses.
 */
#ifndef SYMLOADER_CLI_DAEMON_CLIENT_H
#define SYMLOADER_CLI_DAEMON_CLIENT_H

#include <signal.h>

#include "protocol/message.h"
#include "common/options.h"

typedef struct {
    int fd;
    uint8_t packet[SYM_RPC_MAX]; /* last packet received */
} daemon_t;

/* Connects and sends HELLO.  False: no daemon answers. */
bool daemon_connect(daemon_t *d, const options_t *options);
void daemon_close(daemon_t *d);

/* Sends a message.  fd: sent with it, but still owned by the caller; -1: none.
   False: the daemon has ended. */
bool daemon_send(daemon_t *d, const sym_rpc_message_t *m, int fd);

/*
 * Receives the next message; its views point into *d.  Waits up to timeout_ms
 * (-1: no limit), or until a signal that sigmask allows.  SYM_AGAIN: no
 * message; SYM_IO: the daemon has ended.
 */
sym_status_t daemon_receive(daemon_t *d, int timeout_ms,
                            const sigset_t *sigmask, sym_rpc_message_t *m);

#endif
