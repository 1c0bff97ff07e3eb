/*
 * offsets.h - finds the start of each record of a type stream.
 *
 * A record has only a length, so it is found through the one before it, and a
 * walk waits for memory at each.  The hash stream has the positions of some
 * records, from which several walks run in parallel.  The positions are not
 * trusted: each walk must end at the start of the next one, which proves both;
 * otherwise one walk visits all records.
 */
#ifndef SYM_FORMATS_PDB_OFFSETS_H
#define SYM_FORMATS_PDB_OFFSETS_H

#include "base/cursor.h"

/* A record begins with u16 length and u16 kind. */
#define SYM_PDB_RECORD_BYTES 4

/*
 * Fills offsets[n], relative to *records, which begins at the first record.
 * places: the "index offset buffer" (LLVM: TpiStream.rst), whose indexes begin
 * at `first`; "": the stream has none.
 */
sym_status_t sym_pdb_find_records(sym_cursor_t *records, sym_str_t places,
                                  uint32_t first, uint32_t n,
                                  uint32_t *offsets);

#endif
