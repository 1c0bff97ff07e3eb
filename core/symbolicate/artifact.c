#include "symbolicate/artifact.h"

#include "symbolicate/state.h"

static sym_status_t
find_once(sym_resolver_t *r, const sym_lookup_t *of,
          sym_artifact_found_t *artifact, sym_missing_t *missing)
{
    sym_choice_t choice;
    sym_status_t rc = sym_resolver_choose(r, of, &choice, missing);
    const uint8_t *data;
    size_t len;

    if (rc != SYM_OK) {
        return rc;
    }

    if (choice.state != SYM_MODULE_READY) {
        return sym_resolver_tell(r, &choice, missing);
    }

    artifact->id = choice.record.module_id;
    artifact->n_extents = choice.record.extents;
    artifact->debug_id = choice.record.object.debug_id;
    artifact->source = sym_arena_copy(
        r->arena,
        sym_snapshot_source(r->snapshot, r->scopes->names[choice.source],
                            &choice.record));
    if (artifact->source.data == NULL) {
        return SYM_NOMEM;
    }

    artifact->has_digest = choice.record.object.has_digest;
    memcpy(artifact->digest, choice.record.object.digest,
           sizeof(artifact->digest));
    return sym_artifact_extent(artifact, 0, &data, &len);
}


/* Skips a damaged artifact, because another source may have a good one. */
sym_status_t
sym_artifact_find(sym_resolver_t *r, sym_str_t scope, const sym_lookup_t *of,
                  sym_artifact_found_t *artifact, sym_missing_t *missing)
{
    const sym_scopes_t *all = r->scopes;
    const sym_scopes_t one = { .names = &scope, .n = 1 };
    bool was_unsound = r->is_unsound;
    sym_status_t rc = r->snapshot != NULL ? SYM_DAMAGED : SYM_NOT_FOUND;

    r->scopes = scope.len != 0 ? &one : all;
    for (uint32_t i = 0; i <= r->scopes->n && r->snapshot != NULL; i++) {
        sym_status_t found;

        *artifact = (sym_artifact_found_t){ .resolver = r };
        *missing = (sym_missing_t){ 0 };
        found = find_once(r, of, artifact, missing);

        if (!artifact->is_unsound) {
            r->scopes = all;
            return found;
        }

        r->is_unsound = was_unsound;
    }

    r->scopes = all;
    *artifact = (sym_artifact_found_t){ .resolver = r };
    return rc;
}


sym_status_t
sym_artifact_extent(void *ctx, uint32_t number, const uint8_t **data,
                    size_t *len)
{
    sym_artifact_found_t *artifact = ctx;
    sym_resolver_t *r = artifact->resolver;
    sym_status_t rc =
        sym_snapshot_extent_sound(r->snapshot, artifact->id, number, data, len);

    if (rc == SYM_DAMAGED && !artifact->is_unsound) {
        artifact->is_unsound = true;
        r->is_unsound = true;
        r->damaged++;
    }

    return rc;
}


bool
sym_artifact_is_lost(const sym_artifact_found_t *artifact)
{
    const uint8_t *data;
    size_t len;

    return sym_snapshot_extent(artifact->resolver->snapshot, artifact->id, 0,
                               &data, &len)
           != SYM_OK;
}
