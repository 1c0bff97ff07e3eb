#include "symbolicate/made_artifact.h"

#include "symbolicate/state.h"

/* Records of absence that are still valid. */
static bool
is_absent(const sym_resolver_t *r, const sym_path_key_t *path, uint32_t *left_s)
{
    sym_path_record_t record = { .outcome = 0 };
    sym_error_t err = { 0 };

    if (sym_snapshot_path(r->snapshot, path, &record, &err) != SYM_OK
        || record.outcome != SYM_PATH_ABSENT
        || sym_has_expired(record.expires_at, record.stored_at, r->now_s))
    {
        return false;
    }

    *left_s = record.expires_at > r->now_s ? record.expires_at - r->now_s : 0;
    return true;
}


sym_status_t
sym_made_artifact(sym_resolver_t *r, const sym_object_ref_t *ref,
                  sym_kind_t kind, const sym_path_key_t *path,
                  sym_made_artifact_t *made)
{
    made->artifact = (sym_artifact_found_t){ .resolver = r };
    if (r->snapshot == NULL) {
        return SYM_UNSUPPORTED;
    }

    if (!sym_snapshot_shared(r->snapshot, path, ref, kind, &made->shared)) {
        return is_absent(r, path, &made->left_s) ? SYM_NOT_FOUND
                                                 : SYM_UNSUPPORTED;
    }

    made->artifact.id = made->shared.module_id;
    made->artifact.n_extents = made->shared.extents;
    if (made->shared.extents != 0) {
        sym_store_touch(r->store, made->shared.slot, r->now_s);
    }

    return SYM_OK;
}
