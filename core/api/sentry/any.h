/*
 * any.h - POST /symbolicate-any: for a crash report at a URL.
 *
 * The body contains the URL, the kind of report, options and sources.  The
 * server fetches the file.  Then another request for this kind of report
 * continues with the file, and with the options and sources.
 */
#ifndef SYM_API_SENTRY_ANY_H
#define SYM_API_SENTRY_ANY_H

#include "api/registry.h"
#include "api/sentry/sentry.h"

extern const sym_request_ops_t sentry_any_ops;

/* Copies options and sources from the request that named the file. */
void sentry_go_on(sentry_t *s, const sym_request_t *linked);

#endif
