#include "sources/paths/plan.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hex.h"
#include "base/uri.h"
#include "sources/paths/parts.h"

#define UUID_DIGITS ((size_t) 2 * SYM_UUID_BYTES)
#define PDB20_DIGITS 8
#define PDB_SUFFIX SYM_STR(".pdb")

/* A shorter code id belongs to a PE file. */
#define BUILD_ID_MIN 16

/* Room for the texts of parts. */
typedef struct {
    char named_id[SYM_SOURCE_ID_MAX + 1];
    char debug_id[SYM_ID_TEXT_MAX];
    char pdb_id[SYM_ID_TEXT_MAX];
} room_t;


/* --- complete objects --- */

static sym_str_t
name_of(sym_str_t path)
{
    sym_str_t name = sym_object_file_name(path);

    return sym_source_name_ok(name) ? name : SYM_STR("");
}


static char
to_upper(char c)
{
    if (c >= 'a' && c <= 'z') {
        return (char) (c - ('a' - 'A'));
    }

    return c;
}


/* Signature in upper case, age in lower case; a missing age becomes 0. */
static sym_str_t
named_id(sym_str_t id, size_t head, char out[SYM_SOURCE_ID_MAX + 1])
{
    for (size_t i = 0; i < id.len; i++) {
        out[i] = sym_lower(id.data[i]);
        if (i < head) {
            out[i] = to_upper(id.data[i]);
        }
    }

    if (id.len == head) {
        out[id.len++] = '0';
    }

    return sym_str(out, id.len);
}


static size_t
head_of(const sym_debug_id_t *id)
{
    return id->form == SYM_DEBUG_ID_PDB20 ? PDB20_DIGITS : UUID_DIGITS;
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
read_pdb_id(sym_path_parts_t *m, const sym_debug_id_t *id, room_t *room)
{
    size_t len = sym_debug_id_write_symstore(id, m->ref->type, room->pdb_id);

    m->pdb_id = sym_str(room->pdb_id, len);
    m->pdb_head = head_of(id);
}


/* The UUID of a Mach-O file is its code id, or else its debug id.  A PDB 2.0
 * has a time stamp instead. */
static void
read_whole(sym_path_parts_t *m, room_t *room)
{
    const sym_object_ref_t *ref = m->ref;
    size_t len = sym_debug_id_write_breakpad(&ref->debug_id, room->debug_id);
    size_t head = head_of(&ref->debug_id);

    m->debug_file = name_of(ref->debug_file);
    m->code_file = name_of(ref->code_file);
    m->id = sym_str(room->debug_id, len);
    m->build_id = sym_str(ref->code_id.text, ref->code_id.len);
    m->wasm_id = m->pe_id = m->uuid = m->build_id;

    if (len != 0) {
        m->named_id = named_id(m->id, head, room->named_id);
        m->debug_id = m->named_id;
        read_pdb_id(m, &ref->debug_id, room);
        if (m->uuid.len == 0) {
            m->uuid = sym_str(m->named_id.data, head);
        }
    }

    if (!is_uuid(m->uuid)) {
        m->uuid = SYM_STR("");
    }
}


/* --- objects with a name and an id --- */

/* The digits of an id with age 0 or without an age: the debug id of a Mach-O
 * file. */
static sym_str_t
uuid_of(sym_str_t id)
{
    for (size_t i = UUID_DIGITS; i < id.len; i++) {
        if (id.data[i] != '0') {
            return SYM_STR("");
        }
    }

    return id.len >= UUID_DIGITS ? sym_str(id.data, UUID_DIGITS) : SYM_STR("");
}


static bool
is_same_nocase(sym_str_t a, sym_str_t b)
{
    return a.len == b.len && sym_str_ends_nocase(a, b);
}


/*
 * One spelling of the id.  It is also used as code id if it has that form.
 * Only "NAME.pdb" has a PDB.
 */
static void
read_guessed(sym_path_parts_t *m, sym_str_t id, room_t *room)
{
    const sym_object_ref_t *ref = m->ref;
    sym_str_t code_id = sym_str(ref->code_id.text, ref->code_id.len);
    char canonical[SYM_ID_MAX];
    sym_debug_id_t debug_id;
    size_t len = sym_debug_id_canonical(id, canonical);

    m->debug_file = m->code_file = ref->debug_file;
    m->id = id;
    m->uuid = uuid_of(id);

    if (code_id.len != 0 && is_same_nocase(id, code_id)) {
        m->pe_id = code_id.len < BUILD_ID_MIN ? code_id : SYM_STR("");
        m->build_id = code_id.len < BUILD_ID_MIN ? SYM_STR("") : code_id;
    }

    /* the build id of a WebAssembly file is usually its debug id */
    m->wasm_id = m->build_id.len == 0
                         && sym_str_ends_nocase(m->debug_file, SYM_STR(".wasm"))
                     ? m->uuid
                     : m->build_id;

    if (id.len >= UUID_DIGITS && (m->uuid.len != 0 || m->build_id.len == 0)) {
        m->named_id = named_id(id, UUID_DIGITS, room->named_id);
        m->debug_id = m->id;
    }

    if (sym_str_ends_nocase(m->debug_file, PDB_SUFFIX)
        && sym_debug_id_read_breakpad(sym_str(canonical, len), &debug_id))
    {
        memcpy(room->debug_id, canonical, len);
        m->debug_id = sym_str(room->debug_id, len);
        read_pdb_id(m, &debug_id, room);
    }
}


/* --- the order of requests --- */

#define END 0xff
#define ORDER_MAX (SYM_SOURCE_FILES + 1)

/* Companions of files of any native type. */
#define FURTHER                                                                \
    SYM_SOURCE_ELF_BUNDLE, SYM_SOURCE_NAMED_BUNDLE, SYM_SOURCE_UUIDMAP,        \
        SYM_SOURCE_BCSYMBOLMAP, SYM_SOURCE_IL2CPP, END
#define DEBUG_FILES                                                            \
    SYM_SOURCE_BREAKPAD, SYM_SOURCE_MACH_DEBUG, SYM_SOURCE_PDB,                \
        SYM_SOURCE_PDB_PACKED, SYM_SOURCE_ELF_DEBUG

/* Symbolicator's order.  Among equally good files the first one wins. */
static const uint8_t code_first[][ORDER_MAX] = {
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

/* Same, but executables are tried last, because most are stripped. */
static const uint8_t debug_first[][ORDER_MAX] = {
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

/* The files of each object type, best first; incomplete objects have no paths
 * for companions. */
static const uint8_t guessed[] = {
    SYM_SOURCE_ELF_DEBUG,    SYM_SOURCE_WASM_DEBUG,
    SYM_SOURCE_MACH_DEBUG,   SYM_SOURCE_BREAKPAD,
    SYM_SOURCE_PDB,          SYM_SOURCE_PDB_PACKED,
    SYM_SOURCE_PORTABLE_PDB, SYM_SOURCE_PE,
    SYM_SOURCE_PE_PACKED,    SYM_SOURCE_ELF_CODE,
    SYM_SOURCE_WASM_CODE,    SYM_SOURCE_MACH_CODE,
    SYM_SOURCE_ELF_BUNDLE,   SYM_SOURCE_MACH_BUNDLE,
    SYM_SOURCE_NAMED_BUNDLE, END
};

/* Layouts have one path for a file.  In slashsymbols a complete object has two,
 * and in unified a map of C# lines: who uploads one may know only a debug id. */
static unsigned
n_spellings(const sym_source_rules_t *rules, const sym_path_parts_t *m)
{
    return !m->ref->is_either
                   && (rules->layout == SYM_LAYOUT_SLASHSYMBOLS
                       || (rules->layout == SYM_LAYOUT_UNIFIED
                           && m->file == SYM_SOURCE_IL2CPP))
               ? 2
               : 1;
}


static sym_status_t
add_path(sym_arena_t *arena, sym_str_t path, sym_source_file_t file,
         bool is_sent, sym_source_plan_t *plan)
{
    sym_source_place_t *place = &plan->at[plan->n];

    *place = (sym_source_place_t){ .file = file,
                                   .is_sent = is_sent,
                                   .path = sym_arena_copy(arena, path) };
    plan->n += place->path.data != NULL;
    return place->path.data != NULL ? SYM_OK : SYM_NOMEM;
}


static bool
is_planned(const sym_source_plan_t *plan, sym_str_t path)
{
    for (unsigned i = 0; i < plan->n; i++) {
        if (sym_str_eq(plan->at[i].path, path)) {
            return true;
        }
    }

    return false;
}


static sym_status_t
add(sym_arena_t *arena, const sym_source_rules_t *rules,
    const sym_path_parts_t *m, bool is_sent, sym_source_plan_t *plan)
{
    char text[SYM_SOURCE_PATH_MAX];
    sym_path_t path = { .data = text,
                        .size = sizeof(text),
                        .casing = rules->casing };

    if (plan->n == SYM_PLAN_MAX || !sym_layout_write(rules->layout, &path, m)
        || path.is_full || is_planned(plan, sym_str(text, path.len)))
    {
        return SYM_OK;
    }

    return add_path(arena, sym_str(text, path.len), m->file, is_sent, plan);
}


static sym_status_t
add_files(sym_arena_t *arena, const sym_source_rules_t *rules,
          const uint8_t *order, unsigned files, sym_path_parts_t *m,
          bool is_sent, sym_source_plan_t *plan)
{
    sym_status_t rc = SYM_OK;
    unsigned spellings;

    for (unsigned i = 0; order[i] != END && rc == SYM_OK; i++) {
        m->file = (sym_source_file_t) order[i];
        if ((files & rules->files & 1u << order[i]) == 0) {
            continue;
        }

        spellings = n_spellings(rules, m);
        for (m->spelling = 0; m->spelling < spellings && rc == SYM_OK;
             m->spelling++) {
            rc = add(arena, rules, m, is_sent, plan);
        }
    }

    return rc;
}


/* The canonical id is tried before the id as sent, because uploads use it. */
static sym_status_t
plan_guessed(sym_arena_t *arena, const sym_object_ref_t *ref,
             const sym_source_rules_t *rules, unsigned files,
             sym_source_plan_t *plan)
{
    char canonical[SYM_ID_MAX];
    sym_str_t ids[2] = { ref->sent, ref->sent };
    sym_module_key_t key;
    sym_status_t rc = SYM_OK;

    if (!sym_source_name_ok(ref->debug_file)
        || ref->sent.len > SYM_SOURCE_ID_MAX
        || !sym_object_key(ref, canonical, &key))
    {
        return SYM_OK;
    }

    ids[0] = key.id;
    for (unsigned i = 0; i < 2 && ids[i].len != 0 && rc == SYM_OK; i++) {
        sym_path_parts_t m = { .ref = ref,
                               .id_case = rules->ids == SYM_SOURCE_IDS_UPPER
                                              ? SYM_CASE_UPPER
                                              : SYM_CASE_AS_IS };
        room_t room;

        read_guessed(&m, ids[i], &room);
        rc = add_files(arena, rules, guessed, files, &m, i == 1, plan);
    }

    return rc;
}


/* --- sources without folders --- */

/* The URL is the path.  Texts with different roles at one URL, or members of
 * its file, get different paths. */
static sym_status_t
plan_url(sym_arena_t *arena, const sym_object_ref_t *ref,
         sym_source_plan_t *plan)
{
    char text[SYM_REF_URL_MAX + 64];
    sym_str_t path = sym_object_ref_url(ref);

    if (path.len > SYM_REF_URL_MAX) {
        return SYM_OK;
    }

    if (ref->role != SYM_TEXT_SOURCE || ref->member != 0 || ref->since != 0) {
        int len = snprintf(text, sizeof(text), "%.*s#%d,%" PRIu32 ",%" PRIu32,
                           (int) path.len, path.data, (int) ref->role,
                           ref->member, ref->since);

        path = sym_str(text, (size_t) len);
    }

    return add_path(arena, path, SYM_SOURCE_ELF_DEBUG, false, plan);
}


/* Decodes the rest of a URL after its prefix: each part names a folder or a
 * file. */
static bool
write_url_path(sym_str_t url, sym_str_t prefix, sym_case_t to, sym_path_t *path)
{
    const char *p = url.data + prefix.len, *end = url.data + url.len;
    size_t part = path->len;

    if (!sym_str_starts(url, prefix)) {
        return false;
    }

    for (;; p++) {
        int high = end - p > 2 && *p == '%' ? sym_hex_digit(p[1]) : -1;
        int low = high >= 0 ? sym_hex_digit(p[2]) : -1;
        char c;

        if (p == end || *p == '/') {
            if (!sym_source_name_ok(
                    sym_str(path->data + part, path->len - part))) {
                return false;
            }
            if (p == end) {
                return true;
            }
            sym_path_slash(path);
            part = path->len;
            continue;
        }

        c = *p;
        if (low >= 0) {
            c = (char) (high << 4 | low);
        }
        p += low >= 0 ? 2 : 0;
        sym_path_part(path, sym_str(&c, 1), to);
        if (path->is_full || c == '/') {
            return false;
        }
    }
}


static bool
write_site_path(sym_str_t url, sym_path_t *path)
{
    return write_url_path(url, SYM_STR(SYM_REF_PATH), SYM_CASE_AS_IS, path);
}


/* NAME/KEY/NAME */
static bool
write_key_path(sym_str_t url, sym_layout_t layout, sym_path_t *path)
{
    const sym_str_t prefix = SYM_STR(SYM_REF_KEY);

    if (layout == SYM_LAYOUT_SYMSTORE_INDEX2) {
        sym_path_index2(path,
                        sym_str(url.data + prefix.len, url.len - prefix.len));
    }

    return write_url_path(
        url, prefix,
        layout == SYM_LAYOUT_SSQP ? SYM_CASE_LOWER : SYM_CASE_AS_IS, path);
}


/* BUILDID/source/PATH of debuginfod. */
static bool
write_debuginfod_path(const sym_object_ref_t *ref, sym_path_t *path)
{
    sym_path_part(path, sym_str(ref->code_id.text, ref->code_id.len),
                  SYM_CASE_LOWER);
    sym_path_text(path, "/source/");
    return write_site_path(sym_object_ref_url(ref), path);
}


/* releases/RELEASE/DIST~/PATH, in the layout unified.  The ~ separates a dist
 * from paths of files without one. */
static bool
write_release_path(const sym_object_ref_t *ref, sym_path_t *path)
{
    if (!sym_source_name_ok(ref->release)
        || (ref->dist.len != 0 && !sym_source_name_ok(ref->dist)))
    {
        return false;
    }

    sym_path_text(path, "releases/");
    sym_path_part(path, ref->release, SYM_CASE_AS_IS);
    sym_path_slash(path);
    sym_path_part(path, ref->dist, SYM_CASE_AS_IS);
    sym_path_text(path, "~/");
    return !path->is_full && write_site_path(sym_object_ref_url(ref), path);
}


/* A script or map by its debug id, in the layout unified. */
static bool
write_urn_path(const sym_object_ref_t *ref, const sym_source_rules_t *rules,
               sym_source_file_t file, sym_path_t *path)
{
    const size_t scheme = sizeof(SYM_REF_URN) - 1;
    sym_object_ref_t object = { .type = SYM_OBJECT_UNKNOWN };
    sym_path_parts_t m = { .ref = &object, .file = file };
    room_t room;

    if (!sym_debug_id_read_uuid(
            sym_str(ref->url.data + scheme, ref->url.len - scheme),
            &object.debug_id))
    {
        return false;
    }

    read_whole(&m, &room);
    return sym_layout_write(rules->layout, path, &m);
}


/* A text from one of the location's own sources. */
static sym_status_t
plan_text(sym_arena_t *arena, const sym_object_ref_t *ref,
          const sym_source_rules_t *rules, sym_source_plan_t *plan)
{
    static const sym_source_file_t files[SYM_TEXT_ROLES] = {
        [SYM_TEXT_SOURCE] = SYM_SOURCE_CODE,
        [SYM_TEXT_SCRIPT] = SYM_SOURCE_SCRIPT,
        [SYM_TEXT_SOURCEMAP] = SYM_SOURCE_SOURCEMAP,
    };
    bool is_key = sym_str_starts(ref->url, SYM_STR(SYM_REF_KEY));
    sym_source_file_t file = is_key ? SYM_SOURCE_PE : files[ref->role];
    char text[SYM_SOURCE_PATH_MAX];
    sym_path_t path = { .data = text,
                        .size = sizeof(text) - 1,
                        .casing = rules->casing };
    bool has_path =
        (rules->files & 1u << file) != 0
        && (is_key ? write_key_path(ref->url, rules->layout, &path)
            : rules->layout == SYM_LAYOUT_SITE
                ? write_site_path(sym_object_ref_url(ref), &path)
            : rules->layout == SYM_LAYOUT_DEBUGINFOD
                ? write_debuginfod_path(ref, &path)
            : ref->release.len != 0 ? write_release_path(ref, &path)
                                    : write_urn_path(ref, rules, file, &path));

    if (!has_path || path.is_full) {
        return SYM_OK;
    }

    return add_path(arena, sym_str(text, path.len), file, false, plan);
}


/* A query with all ids for files of one type.  It is the same for all types,
 * and is sent once. */
static sym_status_t
plan_sentry(sym_arena_t *arena, const sym_object_ref_t *ref, unsigned files,
            sym_source_plan_t *plan)
{
    char id[SYM_ID_TEXT_MAX], text[sizeof(id) + SYM_CODE_ID_MAX + 64];
    size_t len = sym_debug_id_write_sentry(&ref->debug_id, id);
    sym_status_t rc = SYM_OK;

    if (ref->is_either || (len == 0 && ref->code_id.len == 0)) {
        return SYM_OK;
    }

    for (unsigned i = 0; i < SYM_SOURCE_FILES && rc == SYM_OK; i++) {
        int n = snprintf(text, sizeof(text),
                         "debug_id=%.*s&code_id=%.*s&file=%u", (int) len, id,
                         (int) ref->code_id.len, ref->code_id.text, i);

        if ((files & 1u << i) != 0) {
            rc = add_path(arena, sym_str(text, (size_t) n),
                          (sym_source_file_t) i, false, plan);
        }
    }

    return rc;
}


sym_status_t
sym_source_plan(sym_arena_t *arena, const sym_object_ref_t *ref,
                const sym_source_rules_t *rules, unsigned files,
                sym_file_order_t order, sym_source_plan_t *plan)
{
    sym_path_parts_t m = { .ref = ref, .id_case = SYM_CASE_AS_IS };
    room_t room;

    plan->n = 0;
    if (!sym_layout_takes(rules->layout, ref)) {
        return SYM_OK;
    }

    if (ref->url.len != 0) {
        return rules->layout == SYM_LAYOUT_URL
                   ? plan_url(arena, ref, plan)
                   : plan_text(arena, ref, rules, plan);
    }

    if (rules->layout == SYM_LAYOUT_SENTRY) {
        return plan_sentry(arena, ref, files & rules->files, plan);
    }

    if (ref->is_either) {
        return plan_guessed(arena, ref, rules, files, plan);
    }

    read_whole(&m, &room);
    return add_files(arena, rules,
                     order == SYM_CODE_FILES_FIRST ? code_first[ref->type]
                                                   : debug_first[ref->type],
                     files, &m, false, plan);
}


sym_str_t
sym_source_encode(sym_str_t path, char out[SYM_SOURCE_ENCODED_MAX])
{
    size_t len = 0;

    for (size_t i = 0; i < path.len && i < SYM_SOURCE_PATH_MAX; i++) {
        if (path.data[i] == '/') {
            out[len++] = '/';
        } else {
            len += sym_uri_encode_byte(path.data[i], out + len);
        }
    }

    return sym_str(out, len);
}
