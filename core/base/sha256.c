#include "base/sha256.h"

#include <string.h>

#include <openssl/evp.h>

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
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < SYM_SHA256_LEN; i++) {
        out[2 * i] = digits[digest->bytes[i] >> 4];
        out[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
}


void
sym_wipe(void *p, size_t len)
{
    explicit_bzero(p, len);
}
