#include "artifacts/kinds.h"
#include "artifacts/ppdb/read/ppdb.h"

static const char *
quality_name(unsigned quality)
{
    return quality >= SYM_PPDB_LINES ? "lines" : "empty";
}


static sym_status_t
verify(const sym_extent_source_t *extents, uint32_t *n, sym_error_t *err)
{
    sym_ppdb_t p;
    sym_status_t rc = sym_ppdb_open(&p, extents->get, extents->ctx, err);

    *n = p.in.n;
    return rc == SYM_OK ? sym_ppdb_check(&p, err) : rc;
}


static sym_status_t
describe(const sym_extent_source_t *extents, const sym_kind_facts_t *facts,
         sym_error_t *err)
{
    sym_ppdb_t p;
    sym_status_t rc = sym_ppdb_open(&p, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    facts->text(facts->ctx, "has_sources",
                sym_cstr(p.has_sources ? "yes" : "no"));
    facts->number(facts->ctx, "methods", p.n_bodies);
    facts->number(facts->ctx, "points", p.n_points);
    facts->number(facts->ctx, "documents", p.n_documents);
    return SYM_OK;
}


const sym_kind_row_t sym_ppdb_kind = {
    .kind = SYM_KIND_PPDB,
    .name = "ppdb",
    .version = SYM_PPDB_VERSION,
    .oldest = SYM_PPDB_VERSION,
    .files = SYM_FILES_OF_ANY_TYPE(SYM_FILES_PDB | SYM_FILE(PORTABLE_PDB)),
    .features = SYM_FEATURE_DEBUG_INFO,
    .good = SYM_PPDB_LINES,
    .quality_name = quality_name,
    .verify = verify,
    .describe = describe,
};
