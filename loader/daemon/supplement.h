/*
 * supplement.h - dwz's supplementary files of what workers have fetched.
 *
 * The debug files of a package share one supplementary file, which sources
 * have under its own build id.  A converter that asks for it drops its file,
 * since it would block other conversions.  One of the clients that wait for
 * the module is told to fetch the supplementary file (ALSO).  When it has
 * come, all modules that waited for it are converted again.  Recently used
 * files are kept for further modules.  They have a part of the room for
 * temporary files which modules never take, so neither waits for the other.
 *
 * If no source has the file, the module is converted without it.  If it could
 * not be fetched, the module has failed, and is asked for again soon.
 */
#ifndef SYMLOADER_DAEMON_SUPPLEMENT_H
#define SYMLOADER_DAEMON_SUPPLEMENT_H

#include "daemon/submission.h"

typedef struct {
    conversions_t *conversions;
    supplement_t *first;
    uint64_t room;  /* bytes */
    uint64_t taken; /* of them: by leases, and by files that are kept */
    unsigned n_kept, n_fetching;
    uint64_t uses, elections;
    int64_t fetch_timeout_ms;
} supplements_t;

/* The companion event of a file that was fetched. */
int supplement_give(supplements_t *all, submission_t *c,
                    const sym_companion_t *want, converter_given_t *given);

/* The conversion ends. */
void supplement_leave(submission_t *c);

/*
 * INGEST, OFFER, NONE, MORE of a client that was sent; takes fd over.  False:
 * it was not, the message is about something else.
 */
bool supplements_answer(supplements_t *all, const waiter_t *w,
                        const sym_rpc_message_t *m, int fd);

/* Sends clients for what is wanted and has room. */
void supplements_send(supplements_t *all, int64_t now);

/* Takes errands back that are over their time. */
void supplements_expire(supplements_t *all, int64_t now);

/* Drops all; no conversion is left. */
void supplements_free(supplements_t *all);

#endif
