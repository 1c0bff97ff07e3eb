/*
 * sentry_files.h - Sentry's own store of debug files: its list of the files of a
 * module, and the addresses to ask it.
 *
 * GET url?debug_id=...&code_id=... answers [{"id", "symbolType", ...}]; then
 * GET url?id=... is a file.
 */
#ifndef SYM_SOURCES_REQUEST_SENTRY_FILES_H
#define SYM_SOURCES_REQUEST_SENTRY_FILES_H

#include "base/arena.h"
#include "base/error.h"
#include "object/object_ref.h"
#include "sources/request/sources.h"

#define SYM_SENTRY_FILES_MAX 64 /* of a list; the rest does not count */
#define SYM_SENTRY_FILES_BYTES (256 * 1024) /* of a list */

typedef struct {
    sym_str_t id;
    unsigned files; /* a bit for each sym_source_file_t that it may be */
} sym_sentry_file_t;

/* The address of the list; SYM_NOT_FOUND: the object has no id to ask for. */
sym_status_t sym_sentry_list_url(sym_arena_t *arena, const sym_url_t *base,
                                 const sym_object_ref_t *object,
                                 sym_url_t *url);

/* The address of a file of the list; *shown: the same for people. */
sym_status_t sym_sentry_file_url(sym_arena_t *arena, const sym_url_t *base,
                                 sym_str_t id, sym_url_t *url,
                                 sym_str_t *shown);

/* Reads a list; entries of types that no reader takes are left out.  files: room
 * for SYM_SENTRY_FILES_MAX.  The texts live as long as the arena.  SYM_MALFORMED,
 * SYM_LIMIT: in *err; SYM_NOMEM. */
sym_status_t sym_sentry_files_read(sym_arena_t *arena, sym_str_t text,
                                   sym_sentry_file_t *files, uint32_t *n,
                                   sym_error_t *err);

/* The address of the next page, which the header Link of a page names.  False: it
 * is the last. */
bool sym_sentry_next_page(sym_str_t link, sym_str_t *url);

#endif
