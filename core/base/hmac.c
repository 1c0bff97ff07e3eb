#include "base/hmac.h"

#include <limits.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

bool
sym_hmac_sha256(sym_str_t key, sym_str_t data, sym_sha256_t *out)
{
    const uint8_t *bytes = (const uint8_t *) (data.len == 0 ? "" : data.data);
    unsigned len = 0;

    if (key.len > INT_MAX) {
        return false;
    }

    /* libcrypto does not take NULL for an empty key */
    return HMAC(EVP_sha256(), key.len == 0 ? "" : key.data, (int) key.len,
                bytes, data.len, out->bytes, &len)
               != NULL
           && len == SYM_SHA256_LEN;
}
