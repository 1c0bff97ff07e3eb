/*
 * sentry_files.h - Sentry's own store of debug files: its list of the files of
 * a module, and the URLs of its requests.
 *
 * GET url?debug_id=...&code_id=... returns [{"id", "symbolType", ...}]; GET
 * url?id=... returns a file.
 */
#ifndef SYM_SOURCES_REQUEST_SENTRY_FILES_H
#define SYM_SOURCES_REQUEST_SENTRY_FILES_H

#include "base/arena.h"
#include "base/error.h"
#include "object/object_ref.h"
#include "sources/request/sources.h"

#define SYM_SENTRY_FILES_MAX 64             /* in a list; the rest is ignored */
#define SYM_SENTRY_FILES_BYTES (256 * 1024) /* of a list */

typedef struct {
    sym_str_t id;
    unsigned files; /* a bit for each sym_source_file_t that the file may be */
} sym_sentry_file_t;

/* Makes the URL of the list; SYM_NOT_FOUND: the object has no id to search
 * for. */
sym_status_t sym_sentry_list_url(sym_arena_t *arena, const sym_url_t *base,
                                 const sym_object_ref_t *object,
                                 sym_url_t *url);

/* Makes the URL of a file in the list; *shown: the same for display. */
sym_status_t sym_sentry_file_url(sym_arena_t *arena, const sym_url_t *base,
                                 sym_str_t id, sym_url_t *url,
                                 sym_str_t *shown);

/* Reads a list; omits entries of types that no reader supports. files: an array
 * of SYM_SENTRY_FILES_MAX items.  The texts live as long as the arena.
 * SYM_MALFORMED, SYM_LIMIT: in *err; SYM_NOMEM. */
sym_status_t sym_sentry_files_read(sym_arena_t *arena, sym_str_t text,
                                   sym_sentry_file_t *files, uint32_t *n,
                                   sym_error_t *err);

/* Gets the address of the next page from the Link header of a page.  False: it
 * is the last page. */
bool sym_sentry_next_page(sym_str_t link, sym_str_t *url);

#endif
