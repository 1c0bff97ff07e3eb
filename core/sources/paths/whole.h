/*
 * whole.h - paths of an object that is known whole: type, both ids, both names.
 *
 * Nothing is guessed: a path is made of the same parts as Symbolicator's
 * (docs/use/sources.md, section 1).  An object without one of them has no such
 * path.
 */
#ifndef SYM_SOURCES_PATHS_WHOLE_H
#define SYM_SOURCES_PATHS_WHOLE_H

#include "sources/paths/path.h"

/* A file of the object, and which of its paths; false: number n is behind the
 * last place. */
bool sym_whole_file(sym_object_type_t type, bool is_thorough, unsigned n,
                    sym_source_file_t *file, unsigned *spelling);

/* False: the layout or the object has no such path. */
bool sym_whole_write(sym_path_t *path, sym_layout_t layout,
                     sym_source_file_t file, unsigned spelling,
                     const sym_object_ref_t *object);

#endif
