/*
 * companion_requests.h - asks the client that handed a file over for its
 * companions.
 *
 * The daemon may not be able to read companions, and must not open paths that
 * a file names: the client knows which folders were meant (companion_files.h).
 * So a converter's question is passed on to the client, and the client's
 * descriptor to the converter.  A client that does not answer in time gets no
 * further questions, for any of its files: they are read without companions,
 * and a note says so.
 */
#ifndef SYMLOADER_DAEMON_COMPANION_REQUESTS_H
#define SYMLOADER_DAEMON_COMPANION_REQUESTS_H

#include "daemon/submission.h"

/* The companion event of a file that a client deposited. */
int companion_request(submission_t *c, const sym_companion_t *want,
                      converter_given_t *given);

/* GIVEN, with its descriptor or -1. */
void companion_requests_answer(conversions_t *all, const client_t *client,
                               const sym_rpc_message_t *m, int fd);

/* The client of c goes away. */
void companion_requests_leave(submission_t *c);

/* Once a second or so. */
void companion_requests_expire(conversions_t *all, int64_t now);

#endif
