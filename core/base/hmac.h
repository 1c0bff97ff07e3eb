/*
 * hmac.h - HMAC-SHA-256 by libcrypto; it fails like sha256.h.
 */
#ifndef SYM_BASE_HMAC_H
#define SYM_BASE_HMAC_H

#include "base/sha256.h"

/* The key may have any length. */
bool sym_hmac_sha256(sym_str_t key, sym_str_t data, sym_sha256_t *out);

#endif
