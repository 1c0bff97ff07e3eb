/*
 * heal.h - modules whose stored bytes are damaged.
 *
 * A worker that reads damaged bytes treats the module as missing and requests
 * it.  So a request for a stored module means that it was stored just now, or
 * that it is damaged.  Its checksums are verified, and it is removed if they
 * are wrong.
 */
#ifndef SYMLOADER_DAEMON_HEAL_H
#define SYMLOADER_DAEMON_HEAL_H

#include "store/write_object.h"

#define HEAL_REMEMBERED 64

typedef struct {
    uint64_t module_id; /* 0: none */
    int64_t at_ms;
} heal_sound_t;

typedef struct {
    sym_store_t *store;
    heal_sound_t sound[HEAL_REMEMBERED]; /* sorted by module id */
} heal_t;

/*
 * Call this before a module is fetched or reported as ready.  It checks the
 * module of the key's source, and the one loaded by hand.  If the latter is
 * removed, a record says why.
 */
sym_status_t heal_module(heal_t *h, sym_str_t scope,
                         const sym_object_ref_t *ref, int64_t now_ms,
                         sym_error_t *err);

#endif
