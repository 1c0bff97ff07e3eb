/*
 * symstore_pointer.h - files next to the symbols in a tree of a Windows symbol
 * server, as SymStore of Microsoft's Debugging Tools makes it.
 *
 * A folder NAME/ID may hold a pointer, "file.ptr", in the place of the file: one
 * line, "PATH:" and a path, or "MSG:" and what to tell people.  The paths are
 * those of Windows, mostly of another machine.
 */
#ifndef SYM_SOURCES_PATHS_SYMSTORE_POINTER_H
#define SYM_SOURCES_PATHS_SYMSTORE_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define SYM_SYMSTORE_POINTER "file.ptr"

/* No path of Windows is longer, and no pointer longer than such a path. */
#define SYM_SYMSTORE_POINTER_MAX 4096

typedef enum {
    SYM_POINTER_INVALID,
    SYM_POINTER_MESSAGE,
    SYM_POINTER_ELSEWHERE, /* of a drive, or another machine */
    SYM_POINTER_PATH
} sym_pointer_t;

/* Parses a pointer's text; a path, with slashes, is written to out: less than
 * text.len bytes, plus a NUL. */
sym_pointer_t sym_symstore_pointer(sym_str_t text, char *out, size_t size);

/* True if a file is the one that its folder NAME is for: it is called so, or packed
 * in a cabinet, which has '_' for the last letter.  Some servers leave cabinets
 * their plain name. */
bool sym_symstore_is_named(sym_str_t file, sym_str_t folder);

#endif
