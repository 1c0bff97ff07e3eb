#include "symbolicate/state.h"

void
sym_resolver_records(sym_resolver_t *r, const sym_object_ref_t *ref,
                     sym_kind_t kind, sym_records_pt each, void *ctx)
{
    for (uint32_t i = 0; i < r->scopes->n; i++) {
        sym_str_t scope = r->scopes->names[i];
        sym_object_record_t record;
        sym_error_t err = { 0 };
        sym_status_t rc = SYM_NOT_FOUND;

        if (r->snapshot != NULL) {
            rc = sym_snapshot_object(r->snapshot, scope, ref, kind, &record,
                                     &err);
        }

        r->damaged += rc != SYM_OK && rc != SYM_NOT_FOUND;
        each(ctx, i, scope, rc == SYM_OK ? &record : NULL);
    }
}


sym_status_t
sym_resolver_objects(sym_resolver_t *r, sym_str_t scope, sym_store_mark_t *mark,
                     uint64_t *records, sym_object_each_pt each, void *ctx)
{
    sym_error_t err = { 0 };
    sym_status_t rc;

    if (r->snapshot == NULL) {
        return SYM_OK;
    }

    rc = sym_snapshot_objects(r->snapshot, &scope, mark, records, each, ctx,
                              &err);
    r->damaged += rc != SYM_OK && rc != SYM_AGAIN;
    return rc;
}


static void
places(sym_resolver_t *r, const sym_scopes_t *scopes, uint32_t n,
       const sym_lookup_t *of, sym_file_order_t order, sym_place_each_pt each,
       void *ctx)
{
    sym_arena_t arena; /* a separate arena, because fn may allocate in the
                          resolver's */
    sym_error_t err = { 0 };
    unsigned n_places;

    if (r->snapshot == NULL) {
        return;
    }

    sym_arena_init(&arena, 0);
    r->damaged += sym_places_each(r->snapshot, scopes, n, of, order, &arena,
                                  each, ctx, &n_places, &err)
                  != SYM_OK;
    sym_arena_drop(&arena);
}


void
sym_resolver_places(sym_resolver_t *r, uint32_t source, const sym_lookup_t *of,
                    sym_file_order_t order, sym_place_each_pt each, void *ctx)
{
    places(r, r->scopes, source, of, order, each, ctx);
}


void
sym_resolver_url(sym_resolver_t *r, sym_str_t scope, const sym_lookup_t *of,
                 sym_place_each_pt each, void *ctx)
{
    const sym_scopes_t one = { .names = &scope, .n = 1 };

    places(r, &one, 0, of, SYM_DEBUG_FILES_FIRST, each, ctx);
}
