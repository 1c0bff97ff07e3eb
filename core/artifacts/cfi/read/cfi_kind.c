#include "artifacts/cfi/read/cfi.h"
#include "artifacts/kinds.h"

static const char *
quality_name(unsigned quality)
{
    return quality >= SYM_CFI_HAS_RULES ? "rules" : "empty";
}


static sym_status_t
verify(const sym_extent_source_t *extents, uint32_t *n, sym_error_t *err)
{
    sym_cfi_t c;
    sym_status_t rc = sym_cfi_open(&c, extents->get, extents->ctx, err);

    *n = c.in.n;
    return rc == SYM_OK ? sym_cfi_check(&c, err) : rc;
}


static sym_status_t
describe(const sym_extent_source_t *extents, const sym_kind_facts_t *facts,
         sym_error_t *err)
{
    sym_cfi_t c;
    sym_status_t rc = sym_cfi_open(&c, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    facts->text(facts->ctx, "unwind_arch",
                sym_cstr(sym_unwind_arch_name(c.arch)));
    facts->number(facts->ctx, "rows", c.n_rows);
    facts->number(facts->ctx, "rules", c.n_rules);
    return SYM_OK;
}


/* Unwind tables are in executables, so paths of code files come before paths of
 * debug files. */
const sym_kind_row_t sym_cfi_kind = {
    .kind = SYM_KIND_CFI,
    .name = "cfi",
    .version = SYM_CFI_VERSION,
    .oldest = SYM_CFI_VERSION,
    .files = SYM_FILES_OF_ANY_TYPE(SYM_FILES_SYMBOLS & ~SYM_FILE(PORTABLE_PDB)),
    .features = SYM_FEATURE_UNWIND_INFO,
    .good = SYM_CFI_HAS_RULES,
    .quality_name = quality_name,
    .verify = verify,
    .describe = describe,
};
