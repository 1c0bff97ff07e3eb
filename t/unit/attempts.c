/*
 * Attempts to fetch a file, what the loader reports about its files, and
 * messages that contain both.
 */
#include "protocol/attempts.h"
#include "protocol/message.h"
#include "tap.h"

static char out[SYM_RPC_ATTEMPTS_MAX];

static void
test_rate(const char *text, uint32_t features, const char *want)
{
    size_t len = sym_attempts_rate(sym_cstr(text), features, out, sizeof(out));

    is_str(sym_str(out, len), want, "rated");
}


static void
test_rates(void)
{
    const uint32_t all = SYM_RPC_RATED | SYM_FEATURE_DEBUG_INFO
                         | SYM_FEATURE_SYMBOLS | SYM_FEATURE_UNWIND_INFO
                         | SYM_FEATURE_SOURCES;
    static char long_text[SYM_RPC_ATTEMPTS_MAX];
    sym_str_t text;
    sym_attempt_t a;

    test_rate("s 200 5 6 http://x/a\n", SYM_RPC_RATED,
              "s 200+ 5 6 http://x/a\n");
    test_rate("s 404 0 1 http://x/200\ns+t 200 5 6 http://x/a b\n", all,
              "s 404 0 1 http://x/200\ns+t 200+dsuc 5 6 http://x/a b\n");
    test_rate("s 200 5 6 /a\n", SYM_RPC_RATED | SYM_RPC_MALFORMED,
              "s 200+m 5 6 /a\n");
    test_rate("s 200+d 5 6 /a\n", all, "");
    test_rate("", all, "");
    test_rate("s\n", all, "");
    test_rate("s 200 5 6 /a\n...\n", all, "");
    memset(long_text, 'x', sizeof(long_text));
    ok(sym_attempts_rate(sym_str(long_text, sizeof(long_text)), all, out,
                         sizeof(out))
           == 0,
       "no room");

    text = SYM_STR("s 200+dsuc 5 6 /a\ns 200+ 5 6 /b\ns 200 5 6 /c\ns 404 5 6 "
                   "/d\ns 200+mX 1 1 /e\n");
    ok(sym_attempts_next(&text, &a), "a line");
    is_u64(sym_attempt_features(&a), all, "... all there is");
    ok(sym_attempts_next(&text, &a), "a line");
    is_u64(sym_attempt_features(&a), SYM_RPC_RATED, "... nothing");
    ok(sym_attempts_next(&text, &a), "a line");
    is_u64(sym_attempt_features(&a), 0, "... never looked at");
    ok(sym_attempts_next(&text, &a), "a line");
    is_u64(sym_attempt_features(&a), 0, "... not there");
    ok(sym_attempts_next(&text, &a), "a line");
    is_u64(sym_attempt_features(&a), SYM_RPC_RATED | SYM_RPC_MALFORMED,
           "... unknown letters are ignored");
}


static void
test_messages(void)
{
    static const sym_rpc_type_t types[] = { SYM_RPC_OFFER, SYM_RPC_FETCH };
    uint8_t packet[SYM_RPC_MAX];

    for (size_t i = 0; i < 2; i++) {
        sym_rpc_message_t m = { .type = types[i],
                                .ticket = 7,
                                .length = 9,
                                .features =
                                    SYM_RPC_RATED | SYM_FEATURE_SOURCES },
                          read;
        sym_error_t err = { 0 };
        size_t len = sym_rpc_write(&m, packet), plain;

        ok(sym_rpc_read(packet, len, &read, &err) == SYM_OK
               && read.features == m.features && read.length == 9,
           "a message with features");
        m.features = 0;
        plain = sym_rpc_write(&m, packet);
        ok(plain == len - 4
               && sym_rpc_read(packet, plain, &read, &err) == SYM_OK
               && read.features == 0,
           "... and without it, for other clients");
    }
}


int
main(void)
{
    test_rates();
    test_messages();
    return done_testing();
}
