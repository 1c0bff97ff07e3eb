/*
 * supplement.h - supplementary files (dwz) of fetched modules.
 *
 * The debug files of a package share one supplementary file, which sources have
 * under its own build id.  A converter that needs it drops its file, because it
 * would block other conversions.  One of the clients waiting for the module
 * must fetch the supplementary file (a FETCH with its role).  When it arrives,
 * all modules that waited for it are converted again.  Recently used files are
 * kept for other modules.  They have their own part of the room for temporary
 * files, so they and modules never wait for each other.
 *
 * If no source has the file, the module is converted without it.  If it could
 * not be fetched, the module has failed, and is retried soon.
 */
#ifndef SYMLOADER_DAEMON_SUPPLEMENT_H
#define SYMLOADER_DAEMON_SUPPLEMENT_H

#include "daemon/submission.h"

typedef struct {
    conversions_t *conversions;
    places_t *places;
    supplement_t *first;
    uint64_t room;  /* bytes */
    uint64_t taken; /* bytes of leases and kept files */
    unsigned n_kept, n_fetching;
    uint64_t uses, elections;
    int64_t fetch_timeout_ms;
} supplements_t;

/* Callback `companion` for a fetched file. */
int supplement_give(supplements_t *all, submission_t *c,
                    const sym_companion_t *want, converter_given_t *given);

/* Call this when the conversion ends. */
void supplement_leave(submission_t *c);

/*
 * Handles INGEST, NONE and MORE from a client that was elected for a
 * supplementary file; takes ownership of fd.  False: it was not elected, so the
 * message is about its own module.
 */
bool supplements_answer(supplements_t *all, const waiter_t *w,
                        const sym_rpc_message_t *m, int fd);

/* Whether a module is being made with, or without, a file that was looked for at
 * this path: places_hash(). */
bool supplement_was_at(const submission_t *c, uint64_t path);

/* Drops files that came from this path. */
void supplements_changed(supplements_t *all, uint64_t path);

/* Elects clients for requested files for which there is room. */
void supplements_send(supplements_t *all, int64_t now);

/* Revokes elections that have timed out. */
void supplements_expire(supplements_t *all, int64_t now);

/* Drops all files; no conversion may be left. */
void supplements_free(supplements_t *all);

#endif
