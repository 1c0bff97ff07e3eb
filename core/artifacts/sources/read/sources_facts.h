/*
 * sources_facts.h - what an artifact of kind `sources` says of itself.
 */
#ifndef SYM_ARTIFACTS_SOURCES_READ_SOURCES_FACTS_H
#define SYM_ARTIFACTS_SOURCES_READ_SOURCES_FACTS_H

#include "artifacts/kinds.h"

/* Of a row in artifacts/kinds.c. */
const char *sym_sources_quality_name(unsigned quality);
sym_status_t sym_sources_verify(const sym_extent_source_t *extents,
                                sym_error_t *err);
sym_status_t sym_sources_describe(const sym_extent_source_t *extents,
                                  const sym_kind_facts_t *facts,
                                  sym_error_t *err);

#endif
