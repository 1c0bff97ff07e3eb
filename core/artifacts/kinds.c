#include "artifacts/kinds.h"

#include "artifacts/ppdb/format.h"
#include "artifacts/ppdb/read/ppdb_facts.h"
#include "artifacts/sources/format.h"
#include "artifacts/sources/read/sources_facts.h"
#include "artifacts/symcache/format.h"
#include "artifacts/symcache/read/facts.h"

const sym_kind_row_t sym_kinds[SYM_KINDS] = {
    { .kind = SYM_KIND_SYMCACHE,
      .name = "symcache",
      .version = SYM_SYMCACHE_VERSION,
      .oldest = SYM_SYMCACHE_VERSION,
      .keyed_by = SYM_KEY_ADDRESS,
      .good = SYM_QUALITY_FUNCTIONS,
      .quality_name = sym_quality_name,
      .verify = sym_symcache_verify,
      .describe = sym_symcache_describe },
    { .kind = SYM_KIND_SOURCES,
      .name = "sources",
      .version = SYM_SOURCES_VERSION,
      .oldest = SYM_SOURCES_VERSION,
      .keyed_by = SYM_KEY_PATH,
      .good = SYM_SOURCES_TEXTS,
      .quality_name = sym_sources_quality_name,
      .verify = sym_sources_verify,
      .describe = sym_sources_describe },
    { .kind = SYM_KIND_PPDB,
      .name = "ppdb",
      .version = SYM_PPDB_VERSION,
      .oldest = SYM_PPDB_VERSION,
      .keyed_by = SYM_KEY_IL,
      .good = SYM_PPDB_LINES,
      .quality_name = sym_ppdb_quality_name,
      .verify = sym_ppdb_verify,
      .describe = sym_ppdb_describe },
};


const sym_kind_row_t *
sym_kind_find(unsigned kind)
{
    for (size_t i = 0; i < SYM_KINDS; i++) {
        if (sym_kinds[i].kind == kind) {
            return &sym_kinds[i];
        }
    }

    return NULL;
}


const sym_kind_row_t *
sym_kind_named(sym_str_t name)
{
    for (size_t i = 0; i < SYM_KINDS; i++) {
        if (sym_str_eq(name, sym_cstr(sym_kinds[i].name))) {
            return &sym_kinds[i];
        }
    }

    return NULL;
}


sym_kind_t
sym_kind_keyed_by(sym_key_type_t key)
{
    for (size_t i = 0; i < SYM_KINDS; i++) {
        if (sym_kinds[i].keyed_by == key) {
            return sym_kinds[i].kind;
        }
    }

    return SYM_KIND_ALL;
}


const char *
sym_kind_name(unsigned kind)
{
    const sym_kind_row_t *row = sym_kind_find(kind);

    return row != NULL ? row->name : "unknown";
}


bool
sym_kind_reads(unsigned kind, uint32_t version)
{
    const sym_kind_row_t *row = sym_kind_find(kind);

    return row != NULL && version >= row->oldest && version <= row->version;
}
