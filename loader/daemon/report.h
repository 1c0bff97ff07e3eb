/*
 * report.h - reports of crash uploads, for clients that answer them.
 *
 * A worker deposits the upload in a file of its own.  The converter makes a report
 * of it (artifacts/crash), which is appended to that file; nothing is stored.
 */
#ifndef SYMLOADER_DAEMON_REPORT_H
#define SYMLOADER_DAEMON_REPORT_H

#include "daemon/submission.h"

/* Prepares the conversion.  False: *err is the reason. */
bool report_begin(submission_t *c, sym_error_t *err);

/* Appends the report to the file, and sends its length to the client. */
void report_ended(submission_t *c, const conversion_end_t *how);

#endif
