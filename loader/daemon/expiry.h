/*
 * expiry.h - modules that nobody has used for a long time go.
 *
 * Beside the quota, which lets modules stay as long as there is room.  A use is
 * a request that a worker looked the module up for (the store's use clock), and
 * so is its coming.  What went is fetched again if somebody asks.
 */
#ifndef SYMLOADER_DAEMON_EXPIRY_H
#define SYMLOADER_DAEMON_EXPIRY_H

#include "store/write.h"

typedef struct {
    sym_store_t *store;
    uint32_t max_unused_s; /* 0: nothing goes */
    int64_t next_at_ms;    /* of the next look */
    uint64_t dropped;      /* modules so far */
} expiry_t;

/* Milliseconds to the next look; -1: there is none. */
int expiry_wait_ms(const expiry_t *expiry, int64_t now_ms);

/* Looks, if it is time; tells in the log what went. */
sym_status_t expiry_sweep(expiry_t *expiry, int64_t now_ms, sym_error_t *err);

#endif
