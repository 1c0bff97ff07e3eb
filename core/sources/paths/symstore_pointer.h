/*
 * symstore_pointer.h - pointer files in the tree of a Windows symbol server,
 * made by SymStore of Microsoft's Debugging Tools.
 *
 * A folder NAME/ID may contain a pointer, "file.ptr", instead of the file.  It
 * is one line: "PATH:" and a path, or "MSG:" and a message for users.  The
 * paths are Windows paths, mostly of another machine.
 */
#ifndef SYM_SOURCES_PATHS_SYMSTORE_POINTER_H
#define SYM_SOURCES_PATHS_SYMSTORE_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define SYM_SYMSTORE_POINTER "file.ptr"

/* Windows paths are not longer, and a pointer is not longer than such a
 * path. */
#define SYM_SYMSTORE_POINTER_MAX 4096

typedef enum {
    SYM_POINTER_INVALID,
    SYM_POINTER_MESSAGE,
    SYM_POINTER_ELSEWHERE, /* a path with a drive, or of another machine */
    SYM_POINTER_PATH
} sym_pointer_t;

/* Parses the text of a pointer.  A path is written to out with slashes; out
 * needs room for text.len bytes and a NUL. */
sym_pointer_t sym_symstore_pointer(sym_str_t text, char *out, size_t size);

/* Whether the file belongs in the folder NAME.  It has that name, or it is
 * packed in a cabinet, with '_' instead of the last letter.  On some servers,
 * cabinets keep the plain name. */
bool sym_symstore_is_named(sym_str_t file, sym_str_t folder);

#endif
