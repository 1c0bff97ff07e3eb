/*
 * submission.h - a file submitted by a client, and the clients that wait for
 * it.
 */
#ifndef SYMLOADER_DAEMON_SUBMISSION_H
#define SYMLOADER_DAEMON_SUBMISSION_H

#include "daemon/client.h"
#include "daemon/places.h"
#include "driver/conversion.h"

typedef struct supplement_s supplement_t;
struct upload_s;

/* Maximum for one module: a map of UUIDs, the symbol map that it refers to, and
 * a map of C# lines. */
#define SUPPLEMENTS_MAX 3

typedef struct {
    conversion_t conversion;

    uint64_t offset; /* start of the bytes in the file */
    place_file_t file;
    bool is_unusable; /* an artifact of it could not be made */
    bool can_ask;     /* the client can open companions of the file */
    bool is_made;     /* its output goes to the client as a file: made_file.h */
    bool is_report;   /* a crash upload; its report is written to the file */
    struct upload_s *upload; /* the upload, or one file of it; or NULL */
    char text[SYM_RPC_SOURCE_MAX + 1]; /* the source */
    char reference[SYM_RPC_REFERENCE_MAX];

    /* waiting clients: those of an in-flight request, or one client */
    inflight_t *inflight;
    fetch_result_t outcome; /* outcome for the waiting clients; state 0: not
                               known yet */
    uint64_t lease;
    sym_rpc_ttl_t ttl;
    client_t *client;
    uint32_t ticket;

    /* used by supplement.c; conversion.is_held while it waits for one */
    supplement_t *supplements[SUPPLEMENTS_MAX]; /* requested so far */
    unsigned n_supplements;
    supplement_t *awaited; /* the one that it waits for, while it is held */
    uint32_t without;      /* kinds that no source has: 1 << kind */

    /* used by companion_requests.c */
    bool is_asking;
    int64_t asked_at_ms, waited_ms;
} submission_t;

/* Iterates over conversions that are all submissions; NULL: the end. */
submission_t *submission_first(const conversions_t *all);
submission_t *submission_next(const submission_t *c);

/*
 * Makes a submission from m (an INGEST or DEPOSIT) and its descriptor, which it
 * owns even on failure.  NULL: *err has the reason; any status but SYM_NOMEM
 * means a bad descriptor.
 */
submission_t *submission_create(const sym_rpc_message_t *m, int fd,
                                sym_error_t *err);

/* Checks that fd is a regular file that contains the range in m, and seeks to
 * its start.  Closes fd on failure.  fd -1: this process had no free
 * descriptor. */
sym_status_t submission_check_descriptor(int fd, const sym_rpc_message_t *m,
                                         sym_error_t *err);

/* Also passes a note of its converter on to the client. */
void submission_note(submission_t *c, const char *text);

#endif
