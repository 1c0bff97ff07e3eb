/*
 * debuginfod.c - files of sources for debuggers: /buildid/ID/debuginfo and
 * /buildid/ID/executable.
 *
 * The protocol is that of elfutils' debuginfod(8).  Sections, source files and
 * /metadata are not served: clients get the same answer as for a file that no
 * source has.  Clients remember for ten minutes that a file is absent, whatever
 * the error status; only a connection that breaks is no answer to them.
 */
#include "api/registry.h"
#include "object/files.h"

/* Takes a build id as debuginfod writes it; its case does not count. */
static bool
read_file(sym_str_t path, sym_object_ref_t *object, unsigned *files)
{
    const char *slash = path.len != 0 ? memchr(path.data, '/', path.len) : NULL;
    const size_t len = slash != NULL ? (size_t) (slash - path.data) : 0;
    sym_str_t what;

    if (len == 0) {
        return false;
    }

    what = sym_str(slash + 1, path.len - len - 1);

    if (sym_str_eq(what, SYM_STR("debuginfo"))) {
        *files = SYM_FILE(ELF_DEBUG);
    } else if (sym_str_eq(what, SYM_STR("executable"))) {
        *files = SYM_FILE(ELF_CODE);
    } else {
        return false;
    }

    *object = (sym_object_ref_t){ .type = SYM_OBJECT_ELF };
    return sym_code_id_read_build_id(sym_str(path.data, len), &object->code_id);
}


const sym_api_t sym_debuginfod_api = {
    .name = "debuginfod",
    .routes = { { .suffix = "/buildid/",
                  .version = "buildid",
                  .methods = SYM_METHOD_GET | SYM_METHOD_HEAD,
                  .kind = SYM_ROUTE_FILE,
                  .read_file = read_file,
                  .cuts_failures = true } },
    .answers = { "application/json" },
    .tells_failures = true,
    .is_same_site = true,
};
