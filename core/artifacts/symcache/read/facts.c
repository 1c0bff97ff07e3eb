#include "artifacts/symcache/read/facts.h"

#include "artifacts/symcache/read/reader.h"

static const struct {
    sym_info_t which;
    const char *key;
} texts[] = {
    { SYM_INFO_CODE_FILE, "code_file" },
    { SYM_INFO_CODE_ID, "code_id" },
    { SYM_INFO_OS, "os" },
    { SYM_INFO_ARCH, "arch" },
};


sym_status_t
sym_symcache_verify(const sym_extent_source_t *extents, sym_error_t *err)
{
    sym_symcache_t sc;
    sym_status_t rc = sym_symcache_open(&sc, extents->get, extents->ctx, err);

    return rc == SYM_OK && sc.n_extents != extents->n ? sym_fail(
               err, SYM_DAMAGED, "the symcache has another number of extents")
                                                      : rc;
}


sym_status_t
sym_symcache_describe(const sym_extent_source_t *extents,
                      const sym_kind_facts_t *facts, sym_error_t *err)
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
