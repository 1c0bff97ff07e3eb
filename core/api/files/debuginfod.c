/*
 * debuginfod.c - paths of elfutils' debuginfod(8): /buildid/ID/debuginfo,
 * /buildid/ID/executable, /buildid/ID/section/NAME and /buildid/ID/source/PATH.
 */
#include "api/files/mozilla.h"
#include "api/files/paths.h"
#include "base/uri.h"

#define SECTION SYM_STR("section/")
#define SOURCE SYM_STR("source/")

/* A section is read from the debug file if it has contents there. */
static bool
read_section(sym_str_t name, sym_file_request_t *request)
{
    if (name.len == 0 || name.len > SYM_SECTION_NAME_MAX
        || memchr(name.data, '/', name.len) != NULL)
    {
        return false;
    }

    request->part = name;
    request->steps[0] = (sym_file_step_t){ .files = SYM_FILE(ELF_DEBUG),
                                           .make = SYM_MAKE_SECTION };
    request->steps[1] = (sym_file_step_t){ .files = SYM_FILE(ELF_CODE),
                                           .make = SYM_MAKE_SECTION };
    return true;
}


bool
sym_files_write_url(sym_str_t prefix, sym_str_t path,
                    sym_file_request_t *request)
{
    char *p = request->text, *end = p + sizeof(request->text);

    (void) sym_str_append(&p, prefix);
    for (size_t i = 0; i < path.len; i++) {
        char c = path.data[i];

        if (end - p < 3) {
            return false;
        }

        if (c == '%' || c == '#') {
            p += sym_uri_encode_byte(c, p);
        } else {
            *p++ = c;
        }
    }

    request->url = sym_str(request->text, (size_t) (p - request->text));
    return true;
}


/*
 * path begins with a slash; nginx has decoded it and removed dot segments.  Files
 * of this build id come first: those that a server or a folder has for it, then
 * those of its source bundle.  A folder of the layout `site` has no build ids.
 */
static bool
read_source(sym_str_t path, sym_file_request_t *request)
{
    request->part = path;
    request->steps[0] =
        (sym_file_step_t){ .files = SYM_FILE(CODE), .by = SYM_FILE_BY_BOTH };
    request->steps[1] = (sym_file_step_t){ .files = SYM_FILE(ELF_BUNDLE),
                                           .make = SYM_MAKE_SOURCE };
    request->steps[2] =
        (sym_file_step_t){ .files = SYM_FILE(CODE), .by = SYM_FILE_BY_PATH };
    return path.len > 1 && sym_files_write_url(SYM_STR("~"), path, request);
}


static bool
read_type(sym_str_t type, sym_file_request_t *request)
{
    if (sym_str_starts(type, SECTION)) {
        return read_section(
            sym_str(type.data + SECTION.len, type.len - SECTION.len), request);
    }

    if (sym_str_starts(type, SOURCE)) {
        return read_source(
            sym_str(type.data + SOURCE.len - 1, type.len - SOURCE.len + 1),
            request);
    }

    if (sym_str_eq(type, SYM_STR("debuginfo"))) {
        request->steps[0].files = SYM_FILE(ELF_DEBUG);
        request->steps[1] = (sym_file_step_t){ .files = SYM_FILE(ELF_CODE),
                                               .make = SYM_MAKE_PROOF };
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

    *request = (sym_file_request_t){ .object = { .type = SYM_OBJECT_ELF },
                                     .sources = sym_files_sources(query) };
    return sym_files_next_part(&path, &id)
           && sym_code_id_read_build_id(id, &request->object.code_id)
           && read_type(path, request);
}
