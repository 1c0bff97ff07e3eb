/*
 * heal.h - modules whose stored bytes are damaged.
 *
 * A worker that reads damaged bytes counts the module as missing and asks for
 * it. So a question for a stored module means that it was stored just now or
 * that it is damaged: the module's checksums are verified, and it is removed
 * if they are wrong.
 */
#ifndef SYMLOADER_DAEMON_HEAL_H
#define SYMLOADER_DAEMON_HEAL_H

#include "store/write.h"

#define HEAL_REMEMBERED 64

typedef struct {
    uint64_t module_id; /* 0: none */
    int64_t at_ms;
} heal_sound_t;

typedef struct {
    sym_store_t *store;
    heal_sound_t sound[HEAL_REMEMBERED]; /* by module id */
} heal_t;

/*
 * Before a module is fetched or said to be ready: of its source, and what was
 * loaded by hand.  Of the latter a record stays that says why it is gone.
 */
sym_status_t heal_module(heal_t *h, const sym_module_key_t *key, int64_t now_ms,
                         sym_error_t *err);

#endif
