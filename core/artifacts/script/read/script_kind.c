#include "artifacts/kinds.h"
#include "artifacts/script/read/script.h"

static const char *
quality_name(unsigned quality)
{
    return quality >= SYM_SCRIPT_FUNCTIONS ? "functions" : "text";
}


static sym_status_t
verify(const sym_extent_source_t *extents, uint32_t *n, sym_error_t *err)
{
    sym_script_t s;
    sym_status_t rc = sym_script_open(&s, extents->get, extents->ctx, err);

    *n = s.in.n;
    return rc == SYM_OK ? sym_script_check(&s, err) : rc;
}


static sym_status_t
describe(const sym_extent_source_t *extents, const sym_kind_facts_t *facts,
         sym_error_t *err)
{
    sym_script_t s;
    sym_str_t reference;
    sym_status_t rc = sym_script_open(&s, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    if (sym_script_reference(&s, &reference) == SYM_OK) {
        facts->text(facts->ctx, "source_map", reference);
    }

    facts->text(facts->ctx, "has_debug_id",
                sym_cstr(s.debug_id.form != SYM_DEBUG_ID_NONE ? "yes" : "no"));
    facts->number(facts->ctx, "functions", s.n_scopes);
    return SYM_OK;
}


const sym_kind_row_t sym_script_kind = {
    .kind = SYM_KIND_SCRIPT,
    .name = "script",
    .version = SYM_SCRIPT_VERSION,
    .oldest = SYM_SCRIPT_VERSION,
    .good = SYM_SCRIPT_TEXT,
    .quality_name = quality_name,
    .verify = verify,
    .describe = describe,
};
