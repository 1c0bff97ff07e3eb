#include "sources/paths/rules.h"

#include "sources/paths/glob.h"

#define BIT(file) (1u << (file))
#define ALL_FILES (BIT(SYM_SOURCE_FILES) - 1)
#define ELF_FILES (BIT(SYM_SOURCE_ELF_DEBUG) | BIT(SYM_SOURCE_ELF_CODE))
#define MACH_FILES (BIT(SYM_SOURCE_MACH_DEBUG) | BIT(SYM_SOURCE_MACH_CODE))
#define WASM_FILES (BIT(SYM_SOURCE_WASM_DEBUG) | BIT(SYM_SOURCE_WASM_CODE))
#define PDB_FILES SYM_FILES_PDB
#define PE_FILES (BIT(SYM_SOURCE_PE) | BIT(SYM_SOURCE_PE_PACKED))
#define WINDOWS_FILES (PDB_FILES | BIT(SYM_SOURCE_PORTABLE_PDB) | PE_FILES)
#define SYMSTORE_FILES                                                         \
    (ELF_FILES | MACH_FILES | WINDOWS_FILES | BIT(SYM_SOURCE_ELF_BUNDLE)       \
     | BIT(SYM_SOURCE_NAMED_BUNDLE))
#define BUNDLES SYM_FILES_BUNDLES
#define SITE_FILES                                                             \
    (BIT(SYM_SOURCE_SCRIPT) | BIT(SYM_SOURCE_SOURCEMAP) | BIT(SYM_SOURCE_CODE))

static const struct {
    sym_str_t name; /* name in the configuration */
    unsigned files;
} layouts[] = {
    [SYM_LAYOUT_BREAKPAD] = { { "breakpad", 8 }, BIT(SYM_SOURCE_BREAKPAD) },
    [SYM_LAYOUT_NATIVE] = { { "native", 6 }, ALL_FILES },
    [SYM_LAYOUT_DEBUGINFOD] = { { "debuginfod", 10 },
                                ELF_FILES | BIT(SYM_SOURCE_CODE) },
    [SYM_LAYOUT_SYMSTORE] = { { "symstore", 8 }, SYMSTORE_FILES },
    [SYM_LAYOUT_SYMSTORE_INDEX2] = { { "symstore_index2", 15 },
                                     SYMSTORE_FILES },
    [SYM_LAYOUT_SSQP] = { { "ssqp", 4 }, SYMSTORE_FILES },
    [SYM_LAYOUT_UNIFIED] = { { "unified", 7 }, ALL_FILES },
    [SYM_LAYOUT_SLASHSYMBOLS] = { { "slashsymbols", 12 }, ALL_FILES },
    [SYM_LAYOUT_SITE] = { { "site", 4 }, SITE_FILES },
    [SYM_LAYOUT_URL] = { { NULL, 0 }, ALL_FILES },
    [SYM_LAYOUT_SENTRY] = { { NULL, 0 }, ALL_FILES },
};

#define N_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

bool
sym_layout_find(sym_str_t name, sym_layout_t *layout)
{
    for (size_t i = 0; i < N_LAYOUTS; i++) {
        if (name.len != 0 && sym_str_eq(name, layouts[i].name)) {
            *layout = (sym_layout_t) i;
            return true;
        }
    }

    return false;
}


bool
sym_layout_takes(sym_layout_t layout, const sym_object_ref_t *ref)
{
    switch (layout) {
    case SYM_LAYOUT_URL:
        return ref->url.len != 0;
    case SYM_LAYOUT_SITE:
        return sym_str_starts(ref->url, SYM_STR(SYM_REF_PATH))
               && ref->code_id.len == 0 && ref->release.len == 0;
    case SYM_LAYOUT_DEBUGINFOD:
        return ref->url.len == 0
               || (sym_str_starts(ref->url, SYM_STR(SYM_REF_PATH))
                   && ref->code_id.len != 0);
    case SYM_LAYOUT_SYMSTORE:
    case SYM_LAYOUT_SYMSTORE_INDEX2:
    case SYM_LAYOUT_SSQP:
        return ref->url.len == 0
               || sym_str_starts(ref->url, SYM_STR(SYM_REF_KEY));
    case SYM_LAYOUT_UNIFIED:
        return ref->url.len == 0
               || sym_str_starts(ref->url, SYM_STR(SYM_REF_URN))
               || (sym_str_starts(ref->url, SYM_STR(SYM_REF_PATH))
                   && ref->release.len != 0);
    default:
        return ref->url.len == 0;
    }
}


unsigned
sym_layout_files(sym_layout_t layout)
{
    return layouts[layout].files;
}


static bool
matches(const sym_source_rules_t *rules, sym_str_t name, uint64_t *steps)
{
    for (uint32_t i = 0; name.len != 0 && i < rules->n_patterns; i++) {
        if (sym_glob_matches(rules->patterns[i], name, steps)) {
            return true;
        }
    }

    return false;
}


bool
sym_source_takes(const sym_source_rules_t *rules, const sym_object_ref_t *ref,
                 uint64_t *steps)
{
    if (rules->requires_checksum && ref->checksum.len == 0) {
        return false;
    }

    return rules->n_patterns == 0 || matches(rules, ref->code_file, steps)
           || matches(rules, ref->debug_file, steps);
}


unsigned
sym_source_files_find(sym_str_t type)
{
    static const struct {
        sym_str_t word;
        unsigned files;
    } types[] = {
        { { "elf", 3 }, ELF_FILES },
        { { "elf_debug", 9 }, BIT(SYM_SOURCE_ELF_DEBUG) },
        { { "elf_code", 8 }, BIT(SYM_SOURCE_ELF_CODE) },
        { { "macho", 5 }, MACH_FILES },
        { { "mach_debug", 10 }, BIT(SYM_SOURCE_MACH_DEBUG) },
        { { "mach_code", 9 }, BIT(SYM_SOURCE_MACH_CODE) },
        { { "pdb", 3 }, PDB_FILES },
        { { "portablepdb", 11 }, BIT(SYM_SOURCE_PORTABLE_PDB) },
        { { "pe", 2 }, PE_FILES },
        { { "wasm", 4 }, WASM_FILES },
        { { "wasm_debug", 10 }, BIT(SYM_SOURCE_WASM_DEBUG) },
        { { "wasm_code", 9 }, BIT(SYM_SOURCE_WASM_CODE) },
        { { "breakpad", 8 }, BIT(SYM_SOURCE_BREAKPAD) },
        { { "sourcebundle", 12 }, BUNDLES },
        { { "uuidmap", 7 }, BIT(SYM_SOURCE_UUIDMAP) },
        { { "bcsymbolmap", 11 }, BIT(SYM_SOURCE_BCSYMBOLMAP) },
        { { "il2cpp", 6 }, BIT(SYM_SOURCE_IL2CPP) },
        { { "proguard", 8 }, BIT(SYM_SOURCE_PROGUARD) },
        { { "script", 6 }, BIT(SYM_SOURCE_SCRIPT) },
        { { "sourcemap", 9 }, BIT(SYM_SOURCE_SOURCEMAP) },
        { { "source", 6 }, BIT(SYM_SOURCE_CODE) },
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (sym_str_eq(type, types[i].word)) {
            return types[i].files;
        }
    }

    return 0;
}


bool
sym_source_name_ok(sym_str_t name)
{
    if (!sym_module_name_ok(name) || sym_str_eq(name, SYM_STR("."))
        || sym_str_eq(name, SYM_STR("..")))
    {
        return false;
    }

    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = (uint8_t) name.data[i];

        if (c < 0x20 || c == 0x7f || c == '\\') {
            return false;
        }
    }

    return true;
}
