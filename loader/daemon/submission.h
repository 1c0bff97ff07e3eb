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

/* To one module: a map of UUIDs, the symbol map that it names, and a map of C#
 * lines. */
#define SUPPLEMENTS_MAX 3

typedef struct {
    conversion_t conversion;

    uint64_t offset; /* of the bytes in the file */
    bool is_offer;   /* another source may have better symbols */
    bool is_rated;   /* the client wants to know what it was ... */
    bool goes_on;    /* ... and offers all that there is */
    uint32_t rated;  /* so: SYM_RPC_RATED and others */
    bool can_ask;    /* the client opens companions of the file */
    char text[SYM_RPC_SOURCE_MAX + 1 + SYM_RPC_ATTEMPTS_MAX]; /* source and
                                                                  attempts */

    /* waiting: the clients of an in-flight request, or one client */
    inflight_t *inflight;
    fetch_result_t outcome; /* for them; state 0: not known yet */
    uint64_t lease;
    sym_rpc_ttl_t ttl;
    client_t *client;
    uint32_t ticket;

    /* used by supplement.c; conversion.is_held while it waits for one */
    supplement_t *supplements[SUPPLEMENTS_MAX]; /* asked for so far */
    unsigned n_supplements;
    supplement_t *awaited; /* of these, while it is held */
    uint32_t without;      /* 1 << kind: no source has it */

    /* used by companion_requests.c */
    bool is_asking;
    int64_t asked_at_ms, waited_ms;
} submission_t;

/* Iterates over conversions that are all submissions; NULL: the end. */
submission_t *submission_first(const conversions_t *all);
submission_t *submission_next(const submission_t *c);

/*
 * Makes one of m (an INGEST or DEPOSIT) and its descriptor, which it owns even
 * if it fails.  NULL: *err says why; any status but SYM_NOMEM means a bad
 * descriptor.
 */
submission_t *submission_create(const sym_rpc_message_t *m, int fd,
                                sym_error_t *err);

/* Checks that fd is a regular file with the bytes that m says, and seeks to the
 * first of them.  Closes it on failure; -1: this process had none free for it. */
sym_status_t submission_check_descriptor(int fd, const sym_rpc_message_t *m,
                                         sym_error_t *err);

/* Adds lines for the module's record; lines that do not fit are left out. */
void submission_add_attempts(submission_t *c, sym_str_t attempts);

/* Passes a note of its converter on to the client, too. */
void submission_note(submission_t *c, const char *text);

#endif
