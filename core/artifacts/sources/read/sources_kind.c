#include "artifacts/kinds.h"
#include "artifacts/sources/read/sources.h"

static const char *
quality_name(unsigned quality)
{
    return quality == SYM_SOURCES_LINKS ? "source links" : "sources";
}


static sym_status_t
verify(const sym_extent_source_t *extents, uint32_t *n, sym_error_t *err)
{
    sym_sources_t s;
    sym_status_t rc = sym_sources_open(&s, extents->get, extents->ctx, err);

    *n = s.n_extents;
    return rc == SYM_OK ? sym_sources_check(&s, err) : rc;
}


static sym_status_t
describe(const sym_extent_source_t *extents, const sym_kind_facts_t *facts,
         sym_error_t *err)
{
    sym_sources_t s;
    sym_status_t rc = sym_sources_open(&s, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    facts->number(facts->ctx, "paths", s.n_files);
    facts->number(facts->ctx, "links", s.n_links);
    facts->number(facts->ctx, "text_bytes", s.text_bytes);
    facts->number(facts->ctx, "left_out", s.left_out);
    return SYM_OK;
}


const sym_kind_row_t sym_sources_kind = {
    .kind = SYM_KIND_SOURCES,
    .name = "sources",
    .version = SYM_SOURCES_VERSION,
    .oldest = SYM_SOURCES_VERSION,
    .files = { [SYM_OBJECT_UNKNOWN] = SYM_FILES_BUNDLES,
               [SYM_OBJECT_ELF] = SYM_FILES_BUNDLES,
               [SYM_OBJECT_MACHO] = SYM_FILES_BUNDLES,
               [SYM_OBJECT_PE] = SYM_FILES_BUNDLES,
               [SYM_OBJECT_PE_DOTNET] =
                   SYM_FILES_BUNDLES | SYM_FILE(PORTABLE_PDB),
               [SYM_OBJECT_WASM] = SYM_FILES_BUNDLES },
    .features = SYM_FEATURE_SOURCES,
    .good = SYM_SOURCES_TEXTS,
    .quality_name = quality_name,
    .verify = verify,
    .describe = describe,
};
