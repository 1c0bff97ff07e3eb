/*
 * any.c - any path of a symbol server.
 *
 * Breakpad's paths; those of a Windows symbol server, also with folders named
 * by the first two letters ("fo/foo.pdb/ID/foo.pdb"); and the trees of build
 * ids and UUIDs of the layout `native`.  The form of a path shows which of
 * these it is.
 */
#include "api/files/mozilla.h"
#include "api/files/paths.h"
#include "sources/paths/rules.h"

#define BUNDLE SYM_STR(".src.zip")
#define UUID_PARTS 6
#define UUID_PART 4
#define UUID_DIGITS ((size_t) 2 * SYM_UUID_BYTES)


/* Recognizes "a.pd_" for "a.pdb". */
static bool
is_packed_name(sym_str_t file, sym_str_t name)
{
    return file.len == name.len && file.len > 1
           && file.data[file.len - 1] == '_'
           && sym_str_eq_nocase(sym_str(file.data, file.len - 1),
                                sym_str(name.data, name.len - 1));
}


static bool
read_folder(sym_str_t path, sym_file_request_t *request)
{
    sym_str_t name, file;

    if (!sym_files_read_signature(path, &name, &file, request)) {
        return false;
    }

    request->is_cabinet = is_packed_name(file, name);
    if (request->is_cabinet) {
        request->steps[0].files &=
            SYM_FILES_PDB | SYM_FILE(PE) | SYM_FILE(PE_PACKED);
    }

    return request->is_cabinet || sym_str_eq_nocase(name, file);
}


/*
 * NAME/KEY/NAME of files that are not an object's: the .NET runtime's own
 * debugger modules by the runtime's id, files by their hash, maps of compiled
 * methods (dotnet/symstore, SSQP Key Conventions).  Sources of the layouts of
 * symbol servers have them under the same key.
 */
static bool
read_key(sym_str_t path, sym_file_request_t *request)
{
    static const char *const prefixes[] = { "elf-buildid-coreclr-",
                                            "mach-uuid-coreclr-", "sha1-",
                                            "r2rmap-v" };
    sym_str_t rest = path, name, key;
    bool is_key = false;

    *request = (sym_file_request_t){ 0 };
    if (!sym_files_next_part(&rest, &name) || !sym_files_next_part(&rest, &key)
        || !sym_str_eq_nocase(name, rest) || !sym_source_name_ok(name))
    {
        return false;
    }

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t len = strlen(prefixes[i]);

        is_key |=
            key.len > len
            && sym_str_eq_nocase(sym_str(key.data, len), sym_cstr(prefixes[i]));
    }

    request->object.code_file = name;
    request->steps[0] =
        (sym_file_step_t){ .files = SYM_FILE(PE), .by = SYM_FILE_BY_PATH };
    return is_key && sym_files_write_url(SYM_STR(SYM_REF_KEY), path, request);
}


/* Skips the folder named by the first two letters, if there is one. */
static sym_str_t
without_index(sym_str_t path)
{
    sym_str_t rest = path, part;

    if (!sym_files_next_part(&rest, &part) || part.len > 2
        || rest.len < part.len
        || !sym_str_eq_nocase(part, sym_str(rest.data, part.len)))
    {
        return path;
    }

    return rest;
}


static bool
take_end(sym_str_t *s, sym_str_t end)
{
    if (!sym_str_ends_nocase(*s, end)) {
        return false;
    }

    s->len -= end.len;
    return true;
}


/* ab/cdef01 for an executable, ab/cdef01.debug, ab/cdef01.src.zip */
static bool
read_build_id(sym_str_t path, sym_file_request_t *request)
{
    char id[SYM_CODE_ID_MAX];
    sym_str_t head;

    *request = (sym_file_request_t){ .object = { .type = SYM_OBJECT_ELF } };
    if (!sym_files_next_part(&path, &head) || head.len != 2) {
        return false;
    }

    request->steps[0].files = take_end(&path, SYM_STR(".debug"))
                                  ? SYM_FILE(ELF_DEBUG)
                              : take_end(&path, BUNDLE) ? SYM_FILE(ELF_BUNDLE)
                                                        : SYM_FILE(ELF_CODE);
    if (path.len > sizeof(id) - head.len) {
        return false;
    }

    memcpy(id, head.data, head.len);
    memcpy(id + head.len, path.data, path.len);
    return sym_code_id_read_build_id(sym_str(id, head.len + path.len),
                                     &request->object.code_id);
}


/* AAAA/BBBB/CCCC/DDDD/EEEE/FFFFFFFFFFFF for a debug file, and .app, .src.zip */
static bool
read_uuid(sym_str_t path, sym_file_request_t *request)
{
    char uuid[UUID_DIGITS];
    size_t len = 0;
    sym_str_t part;

    *request = (sym_file_request_t){ .object = { .type = SYM_OBJECT_MACHO } };
    while (sym_files_next_part(&path, &part)) {
        if (part.len != UUID_PART || len + UUID_PART >= sizeof(uuid)) {
            return false;
        }

        memcpy(uuid + len, part.data, part.len);
        len += part.len;
    }

    request->steps[0].files = take_end(&path, SYM_STR(".app"))
                                  ? SYM_FILE(MACH_CODE)
                              : take_end(&path, BUNDLE) ? SYM_FILE(MACH_BUNDLE)
                                                        : SYM_FILE(MACH_DEBUG);
    if (len != (size_t) (UUID_PARTS - 1) * UUID_PART
        || path.len != sizeof(uuid) - len)
    {
        return false;
    }

    memcpy(uuid + len, path.data, path.len);
    return sym_code_id_read_build_id(sym_str(uuid, sizeof(uuid)),
                                     &request->object.code_id)
           && sym_debug_id_read_uuid(sym_str(uuid, sizeof(uuid)),
                                     &request->object.debug_id);
}


static bool
read_path(sym_str_t path, sym_str_t query, sym_file_request_t *request)
{
    return !sym_files_is_never(path)
           && (sym_files_read_breakpad(path, query, request)
               || read_folder(path, request)
               || read_folder(without_index(path), request)
               || read_key(without_index(path), request)
               || read_build_id(path, request) || read_uuid(path, request));
}


bool
sym_files_read_any(sym_str_t path, sym_str_t query, sym_file_request_t *request)
{
    size_t prefix = sym_files_try_prefix(path);

    if (!read_path(sym_str(path.data + prefix, path.len - prefix), query,
                   request)) {
        return false;
    }

    request->prefix = prefix;
    request->sources =
        prefix != 0 ? SYM_FILE_TRY_LAST : sym_files_sources(query);
    return true;
}
