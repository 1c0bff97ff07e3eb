/*
 * rank_of.h - a stored artifact as an entry of the list of those that a fleet
 * uses most (ranks.h).
 */
#ifndef SYM_SHARE_RANK_OF_H
#define SYM_SHARE_RANK_OF_H

#include "share/ranks.h"
#include "sources/paths/plan.h"
#include "store/artifact_head.h"

/*
 * Makes the entry of an artifact that other nodes may have, with a reference by
 * which they find its path: a view of `ref`.  False: it is not shared, or no
 * reference is made of its ids that leads to the path.
 */
bool sym_rank_of(sym_arena_t *arena, sym_str_t source,
                 const sym_source_rules_t *rules,
                 const sym_object_record_t *record, char ref[SYM_REF_BYTES_MAX],
                 sym_rank_t *rank);

#endif
