#include "sources/paths/whole.h"

#include "base/hex.h"

#define UUID_DIGITS ((size_t) 2 * SYM_UUID_BYTES)
#define PE_STAMP_DIGITS 8

/* What paths are made of; "": the object has no such part. */
typedef struct {
    const sym_object_ref_t *object;
    sym_source_file_t file;
    sym_str_t code_file, debug_file; /* last components */
    sym_str_t code_id;
    sym_str_t debug_id; /* Breakpad's: GUID in upper case, age in lower case */
    sym_str_t guid;     /* of the debug id */
    sym_str_t uuid;     /* of a Mach-O file: the code id, or without one that */
    char text[SYM_ID_TEXT_MAX];
} parts_t;


/* --- what an object is made of --- */

static sym_str_t
name_of(sym_str_t path)
{
    sym_str_t name = sym_object_file_name(path);

    return sym_source_name_ok(name) ? name : SYM_STR("");
}


/* A UUID in digits; a debug id of PDB 2.0 has a time stamp in its place. */
static void
read_debug_id(parts_t *m)
{
    const sym_debug_id_t *id = &m->object->debug_id;
    size_t len = sym_debug_id_write_breakpad(id, m->text), head;

    head = id->form == SYM_DEBUG_ID_PDB20 ? PE_STAMP_DIGITS : UUID_DIGITS;
    for (size_t i = head; i < len; i++) {
        if (m->text[i] >= 'A' && m->text[i] <= 'F') {
            m->text[i] = (char) (m->text[i] + ('a' - 'A'));
        }
    }

    m->debug_id = sym_str(m->text, len);
    m->guid = sym_str(m->text, len < head ? len : head);
}


static bool
is_uuid(sym_str_t id)
{
    for (size_t i = 0; i < id.len; i++) {
        if (sym_hex_digit(id.data[i]) < 0) {
            return false;
        }
    }

    return id.len == UUID_DIGITS;
}


static void
read_parts(parts_t *m)
{
    const sym_object_ref_t *o = m->object;

    m->code_file = name_of(o->code_file);
    m->debug_file = name_of(o->debug_file);
    m->code_id = sym_str(o->code_id.text, o->code_id.len);
    read_debug_id(m);
    m->uuid = m->code_id.len != 0 ? m->code_id : m->guid;
    if (!is_uuid(m->uuid)) {
        m->uuid = SYM_STR("");
    }
}


/* --- pieces --- */

static bool
put_folder_and_file(sym_path_t *path, sym_str_t name, const char *prefix,
                    sym_str_t id, bool is_ssqp)
{
    sym_case_t to = is_ssqp ? SYM_CASE_LOWER : SYM_CASE_AS_IS;

    sym_path_part(path, name, to);
    sym_path_slash(path);
    sym_path_text(path, prefix);
    sym_path_part(path, id, SYM_CASE_LOWER);
    sym_path_slash(path);
    sym_path_part(path, name, to);
    return name.len != 0 && id.len != 0;
}


/* The folder of a PDB and of portable ones, whose age is always ffffffff. */
static bool
put_pdb_folder(sym_path_t *path, const parts_t *m, bool is_ssqp)
{
    char text[SYM_ID_TEXT_MAX];
    size_t head = m->guid.len, len;

    if (m->debug_file.len == 0 || m->debug_id.len == 0) {
        return false;
    }

    len = sym_debug_id_write_symstore(&m->object->debug_id, m->object->type,
                                      text);
    sym_path_part(path, m->debug_file,
                  is_ssqp ? SYM_CASE_LOWER : SYM_CASE_AS_IS);
    sym_path_slash(path);
    sym_path_part(path, sym_str(text, head),
                  is_ssqp ? SYM_CASE_LOWER : SYM_CASE_UPPER);
    sym_path_part(path, sym_str(text + head, len - head),
                  is_ssqp ? SYM_CASE_UPPER : SYM_CASE_LOWER);
    sym_path_slash(path);
    return true;
}


static bool
put_pdb(sym_path_t *path, const parts_t *m, bool is_ssqp)
{
    if (!put_pdb_folder(path, m, is_ssqp)) {
        return false;
    }

    sym_path_part(path, m->debug_file,
                  is_ssqp ? SYM_CASE_LOWER : SYM_CASE_AS_IS);
    return true;
}


/* Its source bundle: up to the last dot, with .src.zip behind it.  A name without
 * a dot leaves none before the slash either: ids have no dots. */
static bool
put_pdb_bundle(sym_path_t *path, const parts_t *m, bool is_ssqp)
{
    sym_str_t stem = m->debug_file;
    const char *dot = stem.len != 0 ? memrchr(stem.data, '.', stem.len) : NULL;

    if (!put_pdb_folder(path, m, is_ssqp)) {
        return false;
    }

    stem.len = dot != NULL ? (size_t) (dot - stem.data) : stem.len;
    sym_path_part(path, stem, is_ssqp ? SYM_CASE_LOWER : SYM_CASE_AS_IS);
    sym_path_text(path, ".src.zip");
    return true;
}


static bool
put_pe(sym_path_t *path, const parts_t *m, bool is_ssqp)
{
    sym_str_t id = m->code_id;
    sym_case_t to = is_ssqp ? SYM_CASE_LOWER : SYM_CASE_AS_IS;

    if (m->code_file.len == 0 || id.len == 0
        || (!is_ssqp && id.len < PE_STAMP_DIGITS))
    {
        return false;
    }

    sym_path_part(path, m->code_file, to);
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
    sym_path_part(path, m->code_file, to);
    return true;
}


/* NAME/ID/STEM and a suffix; only ".pdb" goes. */
static bool
put_breakpad(sym_path_t *path, const parts_t *m, sym_str_t name,
             const char *suffix)
{
    const sym_str_t pdb = SYM_STR(".pdb");
    sym_str_t stem = name;

    if (name.len == 0 || m->debug_id.len == 0) {
        return false;
    }

    if (stem.len >= pdb.len
        && memcmp(stem.data + stem.len - pdb.len, pdb.data, pdb.len) == 0)
    {
        stem.len -= pdb.len;
    }

    sym_path_part(path, name, SYM_CASE_AS_IS);
    sym_path_slash(path);
    sym_path_part(path, m->debug_id, SYM_CASE_AS_IS);
    sym_path_slash(path);
    sym_path_part(path, stem, SYM_CASE_AS_IS);
    sym_path_text(path, suffix);
    return true;
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
put_lldb(sym_path_t *path, const parts_t *m, const char *suffix)
{
    if (m->uuid.len == 0) {
        return false;
    }

    sym_path_lldb(path, m->uuid);
    sym_path_text(path, suffix);
    return true;
}


/* --- layouts --- */

/* Mozilla's, which Symbolicator does not have: the age, too, is in upper case.
 * A program of other systems than Windows has one name. */
static bool
breakpad_write(sym_path_t *path, const parts_t *m)
{
    parts_t upper = *m;
    char text[SYM_ID_TEXT_MAX];

    upper.debug_id =
        sym_str(text, sym_debug_id_write_breakpad(&m->object->debug_id, text));
    return m->file == SYM_SOURCE_BREAKPAD
           && put_breakpad(
               path, &upper,
               m->debug_file.len != 0 ? m->debug_file : m->code_file, ".sym");
}


static bool
native_write_bundle(sym_path_t *path, const parts_t *m)
{
    switch (m->object->type) {
    case SYM_OBJECT_PE:
    case SYM_OBJECT_PE_DOTNET:
        return put_pdb_bundle(path, m, false);
    case SYM_OBJECT_MACHO:
        return put_lldb(path, m, ".src.zip");
    case SYM_OBJECT_ELF:
    case SYM_OBJECT_WASM:
        return put_build_id(path, m->code_id, ".src.zip");
    default:
        return false;
    }
}


/* Whether the object has the path of its own kind, besides which that of a
 * Breakpad file is asked for. */
static bool
has_native_bundle(const parts_t *m)
{
    char text[SYM_SOURCE_PATH_MAX];
    sym_path_t path = { .data = text, .size = sizeof(text) };

    return native_write_bundle(&path, m);
}


static bool
native_write(sym_path_t *path, const parts_t *m)
{
    const bool is_wasm = m->object->type == SYM_OBJECT_WASM;

    switch (m->file) {
    case SYM_SOURCE_ELF_CODE:
    case SYM_SOURCE_WASM_CODE:
        return put_build_id(path, m->code_id, "");
    case SYM_SOURCE_ELF_DEBUG:
    case SYM_SOURCE_WASM_DEBUG:
        return put_build_id(path, m->code_id, ".debug");
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
        return !is_wasm && put_breakpad(path, m, m->debug_file, ".sym");
    case SYM_SOURCE_ELF_BUNDLE:
        return native_write_bundle(path, m);
    case SYM_SOURCE_NAMED_BUNDLE:
        return !is_wasm && has_native_bundle(m)
               && put_breakpad(path, m, m->debug_file, ".src.zip");
    default:
        return false;
    }
}


static bool
debuginfod_write(sym_path_t *path, const parts_t *m)
{
    bool is_code = m->file == SYM_SOURCE_ELF_CODE;

    sym_path_part(path, m->code_id, SYM_CASE_LOWER);
    sym_path_slash(path);
    sym_path_text(path, is_code ? "executable" : "debuginfo");
    return m->code_id.len != 0 && (is_code || m->file == SYM_SOURCE_ELF_DEBUG);
}


static bool
key_write(sym_path_t *path, const parts_t *m, bool is_ssqp)
{
    switch (m->file) {
    case SYM_SOURCE_ELF_CODE:
        return put_folder_and_file(path, m->code_file, "elf-buildid-",
                                   m->code_id, is_ssqp);
    case SYM_SOURCE_ELF_DEBUG:
        return put_folder_and_file(path, SYM_STR("_.debug"), "elf-buildid-sym-",
                                   m->code_id, is_ssqp);
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
        return m->object->type == SYM_OBJECT_PE
               && put_pdb_bundle(path, m, is_ssqp);
    default:
        return false;
    }
}


static bool
symstore_write(sym_path_t *path, const parts_t *m)
{
    return key_write(path, m, false);
}


static bool
ssqp_write(sym_path_t *path, const parts_t *m)
{
    return key_write(path, m, true);
}


/* A folder of the first two characters, or of one before a dot or slash. */
static bool
index2_write(sym_path_t *path, const parts_t *m)
{
    char text[SYM_SOURCE_PATH_MAX];
    sym_path_t plain = { .data = text, .size = sizeof(text) };
    size_t n;

    if (!key_write(&plain, m, false) || plain.is_full) {
        path->is_full |= plain.is_full;
        return plain.is_full;
    }

    n = text[1] == '/' || text[1] == '.' ? 1 : 2;
    if (((uint8_t) text[n] & 0xc0) != 0x80) {
        sym_path_part(path, sym_str(text, n), SYM_CASE_AS_IS);
        sym_path_slash(path);
    }

    return key_write(path, m, false);
}


/* The id that the object's own executable, or its PDB, has. */
static sym_str_t
unified_id(const parts_t *m)
{
    sym_str_t either = m->code_id.len != 0 ? m->code_id : m->guid;

    switch (m->file) {
    case SYM_SOURCE_ELF_CODE:
    case SYM_SOURCE_ELF_DEBUG:
        return m->code_id;
    case SYM_SOURCE_PE:
    case SYM_SOURCE_PE_PACKED:
    case SYM_SOURCE_PDB:
    case SYM_SOURCE_PDB_PACKED:
    case SYM_SOURCE_PORTABLE_PDB:
        return m->debug_id;
    case SYM_SOURCE_BREAKPAD:
    case SYM_SOURCE_ELF_BUNDLE:
    case SYM_SOURCE_IL2CPP:
        switch (m->object->type) {
        case SYM_OBJECT_ELF:
            return m->code_id;
        case SYM_OBJECT_PE:
        case SYM_OBJECT_PE_DOTNET:
            return m->debug_id;
        case SYM_OBJECT_UNKNOWN:
            return SYM_STR("");
        default:
            return either;
        }
    case SYM_SOURCE_MACH_BUNDLE:
    case SYM_SOURCE_NAMED_BUNDLE:
        return SYM_STR("");
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
        return "sourcebundle";
    case SYM_SOURCE_UUIDMAP:
        return "uuidmap";
    case SYM_SOURCE_BCSYMBOLMAP:
        return "bcsymbolmap";
    case SYM_SOURCE_IL2CPP:
        return "il2cpp";
    case SYM_SOURCE_PROGUARD:
        return "proguard";
    default:
        return "debuginfo";
    }
}


static bool
unified_write(sym_path_t *path, const parts_t *m)
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


/* One path for all files; the one in upper case first. */
static bool
slashsymbols_write(sym_path_t *path, const parts_t *m, unsigned spelling)
{
    sym_path_part(path, m->code_file, SYM_CASE_AS_IS);
    sym_path_slash(path);
    sym_path_part(path, m->code_id,
                  spelling == 0 ? SYM_CASE_UPPER : SYM_CASE_LOWER);
    sym_path_slash(path);
    sym_path_text(path, "symbols");
    return m->code_file.len != 0 && m->code_id.len != 0;
}


bool
sym_whole_write(sym_path_t *path, sym_layout_t layout, sym_source_file_t file,
                unsigned spelling, const sym_object_ref_t *object)
{
    static bool (*const writers[])(sym_path_t *, const parts_t *) = {
        [SYM_LAYOUT_BREAKPAD] = breakpad_write,
        [SYM_LAYOUT_NATIVE] = native_write,
        [SYM_LAYOUT_DEBUGINFOD] = debuginfod_write,
        [SYM_LAYOUT_SYMSTORE] = symstore_write,
        [SYM_LAYOUT_SYMSTORE_INDEX2] = index2_write,
        [SYM_LAYOUT_SSQP] = ssqp_write,
        [SYM_LAYOUT_UNIFIED] = unified_write,
    };
    parts_t m = { .object = object, .file = file };
    bool is_packed =
        file == SYM_SOURCE_PDB_PACKED || file == SYM_SOURCE_PE_PACKED;

    read_parts(&m);
    if (layout == SYM_LAYOUT_SLASHSYMBOLS
            ? !slashsymbols_write(path, &m, spelling)
            : spelling != 0 || !writers[layout](path, &m))
    {
        return false;
    }

    if (is_packed) {
        sym_path_mark_packed(path);
    }

    return true;
}


/* --- the order of asking --- */

#define END 0xff
#define ORDER_MAX (SYM_SOURCE_FILES + 1)

/* What goes with the files of any native type. */
#define FURTHER                                                                \
    SYM_SOURCE_ELF_BUNDLE, SYM_SOURCE_NAMED_BUNDLE, SYM_SOURCE_UUIDMAP,        \
        SYM_SOURCE_BCSYMBOLMAP, SYM_SOURCE_IL2CPP, END
#define DEBUG_FILES                                                            \
    SYM_SOURCE_BREAKPAD, SYM_SOURCE_MACH_DEBUG, SYM_SOURCE_PDB,                \
        SYM_SOURCE_PDB_PACKED, SYM_SOURCE_ELF_DEBUG

/* Symbolicator's order.  Of equally good files the first is taken. */
static const uint8_t thorough[][ORDER_MAX] = {
    [SYM_OBJECT_UNKNOWN] = { SYM_SOURCE_PDB, SYM_SOURCE_PDB_PACKED,
                             SYM_SOURCE_MACH_DEBUG, SYM_SOURCE_ELF_DEBUG,
                             SYM_SOURCE_PE, SYM_SOURCE_PE_PACKED,
                             SYM_SOURCE_MACH_CODE, SYM_SOURCE_ELF_CODE,
                             SYM_SOURCE_WASM_CODE, SYM_SOURCE_WASM_DEBUG,
                             SYM_SOURCE_BREAKPAD, SYM_SOURCE_PORTABLE_PDB,
                             SYM_SOURCE_PROGUARD, FURTHER },
    [SYM_OBJECT_ELF] = { SYM_SOURCE_ELF_CODE, DEBUG_FILES, FURTHER },
    [SYM_OBJECT_MACHO] = { SYM_SOURCE_MACH_CODE, DEBUG_FILES, FURTHER },
    [SYM_OBJECT_PE] = { SYM_SOURCE_PE, SYM_SOURCE_PE_PACKED, DEBUG_FILES,
                        FURTHER },
    [SYM_OBJECT_PE_DOTNET] = { SYM_SOURCE_ELF_BUNDLE, SYM_SOURCE_NAMED_BUNDLE,
                               SYM_SOURCE_PORTABLE_PDB, SYM_SOURCE_PDB,
                               SYM_SOURCE_PDB_PACKED, END },
    [SYM_OBJECT_WASM] = { SYM_SOURCE_WASM_CODE, SYM_SOURCE_WASM_DEBUG,
                          FURTHER },
};

/* The same, but an executable, which is mostly stripped, only if there is
 * nothing better. */
static const uint8_t quick[][ORDER_MAX] = {
    [SYM_OBJECT_UNKNOWN] = { SYM_SOURCE_PDB, SYM_SOURCE_PDB_PACKED,
                             SYM_SOURCE_MACH_DEBUG, SYM_SOURCE_ELF_DEBUG,
                             SYM_SOURCE_WASM_DEBUG, SYM_SOURCE_BREAKPAD,
                             SYM_SOURCE_PE, SYM_SOURCE_PE_PACKED,
                             SYM_SOURCE_MACH_CODE, SYM_SOURCE_ELF_CODE,
                             SYM_SOURCE_WASM_CODE, SYM_SOURCE_PORTABLE_PDB,
                             SYM_SOURCE_PROGUARD, FURTHER },
    [SYM_OBJECT_ELF] = { DEBUG_FILES, SYM_SOURCE_ELF_CODE, FURTHER },
    [SYM_OBJECT_MACHO] = { DEBUG_FILES, SYM_SOURCE_MACH_CODE, FURTHER },
    [SYM_OBJECT_PE] = { DEBUG_FILES, SYM_SOURCE_PE, SYM_SOURCE_PE_PACKED,
                        FURTHER },
    [SYM_OBJECT_PE_DOTNET] = { SYM_SOURCE_ELF_BUNDLE, SYM_SOURCE_NAMED_BUNDLE,
                               SYM_SOURCE_PORTABLE_PDB, SYM_SOURCE_PDB,
                               SYM_SOURCE_PDB_PACKED, END },
    [SYM_OBJECT_WASM] = { SYM_SOURCE_WASM_DEBUG, SYM_SOURCE_WASM_CODE,
                          FURTHER },
};

bool
sym_whole_file(sym_object_type_t type, bool is_thorough, unsigned n,
               sym_source_file_t *file, unsigned *spelling)
{
    const uint8_t *order = is_thorough ? thorough[type] : quick[type];
    unsigned i;

    for (i = 0; i < n / 2; i++) {
        if (order[i] == END) {
            return false;
        }
    }

    *file = (sym_source_file_t) order[i];
    *spelling = n % 2;
    return order[i] != END;
}
