/*
 * MD5: the test suite of RFC 1321 (A.5), and bytes that come in pieces.
 */
#include "base/digits.h"
#include "base/md5.h"

#include "tap.h"

static void
digest_is(const char *data, size_t piece, const char *want)
{
    size_t len = strlen(data);
    uint8_t digest[SYM_MD5_BYTES];
    char text[2 * SYM_MD5_BYTES];
    sym_md5_t md5;

    sym_md5_begin(&md5);
    for (size_t at = 0; at < len; at += piece) {
        sym_md5_add(&md5, data + at, len - at < piece ? len - at : piece);
    }
    sym_md5_end(&md5, digest);
    is_str(sym_str(text, sym_digits_write_lower(digest, sizeof(digest), text)),
           want, "in pieces");
}


int
main(void)
{
    static const char *const suite[][2] = {
        { "", "d41d8cd98f00b204e9800998ecf8427e" },
        { "a", "0cc175b9c0f1b6a831c399e269772661" },
        { "abc", "900150983cd24fb0d6963f7d28e17f72" },
        { "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
        { "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
        { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
          "d174ab98d277d9f5a5611c2c9f419d9f" },
        { "12345678901234567890123456789012345678901234567890123456789012345678"
          "901234567890",
          "57edf4a22be3c955ac49da2e2107b67a" },
    };

    for (size_t i = 0; i < sizeof(suite) / sizeof(suite[0]); i++) {
        digest_is(suite[i][0], 1, suite[i][1]);
        digest_is(suite[i][0], 63, suite[i][1]);
        digest_is(suite[i][0], 1000, suite[i][1]);
    }

    return done_testing();
}
