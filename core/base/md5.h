/*
 * md5.h - MD5 (RFC 1321), by which S3 checks and names the bytes of an object.
 * Not for anything that must withstand an attacker.
 */
#ifndef SYM_BASE_MD5_H
#define SYM_BASE_MD5_H

#include <stddef.h>
#include <stdint.h>

#define SYM_MD5_BYTES 16
#define SYM_MD5_BLOCK 64

typedef struct {
    uint32_t state[4];
    uint8_t block[SYM_MD5_BLOCK]; /* bytes that do not fill a block yet */
    uint64_t len;
} sym_md5_t;

void sym_md5_begin(sym_md5_t *m);
void sym_md5_add(sym_md5_t *m, const void *data, size_t len);
void sym_md5_end(sym_md5_t *m, uint8_t out[SYM_MD5_BYTES]);

#endif
