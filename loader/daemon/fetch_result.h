/*
 * fetch_result.h - the outcome of a module's artifact that a worker asked for.
 *
 * It is in the store, or it is absent, failed or malformed: a combination of
 * the records of the paths where its files may be.
 */
#ifndef SYMLOADER_DAEMON_FETCH_RESULT_H
#define SYMLOADER_DAEMON_FETCH_RESULT_H

#include "protocol/message.h"
#include "store/write.h"

/* Maximum lifetime of an outcome: longer ones are useless, and sums of these
 * are far from overflow. */
#define FETCH_TTL_MAX_S ((uint32_t) 10 * 366 * 86400)

typedef struct {
    sym_module_state_t state;
    bool is_poor;      /* if READY: another source may have better symbols */
    uint32_t ttl_s;    /* time left for a negative outcome */
    bool is_too_large; /* larger than the store's quota; valid until the quota
                          is raised */
    size_t reason_len;
    char reason[SYM_RPC_REASON_MAX];
} fetch_result_t;

/* Sets a negative outcome; reasons that are too long are cut. */
void fetch_result_set(fetch_result_t *o, sym_module_state_t state,
                      uint32_t ttl_s, sym_str_t reason);

/* Returns the lifetime in ttl for this state, in seconds. */
uint32_t fetch_result_ttl(const sym_rpc_ttl_t *ttl, sym_module_state_t state);

/* Returns the lifetime, varied by up to a quarter, so that failures are not all
 * retried at once. */
uint32_t fetch_result_jitter(uint32_t ttl_s);

/* Fills a READY or NEGATIVE message. */
void fetch_result_message(const fetch_result_t *o, uint32_t ticket,
                          sym_rpc_message_t *m);

/* Drops the records of files that were too large for a quota that has been
 * raised. */
sym_status_t fetch_result_drop_stale(sym_store_t *store, uint64_t *dropped,
                                     sym_error_t *err);

#endif
