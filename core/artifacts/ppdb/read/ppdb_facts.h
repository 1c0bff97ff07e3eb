/*
 * ppdb_facts.h - the functions of kind `ppdb` in the table of kinds.
 */
#ifndef SYM_ARTIFACTS_PPDB_READ_PPDB_FACTS_H
#define SYM_ARTIFACTS_PPDB_READ_PPDB_FACTS_H

#include "artifacts/kinds.h"

/* Members of its row in artifacts/kinds.c; artifacts/kinds.h describes them. */
const char *sym_ppdb_quality_name(unsigned quality);
sym_status_t sym_ppdb_verify(const sym_extent_source_t *extents,
                             sym_error_t *err);
sym_status_t sym_ppdb_describe(const sym_extent_source_t *extents,
                               const sym_kind_facts_t *facts, sym_error_t *err);

#endif
