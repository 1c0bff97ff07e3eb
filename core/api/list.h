/*
 * list.h - the APIs that are served, one row each.
 *
 * API(name): the API's folder is core/api/<name>, and one of its files defines
 * `const sym_api_t sym_<name>_api` (registry.h).  Names, counters and messages
 * have this order; the first API is the default of the directive.
 */
#ifndef SYM_API_LIST_H
#define SYM_API_LIST_H

/* clang-format off */
#define SYM_APIS(API) \
    API(tecken)       \
    API(atos)         \
    API(sentry)       \
    API(profiler)     \
    API(files)        \
    API(upload)       \
    API(profile)      \
    API(peer)
/* clang-format on */

#endif
