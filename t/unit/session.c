/*
 * Files of Mozilla's upload v2: ranges of them, the text for the loader, and the name by
 * which it knows a file.
 */
#include "tap.h"
#include "uploads/session.h"

#define MD5 "d41d8cd98f00b204e9800998ecf8427e"

static bool
is_range(const char *header, uint64_t from, uint64_t to, sym_session_end_t end)
{
    sym_session_t s;

    return sym_session_range(sym_cstr(header), &s) && s.from == from
           && s.to == to && s.end == end;
}


static void
test_ranges(void)
{
    static const char *const bad[] = {
        "",
        "bytes",
        "bytes ",
        "bytes 0-4",
        "bytes 0-4/",
        "bytes 0-/9",
        "bytes -4/9",
        "bytes 4/9",
        "bytes 4-3/9",
        "bytes 0-9/9",
        "bytes 0-4/9 ",
        "bytes 0-4/**",
        "bits 0-4/9",
        " bytes 0-4/9",
        "bytes 0-18446744073709551615/*",
        "bytes 0-18446744073709551616/*",
    };
    sym_session_t s;

    ok(sym_session_range(sym_str(NULL, 0), &s) && s.from == 0 && s.to == 0
           && s.end == SYM_SESSION_WHOLE,
       "no header: the whole file");
    ok(is_range("bytes 0-4/9", 0, 5, SYM_SESSION_RANGE), "the first bytes");
    ok(is_range("bytes 5-8/9", 5, 9, SYM_SESSION_END), "the last bytes");
    ok(is_range("bytes 5-8/*", 5, 9, SYM_SESSION_RANGE), "others may follow");
    ok(is_range("bytes */9", 9, 9, SYM_SESSION_END), "no bytes at the end");
    ok(is_range("bytes */*", 0, 0, SYM_SESSION_QUERY), "a question");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ok(!sym_session_range(sym_cstr(bad[i]), &s), "refused: \"%s\"", bad[i]);
    }
}


static void
test_text(void)
{
    static const char *const bad[] = {
        "",
        "5 9 2 7 " MD5,
        "5 9 2 7 " MD5 " a/1",
        "5 9 2 7 " MD5 " ../1/b",
        "9 5 2 7 " MD5 " a/1/b",
        "5 9 4 7 " MD5 " a/1/b",
        "5 9 2 x " MD5 " a/1/b",
        "5 9 2 7 D41D8CD98F00B204E9800998ECF8427E a/1/b",
        "5 9 2 7 d41d8cd98f00b204e9800998ecf8427 a/1/b",
    };
    const sym_session_t s = { .from = 5,
                              .to = 9,
                              .end = SYM_SESSION_END,
                              .size = 7,
                              .md5 = SYM_STR(MD5),
                              .key = SYM_STR("a b/1/c d") };
    char text[SYM_SESSION_TEXT];
    size_t len = sym_session_write(&s, text);
    sym_session_t again = { .size = 0 };

    ok(sym_str_eq(sym_str(text, len), SYM_STR("5 9 2 7 " MD5 " a b/1/c d")),
       "the text");
    ok(sym_session_read(sym_str(text, len), &again) && again.from == 5
           && again.to == 9 && again.end == SYM_SESSION_END && again.size == 7
           && sym_str_eq(again.md5, s.md5) && sym_str_eq(again.key, s.key),
       "... is read again");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ok(!sym_session_read(sym_cstr(bad[i]), &again), "refused: \"%s\"",
           bad[i]);
    }
}


static void
test_id(void)
{
    sym_session_t s = { .size = 7,
                        .md5 = SYM_STR(MD5),
                        .key = SYM_STR("a/1/b") };
    uint8_t id[SYM_SHA1_BYTES], other[SYM_SHA1_BYTES];

    sym_session_id(&s, id);
    s.from = 3;
    sym_session_id(&s, other);
    ok(memcmp(id, other, sizeof(id)) == 0, "all ranges are of one file");
    s.size = 8;
    sym_session_id(&s, other);
    ok(memcmp(id, other, sizeof(id)) != 0, "another size is another file");
}


int
main(void)
{
    test_ranges();
    test_text();
    test_id();
    return done_testing();
}
