/*
 * Functions that write the paths of each layout.  Sources: docs/use/sources.md,
 * section 1; Symbolicator's page on symbol server compatibility.
 */
#include "sources/paths/parts.h"

#define PE_STAMP_DIGITS 8
#define PACKED (SYM_FILE(PDB_PACKED) | SYM_FILE(PE_PACKED))


/* --- pieces --- */

static sym_case_t
name_case(bool is_ssqp)
{
    return is_ssqp ? SYM_CASE_LOWER : SYM_CASE_AS_IS;
}


static bool
put_folder_and_file(sym_path_t *path, sym_str_t name, const char *prefix,
                    sym_str_t id, bool is_ssqp)
{
    sym_path_part(path, name, name_case(is_ssqp));
    sym_path_slash(path);
    sym_path_text(path, prefix);
    sym_path_part(path, id, SYM_CASE_LOWER);
    sym_path_slash(path);
    sym_path_part(path, name, name_case(is_ssqp));
    return name.len != 0 && id.len != 0;
}


/* Folder of a PDB.  Also used for portable PDBs, whose age is always
 * ffffffff. */
static bool
put_pdb_folder(sym_path_t *path, const sym_path_parts_t *m, bool is_ssqp)
{
    sym_str_t id = m->pdb_id;

    if (m->debug_file.len == 0 || id.len == 0) {
        return false;
    }

    sym_path_part(path, m->debug_file, name_case(is_ssqp));
    sym_path_slash(path);
    sym_path_part(path, sym_str(id.data, m->pdb_head),
                  is_ssqp ? SYM_CASE_LOWER : SYM_CASE_UPPER);
    sym_path_part(path, sym_str(id.data + m->pdb_head, id.len - m->pdb_head),
                  is_ssqp ? SYM_CASE_UPPER : SYM_CASE_LOWER);
    sym_path_slash(path);
    return true;
}


static bool
put_pdb(sym_path_t *path, const sym_path_parts_t *m, bool is_ssqp)
{
    if (!put_pdb_folder(path, m, is_ssqp)) {
        return false;
    }

    sym_path_part(path, m->debug_file, name_case(is_ssqp));
    return true;
}


/* The source bundle of the file: the name up to its last dot, then .src.zip. */
static bool
put_pdb_bundle(sym_path_t *path, const sym_path_parts_t *m, bool is_ssqp)
{
    sym_str_t stem = m->debug_file;
    const char *dot = stem.len != 0 ? memrchr(stem.data, '.', stem.len) : NULL;

    if (!put_pdb_folder(path, m, is_ssqp)) {
        return false;
    }

    stem.len = dot != NULL ? (size_t) (dot - stem.data) : stem.len;
    sym_path_part(path, stem, name_case(is_ssqp));
    sym_path_text(path, ".src.zip");
    return true;
}


static bool
put_pe(sym_path_t *path, const sym_path_parts_t *m, bool is_ssqp)
{
    sym_str_t id = m->pe_id;

    if (m->code_file.len == 0 || id.len == 0
        || (!is_ssqp && id.len < PE_STAMP_DIGITS))
    {
        return false;
    }

    sym_path_part(path, m->code_file, name_case(is_ssqp));
    sym_path_slash(path);
    if (is_ssqp) {
        sym_path_part(path, id, SYM_CASE_LOWER);
    } else {
        sym_path_part(path, sym_str(id.data, PE_STAMP_DIGITS), SYM_CASE_UPPER);
        sym_path_part(
            path, sym_str(id.data + PE_STAMP_DIGITS, id.len - PE_STAMP_DIGITS),
            SYM_CASE_LOWER);
    }

    sym_path_slash(path);
    sym_path_part(path, m->code_file, name_case(is_ssqp));
    return true;
}


/* NAME/ID/STEM and a suffix; only the ending ".pdb" is replaced, in lower
 * case. */
static bool
put_breakpad(sym_path_t *path, sym_str_t name, sym_str_t id, sym_case_t id_case,
             const char *suffix)
{
    const sym_str_t pdb = SYM_STR(".pdb");
    sym_str_t stem = name;

    if (name.len == 0 || id.len == 0) {
        return false;
    }

    if (stem.len >= pdb.len
        && memcmp(stem.data + stem.len - pdb.len, pdb.data, pdb.len) == 0)
    {
        stem.len -= pdb.len;
    }

    sym_path_part(path, name, SYM_CASE_AS_IS);
    sym_path_slash(path);
    sym_path_part(path, id, id_case);
    sym_path_slash(path);
    sym_path_part(path, stem, SYM_CASE_AS_IS);
    sym_path_text(path, suffix);
    return true;
}


static bool
put_named(sym_path_t *path, const sym_path_parts_t *m, const char *suffix)
{
    return m->ref->type != SYM_OBJECT_WASM
           && put_breakpad(path, m->debug_file, m->named_id, SYM_CASE_AS_IS,
                           suffix);
}


static bool
put_build_id(sym_path_t *path, sym_str_t id, const char *suffix)
{
    if (id.len < 2) {
        return false;
    }

    sym_path_cut_id(path, id);
    sym_path_text(path, suffix);
    return true;
}


static bool
put_lldb(sym_path_t *path, const sym_path_parts_t *m, const char *suffix)
{
    if (m->uuid.len == 0) {
        return false;
    }

    sym_path_lldb(path, m->uuid);
    sym_path_text(path, suffix);
    return true;
}


/* --- layouts --- */

/* Mozilla's layout, which Symbolicator does not have: the age, too, is in upper
 * case.  A program for other systems than Windows has only one name. */
static bool
breakpad_write(sym_path_t *path, const sym_path_parts_t *m)
{
    return m->file == SYM_SOURCE_BREAKPAD
           && put_breakpad(
               path, m->debug_file.len != 0 ? m->debug_file : m->code_file,
               m->id, m->id_case, ".sym");
}


static bool
native_write_bundle(sym_path_t *path, const sym_path_parts_t *m)
{
    switch (m->ref->type) {
    case SYM_OBJECT_PE:
    case SYM_OBJECT_PE_DOTNET:
        return put_pdb_bundle(path, m, false);
    case SYM_OBJECT_MACHO:
        return put_lldb(path, m, ".src.zip");
    case SYM_OBJECT_ELF:
    case SYM_OBJECT_WASM:
        return put_build_id(path, m->build_id, ".src.zip");
    default:
        return m->ref->is_either && put_build_id(path, m->wasm_id, ".src.zip");
    }
}


/* If the type of the object is known, only paths of its own type apply. */
static bool
native_write_named_bundle(sym_path_t *path, const sym_path_parts_t *m)
{
    sym_path_t none = { .size = 0 };

    return (m->ref->is_either || native_write_bundle(&none, m))
           && put_named(path, m, ".src.zip");
}


static bool
native_write(sym_path_t *path, const sym_path_parts_t *m)
{
    switch (m->file) {
    case SYM_SOURCE_ELF_CODE:
        return put_build_id(path, m->build_id, "");
    case SYM_SOURCE_WASM_CODE:
        return put_build_id(path, m->wasm_id, "");
    case SYM_SOURCE_ELF_DEBUG:
        return put_build_id(path, m->build_id, ".debug");
    case SYM_SOURCE_WASM_DEBUG:
        return put_build_id(path, m->wasm_id, ".debug");
    case SYM_SOURCE_MACH_CODE:
        return put_lldb(path, m, ".app");
    case SYM_SOURCE_MACH_DEBUG:
        return put_lldb(path, m, "");
    case SYM_SOURCE_PE:
    case SYM_SOURCE_PE_PACKED:
        return put_pe(path, m, false);
    case SYM_SOURCE_PDB:
    case SYM_SOURCE_PDB_PACKED:
    case SYM_SOURCE_PORTABLE_PDB:
        return put_pdb(path, m, false);
    case SYM_SOURCE_BREAKPAD:
        return put_named(path, m, ".sym");
    case SYM_SOURCE_ELF_BUNDLE:
        return native_write_bundle(path, m);
    case SYM_SOURCE_MACH_BUNDLE:
        return put_lldb(path, m, ".src.zip");
    case SYM_SOURCE_NAMED_BUNDLE:
        return native_write_named_bundle(path, m);
    default:
        return false;
    }
}


static bool
debuginfod_write(sym_path_t *path, const sym_path_parts_t *m)
{
    bool is_code = m->file == SYM_SOURCE_ELF_CODE;

    sym_path_part(path, m->build_id, SYM_CASE_LOWER);
    sym_path_slash(path);
    sym_path_text(path, is_code ? "executable" : "debuginfo");
    return m->build_id.len != 0 && (is_code || m->file == SYM_SOURCE_ELF_DEBUG);
}


/* Layout of Microsoft's symbol servers, with Sentry's keys for other files. */
static bool
key_write(sym_path_t *path, const sym_path_parts_t *m, bool is_ssqp)
{
    switch (m->file) {
    case SYM_SOURCE_ELF_CODE:
        return put_folder_and_file(path, m->code_file, "elf-buildid-",
                                   m->build_id, is_ssqp);
    case SYM_SOURCE_ELF_DEBUG:
        return put_folder_and_file(path, SYM_STR("_.debug"), "elf-buildid-sym-",
                                   m->build_id, is_ssqp);
    case SYM_SOURCE_MACH_CODE:
        return put_folder_and_file(path, m->code_file, "mach-uuid-", m->uuid,
                                   is_ssqp);
    case SYM_SOURCE_MACH_DEBUG:
        return put_folder_and_file(path, SYM_STR("_.dwarf"), "mach-uuid-sym-",
                                   m->uuid, is_ssqp);
    case SYM_SOURCE_PE:
    case SYM_SOURCE_PE_PACKED:
        return put_pe(path, m, is_ssqp);
    case SYM_SOURCE_PDB:
    case SYM_SOURCE_PDB_PACKED:
    case SYM_SOURCE_PORTABLE_PDB:
        return put_pdb(path, m, is_ssqp);
    case SYM_SOURCE_ELF_BUNDLE:
        return m->ref->type == SYM_OBJECT_PE
               && put_pdb_bundle(path, m, is_ssqp);
    case SYM_SOURCE_NAMED_BUNDLE:
        return m->ref->is_either && put_pdb_bundle(path, m, is_ssqp);
    default:
        return false;
    }
}


static bool
symstore_write(sym_path_t *path, const sym_path_parts_t *m)
{
    return key_write(path, m, false);
}


static bool
ssqp_write(sym_path_t *path, const sym_path_parts_t *m)
{
    return key_write(path, m, true);
}


static bool
index2_write(sym_path_t *path, const sym_path_parts_t *m)
{
    char text[4] = "";
    sym_path_t start = { .data = text, .size = sizeof(text) };

    /* an id alone exceeds the limit here */
    if (!key_write(&start, m, false)) {
        return false;
    }

    sym_path_index2(path, sym_str(text, sizeof(text)));
    return key_write(path, m, false);
}


static sym_str_t
first_of(sym_str_t a, sym_str_t b)
{
    return a.len != 0 ? a : b;
}


/* Returns the id for a file that has no type of its own, by the type of its
 * object. */
static sym_str_t
unified_object_id(const sym_path_parts_t *m, sym_str_t either)
{
    switch (m->ref->type) {
    case SYM_OBJECT_ELF:
        return m->build_id;
    case SYM_OBJECT_PE:
    case SYM_OBJECT_PE_DOTNET:
        return m->debug_id;
    case SYM_OBJECT_UNKNOWN:
        return SYM_STR("");
    default:
        return either;
    }
}


/* Returns the id of the object's own executable, or of its PDB. */
static sym_str_t
unified_id(const sym_path_parts_t *m)
{
    bool is_guess = m->ref->is_either;
    sym_str_t guid = is_guess ? m->uuid : sym_str(m->pdb_id.data, m->pdb_head);
    sym_str_t either = first_of(m->build_id, guid);

    switch (m->file) {
    case SYM_SOURCE_ELF_CODE:
    case SYM_SOURCE_ELF_DEBUG:
        return m->build_id;
    case SYM_SOURCE_WASM_CODE:
    case SYM_SOURCE_WASM_DEBUG:
        return is_guess ? m->wasm_id : either;
    case SYM_SOURCE_PE:
    case SYM_SOURCE_PE_PACKED:
    case SYM_SOURCE_PDB:
    case SYM_SOURCE_PDB_PACKED:
    case SYM_SOURCE_PORTABLE_PDB:
        return m->pdb_id.len != 0 ? m->debug_id : SYM_STR("");
    case SYM_SOURCE_BREAKPAD:
        return !is_guess            ? unified_object_id(m, either)
               : m->pdb_id.len != 0 ? m->debug_id
                                    : first_of(either, m->debug_id);
    case SYM_SOURCE_ELF_BUNDLE:
        return is_guess ? m->build_id : unified_object_id(m, either);
    case SYM_SOURCE_MACH_BUNDLE:
        return is_guess ? either : SYM_STR("");
    case SYM_SOURCE_NAMED_BUNDLE:
        return !is_guess            ? SYM_STR("")
               : m->pdb_id.len != 0 ? m->debug_id
                                    : first_of(either, m->debug_id);
    case SYM_SOURCE_IL2CPP:
        return m->spelling == 0 ? unified_object_id(m, either)
                                : sym_str(m->pdb_id.data, m->pdb_head);
    default:
        return either;
    }
}


static const char *
unified_file(sym_source_file_t file)
{
    switch (file) {
    case SYM_SOURCE_ELF_CODE:
    case SYM_SOURCE_MACH_CODE:
    case SYM_SOURCE_WASM_CODE:
    case SYM_SOURCE_PE:
    case SYM_SOURCE_PE_PACKED:
        return "executable";
    case SYM_SOURCE_BREAKPAD:
        return "breakpad";
    case SYM_SOURCE_ELF_BUNDLE:
    case SYM_SOURCE_MACH_BUNDLE:
    case SYM_SOURCE_NAMED_BUNDLE:
        return "sourcebundle";
    case SYM_SOURCE_UUIDMAP:
        return "uuidmap";
    case SYM_SOURCE_BCSYMBOLMAP:
        return "bcsymbolmap";
    case SYM_SOURCE_IL2CPP:
        return "il2cpp";
    case SYM_SOURCE_PROGUARD:
        return "proguard";
    case SYM_SOURCE_SCRIPT:
        return "script";
    case SYM_SOURCE_SOURCEMAP:
        return "sourcemap";
    default:
        return "debuginfo";
    }
}


static bool
unified_write(sym_path_t *path, const sym_path_parts_t *m)
{
    sym_str_t id = unified_id(m);

    if (id.len < 2) {
        return false;
    }

    sym_path_cut_id(path, id);
    sym_path_slash(path);
    sym_path_text(path, unified_file(m->file));
    return true;
}


/* Returns the id of a guess: that of the file's type. */
static sym_str_t
slashsymbols_id(const sym_path_parts_t *m)
{
    if (!m->ref->is_either) {
        return m->build_id;
    }

    switch (m->file) {
    case SYM_SOURCE_PE:
    case SYM_SOURCE_PE_PACKED:
    case SYM_SOURCE_PDB:
    case SYM_SOURCE_PDB_PACKED:
    case SYM_SOURCE_PORTABLE_PDB:
        return m->pe_id;
    case SYM_SOURCE_MACH_CODE:
    case SYM_SOURCE_MACH_DEBUG:
        return first_of(m->build_id, m->uuid);
    case SYM_SOURCE_ELF_CODE:
    case SYM_SOURCE_ELF_DEBUG:
    case SYM_SOURCE_WASM_CODE:
    case SYM_SOURCE_WASM_DEBUG:
        return m->build_id;
    default:
        return SYM_STR("");
    }
}


/* Writes one path for all files, the upper-case one first.  If the type is a
 * guess, debug files get that path, and code files the other one. */
static bool
slashsymbols_write(sym_path_t *path, const sym_path_parts_t *m)
{
    sym_str_t id = slashsymbols_id(m);
    bool is_lower =
        m->ref->is_either ? m->file >= SYM_SOURCE_FIRST_CODE : m->spelling != 0;

    sym_path_part(path, m->code_file, SYM_CASE_AS_IS);
    sym_path_slash(path);
    sym_path_part(path, id, is_lower ? SYM_CASE_LOWER : SYM_CASE_UPPER);
    sym_path_slash(path);
    sym_path_text(path, "symbols");
    return m->code_file.len != 0 && id.len != 0;
}


bool
sym_layout_write(sym_layout_t layout, sym_path_t *path,
                 const sym_path_parts_t *m)
{
    static bool (*const writers[])(sym_path_t *, const sym_path_parts_t *) = {
        [SYM_LAYOUT_BREAKPAD] = breakpad_write,
        [SYM_LAYOUT_NATIVE] = native_write,
        [SYM_LAYOUT_DEBUGINFOD] = debuginfod_write,
        [SYM_LAYOUT_SYMSTORE] = symstore_write,
        [SYM_LAYOUT_SYMSTORE_INDEX2] = index2_write,
        [SYM_LAYOUT_SSQP] = ssqp_write,
        [SYM_LAYOUT_UNIFIED] = unified_write,
        [SYM_LAYOUT_SLASHSYMBOLS] = slashsymbols_write,
    };

    if (!writers[layout](path, m)) {
        return false;
    }

    if ((PACKED & 1u << m->file) != 0) {
        sym_path_mark_packed(path);
    }

    return true;
}
