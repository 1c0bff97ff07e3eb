/*
 * sha256.h - SHA-256, by libcrypto.
 *
 * No state is kept between calls.  The functions return false if libcrypto
 * fails: out of memory, or its configuration forbids SHA-256.  *out is then
 * undefined.
 */
#ifndef SYM_BASE_SHA256_H
#define SYM_BASE_SHA256_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define SYM_SHA256_LEN 32
#define SYM_SHA256_HEX_LEN 64

typedef struct {
    uint8_t bytes[SYM_SHA256_LEN];
} sym_sha256_t;

bool sym_sha256(sym_str_t data, sym_sha256_t *out);

/* Writes lower-case digits without a NUL. */
void sym_sha256_hex(const sym_sha256_t *digest, char out[SYM_SHA256_HEX_LEN]);

/* Overwrites a secret with zeros; a compiler cannot remove the call. */
void sym_wipe(void *p, size_t len);

#endif
