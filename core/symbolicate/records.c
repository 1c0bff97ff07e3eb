#include "symbolicate/state.h"

void
sym_resolver_record(sym_resolver_t *r, sym_str_t scope,
                    const sym_object_ref_t *ref, sym_kind_t kind,
                    sym_records_pt each, void *ctx)
{
    sym_object_record_t record;
    sym_error_t err = { 0 };
    sym_status_t rc = SYM_NOT_FOUND;

    if (r->snapshot != NULL) {
        rc = sym_snapshot_object(r->snapshot, scope, ref, kind, &record, &err);
    }
    if (rc == SYM_NOT_FOUND && r->snapshot != NULL) {
        rc =
            sym_snapshot_negative(r->snapshot, scope, ref, kind, &record, &err);
    }
    r->damaged += rc != SYM_OK && rc != SYM_NOT_FOUND;
    each(ctx, scope, rc == SYM_OK ? &record : NULL);
}


sym_str_t
sym_resolver_file(sym_resolver_t *r, sym_str_t scope,
                  const sym_object_record_t *record)
{
    return sym_snapshot_source(r->snapshot, scope, record);
}


void
sym_resolver_records(sym_resolver_t *r, const sym_object_ref_t *ref,
                     sym_kind_t kind, sym_records_pt each, void *ctx)
{
    for (uint32_t i = 0; i < r->scopes->n; i++) {
        sym_resolver_record(r, r->scopes->names[i], ref, kind, each, ctx);
    }
}
