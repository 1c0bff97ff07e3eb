/*
 * key.h - the key of an object in the bucket that the nodes of a fleet share.
 *
 *     SOURCE/PATH.symart
 *
 * SOURCE and PATH are those of a file.  The object is an artifact file
 * (artifacts/artifact_file.h) with all artifacts that were made from it, also
 * those of several versions: nodes take what they can read.
 */
#ifndef SYM_SHARE_KEY_H
#define SYM_SHARE_KEY_H

#include "sources/paths/plan.h"

#define SYM_SHARE_KEY_MAX SYM_SOURCE_PATH_MAX

/* Content type of a peer's answer.  If that is empty, there is no such file:
 * another server's empty answer does not mean that. */
#define SYM_PEER_TYPE "application/vnd.symbolicate.artifact"

/* Writes the key; returns its length.  0: it would be too long. */
size_t sym_share_key(sym_str_t source, sym_str_t path,
                     char out[SYM_SHARE_KEY_MAX]);

#endif
