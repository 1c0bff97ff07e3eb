/*
 * share.h - artifacts of an object as a file for a client, which shares them with
 * other nodes (SHARE in docs/formats/loader-protocol.md).
 *
 * One file is written at a time, a part in each turn of the daemon's loop.  It is
 * packed by zstd, and has no name.
 */
#ifndef SYMLOADER_DAEMON_SHARE_H
#define SYMLOADER_DAEMON_SHARE_H

#include "daemon/client.h"

typedef struct share_s share_t;

typedef struct {
    sym_store_t *store;
    const char *folder; /* of the temporary files */
    share_t *first, *last;
    unsigned n;
} shares_t;

/* Answers by DONE, now or later. */
void share_begin(shares_t *s, client_t *client, const sym_rpc_message_t *m);

/* Writes a part of the first file. */
void shares_turn(shares_t *s);

/* Whether the next turn must come at once. */
bool shares_are_due(const shares_t *s);

/* Ends those of a client that is gone. */
void shares_leave(shares_t *s, const client_t *client);

void shares_close(shares_t *s);

#endif
