/*
 * companion_requests.h - the client that handed a file over opens the files that go with
 * it.
 *
 * The daemon may not be able to read them, and must not be led to them by what
 * a file says: the client knows which folders were meant (companions.h).  So a
 * converter's question goes on to the client, and the descriptor that comes
 * back to the converter.  A client that does not answer in time is asked no
 * more, for none of its files: they are read without what they lack, and a
 * note says so.
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
