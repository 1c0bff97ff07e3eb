#include "sources/layout.h"

#include "base/uri.h"
#include "object/object_id.h"

#define SYM_SUFFIX SYM_STR(".sym")
#define PDB_SUFFIX SYM_STR(".pdb")

#define UUID_DIGITS 32
#define BIT(file) (1u << (file))
#define ALL_FILES (BIT(SYM_SOURCE_FILES) - 1)
#define ELF_FILES (BIT(SYM_SOURCE_ELF_DEBUG) | BIT(SYM_SOURCE_ELF_CODE))
#define MACH_FILES (BIT(SYM_SOURCE_MACH_DEBUG) | BIT(SYM_SOURCE_MACH_CODE))

/* A path under way; what does not fit is not written, and remembered. */
typedef struct {
    char *data;
    size_t len, size;
    sym_source_casing_t casing;
    bool is_encoded;
    bool is_full;
} path_t;

/* What a module's path is made of. */
typedef struct {
    sym_source_file_t file;
    sym_source_ids_t ids;
    sym_str_t name, id; /* as sent */
    sym_str_t code_id;  /* "": the id is none */
    sym_str_t uuid;     /* "": the id has an age */
} parts_t;

typedef enum { AS_IS, LOWER, UPPER } case_t;

/* One row a layout.  False: there is no such path. */
typedef struct {
    sym_str_t name; /* in the configuration */
    unsigned files;
    bool (*write)(path_t *path, const parts_t *m);
} layout_t;


/* --- ids --- */

sym_str_t
sym_source_code_id(sym_str_t id, sym_str_t code_id)
{
    sym_code_id_t read;

    return code_id.len != 0 && sym_code_id_read_build_id(id, &read)
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


static bool
is_elf(const parts_t *m)
{
    return (BIT(m->file) & ELF_FILES) != 0;
}


static bool
is_code(const parts_t *m)
{
    return m->file >= SYM_SOURCE_FIRST_CODE;
}


/* --- writing --- */

static char
cased(char c, case_t to)
{
    if (to == LOWER && c >= 'A' && c <= 'Z') {
        return (char) (c + ('a' - 'A'));
    }

    if (to == UPPER && c >= 'a' && c <= 'z') {
        return (char) (c - ('a' - 'A'));
    }

    return c;
}


static void
put_bytes(path_t *path, const char *bytes, size_t len)
{
    if (path->is_full || len > path->size - path->len) {
        path->is_full = true;
        return;
    }

    memcpy(path->data + path->len, bytes, len);
    path->len += len;
}


/* A part between slashes, or a piece of one. */
static void
put_part(path_t *path, sym_str_t part, case_t to)
{
    for (size_t i = 0; i < part.len; i++) {
        char encoded[3], c = cased(part.data[i], to);

        c = cased(c, path->casing == SYM_SOURCE_CASING_LOWER   ? LOWER
                     : path->casing == SYM_SOURCE_CASING_UPPER ? UPPER
                                                               : AS_IS);
        if (path->is_encoded) {
            put_bytes(path, encoded, sym_uri_encode_byte(c, encoded));
        } else {
            put_bytes(path, &c, 1);
        }
    }
}


static void
put_text(path_t *path, const char *text)
{
    put_part(path, sym_cstr(text), AS_IS);
}


static void
put_slash(path_t *path)
{
    put_bytes(path, "/", 1);
}


/* --- breakpad --- */

static bool
ends(sym_str_t s, sym_str_t suffix)
{
    return s.len >= suffix.len
           && memcmp(s.data + s.len - suffix.len, suffix.data, suffix.len) == 0;
}


/* tecken.md, 5: ".pdb" goes as it is written here, ".PDB" stays. */
static sym_str_t
stem_of(sym_str_t name)
{
    return ends(name, PDB_SUFFIX)
               ? sym_str(name.data, name.len - PDB_SUFFIX.len)
               : name;
}


static void
put_sym_file(path_t *path, const parts_t *m)
{
    put_slash(path);
    put_part(path, stem_of(m->name), AS_IS);
    put_part(path, SYM_SUFFIX, AS_IS);
}


static bool
breakpad_write(path_t *path, const parts_t *m)
{
    put_part(path, m->name, AS_IS);
    put_slash(path);
    put_part(path, m->id, m->ids == SYM_SOURCE_IDS_UPPER ? UPPER : AS_IS);
    put_sym_file(path, m);
    return true;
}


/* Breakpad's id as others write it: the age in lower case; "0" where the client
 * left it out. */
static void
put_breakpad_id(path_t *path, const parts_t *m, case_t to)
{
    put_part(path, sym_str(m->id.data, UUID_DIGITS), to);
    put_part(path,
             m->id.len > UUID_DIGITS
                 ? sym_str(m->id.data + UUID_DIGITS, m->id.len - UUID_DIGITS)
                 : SYM_STR("0"),
             LOWER);
}


static bool
has_breakpad_id(const parts_t *m)
{
    return m->id.len >= UUID_DIGITS
           && (m->uuid.len != 0 || m->code_id.len == 0);
}


/* --- the others: symbolicator.md, 4.2 --- */

/* As LLDB finds a UUID: AAAA/BBBB/CCCC/DDDD/EEEE/FFFFFFFFFFFF */
static void
put_lldb_path(path_t *path, sym_str_t uuid)
{
    for (size_t i = 0; i < 20; i += 4) {
        put_part(path, sym_str(uuid.data + i, 4), UPPER);
        put_slash(path);
    }

    put_part(path, sym_str(uuid.data + 20, 12), UPPER);
}


static void
put_cut_id(path_t *path, sym_str_t id)
{
    put_part(path, sym_str(id.data, 2), LOWER);
    put_slash(path);
    put_part(path, sym_str(id.data + 2, id.len - 2), LOWER);
}


static bool
native_write(path_t *path, const parts_t *m)
{
    if (m->file == SYM_SOURCE_BREAKPAD) {
        if (!has_breakpad_id(m)) {
            return false;
        }

        put_part(path, m->name, AS_IS);
        put_slash(path);
        put_breakpad_id(path, m, UPPER);
        put_sym_file(path, m);
        return true;
    }

    if (is_elf(m)) {
        if (m->code_id.len == 0) {
            return false;
        }

        put_cut_id(path, m->code_id);
        put_text(path, is_code(m) ? "" : ".debug");
        return true;
    }

    if (m->uuid.len == 0) {
        return false;
    }

    put_lldb_path(path, m->uuid);
    put_text(path, is_code(m) ? ".app" : "");
    return true;
}


static bool
debuginfod_write(path_t *path, const parts_t *m)
{
    put_part(path, m->code_id, LOWER);
    put_slash(path);
    put_text(path, is_code(m) ? "executable" : "debuginfo");
    return m->code_id.len != 0;
}


/* Microsoft's symbol servers, with Sentry's keys for what is not theirs. */
static bool
key_write(path_t *path, const parts_t *m, case_t name_case)
{
    sym_str_t id = is_elf(m) ? m->code_id : m->uuid;
    sym_str_t name = is_code(m)  ? m->name
                     : is_elf(m) ? SYM_STR("_.debug")
                                 : SYM_STR("_.dwarf");

    put_part(path, name, name_case);
    put_slash(path);
    put_text(path, is_elf(m) ? "elf-buildid-" : "mach-uuid-");
    put_text(path, is_code(m) ? "" : "sym-");
    put_part(path, id, LOWER);
    put_slash(path);
    put_part(path, name, name_case);
    return id.len != 0;
}


static bool
symstore_write(path_t *path, const parts_t *m)
{
    return key_write(path, m, AS_IS);
}


static bool
ssqp_write(path_t *path, const parts_t *m)
{
    return key_write(path, m, LOWER);
}


/* The id that the module's own file would have: which it is, its form tells. */
static bool
unified_write(path_t *path, const parts_t *m)
{
    sym_str_t id = m->code_id.len != 0 ? m->code_id : m->uuid;

    if (m->file == SYM_SOURCE_BREAKPAD && id.len == 0) {
        if (!has_breakpad_id(m)) {
            return false;
        }
        put_cut_id(path, m->id);
    } else if (id.len == 0 || (is_elf(m) && m->code_id.len == 0)) {
        return false;
    } else {
        put_cut_id(path, id);
    }

    put_slash(path);
    put_text(path, m->file == SYM_SOURCE_BREAKPAD ? "breakpad"
                   : is_code(m)                   ? "executable"
                                                  : "debuginfo");
    return true;
}


/* One path for every type of file; the id in upper case is tried first. */
static bool
slashsymbols_write(path_t *path, const parts_t *m)
{
    sym_str_t id = is_elf(m) || m->code_id.len != 0 ? m->code_id : m->uuid;

    put_part(path, m->name, AS_IS);
    put_slash(path);
    put_part(path, id, is_code(m) ? LOWER : UPPER);
    put_slash(path);
    put_text(path, "symbols");
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
                              ELF_FILES | MACH_FILES,
                              symstore_write },
    [SYM_LAYOUT_SSQP] = { { "ssqp", 4 }, ELF_FILES | MACH_FILES, ssqp_write },
    [SYM_LAYOUT_UNIFIED] = { { "unified", 7 }, ALL_FILES, unified_write },
    [SYM_LAYOUT_SLASHSYMBOLS] = { { "slashsymbols", 12 },
                                  ELF_FILES | MACH_FILES,
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


unsigned
sym_source_files_find(sym_str_t kind)
{
    return sym_str_eq(kind, SYM_STR("elf"))        ? ELF_FILES
           : sym_str_eq(kind, SYM_STR("macho"))    ? MACH_FILES
           : sym_str_eq(kind, SYM_STR("breakpad")) ? BIT(SYM_SOURCE_BREAKPAD)
                                                   : 0;
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

    if (!sym_source_name_ok(module->name)) {
        return sym_fail(err, SYM_MALFORMED,
                        "a debug file name that no source may be asked for");
    }
    if (sym_debug_id_canonical(module->id, canonical) == 0) {
        return sym_fail(err, SYM_MALFORMED, "not a debug id");
    }

    return module->id.len > SYM_SOURCE_ID_MAX
               ? sym_fail(err, SYM_LIMIT, "the debug id is too long")
               : SYM_OK;
}


static bool
write_path(const sym_source_rules_t *rules, sym_source_file_t file,
           const sym_source_module_t *module, path_t *path)
{
    const layout_t *layout = &layouts[rules->layout];
    parts_t m = { .file = file,
                  .ids = rules->ids,
                  .name = module->name,
                  .id = module->id,
                  .code_id = module->code_id };

    if ((rules->files & layout->files & BIT(file)) == 0) {
        return false;
    }

    if (is_uuid(m.id)) {
        m.uuid = sym_str(m.id.data, UUID_DIGITS);
    }

    return layout->write(path, &m);
}


/* A 16-byte id may be a build id or a UUID, and a layout write both alike. */
static bool
is_repeated(const sym_source_rules_t *rules, sym_source_file_t file,
            const sym_source_module_t *module, const path_t *path)
{
    char other[SYM_SOURCE_PATH_MAX];

    for (unsigned i = 0; i < file; i++) {
        path_t p = { .data = other,
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
        const sym_source_module_t *module, path_t path, sym_str_t *out,
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
    return path_of(rules, file, module,
                   (path_t){ .data = out, .size = size, .is_encoded = true },
                   path, err);
}


sym_status_t
sym_source_key(const sym_source_rules_t *rules, sym_source_file_t file,
               const sym_source_module_t *module, char *out, size_t size,
               sym_str_t *path, sym_error_t *err)
{
    return path_of(rules, file, module, (path_t){ .data = out, .size = size },
                   path, err);
}


bool
sym_source_is_respelled(const sym_source_rules_t *rules, sym_source_file_t file,
                        const sym_source_module_t *module, sym_str_t canonical)
{
    const sym_source_module_t other = {
        module->name, canonical, sym_source_code_id(canonical, module->code_id)
    };
    char text[SYM_SOURCE_PATH_MAX], other_text[SYM_SOURCE_PATH_MAX];
    sym_str_t path, other_path;
    sym_error_t err = { 0 };

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


/* A code id or UUID that stands in one piece, or in several. */
static size_t
read_code_id(const sym_str_t *pieces, unsigned n, char id[SYM_ID_MAX])
{
    char text[SYM_CODE_ID_MAX];
    size_t len = 0;

    for (unsigned i = 0; i < n; i++) {
        if (pieces[i].len == 0 || pieces[i].len > sizeof(text) - len) {
            return 0;
        }

        memcpy(text + len, pieces[i].data, pieces[i].len);
        len += pieces[i].len;
    }

    return sym_mozilla_is_code_id(sym_str(text, len))
               ? sym_debug_id_canonical(sym_str(text, len), id)
               : 0;
}


static size_t
read_breakpad(const folders_t *f, sym_str_t *name, char id[SYM_ID_MAX])
{
    sym_str_t file = f->part[0], folder = f->part[2];
    size_t len;

    if (!sym_source_name_ok(folder) || !ends(file, SYM_SUFFIX)
        || !sym_str_eq(less_suffix(file, SYM_SUFFIX), stem_of(folder)))
    {
        return 0;
    }

    len = sym_debug_id_canonical(f->part[1], id);
    *name = sym_str(folder.data, len > 0 ? folder.len : 0);
    return len;
}


/* ab/cdef01.debug, ab/cdef01 */
static size_t
read_build_id_tree(const folders_t *f, char id[SYM_ID_MAX])
{
    const sym_str_t pieces[] = { f->part[1],
                                 less_suffix(f->part[0], SYM_STR(".debug")) };

    return pieces[0].len == 2 ? read_code_id(pieces, 2, id) : 0;
}


/* AAAA/BBBB/CCCC/DDDD/EEEE/FFFFFFFFFFFF, and .app */
static size_t
read_lldb_tree(const folders_t *f, char id[SYM_ID_MAX])
{
    sym_str_t pieces[DEPTH];

    for (unsigned i = 0; i < DEPTH; i++) {
        pieces[i] = f->part[DEPTH - 1 - i];
        if (i + 1 < DEPTH && pieces[i].len != 4) {
            return 0;
        }
    }

    pieces[DEPTH - 1] = less_suffix(pieces[DEPTH - 1], SYM_STR(".app"));
    return pieces[DEPTH - 1].len == 12 ? read_code_id(pieces, DEPTH, id) : 0;
}


/* ID/debuginfo, ID/executable; ab/cdef/debuginfo; NAME/ID/symbols */
static size_t
read_id_folder(const folders_t *f, char id[SYM_ID_MAX])
{
    static const sym_str_t files[] = { { "debuginfo", 9 },
                                       { "executable", 10 },
                                       { "breakpad", 8 },
                                       { "symbols", 7 } };
    const sym_str_t pieces[] = { f->part[2], f->part[1] };

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (sym_str_eq(f->part[0], files[i])) {
            size_t len = pieces[0].len == 2 ? read_code_id(pieces, 2, id) : 0;

            return len != 0 ? len : read_code_id(&pieces[1], 1, id);
        }
    }

    return 0;
}


/* NAME/elf-buildid-ID/NAME and the like */
static size_t
read_key_folder(const folders_t *f, char id[SYM_ID_MAX])
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
            return read_code_id(&key, 1, id);
        }
    }

    return 0;
}


size_t
sym_source_module_of(sym_str_t key, sym_str_t *name, char id[SYM_ID_MAX])
{
    folders_t f = { 0 };
    size_t len;

    *name = sym_str("", 0);
    for (unsigned i = 0; i < DEPTH && key.len != 0; i++) {
        f.part[i] = take_last(&key);
    }

    len = read_breakpad(&f, name, id);
    len = len != 0 ? len : read_key_folder(&f, id);
    len = len != 0 ? len : read_id_folder(&f, id);
    len = len != 0 ? len : read_lldb_tree(&f, id);
    return len != 0 ? len : read_build_id_tree(&f, id);
}
