#include "api/files/mozilla.h"

#include "api/files/paths.h"
#include "base/form.h"
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
