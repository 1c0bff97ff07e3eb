#include "artifacts/sources/read/sources_facts.h"

#include "artifacts/sources/read/sources.h"

const char *
sym_sources_quality_name(unsigned quality)
{
    return quality == SYM_SOURCES_LINKS ? "source links" : "sources";
}


sym_status_t
sym_sources_verify(const sym_extent_source_t *extents, sym_error_t *err)
{
    sym_sources_t s;
    sym_status_t rc = sym_sources_open(&s, extents->get, extents->ctx, err);

    if (rc == SYM_OK && s.n_extents != extents->n) {
        return sym_fail(err, SYM_DAMAGED,
                        "the sources have another number of extents");
    }

    return rc == SYM_OK ? sym_sources_check(&s, err) : rc;
}


sym_status_t
sym_sources_describe(const sym_extent_source_t *extents,
                     const sym_kind_facts_t *facts, sym_error_t *err)
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
