/*
 * debuginfod.c - paths of elfutils' debuginfod(8): /buildid/ID/debuginfo,
 * /buildid/ID/executable and /buildid/ID/section/NAME.
 */
#include "api/files/paths.h"

#define SECTION SYM_STR("section/")

/* A section is read from the debug file if it has contents there. */
static bool
read_section(sym_str_t name, sym_file_request_t *request)
{
    if (name.len == 0 || name.len > SYM_SECTION_NAME_MAX
        || memchr(name.data, '/', name.len) != NULL)
    {
        return false;
    }

    request->section = name;
    request->steps[0] =
        (sym_file_step_t){ SYM_FILE(ELF_DEBUG), SYM_MAKE_SECTION };
    request->steps[1] =
        (sym_file_step_t){ SYM_FILE(ELF_CODE), SYM_MAKE_SECTION };
    return true;
}


static bool
read_type(sym_str_t type, sym_file_request_t *request)
{
    if (sym_str_starts(type, SECTION)) {
        return read_section(
            sym_str(type.data + SECTION.len, type.len - SECTION.len), request);
    }

    if (sym_str_eq(type, SYM_STR("debuginfo"))) {
        request->steps[0].files = SYM_FILE(ELF_DEBUG);
        return true;
    }

    request->steps[0].files = SYM_FILE(ELF_CODE);
    return sym_str_eq(type, SYM_STR("executable"));
}


/* Accepts build ids in upper and lower case. */
bool
sym_files_read_debuginfod(sym_str_t path, sym_str_t query,
                          sym_file_request_t *request)
{
    sym_str_t id;

    (void) query;

    *request = (sym_file_request_t){ .object = { .type = SYM_OBJECT_ELF } };
    return sym_files_next_part(&path, &id)
           && sym_code_id_read_build_id(id, &request->object.code_id)
           && read_type(path, request);
}
