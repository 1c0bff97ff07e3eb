/*
 * The digests that symloader calculates with libcrypto, which it loads when it
 * first needs one: the examples of NIST for SHA-256.
 */
#include "base/sha256.h"
#include "tap.h"

static void
check(sym_str_t text, const char *expected)
{
    char hex[SYM_SHA256_HEX_LEN];
    sym_sha256_t digest;

    ok(sym_sha256(text, &digest), "a digest of %zu bytes", text.len);
    sym_sha256_hex(&digest, hex);
    ok(memcmp(hex, expected, sizeof(hex)) == 0, "... the right one");
}


int
main(void)
{
    check(SYM_STR("abc"), "ba7816bf8f01cfea414140de5dae2223"
                          "b00361a396177a9cb410ff61f20015ad");
    check(SYM_STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check(SYM_STR(""), "e3b0c44298fc1c149afbf4c8996fb924"
                       "27ae41e4649b934ca495991b7852b855");
    return done_testing();
}
