#include "base/sha256.h"

#include <limits.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

bool
sym_sha256(sym_str_t data, sym_sha256_t *out)
{
    unsigned len = 0;

    return EVP_Digest(data.len == 0 ? "" : data.data, data.len, out->bytes,
                      &len, EVP_sha256(), NULL)
               == 1
           && len == SYM_SHA256_LEN;
}


bool
sym_hmac_sha256(sym_str_t key, sym_str_t data, sym_sha256_t *out)
{
    const uint8_t *bytes = (const uint8_t *) (data.len == 0 ? "" : data.data);
    unsigned len = 0;

    if (key.len > INT_MAX) {
        return false;
    }

    /* to libcrypto a key of NULL is not an empty one */
    return HMAC(EVP_sha256(), key.len == 0 ? "" : key.data, (int) key.len,
                bytes, data.len, out->bytes, &len)
               != NULL
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
    OPENSSL_cleanse(p, len);
}
