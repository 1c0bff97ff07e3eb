/*
 * ppdb.h - converts portable PDBs, which are files or are embedded in
 * assemblies.
 */
#ifndef SYM_FORMATS_PPDB_PPDB_H
#define SYM_FORMATS_PPDB_PPDB_H

#include "formats/format.h"

/*
 * Converts a portable PDB to an artifact of kind `ppdb`.  If it has embedded
 * source files or source links, also makes one of kind `sources`. debug_file is
 * the name of an embedded PDB, or "".
 */
sym_status_t sym_ppdb_convert(const sym_format_file_t *f, sym_str_t file,
                              sym_str_t debug_file, sym_error_t *err);

#endif
