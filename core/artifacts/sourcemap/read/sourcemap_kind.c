#include "artifacts/kinds.h"
#include "artifacts/sourcemap/read/sourcemap.h"

static const char *
quality_name(unsigned quality)
{
    return quality >= SYM_SOURCEMAP_MAPPED ? "mappings" : "empty";
}


static sym_status_t
verify(const sym_extent_source_t *extents, uint32_t *n, sym_error_t *err)
{
    sym_sourcemap_t s;
    sym_status_t rc = sym_sourcemap_open(&s, extents->get, extents->ctx, err);

    *n = s.in.n;
    return rc == SYM_OK ? sym_sourcemap_check(&s, err) : rc;
}


static sym_status_t
describe(const sym_extent_source_t *extents, const sym_kind_facts_t *facts,
         sym_error_t *err)
{
    sym_sourcemap_t s;
    sym_status_t rc = sym_sourcemap_open(&s, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    facts->text(facts->ctx, "has_scopes",
                sym_cstr(s.has_scopes ? "yes" : "no"));
    facts->number(facts->ctx, "tokens", s.n_tokens);
    facts->number(facts->ctx, "sources", s.n_sources);
    facts->number(facts->ctx, "names", s.n_names);
    return SYM_OK;
}


const sym_kind_row_t sym_sourcemap_kind = {
    .kind = SYM_KIND_SOURCEMAP,
    .name = "sourcemap",
    .version = SYM_SOURCEMAP_VERSION,
    .oldest = SYM_SOURCEMAP_VERSION,
    .features = SYM_FEATURE_DEBUG_INFO,
    .good = SYM_SOURCEMAP_MAPPED,
    .quality_name = quality_name,
    .verify = verify,
    .describe = describe,
};
