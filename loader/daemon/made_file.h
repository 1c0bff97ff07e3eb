/*
 * made_file.h - files that are made from other files, for clients that serve
 * them.
 *
 * A worker sends a file from a source (MAKE).  The converter unpacks it, cuts
 * out a section, or writes its symbols as text.  The worker gets a descriptor
 * of the result, a file without a name.  Nothing is stored.
 */
#ifndef SYMLOADER_DAEMON_MADE_FILE_H
#define SYMLOADER_DAEMON_MADE_FILE_H

#include "daemon/submission.h"

/* Prepares the conversion to a file in the folder, which is the store's.
 * False: *err has the reason. */
bool made_file_begin(submission_t *c, const sym_rpc_message_t *m,
                     const char *folder, sym_error_t *err);

/* Sends the new file to the client. */
void made_file_ended(submission_t *c, const conversion_end_t *how);

#endif
