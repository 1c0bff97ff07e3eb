/*
 * offsets.h - finds the start of each record of a type stream.
 *
 * A record contains only its length, so it can be found only through the record
 * before it, and a walk waits for memory at each.  The hash stream contains the
 * positions of some records, where parallel walks begin.  The positions are not
 * trusted.  Each walk must end at the start of the next one, which proves both;
 * otherwise one walk visits all records.
 */
#ifndef SYM_FORMATS_PDB_OFFSETS_H
#define SYM_FORMATS_PDB_OFFSETS_H

#include "base/cursor.h"

/* A record begins with u16 length and u16 kind. */
#define SYM_PDB_RECORD_BYTES 4

/*
 * Fills offsets[n], relative to *records, which begins at the first record.
 * places: the "index offset buffer" (LLVM: TpiStream.rst), with indexes from
 * `first` on; "": the stream has none.
 */
sym_status_t sym_pdb_find_records(sym_cursor_t *records, sym_str_t places,
                                  uint32_t first, uint32_t n,
                                  uint32_t *offsets);

#endif
