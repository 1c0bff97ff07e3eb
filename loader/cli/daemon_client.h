/*
 * daemon_client.h - the other end of `symloader serve`, for commands that find
 * the store in its hands.
 */
#ifndef SYMLOADER_CLI_DAEMON_CLIENT_H
#define SYMLOADER_CLI_DAEMON_CLIENT_H

#include <signal.h>

#include "protocol/message.h"
#include "common/options.h"

typedef struct {
    int fd;
    uint8_t packet[SYM_RPC_MAX]; /* the last one received */
} daemon_t;

/* Connects and sends HELLO.  False: no daemon answers there. */
bool daemon_connect(daemon_t *d, const options_t *options);
void daemon_close(daemon_t *d);

/* fd: goes along, and stays the caller's; -1: none.  False: it has gone. */
bool daemon_send(daemon_t *d, const sym_rpc_message_t *m, int fd);

/*
 * The next message, whose views lie in *d.  Waits up to timeout_ms (-1: as
 * long as it takes) or until a signal that sigmask lets through.  SYM_AGAIN:
 * nothing came; SYM_IO: it has gone.
 */
sym_status_t daemon_receive(daemon_t *d, int timeout_ms,
                            const sigset_t *sigmask, sym_rpc_message_t *m);

#endif
