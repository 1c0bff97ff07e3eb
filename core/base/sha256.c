#include "base/sha256.h"

#include <string.h>

#include <openssl/evp.h>

#include "base/digits.h"

bool
sym_sha256(sym_str_t data, sym_sha256_t *out)
{
    unsigned len = 0;

    return EVP_Digest(data.len == 0 ? "" : data.data, data.len, out->bytes,
                      &len, EVP_sha256(), NULL)
               == 1
           && len == SYM_SHA256_LEN;
}


void
sym_sha256_hex(const sym_sha256_t *digest, char out[SYM_SHA256_HEX_LEN])
{
    (void) sym_digits_write_lower(digest->bytes, SYM_SHA256_LEN, out);
}


void
sym_wipe(void *p, size_t len)
{
    explicit_bzero(p, len);
}
