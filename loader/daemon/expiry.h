/*
 * expiry.h - drops modules that were not used for a long time (--max-unused).
 *
 * The quota alone lets modules stay as long as there is room.  A use is a
 * lookup for a request (the store's use clock), and so is the storing of the
 * module.  A dropped module is fetched again when a request asks for it.
 */
#ifndef SYMLOADER_DAEMON_EXPIRY_H
#define SYMLOADER_DAEMON_EXPIRY_H

#include "store/write.h"

typedef struct {
    sym_store_t *store;
    uint32_t max_unused_s; /* 0: modules do not expire */
    int64_t next_at_ms;    /* time of the next sweep */
    uint64_t dropped;      /* modules so far */
} expiry_t;

/* Milliseconds until the next sweep; -1: never. */
int expiry_wait_ms(const expiry_t *expiry, int64_t now_ms);

/* If a sweep is due, drops expired modules, and logs their number. */
sym_status_t expiry_sweep(expiry_t *expiry, int64_t now_ms, sym_error_t *err);

#endif
