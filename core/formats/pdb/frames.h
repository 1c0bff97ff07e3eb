/*
 * frames.h - the frame data of x86: streams of FPO_DATA and FRAMEDATA
 * (microsoft-pdb: cvinfo.h, FRAMEDATA; winnt.h, FPO_DATA).
 *
 * The programs of FRAMEDATA are Breakpad's, which took them from here.
 */
#ifndef SYM_FORMATS_PDB_FRAMES_H
#define SYM_FORMATS_PDB_FRAMES_H

#include "artifacts/cfi/write/cfi_writer.h"
#include "formats/pdb/pdb.h"

/* Records that cannot be read are counted. */
sym_status_t sym_pdb_frames(const sym_pdb_t *pdb, sym_cfi_writer_t *w,
                            uint64_t *broken, sym_error_t *err);

#endif
