/*
 * parts.h - the parts of an object's paths.
 *
 * sym_source_plan() splits a reference into parts, and the writers of layouts
 * combine the parts.  A part that is "" is unknown: the object has no path with
 * that part.
 */
#ifndef SYM_SOURCES_PATHS_PARTS_H
#define SYM_SOURCES_PATHS_PARTS_H

#include "sources/paths/path.h"

typedef struct {
    const sym_object_ref_t *ref;
    sym_source_file_t file;
    unsigned spelling;  /* slashsymbols: 0: upper case, 1: lower case; a map of
                           lines in unified: 1: the path by the debug id */
    sym_case_t id_case; /* case of `id` in the layout breakpad */
    sym_str_t debug_file, code_file; /* last components of the paths */
    sym_str_t id;                    /* in the layout breakpad */
    sym_str_t named_id; /* Breakpad's form: GUID in upper case, age in lower
                           case */
    sym_str_t pdb_id;   /* the same for symbol servers, for a PDB */
    size_t pdb_head;    /* number of digits of pdb_id before the age */
    sym_str_t build_id, wasm_id, pe_id; /* the code id, for each type */
    sym_str_t uuid;                     /* UUID of a Mach-O file */
    sym_str_t debug_id; /* in the layout unified, for files without a code id */
} sym_path_parts_t;

/* Returns false if the layout or the object has no such path. */
bool sym_layout_write(sym_layout_t layout, sym_path_t *path,
                      const sym_path_parts_t *m);

#endif
