/*
 * proxy.h - paths of /proxy/, which are those of a Windows symbol server.
 */
#ifndef SYM_API_SENTRY_PROXY_H
#define SYM_API_SENTRY_PROXY_H

#include "base/str.h"
#include "object/object_ref.h"

/* For sym_api_route_t; registry.h describes it. */
bool sentry_read_file(sym_str_t path, sym_object_ref_t *object,
                      unsigned *files);

#endif
