#include "sources/paths/layout.h"

#include "base/uri.h"
#include "object/object_id.h"
#include "sources/paths/glob.h"
#include "sources/paths/path.h"
#include "sources/paths/whole.h"

#define SYM_SUFFIX SYM_STR(".sym")
#define PDB_SUFFIX SYM_STR(".pdb")
#define BUNDLE_SUFFIX SYM_STR(".src.zip")

#define UUID_DIGITS 32
#define PDB20_DIGITS 8
#define BIT(file) (1u << (file))
#define ALL_FILES (BIT(SYM_SOURCE_FILES) - 1)
#define ELF_FILES (BIT(SYM_SOURCE_ELF_DEBUG) | BIT(SYM_SOURCE_ELF_CODE))
#define MACH_FILES (BIT(SYM_SOURCE_MACH_DEBUG) | BIT(SYM_SOURCE_MACH_CODE))
#define WASM_FILES (BIT(SYM_SOURCE_WASM_DEBUG) | BIT(SYM_SOURCE_WASM_CODE))
#define PDB_FILES SYM_FILES_PDB
#define PE_FILES (BIT(SYM_SOURCE_PE) | BIT(SYM_SOURCE_PE_PACKED))
#define WINDOWS_FILES (PDB_FILES | BIT(SYM_SOURCE_PORTABLE_PDB) | PE_FILES)
#define SYMSTORE_FILES                                                         \
    (ELF_FILES | MACH_FILES | WINDOWS_FILES | BIT(SYM_SOURCE_NAMED_BUNDLE))
#define BUNDLES SYM_FILES_BUNDLES
#define GUESSED_FILES (BIT(SYM_SOURCE_UUIDMAP) - 1)
#define PACKED_FILES (BIT(SYM_SOURCE_PDB_PACKED) | BIT(SYM_SOURCE_PE_PACKED))

/* What a module's path is made of; "": the module has no such part. */
typedef struct {
    sym_source_file_t file;
    sym_source_ids_t ids;
    sym_object_type_t type;
    sym_str_t name, id; /* as sent */
    sym_str_t code_file;
    sym_str_t build_id; /* the code id of an ELF or WebAssembly file */
    sym_str_t pe_id;    /* the code id of a PE file */
    sym_str_t uuid;     /* the debug id, if it has no age */
    bool has_pdb;
} parts_t;

/* One row a layout.  False: there is no such path. */
typedef struct {
    sym_str_t name; /* in the configuration */
    unsigned files;
    bool (*write)(sym_path_t *path, const parts_t *m);
} layout_t;


/* --- ids --- */

sym_str_t
sym_source_code_id(sym_str_t id, sym_str_t code_id)
{
    sym_code_id_t read;

    return code_id.len != 0
                   && (sym_code_id_read_build_id(id, &read)
                       || sym_code_id_read_pe(id, &read))
                   && sym_str_eq(sym_str(read.text, read.len), code_id)
               ? code_id
               : SYM_STR("");
}


/* A UUID is a Mach-O file's id, whose debug id has no age but 0. */
static bool
is_uuid(sym_str_t id)
{
    for (size_t i = UUID_DIGITS; i < id.len; i++) {
        if (id.data[i] != '0') {
            return false;
        }
    }

    return id.len >= UUID_DIGITS;
}


/* One of the files? */
static bool
is_of(const parts_t *m, unsigned files)
{
    return (BIT(m->file) & files) != 0;
}


static bool
is_code(const parts_t *m)
{
    return m->file >= SYM_SOURCE_FIRST_CODE && !is_of(m, BUNDLES);
}


/* --- breakpad --- */

static bool
ends(sym_str_t s, sym_str_t suffix)
{
    return s.len >= suffix.len
           && memcmp(s.data + s.len - suffix.len, suffix.data, suffix.len) == 0;
}


/* Mozilla's paths: ".pdb" goes as it is written here, ".PDB" stays. */
static sym_str_t
stem_of(sym_str_t name)
{
    return ends(name, PDB_SUFFIX)
               ? sym_str(name.data, name.len - PDB_SUFFIX.len)
               : name;
}


/* The last part, named like the debug file. */
static void
put_named_file(sym_path_t *path, const parts_t *m, sym_str_t suffix)
{
    sym_path_slash(path);
    sym_path_part(path, stem_of(m->name), SYM_CASE_AS_IS);
    sym_path_part(path, suffix, SYM_CASE_AS_IS);
}


static bool
breakpad_write(sym_path_t *path, const parts_t *m)
{
    sym_path_part(path, m->name, SYM_CASE_AS_IS);
    sym_path_slash(path);
    sym_path_part(path, m->id,
                  m->ids == SYM_SOURCE_IDS_UPPER ? SYM_CASE_UPPER
                                                 : SYM_CASE_AS_IS);
    put_named_file(path, m, SYM_SUFFIX);
    return true;
}


/* Breakpad's id as others write it: the age in lower case; "0" where the client
 * left it out. */
static void
put_breakpad_id(sym_path_t *path, const parts_t *m, sym_case_t to)
{
    sym_path_part(path, sym_str(m->id.data, UUID_DIGITS), to);
    sym_path_part(path,
                  m->id.len > UUID_DIGITS ? sym_str(m->id.data + UUID_DIGITS,
                                                    m->id.len - UUID_DIGITS)
                                          : SYM_STR("0"),
                  SYM_CASE_LOWER);
}


static bool
has_breakpad_id(const parts_t *m)
{
    return m->id.len >= UUID_DIGITS
           && (m->uuid.len != 0 || m->build_id.len == 0);
}


/* --- Microsoft's symbol servers --- */

/* Both parts of an id, each in its case. */
static void
put_id(sym_path_t *path, sym_str_t id, size_t head, sym_case_t head_case,
       sym_case_t tail_case)
{
    sym_path_part(path, sym_str(id.data, head), head_case);
    sym_path_part(path, sym_str(id.data + head, id.len - head), tail_case);
}


static void
put_file_in_folder(sym_path_t *path, sym_str_t name, sym_case_t to)
{
    sym_path_slash(path);
    sym_path_part(path, name, to);
}


/* NAME/ID/NAME of a PDB, or of a portable one, by debug id; of its source bundle
 * NAME/ID/STEM.src.zip. */
static bool
put_pdb_path(sym_path_t *path, const parts_t *m, bool is_ssqp)
{
    char canonical[SYM_ID_MAX], text[SYM_ID_TEXT_MAX];
    sym_case_t name_case = is_ssqp ? SYM_CASE_LOWER : SYM_CASE_AS_IS;
    sym_debug_id_t id;
    size_t len = sym_debug_id_canonical(m->id, canonical);

    if (!m->has_pdb
        || !sym_debug_id_read_breakpad(sym_str(canonical, len), &id)) {
        return false;
    }

    len = sym_debug_id_write_symstore(&id, m->type, text);
    sym_path_part(path, m->name, name_case);
    sym_path_slash(path);
    put_id(path, sym_str(text, len),
           id.form == SYM_DEBUG_ID_PDB20 ? PDB20_DIGITS : UUID_DIGITS,
           is_ssqp ? SYM_CASE_LOWER : SYM_CASE_AS_IS,
           is_ssqp ? SYM_CASE_UPPER : SYM_CASE_AS_IS);

    if (is_of(m, BUNDLES)) {
        const char *dot = memrchr(m->name.data, '.', m->name.len);
        size_t stem = dot != NULL ? (size_t) (dot - m->name.data) : m->name.len;

        put_file_in_folder(path, sym_str(m->name.data, stem), name_case);
        sym_path_part(path, BUNDLE_SUFFIX, SYM_CASE_AS_IS);
        return true;
    }

    put_file_in_folder(path, m->name, name_case);
    return true;
}


/* The same of a PE file, by time stamp and size. */
static bool
put_pe_path(sym_path_t *path, const parts_t *m, bool is_ssqp)
{
    sym_case_t name_case = is_ssqp ? SYM_CASE_LOWER : SYM_CASE_AS_IS;

    if (m->pe_id.len == 0) {
        return false;
    }

    sym_path_part(path, m->code_file, name_case);
    sym_path_slash(path);
    put_id(path, m->pe_id, PDB20_DIGITS,
           is_ssqp ? SYM_CASE_LOWER : SYM_CASE_UPPER, SYM_CASE_LOWER);
    put_file_in_folder(path, m->code_file, name_case);
    return true;
}


static bool
put_windows_path(sym_path_t *path, const parts_t *m, bool is_ssqp)
{
    return is_of(m, PE_FILES) ? put_pe_path(path, m, is_ssqp)
                              : put_pdb_path(path, m, is_ssqp);
}


/* --- the others: Symbolicator's page on symbol server compatibility --- */

static bool
is_wasm(const parts_t *m)
{
    return m->type == SYM_OBJECT_WASM
           || (m->type == SYM_OBJECT_UNKNOWN
               && sym_str_ends_nocase(m->name, SYM_STR(".wasm")));
}


/* Of a WebAssembly file the build id is mostly a UUID, which is its debug id,
 * too. */
static sym_str_t
build_id_of(const parts_t *m)
{
    return m->build_id.len == 0 && !is_of(m, ELF_FILES) && is_wasm(m)
               ? m->uuid
               : m->build_id;
}


/* NAME/ID/STEM and a suffix, as Breakpad has it. */
static bool
native_write_named(sym_path_t *path, const parts_t *m, sym_str_t suffix)
{
    if (!has_breakpad_id(m) || m->type == SYM_OBJECT_WASM) {
        return false;
    }

    sym_path_part(path, m->name, SYM_CASE_AS_IS);
    sym_path_slash(path);
    put_breakpad_id(path, m, SYM_CASE_UPPER);
    put_named_file(path, m, suffix);
    return true;
}


static bool
native_write(sym_path_t *path, const parts_t *m)
{
    if (m->file == SYM_SOURCE_BREAKPAD) {
        return native_write_named(path, m, SYM_SUFFIX);
    }

    if (m->file == SYM_SOURCE_NAMED_BUNDLE) {
        return native_write_named(path, m, BUNDLE_SUFFIX);
    }

    if (is_of(m, WINDOWS_FILES)) {
        return put_windows_path(path, m, false);
    }

    if (is_of(m, ELF_FILES | WASM_FILES | BIT(SYM_SOURCE_ELF_BUNDLE))) {
        sym_str_t id = build_id_of(m);

        if (id.len == 0) {
            return false;
        }

        sym_path_cut_id(path, id);
        sym_path_text(path, is_of(m, BUNDLES) ? ".src.zip"
                            : is_code(m)      ? ""
                                              : ".debug");
        return true;
    }

    if (m->uuid.len == 0) {
        return false;
    }

    sym_path_lldb(path, m->uuid);
    sym_path_text(path, is_of(m, BUNDLES) ? ".src.zip"
                        : is_code(m)      ? ".app"
                                          : "");
    return true;
}


static bool
debuginfod_write(sym_path_t *path, const parts_t *m)
{
    sym_path_part(path, m->build_id, SYM_CASE_LOWER);
    sym_path_slash(path);
    sym_path_text(path, is_code(m) ? "executable" : "debuginfo");
    return m->build_id.len != 0;
}


/* Microsoft's symbol servers, with Sentry's keys for what is not theirs. */
static bool
key_write(sym_path_t *path, const parts_t *m, bool is_ssqp)
{
    bool is_elf = is_of(m, ELF_FILES);
    sym_str_t id = is_elf ? m->build_id : m->uuid;
    sym_str_t name = is_code(m) ? m->code_file
                     : is_elf   ? SYM_STR("_.debug")
                                : SYM_STR("_.dwarf");
    sym_case_t name_case = is_ssqp ? SYM_CASE_LOWER : SYM_CASE_AS_IS;

    if (is_of(m, WINDOWS_FILES | BUNDLES)) {
        return put_windows_path(path, m, is_ssqp);
    }

    sym_path_part(path, name, name_case);
    sym_path_slash(path);
    sym_path_text(path, is_elf ? "elf-buildid-" : "mach-uuid-");
    sym_path_text(path, is_code(m) ? "" : "sym-");
    sym_path_part(path, id, SYM_CASE_LOWER);
    put_file_in_folder(path, name, name_case);
    return id.len != 0;
}


static bool
symstore_write(sym_path_t *path, const parts_t *m)
{
    return key_write(path, m, false);
}


/*
 * A folder of the path's first two characters, of which the second may begin
 * neither a suffix nor the next folder, goes in front.  Of what is not ASCII
 * Sentry takes two bytes if they are one character, or else nothing.
 */
static bool
symstore_index2_write(sym_path_t *path, const parts_t *m)
{
    sym_str_t first = is_of(m, ELF_FILES | MACH_FILES) && !is_code(m)
                          ? SYM_STR("_")
                      : is_code(m) ? m->code_file
                                   : m->name;
    size_t n = first.len < 2 || first.data[1] == '.' ? 1 : 2;

    if (first.len > n && ((uint8_t) first.data[n] & 0xc0) == 0x80) {
        return false;
    }

    sym_path_part(path, sym_str(first.data, n), SYM_CASE_AS_IS);
    sym_path_slash(path);
    return key_write(path, m, false);
}


static bool
ssqp_write(sym_path_t *path, const parts_t *m)
{
    return key_write(path, m, true);
}


/* The id that the module's own file would have: of what kind, its type or form
 * tells. */
static bool
unified_write(sym_path_t *path, const parts_t *m)
{
    char canonical[SYM_ID_MAX];
    sym_str_t id = m->build_id.len != 0 ? m->build_id : m->uuid;

    const unsigned named =
        BIT(SYM_SOURCE_BREAKPAD) | BIT(SYM_SOURCE_NAMED_BUNDLE);

    if (m->has_pdb && is_of(m, WINDOWS_FILES | named)) {
        id = sym_str(canonical, sym_debug_id_canonical(m->id, canonical));

    } else if (is_of(m, named) && id.len == 0 && has_breakpad_id(m)) {
        id = m->id;

    } else if (is_of(m, WINDOWS_FILES)
               || (is_of(m, ELF_FILES | BIT(SYM_SOURCE_ELF_BUNDLE))
                   && m->build_id.len == 0)
               || (is_of(m, WASM_FILES) && build_id_of(m).len == 0))
    {
        return false;
    }

    if (id.len == 0) {
        return false;
    }

    sym_path_cut_id(path, id);
    sym_path_slash(path);
    sym_path_text(path, is_of(m, BUNDLES)                ? "sourcebundle"
                        : m->file == SYM_SOURCE_BREAKPAD ? "breakpad"
                        : is_code(m)                     ? "executable"
                                                         : "debuginfo");
    return true;
}


/* One path for every type of file; the id in upper case is tried first. */
static bool
slashsymbols_write(sym_path_t *path, const parts_t *m)
{
    sym_str_t id = is_of(m, WINDOWS_FILES) ? m->pe_id
                   : m->build_id.len != 0  ? m->build_id
                   : is_of(m, ELF_FILES)   ? SYM_STR("")
                   : is_of(m, WASM_FILES)  ? SYM_STR("")
                                           : m->uuid;

    if (is_of(m, BIT(SYM_SOURCE_BREAKPAD) | BUNDLES)) {
        return false;
    }

    sym_path_part(path, m->code_file, SYM_CASE_AS_IS);
    sym_path_slash(path);
    sym_path_part(path, id, is_code(m) ? SYM_CASE_LOWER : SYM_CASE_UPPER);
    sym_path_slash(path);
    sym_path_text(path, "symbols");
    return id.len != 0;
}


/* --- all of them --- */

static const layout_t layouts[] = {
    [SYM_LAYOUT_BREAKPAD] = { { "breakpad", 8 },
                              BIT(SYM_SOURCE_BREAKPAD),
                              breakpad_write },
    [SYM_LAYOUT_NATIVE] = { { "native", 6 }, ALL_FILES, native_write },
    [SYM_LAYOUT_DEBUGINFOD] = { { "debuginfod", 10 },
                                ELF_FILES,
                                debuginfod_write },
    [SYM_LAYOUT_SYMSTORE] = { { "symstore", 8 },
                              SYMSTORE_FILES,
                              symstore_write },
    [SYM_LAYOUT_SYMSTORE_INDEX2] = { { "symstore_index2", 15 },
                                     SYMSTORE_FILES,
                                     symstore_index2_write },
    [SYM_LAYOUT_SSQP] = { { "ssqp", 4 }, SYMSTORE_FILES, ssqp_write },
    [SYM_LAYOUT_UNIFIED] = { { "unified", 7 }, ALL_FILES, unified_write },
    [SYM_LAYOUT_SLASHSYMBOLS] = { { "slashsymbols", 12 },
                                  ALL_FILES,
                                  slashsymbols_write },
};

#define N_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

bool
sym_layout_find(sym_str_t name, sym_layout_t *layout)
{
    for (size_t i = 0; i < N_LAYOUTS; i++) {
        if (sym_str_eq(name, layouts[i].name)) {
            *layout = (sym_layout_t) i;
            return true;
        }
    }

    return false;
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
sym_source_takes(const sym_source_rules_t *rules,
                 const sym_object_ref_t *object, sym_str_t name,
                 uint64_t *steps)
{
    if (rules->requires_checksum
        && (object == NULL || object->checksum.len == 0)) {
        return false;
    }

    return rules->n_patterns == 0
           || (object == NULL
                   ? matches(rules, name, steps)
                   : matches(rules, object->code_file, steps)
                         || matches(rules, object->debug_file, steps));
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


static sym_status_t
check_module(const sym_source_module_t *module, sym_error_t *err)
{
    char canonical[SYM_ID_MAX];

    if (!sym_source_name_ok(module->name)
        || (module->code_file.len != 0
            && !sym_source_name_ok(module->code_file)))
    {
        return sym_fail(err, SYM_MALFORMED,
                        "a file name that no source may be asked for");
    }
    if (sym_debug_id_canonical(module->id, canonical) == 0) {
        return sym_fail(err, SYM_MALFORMED, "not a debug id");
    }

    return module->id.len > SYM_SOURCE_ID_MAX
               ? sym_fail(err, SYM_LIMIT, "the debug id is too long")
               : SYM_OK;
}


/* Fills in what the type of a module, or else the form of its code id, says. */
static void
read_code_id_of(const sym_source_module_t *module, parts_t *m)
{
    bool is_windows =
        m->type == SYM_OBJECT_PE || m->type == SYM_OBJECT_PE_DOTNET;
    bool is_known = m->type != SYM_OBJECT_UNKNOWN;
    sym_code_id_t id;

    if ((is_windows || (!is_known && module->code_id.len < 16))
        && sym_code_id_read_pe(module->code_id, &id))
    {
        m->pe_id = module->code_id;
    } else {
        m->build_id = module->code_id;
    }

    m->has_pdb =
        is_windows
        || (!is_known && sym_str_ends_nocase(module->name, PDB_SUFFIX));
}


static bool
write_path(const sym_source_rules_t *rules, sym_source_file_t file,
           const sym_source_module_t *module, sym_path_t *path)
{
    const layout_t *layout = &layouts[rules->layout];
    parts_t m = { .file = file,
                  .ids = rules->ids,
                  .type = module->type,
                  .name = module->name,
                  .id = module->id,
                  .code_file = module->code_file.len != 0 ? module->code_file
                                                          : module->name };

    if ((rules->files & layout->files & GUESSED_FILES & BIT(file)) == 0) {
        return false;
    }

    read_code_id_of(module, &m);
    if (is_uuid(m.id)) {
        m.uuid = sym_str(m.id.data, UUID_DIGITS);
    }

    if (!layout->write(path, &m)) {
        return false;
    }

    if (is_of(&m, PACKED_FILES)) {
        sym_path_mark_packed(path);
    }

    return true;
}


/* A 16-byte id may be a build id or a UUID, and a layout write both alike. */
static bool
is_repeated(const sym_source_rules_t *rules, sym_source_file_t file,
            const sym_source_module_t *module, const sym_path_t *path)
{
    char other[SYM_SOURCE_PATH_MAX];

    for (unsigned i = 0; i < file; i++) {
        sym_path_t p = { .data = other,
                         .size = sizeof(other),
                         .casing = path->casing,
                         .is_encoded = path->is_encoded };

        if (write_path(rules, (sym_source_file_t) i, module, &p) && !p.is_full
            && sym_str_eq(sym_str(p.data, p.len),
                          sym_str(path->data, path->len)))
        {
            return true;
        }
    }

    return false;
}


static sym_status_t
path_of(const sym_source_rules_t *rules, sym_source_file_t file,
        const sym_source_module_t *module, sym_path_t path, sym_str_t *out,
        sym_error_t *err)
{
    sym_status_t status = check_module(module, err);

    *out = sym_str(path.data, 0);
    if (status != SYM_OK) {
        return status;
    }

    path.casing = rules->casing;
    if (!write_path(rules, file, module, &path)) {
        return SYM_NOT_FOUND;
    }
    if (path.is_full) {
        return sym_fail(err, SYM_LIMIT, "the path at the source is too long");
    }
    if (is_repeated(rules, file, module, &path)) {
        return SYM_NOT_FOUND;
    }

    out->len = path.len;
    return SYM_OK;
}


sym_status_t
sym_source_path(const sym_source_rules_t *rules, sym_source_file_t file,
                const sym_source_module_t *module, char *out, size_t size,
                sym_str_t *path, sym_error_t *err)
{
    return path_of(
        rules, file, module,
        (sym_path_t){ .data = out, .size = size, .is_encoded = true }, path,
        err);
}


sym_status_t
sym_source_key(const sym_source_rules_t *rules, sym_source_file_t file,
               const sym_source_module_t *module, char *out, size_t size,
               sym_str_t *path, sym_error_t *err)
{
    return path_of(rules, file, module,
                   (sym_path_t){ .data = out, .size = size }, path, err);
}


/* Of an object that is known whole. */
static bool
write_place(const sym_source_rules_t *rules, const sym_object_ref_t *object,
            bool is_thorough, unsigned n, sym_path_t *path,
            sym_source_file_t *file)
{
    unsigned spelling;

    return sym_whole_file(object->type, is_thorough, n, file, &spelling)
           && (rules->files & BIT(*file)) != 0
           && sym_whole_write(path, rules->layout, *file, spelling, object);
}


/* Several files of an object may have one path. */
static bool
is_repeated_place(const sym_source_rules_t *rules,
                  const sym_object_ref_t *object, bool is_thorough, unsigned n,
                  const sym_path_t *path)
{
    char other[SYM_SOURCE_PATH_MAX];
    sym_source_file_t file;

    for (unsigned i = 0; i < n; i++) {
        sym_path_t p = { .data = other,
                         .size = sizeof(other),
                         .casing = path->casing,
                         .is_encoded = path->is_encoded };

        if (write_place(rules, object, is_thorough, i, &p, &file) && !p.is_full
            && sym_str_eq(sym_str(p.data, p.len),
                          sym_str(path->data, path->len)))
        {
            return true;
        }
    }

    return false;
}


sym_status_t
sym_source_place(const sym_source_rules_t *rules,
                 const sym_source_module_t *module, bool is_thorough,
                 unsigned n, bool is_encoded, char *out, size_t size,
                 sym_source_place_t *place, sym_error_t *err)
{
    sym_path_t path = { .data = out,
                        .size = size,
                        .casing = rules->casing,
                        .is_encoded = is_encoded };

    place->path = sym_str(out, 0);
    if (module->object == NULL) {
        place->file = (sym_source_file_t) n;
        return n < SYM_SOURCE_FILES ? path_of(rules, place->file, module, path,
                                              &place->path, err)
                                    : SYM_NOT_FOUND;
    }

    if (!write_place(rules, module->object, is_thorough, n, &path,
                     &place->file)) {
        return SYM_NOT_FOUND;
    }

    if (path.is_full) {
        return sym_fail(err, SYM_LIMIT, "the path at the source is too long");
    }

    if (is_repeated_place(rules, module->object, is_thorough, n, &path)) {
        return SYM_NOT_FOUND;
    }

    place->path.len = path.len;
    return SYM_OK;
}


bool
sym_source_is_respelled(const sym_source_rules_t *rules, sym_source_file_t file,
                        const sym_source_module_t *module, sym_str_t canonical)
{
    sym_source_module_t other = *module;
    char text[SYM_SOURCE_PATH_MAX], other_text[SYM_SOURCE_PATH_MAX];
    sym_str_t path, other_path;
    sym_error_t err = { 0 };

    if (sym_str_eq(module->id, canonical)) {
        return false;
    }

    other.id = canonical;
    other.code_id = sym_source_code_id(canonical, module->code_id);
    return sym_source_path(rules, file, module, text, sizeof(text), &path, &err)
               == SYM_OK
           && (sym_source_path(rules, file, &other, other_text,
                               sizeof(other_text), &other_path, &err)
                   != SYM_OK
               || !sym_str_eq(path, other_path));
}


/* --- and back --- */

/* The parts of a key, last first. */
#define DEPTH 6

typedef struct {
    sym_str_t part[DEPTH];
} folders_t;

/* Takes the last part off a key; empty at its end. */
static sym_str_t
take_last(sym_str_t *key)
{
    const char *slash = memrchr(key->data, '/', key->len);
    size_t at = slash != NULL ? (size_t) (slash - key->data) + 1 : 0;
    sym_str_t part = sym_str(key->data + at, key->len - at);

    key->len = at > 0 ? at - 1 : 0;
    return part;
}


static sym_str_t
less_suffix(sym_str_t s, sym_str_t suffix)
{
    return ends(s, suffix) ? sym_str(s.data, s.len - suffix.len) : s;
}


static bool
read_debug_id(sym_str_t text, sym_source_found_t *found)
{
    found->id_len = sym_debug_id_canonical(text, found->id);
    return found->id_len != 0;
}


/* A code id or UUID that stands in one piece, or in several.  A UUID is a debug
 * id, too. */
static bool
read_code_id(const sym_str_t *pieces, unsigned n, sym_source_found_t *found)
{
    char text[SYM_CODE_ID_MAX];
    size_t len = 0;

    for (unsigned i = 0; i < n; i++) {
        if (pieces[i].len == 0 || pieces[i].len > sizeof(text) - len) {
            return false;
        }

        memcpy(text + len, pieces[i].data, pieces[i].len);
        len += pieces[i].len;
    }

    if (!sym_mozilla_is_code_id(sym_str(text, len))
        || !sym_code_id_read_build_id(sym_str(text, len), &found->code_id))
    {
        return false;
    }

    return len != UUID_DIGITS || read_debug_id(sym_str(text, len), found);
}


/* The id is the one that clients send: in Mozilla's API perhaps a code id. */
static bool
read_breakpad(const folders_t *f, sym_source_found_t *found)
{
    sym_str_t file = f->part[0], folder = f->part[2];
    sym_str_t suffix = ends(file, SYM_SUFFIX) ? SYM_SUFFIX : BUNDLE_SUFFIX;

    if (!sym_source_name_ok(folder) || !ends(file, suffix)
        || !sym_str_eq(less_suffix(file, suffix), stem_of(folder))
        || !read_debug_id(f->part[1], found))
    {
        return false;
    }

    (void) sym_mozilla_code_id(folder, f->part[1], &found->code_id);
    found->name = folder;
    return true;
}


/* ab/cdef01.debug, ab/cdef01, ab/cdef01.src.zip */
static bool
read_build_id_tree(const folders_t *f, sym_source_found_t *found)
{
    sym_str_t file = less_suffix(f->part[0], BUNDLE_SUFFIX);
    const sym_str_t pieces[] = { f->part[1],
                                 less_suffix(file, SYM_STR(".debug")) };

    return pieces[0].len == 2 && read_code_id(pieces, 2, found);
}


/* AAAA/BBBB/CCCC/DDDD/EEEE/FFFFFFFFFFFF, and .app, .src.zip */
static bool
read_lldb_tree(const folders_t *f, sym_source_found_t *found)
{
    sym_str_t pieces[DEPTH];

    for (unsigned i = 0; i < DEPTH; i++) {
        pieces[i] = f->part[DEPTH - 1 - i];
        if (i + 1 < DEPTH && pieces[i].len != 4) {
            return false;
        }
    }

    pieces[DEPTH - 1] = less_suffix(pieces[DEPTH - 1], SYM_STR(".app"));
    pieces[DEPTH - 1] = less_suffix(pieces[DEPTH - 1], BUNDLE_SUFFIX);
    return pieces[DEPTH - 1].len == 12 && read_code_id(pieces, DEPTH, found);
}


/* "xul.pdb" or "xul.pd_" in the folder "xul.pdb". */
static bool
is_same_or_packed(sym_str_t file, sym_str_t folder)
{
    char packed[SYM_NAME_MAX + 1];
    sym_path_t path = { .data = packed, .size = sizeof(packed) };

    sym_path_part(&path, folder, SYM_CASE_AS_IS);
    sym_path_mark_packed(&path);
    return sym_str_eq(file, folder)
           || (!path.is_full && sym_str_eq(file, sym_str(packed, path.len)));
}


/* ab/cdef: a code id or UUID, or the debug id of a PDB, which may be as long as a
 * code id is. */
static bool
read_cut_id(const sym_str_t pieces[2], sym_source_found_t *found)
{
    bool is_code_id = pieces[0].len == 2 && read_code_id(pieces, 2, found);
    char text[SYM_ID_MAX];

    if (pieces[0].len != 2 || pieces[1].len > sizeof(text) - 2) {
        return is_code_id;
    }

    memcpy(text, pieces[0].data, 2);
    memcpy(text + 2, pieces[1].data, pieces[1].len);
    if (!is_code_id) {
        (void) sym_code_id_read_pe(sym_str(text, 2 + pieces[1].len),
                                   &found->code_id);
    }

    return read_debug_id(sym_str(text, 2 + pieces[1].len), found) || is_code_id;
}


/* ID/debuginfo, ID/executable; ab/cdef/debuginfo; NAME/ID/symbols; or such a
 * file packed */
static bool
read_id_folder(const folders_t *f, sym_source_found_t *found)
{
    static const sym_str_t files[] = { { "debuginfo", 9 },
                                       { "executable", 10 },
                                       { "breakpad", 8 },
                                       { "sourcebundle", 12 },
                                       { "symbols", 7 } };
    const sym_str_t pieces[] = { f->part[2], f->part[1] };

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (is_same_or_packed(f->part[0], files[i])) {
            return read_cut_id(pieces, found)
                   || read_code_id(&pieces[1], 1, found);
        }
    }

    return false;
}


/*
 * NAME/ID/NAME or NAME/ID/NAM_: a PDB by its debug id, a PE file by its code id.
 * The name is written in any case there, so the id alone tells.
 */
static bool
read_windows_folder(const folders_t *f, sym_source_found_t *found)
{
    if (!sym_source_name_ok(f->part[2])
        || !is_same_or_packed(f->part[0], f->part[2]))
    {
        return false;
    }

    return sym_str_ends_nocase(f->part[2], PDB_SUFFIX)
               ? read_debug_id(f->part[1], found)
               : sym_code_id_read_pe(f->part[1], &found->code_id);
}


/* NAME/elf-buildid-ID/NAME and the like */
static bool
read_key_folder(const folders_t *f, sym_source_found_t *found)
{
    static const sym_str_t prefixes[] = { { "elf-buildid-sym-", 16 },
                                          { "elf-buildid-", 12 },
                                          { "mach-uuid-sym-", 14 },
                                          { "mach-uuid-", 10 } };
    sym_str_t key = f->part[1];

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (sym_str_starts(key, prefixes[i])
            && sym_str_eq(f->part[0], f->part[2])) {
            key =
                sym_str(key.data + prefixes[i].len, key.len - prefixes[i].len);
            return read_code_id(&key, 1, found);
        }
    }

    return false;
}


bool
sym_source_module_of(sym_str_t key, sym_source_found_t *found)
{
    folders_t f = { 0 };

    *found = (sym_source_found_t){ 0 };
    for (unsigned i = 0; i < DEPTH && key.len != 0; i++) {
        f.part[i] = take_last(&key);
    }

    return read_breakpad(&f, found) || read_key_folder(&f, found)
           || read_windows_folder(&f, found) || read_id_folder(&f, found)
           || read_lldb_tree(&f, found) || read_build_id_tree(&f, found);
}
