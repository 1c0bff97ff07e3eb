/*
 * order.h - chooses the winner of several files of one module.
 *
 * Files are converted in parallel and end in any order, but the result must not
 * depend on that: among equal qualities the file named last wins.  So a file
 * that ends checks whether a later one of its module ended before it.  Only
 * entries that a running job may need are kept.
 */
#ifndef SYMLOADER_DRIVER_ORDER_H
#define SYMLOADER_DRIVER_ORDER_H

#include "artifacts/kinds.h"
#include "object/module_key.h"

typedef struct order_entry_s order_entry_t;

typedef struct {
    order_entry_t *newest; /* list by sequence, newest first */
} order_t;

/* Whether a file after number `sequence` has already ended with this module's
 * artifact. */
bool order_has_later(const order_t *order, const sym_module_key_t *key,
                     sym_kind_t kind, uint64_t sequence);

/* Records that file number `sequence` ended with the module.  False: out of
 * memory. */
bool order_note(order_t *order, const sym_module_key_t *key, sym_kind_t kind,
                uint64_t sequence);

/* Records that every file up to number `sequence` has ended. */
void order_forget(order_t *order, uint64_t sequence);

#endif
