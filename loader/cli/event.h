/*
 * event.h - an event as Sentry keeps it, as a request to its native API.
 */
#ifndef SYMLOADER_CLI_EVENT_H
#define SYMLOADER_CLI_EVENT_H

#include "base/error.h"
#include "base/str.h"

/*
 * Writes the request to *request, which is the caller's to free().  text: an
 * event (JSON), or a request, which comes back without its sources if
 * `is_offline`.  Of an event come the stacks of its exceptions and threads, the
 * raw ones first, and its native images.  NULL: *err says why.
 */
char *event_request(sym_str_t text, bool is_offline, size_t *len,
                    sym_error_t *err);

#endif
