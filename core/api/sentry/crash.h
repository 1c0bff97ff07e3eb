/*
 * crash.h - requests for crash reports, which this API's routes name and other
 * folders define.
 */
#ifndef SYM_API_SENTRY_CRASH_H
#define SYM_API_SENTRY_CRASH_H

#include "api/registry.h"

/* core/api/apple */
extern const sym_request_ops_t apple_ops;
bool apple_init(sym_request_t *r, const sym_api_call_t *call);

#endif
