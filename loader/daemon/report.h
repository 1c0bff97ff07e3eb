/*
 * report.h - reports of crash uploads, for clients that answer with them.
 *
 * A worker sends the upload in a separate file.  The converter makes a report
 * (artifacts/crash), which is appended to that file; nothing is stored.
 */
#ifndef SYMLOADER_DAEMON_REPORT_H
#define SYMLOADER_DAEMON_REPORT_H

#include "daemon/submission.h"

/* Prepares the conversion.  False: *err has the reason. */
bool report_begin(submission_t *c, sym_error_t *err);

/* Appends the report to the file, and sends its length to the client. */
void report_ended(submission_t *c, const conversion_end_t *how);

#endif
