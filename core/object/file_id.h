/*
 * file_id.h - Elastic's FileID, by which profilers know an executable.
 *
 * A FileID is a digest of an executable as it is deployed, so it needs no build
 * id, and a stripped copy has another one (docs/formats/symbfile.md).
 */
#ifndef SYM_OBJECT_FILE_ID_H
#define SYM_OBJECT_FILE_ID_H

#include "object/object_ref.h"

/* Bytes at each end of a file that are digested. */
#define SYM_FILE_ID_PART ((size_t) 4096)

/*
 * From the first and last SYM_FILE_ID_PART bytes of a file, or all of it if it is
 * shorter, and its size.  False: libcrypto cannot work.
 */
bool sym_file_id_of(sym_str_t head, sym_str_t tail, uint64_t size,
                    uint8_t id[SYM_FILE_ID_BYTES]);

/* 32 hexadecimal digits, or 22 of base 64 in either alphabet, with "==" or
 * without. */
bool sym_file_id_read(sym_str_t text, uint8_t id[SYM_FILE_ID_BYTES]);

/* 32 digits in lower case. */
#define SYM_FILE_ID_HEX 32
void sym_file_id_hex(const uint8_t id[SYM_FILE_ID_BYTES],
                     char out[SYM_FILE_ID_HEX]);

/* base64url without padding, as in the header `FileID`. */
#define SYM_FILE_ID_BASE64 22
void sym_file_id_base64(const uint8_t id[SYM_FILE_ID_BYTES],
                        char out[SYM_FILE_ID_BASE64]);

/* The debug id under which the symbols of the file are stored. */
sym_debug_id_t sym_file_id_debug_id(const uint8_t id[SYM_FILE_ID_BYTES]);

#endif
