/*
 * parts.h - what the paths of an object are made of.
 *
 * sym_source_plan() takes a reference apart, and the writers of layouts put the
 * parts together.  A part that is "" is not known: the object has no path that
 * contains it.
 */
#ifndef SYM_SOURCES_PATHS_PARTS_H
#define SYM_SOURCES_PATHS_PARTS_H

#include "sources/paths/path.h"

typedef struct {
    const sym_object_ref_t *ref;
    sym_source_file_t file;
    unsigned spelling;  /* layout slashsymbols: 0 upper case, 1 lower case */
    sym_case_t id_case; /* of `id` in the layout breakpad */
    sym_str_t debug_file, code_file; /* last components */
    sym_str_t id;                    /* in the layout breakpad */
    sym_str_t named_id; /* Breakpad's: GUID in upper case, age in lower case */
    sym_str_t pdb_id;   /* the same of symbol servers: of a PDB */
    size_t pdb_head;    /* its digits before the age */
    sym_str_t build_id, wasm_id, pe_id; /* the code id, of each type */
    sym_str_t uuid;                     /* of a Mach-O file */
    sym_str_t debug_id; /* in the layout unified: of files without a code id */
} sym_path_parts_t;

/* False: the layout or the object has no such path. */
bool sym_layout_write(sym_layout_t layout, sym_path_t *path,
                      const sym_path_parts_t *m);

#endif
