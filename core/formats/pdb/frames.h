/*
 * frames.h - the frame data of x86: streams of FPO_DATA and FRAMEDATA
 * (microsoft-pdb: cvinfo.h, FRAMEDATA; winnt.h, FPO_DATA).
 *
 * FRAMEDATA contains programs in the language that Breakpad also uses.
 */
#ifndef SYM_FORMATS_PDB_FRAMES_H
#define SYM_FORMATS_PDB_FRAMES_H

#include "artifacts/cfi/write/cfi_writer.h"
#include "formats/pdb/pdb.h"

/* Counts records that cannot be read. */
sym_status_t sym_pdb_frames(const sym_pdb_t *pdb, sym_cfi_writer_t *w,
                            uint64_t *broken, sym_error_t *err);

#endif
