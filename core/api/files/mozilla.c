#include "api/files/mozilla.h"

#include "api/files/paths.h"
#include "base/form.h"
#include "base/uri.h"
#include "sources/paths/rules.h"
#include "uploads/names.h"

#define TRY SYM_STR("try/")

/* A module may be named "try", too. */
size_t
sym_files_try_prefix(sym_str_t path)
{
    return sym_str_starts(path, TRY)
                   && sym_mozilla_name(
                          sym_str(path.data + TRY.len, path.len - TRY.len))
                          == SYM_MOZILLA_FILE
               ? TRY.len
               : 0;
}


sym_file_sources_t
sym_files_sources(sym_str_t query)
{
    return sym_form_has(query, SYM_STR("try")) ? SYM_FILE_TRY_LAST
                                               : SYM_FILE_WITHOUT_TRY;
}


/* Tecken has files of a debug id of zeros for no module. */
#define NO_ID SYM_STR("000000000000000000000000000000000")

bool
sym_files_is_never(sym_str_t path)
{
    sym_str_t id;

    return sym_files_next_part(&path, &id) && sym_files_next_part(&path, &id)
           && sym_str_eq(id, NO_ID);
}


/* Tecken searches only for these, by the letters as they are. */
static bool
is_searched(sym_str_t path)
{
    static const char *const ends[] = { ".sym", ".dl_",    ".ex_",
                                        ".pd_", ".dbg.gz", ".tar.bz2" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        sym_str_t end = sym_cstr(ends[i]);

        if (path.len >= end.len
            && memcmp(path.data + path.len - end.len, end.data, end.len) == 0)
        {
            return !sym_files_is_never(path);
        }
    }

    return false;
}


const char *
sym_files_absent(sym_str_t path)
{
    size_t prefix = sym_files_try_prefix(path);

    path = sym_str(path.data + prefix, path.len - prefix);
    if (sym_mozilla_name(path) != SYM_MOZILLA_FILE) {
        return NULL;
    }

    return is_searched(path) ? "Symbol Not Found"
                             : "Symbol Not Found (and ignored)";
}


/* --- names and ids of a module --- */

bool
sym_files_read_syminfo(sym_str_t path, sym_str_t query,
                       sym_file_request_t *request)
{
    sym_str_t name;

    *request = (sym_file_request_t){ .sources = sym_files_sources(query) };
    if (!sym_files_next_part(&path, &name) || !sym_source_name_ok(name)) {
        return false;
    }

    sym_object_ref_mozilla(&request->object, name, path);
    request->steps[0] =
        (sym_file_step_t){ .files = SYM_FILES_CODE, .make = SYM_MAKE_NAME };
    return request->object.code_id.len != 0
           || request->object.debug_id.form != SYM_DEBUG_ID_NONE;
}


const char *
sym_files_no_syminfo(sym_str_t path)
{
    (void) path;
    return "Code file / id Not Found";
}


static void
write_part(sym_out_t *out, sym_str_t part)
{
    char text[3];

    for (size_t i = 0; i < part.len; i++) {
        sym_out_raw(out,
                    sym_str(text, sym_uri_encode_byte(part.data[i], text)));
    }
}


/* Writes the URL of the symbols. */
static void
write_url(const sym_file_names_t *names, sym_str_t base, bool is_try,
          sym_out_t *out)
{
    const sym_str_t pdb = SYM_STR(".pdb");
    sym_str_t stem = names->debug_file;

    stem.len -= sym_str_ends_nocase(stem, pdb) ? pdb.len : 0;
    sym_out_escaped(out, base);
    sym_out_raw(out, is_try ? SYM_STR("/try/") : SYM_STR("/"));
    write_part(out, names->debug_file);
    sym_out_raw(out, SYM_STR("/"));
    sym_out_raw(out, names->debug_id);
    sym_out_raw(out, SYM_STR("/"));
    write_part(out, stem);
    sym_out_raw(out, SYM_STR(".sym"));
}


static void
write_text(sym_out_t *out, const char *key, sym_str_t text)
{
    sym_out_printf(out, "\"%s\": ", key);
    if (text.len != 0) {
        sym_out_string(out, text);
    } else {
        sym_out_raw(out, SYM_STR("null"));
    }
    sym_out_raw(out, SYM_STR(", "));
}


/* The store does not keep the name of the program that wrote the symbols. */
void
sym_files_write_names(const sym_file_names_t *names, sym_str_t base,
                      bool is_try, sym_out_t *out)
{
    sym_out_raw(out, SYM_STR("{"));
    write_text(out, "debug_id", names->debug_id);
    write_text(out, "debug_filename", names->debug_file);
    write_text(out, "code_file", names->code_file);
    write_text(out, "code_id", names->code_id);
    write_text(out, "generator", SYM_STR(""));
    sym_out_raw(out, SYM_STR("\"url\": \""));
    write_url(names, base, is_try, out);
    sym_out_raw(out, SYM_STR("\"}"));
}


/* --- errors --- */

const char *
sym_files_write_error(const sym_api_error_t *error, sym_out_t *out)
{
    if (error->status == 404) {
        sym_out_raw(out, SYM_STR("{\"error\": \"Not Found\", \"path\": "));
        sym_out_string(out, error->path);
    } else if (error->status == 405) {
        sym_out_raw(out, SYM_STR("{\"error\": \"Method Not Allowed ("));
        sym_out_escaped(out, error->method);
        sym_out_raw(out, SYM_STR("): "));
        sym_out_escaped(out, error->path);
        sym_out_raw(out, SYM_STR("\""));
    } else {
        return NULL;
    }

    sym_out_raw(out, SYM_STR("}"));
    return "application/json";
}
