/*
 * share.h - artifacts of an object as a file for a client, which shares them with
 * other nodes (SHARE in docs/formats/loader-protocol.md).
 *
 * One file is written at a time, a part in each turn of the daemon's loop.  It is
 * packed by zstd, and has no name.  All files have limited room: one that does not
 * fit is not made, because the other nodes can do without.
 */
#ifndef SYMLOADER_DAEMON_SHARE_H
#define SYMLOADER_DAEMON_SHARE_H

#include "daemon/client.h"

typedef struct share_s share_t;

typedef struct {
    sym_store_t *store;
    const char *folder; /* of the temporary files */
    uint64_t room;      /* limit of bytes */
    uint64_t bytes;     /* in all files that clients may have open */
    share_t *first, *last;
    share_t *sent; /* those that clients have */
    unsigned n;
} shares_t;

/* Answers by DONE, now or later. */
void share_begin(shares_t *s, client_t *client, const sym_rpc_message_t *m);

/* Writes a part of the first file. */
void shares_turn(shares_t *s);

/* Whether the next turn must come at once. */
bool shares_are_due(const shares_t *s);

/* The client has closed the file of this ticket. */
void shares_closed(shares_t *s, const client_t *client, uint32_t ticket);

/* Ends those of a client that is gone. */
void shares_leave(shares_t *s, const client_t *client);

void shares_close(shares_t *s);

#endif
