#include "artifacts/kinds.h"
#include "artifacts/symcache/read/reader.h"

_Static_assert(SYM_FLAG_DEBUG_INFO == SYM_FEATURE_DEBUG_INFO
                   && SYM_FLAG_SYMBOLS == SYM_FEATURE_SYMBOLS
                   && SYM_FLAG_UNWIND_INFO == SYM_FEATURE_UNWIND_INFO,
               "flags of a symcache are features of its file");

static const struct {
    sym_info_t which;
    const char *key;
} texts[] = {
    { SYM_INFO_CODE_FILE, "code_file" },
    { SYM_INFO_CODE_ID, "code_id" },
    { SYM_INFO_OS, "os" },
    { SYM_INFO_ARCH, "arch" },
};


static sym_status_t
verify(const sym_extent_source_t *extents, uint32_t *n, sym_error_t *err)
{
    sym_symcache_t sc;
    sym_status_t rc = sym_symcache_open(&sc, extents->get, extents->ctx, err);

    *n = sc.n_extents;
    return rc;
}


static sym_status_t
describe(const sym_extent_source_t *extents, const sym_kind_facts_t *facts,
         sym_error_t *err)
{
    char text[SYM_PART_ROOM];
    sym_symcache_counts_t c;
    sym_symcache_t sc;
    sym_status_t rc = sym_symcache_open(&sc, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        size_t len = sym_symcache_info(&sc, texts[i].which, text);

        facts->text(facts->ctx, texts[i].key, sym_str(text, len));
    }

    facts->text(facts->ctx, "source_server",
                sym_str(text, sym_symcache_source_server(&sc, text)));

    sym_symcache_counts(&sc, &c);
    facts->number(facts->ctx, "functions", c.functions);
    facts->number(facts->ctx, "publics", c.publics);
    facts->number(facts->ctx, "lines", c.lines);
    facts->number(facts->ctx, "inlines", c.inlines);
    facts->number(facts->ctx, "segments", c.segments);
    facts->number(facts->ctx, "inline_nodes", c.nodes);
    facts->number(facts->ctx, "strings", c.strings);
    facts->number(facts->ctx, "string_bytes", c.string_bytes);
    facts->number(facts->ctx, "dropped", c.dropped);
    facts->number(facts->ctx, "truncated", c.truncated);
    return SYM_OK;
}


const sym_kind_row_t sym_symcache_kind = {
    .kind = SYM_KIND_SYMCACHE,
    .name = "symcache",
    .version = SYM_SYMCACHE_VERSION,
    .oldest = SYM_SYMCACHE_VERSION,
    .files = SYM_FILES_OF_ANY_TYPE(SYM_FILES_SYMBOLS & ~SYM_FILE(PORTABLE_PDB)),
    .good = SYM_QUALITY_FUNCTIONS,
    .quality_name = sym_quality_name,
    .verify = verify,
    .describe = describe,
};
