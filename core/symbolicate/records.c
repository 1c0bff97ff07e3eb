#include "symbolicate/state.h"

void
sym_resolver_record(sym_resolver_t *r, const sym_module_key_t *key,
                    sym_kind_t kind, const sym_object_ref_t *object,
                    sym_records_pt each, void *ctx)
{
    sym_module_key_t found;
    sym_module_record_t record;
    sym_error_t err = { 0 };
    sym_status_t rc = SYM_NOT_FOUND;

    if (r->snapshot != NULL) {
        rc = sym_snapshot_find_asked(r->snapshot, key, kind, object, &found,
                                     &record, &err);
    }
    r->damaged += rc != SYM_OK && rc != SYM_NOT_FOUND;
    each(ctx, key->scope, rc == SYM_OK ? &record : NULL);
}


void
sym_resolver_records(sym_resolver_t *r, const sym_module_key_t *key,
                     sym_kind_t kind, const sym_object_ref_t *object,
                     sym_records_pt each, void *ctx)
{
    for (uint32_t i = 0; i < r->scopes->n; i++) {
        sym_module_key_t one = *key;

        one.scope = r->scopes->names[i];
        sym_resolver_record(r, &one, kind, object, each, ctx);
    }
}
