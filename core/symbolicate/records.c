#include "symbolicate/state.h"

void
sym_resolver_records(sym_resolver_t *r, const sym_module_key_t *key,
                     sym_kind_t kind, sym_records_pt each, void *ctx)
{
    for (uint32_t i = 0; i < r->scopes->n; i++) {
        sym_module_key_t one = *key, found;
        sym_module_record_t record;
        sym_error_t err = { 0 };
        sym_status_t rc;

        one.scope = r->scopes->names[i];
        rc = r->snapshot != NULL ? sym_snapshot_find_any(
                 r->snapshot, &one, kind, &found, &record, &err)
                                 : SYM_NOT_FOUND;
        r->damaged += rc != SYM_OK && rc != SYM_NOT_FOUND;
        each(ctx, one.scope, rc == SYM_OK ? &record : NULL);
    }
}
