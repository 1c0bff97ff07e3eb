/*
 * key.h - the key of an artifact in the bucket that the nodes of a fleet share.
 *
 *     SOURCE/PATH/KIND.VERSION
 *
 * SOURCE and PATH are those of the file that it was made from, so an event for
 * that file names all of its artifacts.  Nodes of another version of the kind
 * have other keys.
 */
#ifndef SYM_SHARE_KEY_H
#define SYM_SHARE_KEY_H

#include "artifacts/kinds.h"
#include "sources/paths/plan.h"

#define SYM_SHARE_KEY_MAX SYM_SOURCE_PATH_MAX

/* Content type of a peer's answer.  If that is empty, there is no such file:
 * another server's empty answer does not mean that. */
#define SYM_PEER_TYPE "application/vnd.symbolicate.artifact"

/* Writes the key; returns its length.  0: it would be too long. */
size_t sym_share_key(sym_str_t source, sym_str_t path,
                     const sym_kind_row_t *kind, char out[SYM_SHARE_KEY_MAX]);

#endif
