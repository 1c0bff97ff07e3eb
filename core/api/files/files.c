/*
 * files.c - files of sources for debuggers and other clients that read symbols
 * themselves: debuginfod's paths, and those of symbol servers.
 *
 * Clients of debuginfod remember every error status for ten minutes, as if the
 * file were absent.  They do not remember a broken connection.  Clients of
 * symbol servers try again after 5xx, and remember only 404.
 */
#include "api/files/metadata.h"
#include "api/files/mozilla.h"
#include "api/files/paths.h"
#include "api/registry.h"

#define GET_ROUTE(path, what)                                                  \
    .suffix = (path), .version = (what),                                       \
    .methods = SYM_METHOD_GET | SYM_METHOD_HEAD

const sym_api_t sym_files_api = {
    .name = "files",
    .routes = { { GET_ROUTE("/buildid/", "buildid"), .kind = SYM_ROUTE_FILE,
                  .read_file = sym_files_read_debuginfod,
                  .cuts_failures = true },
                { .suffix = "/metadata",
                  .version = "metadata",
                  .methods = SYM_METHOD_GET,
                  .needs_proxy = true,
                  .ops = &sym_files_metadata_ops },
                { GET_ROUTE("/api/syminfo/", "syminfo"), .kind = SYM_ROUTE_FILE,
                  .read_file = sym_files_read_syminfo,
                  .absent = sym_files_no_syminfo,
                  .write_names = sym_files_write_names },
                { GET_ROUTE("/pingme.txt", "pingme"), .kind = SYM_ROUTE_TEXT,
                  .status = 200, .text = "a symbol store\n" },
                { GET_ROUTE("/", "symbols"), .kind = SYM_ROUTE_FILE,
                  .read_file = sym_files_read_any,
                  .absent = sym_files_absent } },
    .answers = { "application/json" },
    .write_error = sym_files_write_error,
    .tells_failures = true,
    .is_same_site = true,
    .may_have_cors = true,
};
