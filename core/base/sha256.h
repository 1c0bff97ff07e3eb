/*
 * sha256.h - SHA-256 and HMAC-SHA-256, by libcrypto.  symloader goes without
 * (loader/cli/no_digest.c).
 *
 * Nothing is kept between calls.  False means that libcrypto could not work:
 * out of memory, or a configuration that forbids SHA-256.  *out is then not to
 * be used.
 */
#ifndef SYM_BASE_SHA256_H
#define SYM_BASE_SHA256_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

#define SYM_SHA256_LEN 32
#define SYM_SHA256_HEX_LEN 64

typedef struct {
    uint8_t bytes[SYM_SHA256_LEN];
} sym_sha256_t;

bool sym_sha256(sym_str_t data, sym_sha256_t *out);

/* A key of any length. */
bool sym_hmac_sha256(sym_str_t key, sym_str_t data, sym_sha256_t *out);

/* Lower-case digits, no NUL. */
static inline void
sym_sha256_hex(const sym_sha256_t *digest, char out[SYM_SHA256_HEX_LEN])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < SYM_SHA256_LEN; i++) {
        out[2 * i] = digits[digest->bytes[i] >> 4];
        out[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
}


/* Overwrites a secret; no compiler leaves it out. */
static inline void
sym_wipe(void *p, size_t len)
{
    explicit_bzero(p, len);
}


#endif
