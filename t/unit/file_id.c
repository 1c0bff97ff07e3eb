/*
 * FileIDs: digests that Elastic's documentation and code name, and their texts.
 */
#include "object/file_id.h"

#include "tap.h"

static void
digest_is(const char *data, size_t len, const char *hex, const char *base64)
{
    size_t part = len < SYM_FILE_ID_PART ? len : SYM_FILE_ID_PART;
    uint8_t id[SYM_FILE_ID_BYTES] = { 0 }, again[SYM_FILE_ID_BYTES];
    char text[SYM_FILE_ID_HEX];

    ok(sym_file_id_of(sym_str(data, part), sym_str(data + len - part, part),
                      len, id),
       "a digest of %zu bytes", len);
    sym_file_id_hex(id, text);
    is_str(sym_str(text, SYM_FILE_ID_HEX), hex, "... in hexadecimal");
    sym_file_id_base64(id, text);
    is_str(sym_str(text, SYM_FILE_ID_BASE64), base64, "... in base 64");
    ok(sym_file_id_read(sym_cstr(hex), again) && memcmp(id, again, 16) == 0
           && sym_file_id_read(sym_cstr(base64), again)
           && memcmp(id, again, 16) == 0,
       "... both are read");
}


int
main(void)
{
    static const char zeros[123];
    static const uint8_t all[SYM_FILE_ID_BYTES] = { 0xfb, 0xff, 0xbf, 0xfb,
                                                    0xff, 0xbf, 0xfb, 0xff,
                                                    0xbf, 0xfb, 0xff, 0xbf,
                                                    0xfb, 0xff, 0xbf, 0xfb };
    static const char *const bad[] = {
        "",
        "9MHl_i8oA0_M6wd27ACxJ",
        "9MHl_i8oA0_M6wd27ACxJR", /* bits after the last byte */
        "9MHl_i8oA0_M6wd27ACxJQ=",
        "9MHl_i8oA0_M6wd27ACx Q",
        "f4c1e5fe2f28034fcceb0776ec00b12g",
        "f4c1e5fe2f28034fcceb0776ec00b1250",
    };
    uint8_t id[SYM_FILE_ID_BYTES];
    sym_debug_id_t debug_id;
    char text[SYM_ID_TEXT_MAX];

    digest_is(zeros, sizeof(zeros), "f4c1e5fe2f28034fcceb0776ec00b125",
              "9MHl_i8oA0_M6wd27ACxJQ");

    ok(sym_file_id_read(SYM_STR("d--nFqkSpJIXRFeHMp_Smg"), id),
       "Elastic's example");
    debug_id = sym_file_id_debug_id(id);
    is_str(sym_str(text, sym_debug_id_write_breakpad(&debug_id, text)),
           "77EFA716A912A49217445787329FD29A0", "... its debug id");

    ok(sym_file_id_read(SYM_STR("-_-_-_-_-_-_-_-_-_-_-w=="), id)
           && memcmp(id, all, sizeof(all)) == 0,
       "with padding");
    ok(sym_file_id_read(SYM_STR("+/+/+/+/+/+/+/+/+/+/+w"), id)
           && memcmp(id, all, sizeof(all)) == 0,
       "the other alphabet");

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ok(!sym_file_id_read(sym_cstr(bad[i]), id), "not '%s'", bad[i]);
    }

    return done_testing();
}
