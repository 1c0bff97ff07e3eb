/*
 * submission.h - a file that a client handed over, and the clients that wait
 * for it.
 */
#ifndef SYMLOADER_DAEMON_SUBMISSION_H
#define SYMLOADER_DAEMON_SUBMISSION_H

#include "daemon/client.h"
#include "daemon/inflight.h"
#include "driver/conversion.h"

typedef struct supplement_s supplement_t;

typedef struct {
    conversion_t conversion;

    uint64_t offset; /* of the bytes in the file */
    bool is_offer;   /* there may be better elsewhere */
    bool can_ask;    /* the client opens what goes with it */
    char text[SYM_RPC_SOURCE_MAX + 1 + SYM_RPC_ATTEMPTS_MAX]; /* source and
                                                                  attempts */

    /* waiting: the clients of an in-flight request, or one client */
    inflight_t *inflight;
    uint64_t lease;
    sym_rpc_ttl_t ttl;
    client_t *client;
    uint32_t ticket;

    /* supplement.c's; conversion.is_held: it waits for one */
    supplement_t *supplement; /* NULL: it needs none that is known yet */
    bool is_without;          /* it is not to be had */

    /* companion_requests.c's */
    bool is_asking;
    int64_t asked_at_ms, waited_ms;
} submission_t;

/* Of conversions that are all submissions; NULL: there is none (any more). */
submission_t *submission_first(const conversions_t *all);
submission_t *submission_next(const submission_t *c);

/*
 * For what m (an INGEST or DEPOSIT) says of fd.  Takes fd over, whatever comes
 * of it.  NULL: *err says why; SYM_NOMEM: our fault, else the descriptor's.
 */
submission_t *submission_create(const sym_rpc_message_t *m, int fd,
                                sym_error_t *err);

/*
 * Whether fd is a regular file with the bytes that m says; it stands at the
 * first of them afterwards.
 */
sym_status_t submission_check_descriptor(int fd, const sym_rpc_message_t *m,
                                         sym_error_t *err);

/* Lines for the module's record; what is too long is left out. */
void submission_add_attempts(submission_t *c, sym_str_t attempts);

/* What its converter notes goes to the client, too. */
void submission_note(submission_t *c, const char *text);

#endif
