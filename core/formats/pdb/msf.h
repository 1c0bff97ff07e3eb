/*
 * msf.h - the streams of an MSF 7 file, the container of PDBs
 * (LLVM: docs/PDB/MsfFile.rst; Microsoft: microsoft-pdb/PDB/msf/msf.cpp).
 *
 * The file is cut into pages; a directory lists the pages of each stream.  A
 * stream of contiguous pages is returned as a view of the file; other streams
 * are copied.  No page belongs to two streams; sym_msf_open() refuses a
 * directory that violates this.  So a caller that reads each stream once reads
 * no more bytes than the file has.
 */
#ifndef SYM_FORMATS_PDB_MSF_H
#define SYM_FORMATS_PDB_MSF_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

/* "No stream" in 16-bit fields with a stream number. */
#define SYM_MSF_NO_STREAM 0xffffu

typedef struct {
    uint32_t size;
    const uint8_t *pages; /* page numbers, u32 each */
} sym_msf_entry_t;

typedef struct {
    sym_str_t file;
    uint32_t page_size;
    sym_buffer_t copy; /* copy of a directory whose pages are scattered */
    sym_msf_entry_t *streams;
    uint32_t n_streams;
} sym_msf_t;

/* True for MSF 7, and for the older "program database 2.00". */
bool sym_msf_is(const uint8_t *data, size_t len);

/* Borrows the file.  The caller must close it even after a failure. */
sym_status_t sym_msf_open(sym_msf_t *msf, sym_str_t file, sym_error_t *err);
void sym_msf_close(sym_msf_t *msf);

/* Bytes of a stream; 0 if the file has no such stream. */
uint32_t sym_msf_size(const sym_msf_t *msf, uint32_t stream);

/* The bytes of a stream from the offset on, as far as they are contiguous in
 * the file.  Empty at the end of the stream. */
sym_str_t sym_msf_run(const sym_msf_t *msf, uint32_t stream, uint32_t offset);

/*
 * The bytes of a stream: a view of the file, or of *copy, which the call may
 * overwrite.  Empty if the file has no such stream.
 */
sym_status_t sym_msf_read(const sym_msf_t *msf, uint32_t stream,
                          sym_buffer_t *copy, sym_str_t *bytes,
                          sym_error_t *err);

#endif
