/*
 * Content-Range and related headers.  Validity follows RFC 9110, 14.4 and
 * 8.8.3; the cases of Symbolicator's own tests are marked (its
 * download/partial.rs).
 */
#include "sources/guard/range.h"
#include "tap.h"

static void
is_range(const char *text, uint64_t first, uint64_t last, uint64_t size)
{
    sym_range_t range = { 0 };

    ok(sym_range_read(sym_cstr(text), &range), "%s", text);
    ok(range.first == first && range.last == last && range.size == size,
       "... its numbers");
}


static void
is_none(const char *text)
{
    sym_range_t range = { 7, 7, 7 };

    ok(!sym_range_read(sym_cstr(text), &range), "refused: %s", text);
    ok(range.first == 7 && range.last == 7 && range.size == 7, "... untouched");
}


static void
test_ranges(void)
{
    is_range("bytes 42-1233/1234", 42, 1233, 1234); /* 14.4 */
    is_range("bytes 0-12/123", 0, 12, 123);         /* Symbolicator's */
    is_range("bytes 1-122/123", 1, 122, 123);       /* Symbolicator's */
    is_range("bytes 0-0/1", 0, 0, 1);
    is_range(
        "bytes 9223372036854775806-9223372036854775806/9223372036854775807",
        INT64_MAX - 1, INT64_MAX - 1, INT64_MAX);

    /* Symbolicator's */
    is_none("bits 0-12/123");
    is_none("bytes */123");
    is_none("bytes 0-12/*");
    is_none("bytes 0-12");
    is_none("bytes a-12/123");
    is_none("bytes 0-a/123");
    is_none("bytes 23/123");
    is_none("0-12/123");

    /* "invalid if ... last-pos less than its first-pos, or complete-length less
     * than or equal to its last-pos" */
    is_none("bytes 2-1/9");
    is_none("bytes 0-9/9");
    is_none("bytes 0-0/0");

    is_none("");
    is_none("bytes");
    is_none("bytes ");
    is_none("bytes -1/9");
    is_none("bytes 1-/9");
    is_none("bytes 1-2/");
    is_none("bytes +1-2/9");
    is_none("bytes 1--2/9");
    is_none("bytes 1-2/9/9");
    is_none("bytes 1-2/9, 3-4/9");
    is_none("bytes 0-1/9223372036854775808");
    is_none(
        "bytes 18446744073709551616-18446744073709551617/18446744073709551618");
}


static void
test_tags(void)
{
    /* 8.8.3 */
    ok(sym_etag_is_strong(SYM_STR("\"xyzzy\"")), "a strong one");
    ok(!sym_etag_is_strong(SYM_STR("W/\"xyzzy\"")), "a weak one");
    ok(sym_etag_is_strong(SYM_STR("\"\"")), "an empty one");

    ok(!sym_etag_is_strong(SYM_STR("")), "none");
    ok(!sym_etag_is_strong(SYM_STR("\"")), "half of one");
    ok(!sym_etag_is_strong(SYM_STR("xyzzy")), "without quotes");
    ok(!sym_etag_is_strong(SYM_STR("\"a\", \"b\"")), "two");
    ok(!sym_etag_is_strong(SYM_STR("\"a b\"")), "with a space");
    ok(!sym_etag_is_strong(SYM_STR("\"a\r\nb\"")), "with a line end");
    ok(sym_etag_is_strong(SYM_STR("\"\xc3\xa4\"")), "with bytes above ASCII");
}


int
main(void)
{
    test_ranges();
    test_tags();
    return done_testing();
}
