/*
 * expiry.h - drops modules that were not used for a long time (--max-unused).
 *
 * The quota alone lets modules stay as long as there is room.  Both a lookup
 * for a request (the store's use clock) and the storing of a module count as a
 * use.  A dropped module is fetched again when it is requested.
 */
#ifndef SYMLOADER_DAEMON_EXPIRY_H
#define SYMLOADER_DAEMON_EXPIRY_H

#include "store/write.h"

typedef struct {
    sym_store_t *store;
    uint32_t max_unused_s; /* 0: modules do not expire */
    int64_t next_at_ms;    /* time of the next sweep */
    uint64_t dropped;      /* number of modules dropped so far */
} expiry_t;

/* Returns the milliseconds until the next sweep; -1: never. */
int expiry_wait_ms(const expiry_t *expiry, int64_t now_ms);

/* If a sweep is due, drops expired modules, and logs their number. */
sym_status_t expiry_sweep(expiry_t *expiry, int64_t now_ms, sym_error_t *err);

#endif
