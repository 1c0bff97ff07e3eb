/*
 * event.h - converts an event as stored by Sentry to a request to its native
 * API.
 */
#ifndef SYMLOADER_CLI_EVENT_H
#define SYMLOADER_CLI_EVENT_H

#include "base/error.h"
#include "base/str.h"

/*
 * Writes the request to *request, which the caller frees.  text: an event
 * (JSON), or a request, which loses its sources if `is_offline`.  From an event
 * it takes the stacks of exceptions and threads, raw ones preferred, and the
 * native images.  NULL: *err says why.
 */
char *event_request(sym_str_t text, bool is_offline, size_t *len,
                    sym_error_t *err);

#endif
