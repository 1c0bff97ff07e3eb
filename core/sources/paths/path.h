/*
 * path.h - a path at a source, under construction (plan.h).
 */
#ifndef SYM_SOURCES_PATHS_PATH_H
#define SYM_SOURCES_PATHS_PATH_H

#include "sources/paths/rules.h"

/* A part that does not fit is not written, and the path counts as failed. */
typedef struct {
    char *data;
    size_t len, size;
    sym_source_casing_t casing;
    bool is_full;
} sym_path_t;

/* Casing of a part's letters A to Z, applied before the casing of the path. */
typedef enum { SYM_CASE_AS_IS, SYM_CASE_LOWER, SYM_CASE_UPPER } sym_case_t;

/* Appends bytes unchanged. */
void sym_path_bytes(sym_path_t *path, const char *bytes, size_t len);

/* Appends a part between slashes, or a piece of one. */
void sym_path_part(sym_path_t *path, sym_str_t part, sym_case_t to);
void sym_path_text(sym_path_t *path, const char *text);
void sym_path_slash(sym_path_t *path);

/* Appends LLDB's path of a UUID (32 digits):
 * AAAA/BBBB/CCCC/DDDD/EEEE/FFFFFFFFFFFF */
void sym_path_lldb(sym_path_t *path, sym_str_t uuid);

/* Appends ab/cdef01... for an id of at least two characters, in lower case. */
void sym_path_cut_id(sym_path_t *path, sym_str_t id);

/* Appends the folder of a path in a symbol server with an index of two letters:
 * the first two characters, or the one before a dot or slash; none if that would
 * split a UTF-8 character. */
void sym_path_index2(sym_path_t *path, sym_str_t text);

/* "xul.pdb" becomes "xul.pd_": replaces the last character, which may have
 * several bytes. */
void sym_path_mark_packed(sym_path_t *path);

#endif
