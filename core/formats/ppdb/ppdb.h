/*
 * ppdb.h - portable PDBs as a file, or inside of another one.
 */
#ifndef SYM_FORMATS_PPDB_PPDB_H
#define SYM_FORMATS_PPDB_PPDB_H

#include "formats/format.h"

/*
 * Converts a portable PDB and puts what it gives: an artifact of kind `ppdb`, and
 * one of kind `sources` if it has texts of sources or links to them.  debug_file is
 * its name if it lies in another file, or "".
 */
sym_status_t sym_ppdb_convert(const sym_format_file_t *f, sym_str_t file,
                              sym_str_t debug_file, sym_error_t *err);

#endif
