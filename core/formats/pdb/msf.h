/*
 * msf.h - the streams of an MSF 7 file, the container of PDBs
 * (LLVM: docs/PDB/MsfFile.rst; Microsoft: microsoft-pdb/PDB/msf/msf.cpp).
 *
 * The file is cut into pages; a directory lists the pages of each stream.  A
 * stream whose pages follow each other is a view of the file, another one is
 * copied.  No page belongs to two streams, so all streams together are not
 * larger than the file: sym_msf_open() refuses a directory that says otherwise,
 * and whoever reads each stream once reads no more than the file's bytes.
 */
#ifndef SYM_FORMATS_PDB_MSF_H
#define SYM_FORMATS_PDB_MSF_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/str.h"

/* "There is no such stream" where PDBs name streams by 16 bits. */
#define SYM_MSF_NO_STREAM 0xffffu

typedef struct {
    uint32_t size;
    const uint8_t *pages; /* their numbers, four bytes each */
} sym_msf_entry_t;

typedef struct {
    sym_str_t file;
    uint32_t page_size;
    sym_buffer_t copy; /* of the directory, if its pages do not follow */
    sym_msf_entry_t *streams;
    uint32_t n_streams;
} sym_msf_t;

/* True for MSF 7, and for the older "program database 2.00". */
bool sym_msf_is(const uint8_t *data, size_t len);

/* Borrows the file.  To be closed after a failure, too. */
sym_status_t sym_msf_open(sym_msf_t *msf, sym_str_t file, sym_error_t *err);
void sym_msf_close(sym_msf_t *msf);

/* Of a stream; 0 if there is none of that number. */
uint32_t sym_msf_size(const sym_msf_t *msf, uint32_t stream);

/*
 * A stream's bytes, empty if there is none of that number: in the file, or in
 * *copy, whose former content is lost.
 */
sym_status_t sym_msf_read(const sym_msf_t *msf, uint32_t stream,
                          sym_buffer_t *copy, sym_str_t *bytes,
                          sym_error_t *err);

#endif
