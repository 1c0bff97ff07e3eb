/*
 * breakpad.c - NAME/ID/STEM.sym, as on Mozilla's symbol server.
 *
 * If no source has the text, it is made from a debug file or an executable.  If
 * ID is a code id and NAME a code file, the client is redirected to the path
 * with the debug id.  minidump-stackwalk adds code file and code id as
 * parameters, so that files with a build id can be found.
 */
#include "api/files/paths.h"
#include "base/form.h"
#include "sources/paths/rules.h"

#define DEBUG_FILES                                                            \
    (SYM_FILE(ELF_DEBUG) | SYM_FILE(MACH_DEBUG) | SYM_FILES_PDB                \
     | SYM_FILE(PORTABLE_PDB))

/* A debug id has 32 digits and an age; code ids of PE files are shorter. */
#define DEBUG_ID_MIN 33

#define UUID_DIGITS ((size_t) 2 * SYM_UUID_BYTES)
#define BUILD_ID_MIN 16


/* --- the query --- */

/* The code id of a Mach-O file is its UUID; that of an ELF file is the debug id
 * in another byte order. */
static sym_object_type_t
type_of(const sym_object_ref_t *object)
{
    char text[SYM_ID_TEXT_MAX];
    size_t len = sym_debug_id_write_breakpad(&object->debug_id, text);

    if (sym_str_ends_nocase(object->debug_file, SYM_STR(".pdb"))
        || object->code_id.len < BUILD_ID_MIN)
    {
        return SYM_OBJECT_PE;
    }

    return object->code_id.len == UUID_DIGITS && len > UUID_DIGITS
                   && sym_str_eq_nocase(
                       sym_str(text, UUID_DIGITS),
                       sym_str(object->code_id.text, UUID_DIGITS))
               ? SYM_OBJECT_MACHO
               : SYM_OBJECT_ELF;
}


/* Adds to the reference the code file and code id that the client sent. */
static void
read_query(sym_str_t query, sym_file_request_t *request)
{
    sym_object_ref_t *object = &request->object;
    char id[SYM_CODE_ID_MAX];
    size_t len = sym_form_value(query, SYM_STR("code_id"), id, sizeof(id));

    if (!sym_code_id_read(sym_str(id, len), &object->code_id)) {
        return;
    }

    len = sym_form_value(query, SYM_STR("code_file"), request->code_file,
                         sizeof(request->code_file));
    object->code_file = sym_str(request->code_file, len);
    object->type = type_of(object);
    object->is_either = false;
    object->sent = object->canonical = SYM_STR("");
}


/* --- the path --- */

bool
sym_files_read_breakpad(sym_str_t path, sym_str_t query,
                        sym_file_request_t *request)
{
    sym_str_t name, id;

    *request = (sym_file_request_t){ 0 };
    if (!sym_files_next_part(&path, &name) || !sym_files_next_part(&path, &id)
        || memchr(path.data, '/', path.len) != NULL
        || !sym_str_ends_nocase(path, SYM_STR(".sym"))
        || !sym_source_name_ok(name))
    {
        return false;
    }

    sym_object_ref_mozilla(&request->object, name, id);
    request->steps[0].files = SYM_FILE(BREAKPAD);

    if (request->object.code_id.len != 0) {
        request->file = path;
        request->steps[1] =
            (sym_file_step_t){ .files = SYM_FILES_CODE, .make = SYM_MAKE_NAME };
        return true;
    }

    if (request->object.debug_id.form == SYM_DEBUG_ID_NONE
        || id.len < DEBUG_ID_MIN) {
        return false;
    }

    read_query(query, request);
    request->steps[1] =
        (sym_file_step_t){ .files = DEBUG_FILES, .make = SYM_MAKE_SYM };
    request->steps[2] =
        (sym_file_step_t){ .files = SYM_FILES_CODE, .make = SYM_MAKE_SYM };
    request->rules = SYM_FILES_CODE; /* for ELF, Mach-O and 64-bit Windows */
    return true;
}
