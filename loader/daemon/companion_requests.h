/*
 * companion_requests.h - requests companions from the client that submitted a
 * file.
 *
 * The daemon may not be able to read companions, and must not open paths that a
 * file contains.  The client knows in which folders they can be
 * (companion_files.h).  So the converter's request is passed on to the client,
 * and the client's descriptor to the converter.  A client that does not answer
 * in time gets no more requests for any of its files.  Its files are then read
 * without companions, which a note reports.
 */
#ifndef SYMLOADER_DAEMON_COMPANION_REQUESTS_H
#define SYMLOADER_DAEMON_COMPANION_REQUESTS_H

#include "daemon/submission.h"

/* Callback `companion` for a deposited file. */
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
