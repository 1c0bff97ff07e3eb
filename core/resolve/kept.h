/*
 * kept.h - what a worker keeps over requests for one open store.
 *
 * Belongs to that store and goes with it: ids of modules mean nothing in
 * another.  Nothing kept here holds pages of the store.
 */
#ifndef SYM_RESOLVE_KEPT_H
#define SYM_RESOLVE_KEPT_H

#include "resolve/known.h"
#include "resolve/recent.h"

typedef struct {
    sym_recent_t *recent; /* answers */
    sym_known_t *known;   /* modules */
} sym_kept_t;

/* With room for so many bytes of answers.  NULL when out of memory. */
sym_kept_t *sym_kept_create(size_t answer_bytes);
void sym_kept_free(sym_kept_t *kept);

#endif
