/*
 * sha1.h - SHA-1 (RFC 3174), for UUIDs that are derived from a file (RFC 9562,
 * version 5).  SHA-1 is not secure against an attacker.
 */
#ifndef SYM_BASE_SHA1_H
#define SYM_BASE_SHA1_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define SYM_SHA1_BYTES 20

/* A digest as text: 40 digits in lower case, and a NUL. */
#define SYM_SHA1_TEXT (2 * SYM_SHA1_BYTES + 1)

/* Digest of both texts, concatenated. */
void sym_sha1(sym_str_t a, sym_str_t b, uint8_t out[SYM_SHA1_BYTES]);

void sym_sha1_write(const uint8_t sha1[SYM_SHA1_BYTES],
                    char out[SYM_SHA1_TEXT]);

/* Returns false if the text does not have that form. */
bool sym_sha1_read(const char *text, uint8_t out[SYM_SHA1_BYTES]);

#endif
