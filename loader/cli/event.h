/*
 * event.h - converts an event from Sentry to a request to Sentry's native API.
 */
#ifndef SYMLOADER_CLI_EVENT_H
#define SYMLOADER_CLI_EVENT_H

#include "base/error.h"
#include "base/str.h"

/*
 * Writes the request to *request, which the caller frees.  text: an event
 * (JSON), or a request; `is_offline` removes the sources of a request.  From an
 * event it uses the stacks of exceptions and threads (preferably raw ones), and
 * the native images.  NULL: *err has the reason.
 */
char *event_request(sym_str_t text, bool is_offline, size_t *len,
                    sym_error_t *err);

#endif
