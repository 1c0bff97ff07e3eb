/*
 * ppdb_facts.h - what an artifact of kind `ppdb` says of itself.
 */
#ifndef SYM_ARTIFACTS_PPDB_READ_PPDB_FACTS_H
#define SYM_ARTIFACTS_PPDB_READ_PPDB_FACTS_H

#include "artifacts/kinds.h"

/* Of a row in artifacts/kinds.c. */
const char *sym_ppdb_quality_name(unsigned quality);
sym_status_t sym_ppdb_verify(const sym_extent_source_t *extents,
                             sym_error_t *err);
sym_status_t sym_ppdb_describe(const sym_extent_source_t *extents,
                               const sym_kind_facts_t *facts, sym_error_t *err);

#endif
