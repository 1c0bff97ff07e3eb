/*
 * fetch_result.h - the outcome of a module's artifact that a worker asked for.
 *
 * It is in the store, or it is absent, failed or malformed: the store
 * keeps that, too, as a record without extents, until it expires.
 */
#ifndef SYMLOADER_DAEMON_FETCH_RESULT_H
#define SYMLOADER_DAEMON_FETCH_RESULT_H

#include "protocol/message.h"
#include "store/write.h"

typedef struct {
    sym_module_state_t state;
    bool is_poor;      /* a ready one: another source may have better symbols */
    uint32_t ttl_s;    /* of a negative one: what is left of it */
    bool is_too_large; /* for the store's quota: counts until that is raised */
    size_t reason_len;
    char reason[SYM_RPC_REASON_MAX];
} fetch_result_t;

/* A negative one; a reason that is too long is cut. */
void fetch_result_set(fetch_result_t *o, sym_module_state_t state,
                      uint32_t ttl_s, sym_str_t reason);

/* The one of ttl's seconds that goes with the state. */
uint32_t fetch_result_ttl(const sym_rpc_ttl_t *ttl, sym_module_state_t state);

/* READY or NEGATIVE. */
void fetch_result_message(const fetch_result_t *o, uint32_t ticket,
                          sym_rpc_message_t *m);

/* Reads the outcome from the store.  SYM_NOT_FOUND: no record, or an expired
 * one. */
sym_status_t fetch_result_find(sym_store_t *store, const sym_module_key_t *key,
                               sym_kind_t kind, fetch_result_t *o,
                               sym_error_t *err);

/*
 * Puts a negative one; it is kept when the ingest is finished.  Failures get
 * up to a quarter more or less of their time, so that not all come back at
 * once; o->ttl_s says how much it became.  SYM_OK without an ingest: there is
 * nothing to keep; with o->state READY: meanwhile the module is there.
 */
sym_status_t fetch_result_put(sym_store_t *store, const sym_module_key_t *key,
                              sym_kind_t kind, sym_str_t attempts,
                              fetch_result_t *o, sym_ingest_t **ingest,
                              sym_error_t *err);

/* Notes what else was tried for a module that is there. */
sym_status_t fetch_result_note(sym_store_t *store, const sym_module_key_t *key,
                               sym_kind_t kind, sym_str_t attempts,
                               sym_error_t *err);

/* Drops what other versions of this program could not read: this one may; and
 * what was too large for a quota that has been raised. */
sym_status_t fetch_result_drop_stale(sym_store_t *store, uint64_t *dropped,
                                     sym_error_t *err);

#endif
