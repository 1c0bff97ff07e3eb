/*
 * any.h - POST /symbolicate-any: a crash report that is at a URL.
 *
 * The body names the file.  The server fetches it, and another request, for the
 * kind of report that the body says, goes on with it and with the options and
 * sources of the body.
 */
#ifndef SYM_API_SENTRY_ANY_H
#define SYM_API_SENTRY_ANY_H

#include "api/registry.h"
#include "api/sentry/sentry.h"

extern const sym_request_ops_t sentry_any_ops;

/* Copies options and sources from the request that named the file. */
void sentry_go_on(sentry_t *s, const sym_request_t *linked);

#endif
