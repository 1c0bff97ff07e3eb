#include "sources/paths/module_of.h"

#include "sources/paths/path.h"
#include "sources/paths/rules.h"

#define SYM_SUFFIX SYM_STR(".sym")
#define PDB_SUFFIX SYM_STR(".pdb")
#define BUNDLE_SUFFIX SYM_STR(".src.zip")
#define UUID_DIGITS 32

/* The parts of a key, last first. */
#define DEPTH 6

typedef struct {
    sym_str_t part[DEPTH];
} folders_t;

/* Removes the last part of a key; empty at its end. */
static sym_str_t
take_last(sym_str_t *key)
{
    const char *slash = memrchr(key->data, '/', key->len);
    size_t at = slash != NULL ? (size_t) (slash - key->data) + 1 : 0;
    sym_str_t part = sym_str(key->data + at, key->len - at);

    key->len = at > 0 ? at - 1 : 0;
    return part;
}


static bool
ends(sym_str_t s, sym_str_t suffix)
{
    return s.len >= suffix.len
           && memcmp(s.data + s.len - suffix.len, suffix.data, suffix.len) == 0;
}


/* Mozilla's paths: ".pdb" is removed in lower case only, ".PDB" stays. */
static sym_str_t
stem_of(sym_str_t name)
{
    return ends(name, PDB_SUFFIX)
               ? sym_str(name.data, name.len - PDB_SUFFIX.len)
               : name;
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


/* A code id or UUID in one part, or in several.  A UUID is a debug id, too. */
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


/* NAME/elf-buildid-ID/NAME and similar ones */
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
