/*
 * companion_requests.h - asks the client that handed a file over for its
 * companions.
 *
 * The daemon may not be able to read companions, and must not open paths that a
 * file contains.  The client knows which folders are meant (companion_files.h).
 * So the converter's request is passed on to the client, and the client's
 * descriptor to the converter.  A client that does not answer in time gets no
 * further requests for any of its files.  They are read without companions, and
 * a note says so.
 */
#ifndef SYMLOADER_DAEMON_COMPANION_REQUESTS_H
#define SYMLOADER_DAEMON_COMPANION_REQUESTS_H

#include "daemon/submission.h"

/* The companion event for a deposited file. */
int companion_request(submission_t *c, const sym_companion_t *want,
                      converter_given_t *given);

/* Handles GIVEN, with its descriptor or -1. */
void companion_requests_answer(conversions_t *all, const client_t *client,
                               const sym_rpc_message_t *m, int fd);

/* Called when the client of c disconnects. */
void companion_requests_leave(submission_t *c);

/* Checks for timeouts; call it about once a second. */
void companion_requests_expire(conversions_t *all, int64_t now);

#endif
