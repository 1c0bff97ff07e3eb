/*
 * crash.h - requests for crash reports: this API has the routes, other folders
 * define the functions.
 */
#ifndef SYM_API_SENTRY_CRASH_H
#define SYM_API_SENTRY_CRASH_H

#include "api/registry.h"

/* core/api/apple */
extern const sym_request_ops_t apple_ops;
bool apple_init(sym_request_t *r, const sym_api_call_t *call);

#endif
