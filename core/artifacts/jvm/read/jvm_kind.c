#include "artifacts/jvm/read/jvm.h"
#include "artifacts/kinds.h"

static const char *
quality_name(unsigned quality)
{
    return quality >= SYM_JVM_LINES ? "lines" : "names";
}


static sym_status_t
verify(const sym_extent_source_t *extents, uint32_t *n, sym_error_t *err)
{
    sym_jvm_t j;
    sym_status_t rc = sym_jvm_open(&j, extents->get, extents->ctx, err);

    *n = j.in.n;
    return rc == SYM_OK ? sym_jvm_check(&j, err) : rc;
}


static sym_status_t
describe(const sym_extent_source_t *extents, const sym_kind_facts_t *facts,
         sym_error_t *err)
{
    sym_jvm_t j;
    sym_status_t rc = sym_jvm_open(&j, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    facts->number(facts->ctx, "classes", j.n_classes);
    facts->number(facts->ctx, "methods", j.n_methods);
    facts->number(facts->ctx, "members", j.n_members);
    facts->number(facts->ctx, "members_with_lines", j.n_lines);
    return SYM_OK;
}


const sym_kind_row_t sym_jvm_kind = {
    .kind = SYM_KIND_JVM,
    .name = "jvm",
    .version = SYM_JVM_VERSION,
    .oldest = SYM_JVM_VERSION,
    .files = SYM_FILES_OF_ANY_TYPE(SYM_FILE(PROGUARD)),
    .good = SYM_JVM_NAMES,
    .quality_name = quality_name,
    .verify = verify,
    .describe = describe,
};
