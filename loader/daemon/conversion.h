/*
 * conversion.h - bytes that a client handed over, on their way into the store.
 *
 * Each has a descriptor and waits for a converter; when it has ended its owner
 * is told what became of it, and it is gone.  Of a file with several modules
 * its owner is told of each, and it is gone after the last.
 */
#ifndef SYMLOADER_DAEMON_CONVERSION_H
#define SYMLOADER_DAEMON_CONVERSION_H

#include "daemon/client.h"
#include "daemon/inflight.h"
#include "driver/store_upload.h"
#include "metrics/loader.h"
#include "cli/order.h"
#include "driver/pool.h"

typedef struct conversion_s conversion_t;
typedef struct conversions_s conversions_t;
typedef struct supplement_s supplement_t;
typedef struct supplements_s supplements_t;

/* How a module ended: state READY, with what was stored, or why not. */
typedef struct {
    sym_module_state_t state; /* not ABSENT */
    bool is_better_kept; /* ... which was nothing: the store's are better */
    bool is_later_kept;  /* ... nor: those of a later file are there */
    bool has_nothing;    /* ... as pool_has_nothing() says */
    bool has_more;       /* modules in its file: it goes on */
    const converter_done_t *done; /* NULL unless READY */
    char reason[SYM_RPC_REASON_MAX];
    sym_error_t store_error; /* what the store said, if it was its fault */
    bool is_too_large;       /* for the store's quota */
} conversion_end_t;

struct conversions_s {
    sym_store_t *store;
    pool_t *pool;
    supplements_t *supplements;
    conversion_t *first, **last; /* in the order in which they came */
    uint64_t sequence;           /* of the last */
    order_t order;
    void *owner;
    void (*ended)(conversion_t *c, const conversion_end_t *end);
    sym_conversions_t counted;
};

struct conversion_s {
    conversion_t *next;
    conversions_t *all;
    uint64_t sequence; /* which it is, from 1 */
    int fd;
    uint64_t offset, length; /* of the bytes in it */
    bool is_started;
    bool is_void; /* what comes of it is not wanted any more */
    store_upload_t upload;
    bool has_key; /* the module was asked for; else its MODULE line names it */
    bool force;
    bool is_offer;              /* there may be better elsewhere */
    bool can_ask;               /* the client opens what goes with it */
    sym_str_t source, attempts; /* into text */
    char text[SYM_RPC_SOURCE_MAX + 1 + SYM_RPC_ATTEMPTS_MAX];
    char reason[SYM_RPC_REASON_MAX]; /* better than what an error can say */
    int64_t began_at_ns;

    /* supplement.c's */
    supplement_t *supplement; /* NULL: it needs none that is known yet */
    bool is_waiting;          /* for it */
    bool is_without;          /* it is not to be had */

    /* asking.c's */
    bool is_asking;
    int64_t asked_at_ms, waited_ms;

    /* the owner's: who waits for it */
    inflight_t *inflight;
    uint64_t lease;
    sym_rpc_ttl_t ttl;
    client_t *client;
    uint32_t ticket;
};

/*
 * For what m (an INGEST or DEPOSIT) says of fd.  Takes fd over, whatever comes
 * of it.  NULL: *err says why; SYM_NOMEM: our fault, else the descriptor's.
 */
conversion_t *conversion_create(const sym_rpc_message_t *m, int fd,
                                sym_error_t *err);

/*
 * Whether fd is a regular file with the bytes that m says; it stands at the
 * first of them afterwards.
 */
sym_status_t conversion_check_descriptor(int fd, const sym_rpc_message_t *m,
                                         sym_error_t *err);

/* It waits for its turn now. */
void conversions_add(conversions_t *all, conversion_t *c);

/* It was withdrawn from the pool, and will be started anew. */
void conversion_rewind(conversion_t *c);

/* It ends as SYM_MODULE_FAILED without having been converted. */
void conversion_fail(conversion_t *c, const char *why);

/* Lines for the module's record; what is too long is left out. */
void conversion_add_attempts(conversion_t *c, sym_str_t attempts);

/* Starts what the pool has room for. */
void conversions_start(conversions_t *all);

/* For pool_create(). */
extern const pool_events_t conversion_events;

/* Drops all, without a word.  The pool must be gone. */
void conversions_free(conversions_t *all);

#endif
