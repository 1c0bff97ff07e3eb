#include "artifacts/crash/read/crash.h"
#include "artifacts/kinds.h"

/* All reports have equal quality. */
#define QUALITY 1

static const char *
quality_name(unsigned quality)
{
    return quality == QUALITY ? "report" : "unknown";
}


static sym_status_t
verify(const sym_extent_source_t *extents, uint32_t *n, sym_error_t *err)
{
    sym_arena_t arena;
    sym_crash_t crash;
    sym_status_t rc;

    *n = extents->n; /* all extents are needed, because the reader joins them */
    sym_arena_init(&arena, 0);
    rc = sym_crash_read(extents, &arena, &crash, err);
    sym_arena_drop(&arena);
    return rc;
}


static sym_status_t
describe(const sym_extent_source_t *extents, const sym_kind_facts_t *facts,
         sym_error_t *err)
{
    sym_arena_t arena;
    sym_crash_t crash;
    sym_status_t rc;

    sym_arena_init(&arena, 0);
    rc = sym_crash_read(extents, &arena, &crash, err);
    if (rc == SYM_OK) {
        facts->text(facts->ctx, "reason", crash.reason);
        facts->number(facts->ctx, "threads", crash.n_threads);
        facts->number(facts->ctx, "modules", crash.n_modules);
    }

    sym_arena_drop(&arena);
    return rc;
}


const sym_kind_row_t sym_crash_kind = {
    .kind = SYM_KIND_CRASH,
    .name = "crash",
    .version = SYM_CRASH_VERSION,
    .oldest = SYM_CRASH_VERSION,
    .good = QUALITY,
    .quality_name = quality_name,
    .verify = verify,
    .describe = describe,
};
