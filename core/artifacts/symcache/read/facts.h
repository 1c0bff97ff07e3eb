/*
 * facts.h - a symcache as a kind of artifact: what it says of itself.
 */
#ifndef SYM_ARTIFACTS_SYMCACHE_READ_FACTS_H
#define SYM_ARTIFACTS_SYMCACHE_READ_FACTS_H

#include "artifacts/kinds.h"

sym_status_t sym_symcache_verify(const sym_extent_source_t *extents,
                                 sym_error_t *err);
sym_status_t sym_symcache_describe(const sym_extent_source_t *extents,
                                   const sym_kind_facts_t *facts,
                                   sym_error_t *err);

#endif
