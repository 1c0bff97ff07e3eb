/*
 * file_id.h - Elastic's FileID, by which profilers identify an executable.
 *
 * A FileID is a digest of the deployed executable.  So it needs no build id,
 * but a stripped copy has another FileID (docs/formats/symbfile.md).
 */
#ifndef SYM_OBJECT_FILE_ID_H
#define SYM_OBJECT_FILE_ID_H

#include "object/object_ref.h"

/* Number of bytes at each end of a file that are digested. */
#define SYM_FILE_ID_PART ((size_t) 4096)

/*
 * Computes the FileID from the size and the first and last SYM_FILE_ID_PART
 * bytes of a file, or all of its bytes if it is shorter.  False: libcrypto
 * failed.
 */
bool sym_file_id_of(sym_str_t head, sym_str_t tail, uint64_t size,
                    uint8_t id[SYM_FILE_ID_BYTES]);

/* Reads 32 hexadecimal digits, or 22 of base 64 in either alphabet, with or
 * without "==". */
bool sym_file_id_read(sym_str_t text, uint8_t id[SYM_FILE_ID_BYTES]);

/* Writes 32 digits in lower case. */
#define SYM_FILE_ID_HEX 32
void sym_file_id_hex(const uint8_t id[SYM_FILE_ID_BYTES],
                     char out[SYM_FILE_ID_HEX]);

/* Writes base64url without padding, as in the header `FileID`. */
#define SYM_FILE_ID_BASE64 22
void sym_file_id_base64(const uint8_t id[SYM_FILE_ID_BYTES],
                        char out[SYM_FILE_ID_BASE64]);

/* The debug id under which a file's symbols are stored. */
sym_debug_id_t sym_file_id_debug_id(const uint8_t id[SYM_FILE_ID_BYTES]);

#endif
