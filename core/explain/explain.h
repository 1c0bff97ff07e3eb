/*
 * explain.h - what the store knows of one module, as JSON.
 *
 * For whoever asks why a module has no symbols, or which it has.  What the
 * members mean: docs/directives.md, symbolicate_admin.
 */
#ifndef SYM_EXPLAIN_EXPLAIN_H
#define SYM_EXPLAIN_EXPLAIN_H

#include "base/module_key.h"
#include "json/out.h"
#include "store/store.h"

/* No text is longer, whatever a record says: its texts have limits (docs/store.md,
 * section 2), a byte may take six, and an attempt of ten bytes has 80 of keys. */
#define SYM_EXPLAIN_MAX (48 * 1024)

void sym_explain_write(const sym_module_key_t *key,
                       const sym_module_record_t *record, uint32_t now_s,
                       sym_out_t *out);

/* Nothing is known of it. */
void sym_explain_unknown(const sym_module_key_t *key, sym_out_t *out);

#endif
