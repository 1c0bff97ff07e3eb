/*
 * core/base, which every reader uses.  A caret points at the faulty byte.
 */
#include "base/arena.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/digits.h"
#include "base/hex.h"
#include "base/json_plain.h"
#include "object/module_key.h"
#include "tap.h"

#include <ctype.h>
#include <stdlib.h>

static void
test_cursor(void)
{
    static const uint8_t in[] = { 1, 2,  3,  4,  5,  6,  7,  8,
                                  9, 10, 11, 12, 13, 14, 15, 16 };
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(in, sizeof(in), ".test", &err);

    is_u64(sym_u8(&c), 0x01, "u8");
    is_u64(sym_u16(&c), 0x0302, "u16 is little endian, at any position");
    is_u64(sym_u32(&c), 0x07060504, "u32");
    is_u64(sym_u64(&c), 0x0f0e0d0c0b0a0908, "u64");
    is_u64(sym_left(&c), 1, "one byte is left");
    is_u64(sym_u16(&c), 0, "two are too many");
    /*                          ^ byte 15 */
    ok(err.status == SYM_TRUNCATED && err.offset == 15, "... says so");
    is_u64(sym_left(&c), 0, "... and nothing is left");
    is_u64(sym_u8(&c), 0, "... not even the last byte");
    ok(err.offset == 15, "the first failure stays");
}


static void
test_big_endian(void)
{
    static const uint8_t in[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(in, sizeof(in), ".test", &err), sub;

    c.is_big_endian = true;
    sub = sym_take(&c, 2);
    is_u64(sym_u16(&sub), 0x0102, "big endian: u16, of a sub-cursor");
    is_u64(sym_u32(&c), 0x03040506, "... u32");
    is_u64(sym_u64(&c), 0, "... a u64 beyond the end");
    ok(err.status == SYM_TRUNCATED && err.offset == 6, "... says so");

    c = sym_cursor(in, sizeof(in), ".test", &(sym_error_t){ 0 });
    c.is_big_endian = true;
    is_u64(sym_u64(&c), 0x0102030405060708, "... u64");
}


static void
test_take(void)
{
    static const uint8_t in[] = { 0x09, 'a', 'b' };
    /*                                  ^ claims nine bytes, two are left */
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(in, sizeof(in), ".test", &err), sub;

    (void) sym_take(&c, sym_u8(&c));
    ok(err.status == SYM_TRUNCATED && err.offset == 1, "length past the end");
    ok(strcmp(err.section, ".test") == 0, "... names the section");

    err = (sym_error_t){ 0 };
    c = sym_cursor(in, sizeof(in), ".test", &err);
    sub = sym_take(&c, 2);
    is_u64(sym_left(&sub), 2, "a sub-cursor narrows");
    is_u64(sym_left(&c), 1, "... and its parent continues after it");
    is_u64(sym_u32(&sub), 0, "... it cannot read on into its parent");
    /*                            ^ byte 0 */
    ok(err.status == SYM_TRUNCATED && err.offset == 0, "... but fails");
    ok(!sym_ok(&c), "... and so does the parent");

    err = (sym_error_t){ 0 };
    c = sym_cursor(in, sizeof(in), ".test", &err);
    (void) sym_take(&c, UINT64_MAX);
    ok(err.status == SYM_TRUNCATED, "a length that would overflow");

    err = (sym_error_t){ 0 };
    c = sym_cursor(in, sizeof(in), ".test", &err);
    is_str(sym_bytes(&c, 0), "", "no bytes at all");
    (void) sym_u8(&c);
    is_str(sym_bytes(&c, 2), "ab", "bytes to the very end");
    ok(sym_bytes(&c, 1).data == NULL && err.offset == 3, "... and none past");
}


static void
leb(const char *name, const void *in, size_t len, bool is_signed, uint64_t want,
    sym_status_t status, uint64_t left)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(in, len, ".leb", &err);
    uint64_t got = is_signed ? (uint64_t) sym_sleb(&c) : sym_uleb(&c);

    ok(err.status == status && got == want && sym_left(&c) == left, "%s", name);
    if (err.status != SYM_OK) {
        is_u64(err.offset, 0, "... reported at its first byte");
    }
}


#define ULEB(in, want, status, left)                                           \
    leb("uleb " #in, in, sizeof(in) - 1, false, want, status, left)
#define SLEB(in, want, status, left)                                           \
    leb("sleb " #in, in, sizeof(in) - 1, true, (uint64_t) (want), status, left)

static void
test_leb(void)
{
    /* the examples of DWARF 5, tables 7.7 and 7.8 (figures C.1, C.2) */
    ULEB("\x02", 2, SYM_OK, 0);
    ULEB("\x7f", 127, SYM_OK, 0);
    ULEB("\x80\x01", 128, SYM_OK, 0);
    ULEB("\xb9\x64", 12857, SYM_OK, 0);
    SLEB("\x02", 2, SYM_OK, 0);
    SLEB("\x7e", -2, SYM_OK, 0);
    SLEB("\xff\x00", 127, SYM_OK, 0);
    SLEB("\x81\x7f", -127, SYM_OK, 0);
    SLEB("\x80\x01", 128, SYM_OK, 0);
    SLEB("\x80\x7f", -128, SYM_OK, 0);
    SLEB("\xff\x7e", -129, SYM_OK, 0);

    /* the widest numbers */
    ULEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", UINT64_MAX, SYM_OK, 0);
    SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", INT64_MAX, SYM_OK, 0);
    SLEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", INT64_MIN, SYM_OK, 0);

    /* padding is legal */
    ULEB("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00Z", 1, SYM_OK, 1);
    SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7fZ", -1, SYM_OK, 1);

    /* over 64 bits, unfinished */
    ULEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 0, SYM_MALFORMED, 0);
    ULEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 0, SYM_MALFORMED, 0);
    SLEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 0, SYM_MALFORMED, 0);
    SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 0, SYM_MALFORMED, 0);
    ULEB("\x80\x80", 0, SYM_TRUNCATED, 0);
    SLEB("\xff", 0, SYM_TRUNCATED, 0);
    ULEB("", 0, SYM_TRUNCATED, 0);
}


static void
is_written(uint64_t value)
{
    char text[32], want[32];

    (void) snprintf(want, sizeof(want), "%" PRIx64, value);
    *sym_hex_write(text, value) = '\0';
    is_str(sym_cstr(text), want, "hex written");
    (void) snprintf(want, sizeof(want), "%" PRIu64, value);
    *sym_dec_write(text, value) = '\0';
    is_str(sym_cstr(text), want, "dec written");
}


static void
test_numbers(void)
{
    static const char *const not_hex[] = { "",
                                           "0x1",
                                           " 1",
                                           "1 ",
                                           "-1",
                                           "+1",
                                           "g",
                                           "1G",
                                           "@",
                                           "`",
                                           "10000000000000000" };
    static const char *const not_dec[] = { "",
                                           "a",
                                           " 1",
                                           "1 ",
                                           "-1",
                                           "+1",
                                           "1.",
                                           "/",
                                           ":",
                                           "18446744073709551616",
                                           "99999999999999999999" };
    static const uint64_t values[] = {
        0,         9,          10,
        15,        16,         0xff,
        0x100,     4294967295, 1000000000000000000,
        INT64_MAX, UINT64_MAX
    };
    uint64_t v = 77;

    ok(sym_hex_read(SYM_STR("ffffFFFFffffFFFF"), &v) && v == UINT64_MAX,
       "the largest, in either case");
    ok(sym_hex_read(SYM_STR("00000000000000000001"), &v) && v == 1,
       "leading zeros do not count");
    ok(sym_dec_read(SYM_STR("18446744073709551615"), &v) && v == UINT64_MAX,
       "the largest decimal");
    ok(sym_dec_read(SYM_STR("000000000000000000000012"), &v) && v == 12,
       "leading zeros of a decimal");

    v = 77;
    for (size_t i = 0; i < sizeof(not_hex) / sizeof(not_hex[0]); i++) {
        ok(!sym_hex_read(sym_cstr(not_hex[i]), &v) && v == 77, "hex: not '%s'",
           not_hex[i]);
    }
    for (size_t i = 0; i < sizeof(not_dec) / sizeof(not_dec[0]); i++) {
        ok(!sym_dec_read(sym_cstr(not_dec[i]), &v) && v == 77, "dec: not '%s'",
           not_dec[i]);
    }

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        is_written(values[i]);
    }

    /* each length, its smallest and largest number */
    for (uint64_t power = 10; power <= UINT64_MAX / 10; power *= 10) {
        is_written(power - 1);
        is_written(power);
    }
    for (unsigned shift = 4; shift < 64; shift += 4) {
        is_written(((uint64_t) 1 << shift) - 1);
        is_written((uint64_t) 1 << shift);
    }
}


/* Parses like the C library: everything before the first non-digit. */
static bool
is_prefix_right(const char *text, size_t len)
{
    char copy[32] = { 0 };
    uint64_t v, want;
    size_t n;

    memcpy(copy, text, len);
    n = strspn(copy, "0123456789abcdefABCDEF");
    copy[n] = '\0';
    want = strtoull(copy, NULL, 16);
    return sym_hex_prefix(sym_str(text, len), &v) == n && v == want;
}


static void
test_prefixes(void)
{
    const char digits[] = "c0FfEe9aA5b1D7d3";
    unsigned n_wrong = 0;
    uint64_t v;

    for (size_t len = 1; len <= 16; len++) {
        for (size_t at = 0; at < len; at++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                char text[16];

                memcpy(text, digits, len);
                text[at] = (char) byte;
                n_wrong += !is_prefix_right(text, len);
            }
        }
    }

    ok(n_wrong == 0, "any byte between digits: %u wrong", n_wrong);
    ok(sym_hex_prefix(SYM_STR("fedcba98765432100"), &v) == 16
           && v == 0xfedcba9876543210,
       "64 bits and no more");
    ok(sym_hex_prefix(SYM_STR("00000000000000000012g"), &v) == 20 && v == 18,
       "leading zeros take no room");
    ok(sym_hex_prefix(SYM_STR(""), &v) == 0, "no digits");
}


/* Compared with ctype.h and strtoul(). */
static bool
are_digits_right(const char *text, size_t n)
{
    char upper[40], two[3] = { 0 };
    uint8_t bytes[20];
    bool want = true, is_upper = sym_digits_upper(text, n, upper);
    bool is_read = n % 2 == 0 && sym_digits_read(text, n / 2, bytes);

    for (size_t i = 0; i < n; i++) {
        want = want && isxdigit((uint8_t) text[i]);
    }

    if (!want) {
        return !is_upper && !is_read;
    }

    for (size_t i = 0; i < n; i++) {
        is_upper = is_upper && upper[i] == toupper((uint8_t) text[i]);
    }

    for (size_t i = 0; is_read && i < n / 2; i++) {
        memcpy(two, text + 2 * i, 2);
        is_read = bytes[i] == strtoul(two, NULL, 16);
    }

    return is_upper && (n % 2 != 0 || is_read);
}


static void
test_digits(void)
{
    const char digits[] = "c0FfEe9aA5b1D7d36284Bb0C0FfEe9aA5b1D7d3f";
    unsigned n_wrong = 0, n_unlike = 0;
    uint8_t bytes[256];
    char lower[512], upper[512], want[4];

    for (size_t len = 1; len <= 40; len++) {
        for (size_t at = 0; at < len; at++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                char text[40];

                memcpy(text, digits, len);
                text[at] = (char) byte;
                n_wrong += !are_digits_right(text, len);
            }
        }
    }

    ok(n_wrong == 0, "any byte between digits: %u wrong", n_wrong);

    for (unsigned i = 0; i < 256; i++) {
        bytes[i] = (uint8_t) i;
    }

    for (size_t n = 239; n <= 256; n++) {
        size_t end = sym_digits_write_lower(bytes, n, lower);

        n_unlike +=
            end != 2 * n || sym_digits_write_upper(bytes, n, upper) != end;
        for (size_t i = 0; i < n; i++) {
            (void) snprintf(want, sizeof(want), "%02x", (unsigned) i);
            n_unlike += memcmp(lower + 2 * i, want, 2) != 0;
            (void) snprintf(want, sizeof(want), "%02X", (unsigned) i);
            n_unlike += memcmp(upper + 2 * i, want, 2) != 0;
        }
    }

    ok(n_unlike == 0, "bytes as hex digits: %u differ from printf", n_unlike);
}


/* Lengths of most line numbers. */
static void
test_small_numbers(void)
{
    unsigned n_wrong = 0;

    for (unsigned value = 0; value <= 10001; value++) {
        char text[32], want[32];

        (void) snprintf(want, sizeof(want), "%u", value);
        *sym_dec_write(text, value) = '\0';
        n_wrong += strcmp(text, want) != 0;
    }

    ok(n_wrong == 0, "0 to 10,001: %u wrong", n_wrong);
}


/* One byte that is special, at each position. */
static void
test_odd_bytes(void)
{
    static const char odd[] = { '"', '\\', '\n', 0x1f, 0x7f };
    unsigned n_wrong = 0;

    for (size_t len = 0; len <= 50; len++) {
        char text[50];

        memset(text, '~', len);
        n_wrong += !sym_is_plain(sym_str(text, len));
        n_wrong += !sym_utf8_valid(sym_str(text, len));

        for (size_t at = 0; at < len; at++) {
            text[at] = '\xc3';
            n_wrong += sym_is_plain(sym_str(text, len));
            n_wrong += sym_utf8_valid(sym_str(text, len));

            for (size_t i = 0; i < sizeof(odd); i++) {
                text[at] = odd[i];
                n_wrong += sym_is_plain(sym_str(text, len));
                n_wrong += !sym_utf8_valid(sym_str(text, len));
            }

            text[at] = ' ';
        }

        n_wrong += !sym_is_plain(sym_str(text, len));
    }

    ok(n_wrong == 0, "plain and valid at every length: %u wrong", n_wrong);
}


static void
test_utf8(void)
{
    static const char *const good[] = {
        "",
        "plain text of some length",
        "\x7f",
        "\xc2\x80",
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xef\xbf\xbd", /* U+FFFD itself */
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
        "1234567\xc3\xa9",
    };
    static const char *const bad[] = {
        "\x80",             /* a continuation byte without a first byte */
        "\xc0\x80",         /* overlong */
        "\xc1\xbf",         /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xed\xa0\x80",     /* surrogate */
        "\xed\xbf\xbf",     /* surrogate */
        "\xf4\x90\x80\x80", /* over U+10FFFF */
        "\xf5\x80\x80\x80",
        "\xff",
        "\xc3",     /* cut off */
        "\xe2\x82", /* cut off */
        "\xe2\x82X",
        "\xf0\x90\x80",
        "12345678\xc3",
        "1234567\xc3\x28",
    };
    sym_str_t s = SYM_STR("a\xc3\xa9\xff\xe2\x82\xac");
    size_t pos = 0;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ok(sym_utf8_valid(sym_cstr(good[i])), "UTF-8, case %zu", i);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ok(!sym_utf8_valid(sym_cstr(bad[i])), "not UTF-8, case %zu", i);
    }

    ok(sym_utf8_valid(sym_str("a\0b", 3)), "NUL is a character");
    is_u64(sym_utf8_next(s, &pos), 'a', "decodes ASCII");
    is_u64(sym_utf8_next(s, &pos), 0xe9, "... two bytes");
    is_u64(sym_utf8_next(s, &pos), 0xfffd, "... other bytes become U+FFFD");
    is_u64(pos, 4, "... and moves one byte");
    is_u64(sym_utf8_next(s, &pos), 0x20ac, "... three bytes");
    is_u64(pos, s.len, "... to the end");
}


static void
test_str(void)
{
    ok(sym_str_eq(SYM_STR("ab"), sym_cstr("ab")), "equal");
    ok(!sym_str_eq(SYM_STR("ab"), SYM_STR("abc")), "not equal: longer");
    ok(sym_str_eq(sym_str(NULL, 0), SYM_STR("")), "empty ones are equal");
    ok(sym_str_starts(SYM_STR("FUNC 1"), SYM_STR("FUNC ")), "starts");
    ok(!sym_str_starts(SYM_STR("FUNC"), SYM_STR("FUNC ")), "is too short");
}


static void
test_arena(void)
{
    sym_arena_t a;
    uint8_t *first, *p;
    size_t unaligned = 0;

    sym_arena_init(&a, 0);
    first = sym_arena_alloc(&a, 0);
    ok(first != NULL, "an allocation of no bytes is not NULL");

    for (size_t i = 0; i < 5000; i++) {
        p = sym_arena_alloc(&a, i % 97);
        unaligned += p == NULL || (uintptr_t) p % _Alignof(max_align_t) != 0;
        if (p != NULL) {
            memset(p, 0xaa, i % 97);
        }
    }
    is_u64(unaligned, 0, "aligned for any object");
    ok(sym_arena_alloc(&a, (size_t) 5 << 20) != NULL, "more than a chunk");

    p = sym_arena_calloc(&a, 100, 3);
    ok(p != NULL && p[0] == 0 && p[299] == 0, "zeroed");
    ok(sym_arena_calloc(&a, SIZE_MAX / 2, 3) == NULL, "n * size overflows");
    ok(sym_arena_alloc(&a, SIZE_MAX) == NULL, "SIZE_MAX bytes");
    ok(sym_arena_alloc(&a, SIZE_MAX - 20) == NULL, "almost SIZE_MAX bytes");
    is_str(sym_arena_copy(&a, SYM_STR("text")), "text", "a copy");
    ok(sym_arena_copy(&a, sym_str(NULL, 0)).data != NULL, "an empty copy");

    sym_arena_reset(&a);
    ok(a.taken > 0 && sym_arena_alloc(&a, 10) != NULL, "reset keeps a chunk");
    sym_arena_drop(&a);
    is_u64(a.taken, 0, "drop frees everything");

    sym_arena_init(&a, 10000);
    ok(sym_arena_alloc(&a, 1000) != NULL, "under the limit");
    ok(sym_arena_alloc(&a, 20000) == NULL, "over the limit");
    ok(a.taken <= 10000, "... was not requested");
    for (size_t i = 0; i < 1000 && sym_arena_alloc(&a, 100) != NULL; i++) {
        /* up to the limit */
    }
    ok(a.taken <= 10000, "the limit holds for many small ones");
    sym_arena_drop(&a);
    ok(sym_arena_alloc(&a, 1000) != NULL,
       "after a drop the whole limit is available");
    sym_arena_drop(&a);
}


static void
id(const char *in, const char *want)
{
    char out[SYM_ID_MAX];
    size_t len = sym_debug_id_canonical(sym_cstr(in), out);

    is_str(sym_str(out, len), want, in);
}


#define GUID "0123456789abcdefABCDEF0123456789"
#define UPPER "0123456789ABCDEFABCDEF0123456789"

static void
test_module_key(void)
{
    char long_name[300];

    id(GUID, UPPER "0");
    id(GUID "0", UPPER "0");
    id(GUID "a", UPPER "A");
    id(GUID "00000001", UPPER "1");
    id(GUID "000000010", UPPER "1"); /* only eight digits of the age count */
    id(GUID "123456789", UPPER "12345678");
    id("3b4FdA1c2", "3B4FDA1C2");
    id("3B4FDA1C02", "3B4FDA1C2");
    id("3B4FDA1C00000000", "3B4FDA1C0");
    id("", "");
    id("12345678", "");          /* no age */
    id("12345678123456789", ""); /* 17 */
    id("0123456789abcdefABCDEF012345678", "");
    id("0123456789abcdefABCDEF012345678g", "");
    id(GUID "x", "");
    id(GUID "12345678z", "");

    memset(long_name, 'n', sizeof(long_name));
    ok(sym_module_name_ok(SYM_STR("xul.pdb")), "a name");
    ok(!sym_module_name_ok(SYM_STR("")), "no name");
    ok(!sym_module_name_ok(SYM_STR("a/b")), "a name with a slash");
    ok(!sym_module_name_ok(SYM_STR("a\0b")), "a name with a NUL");
    ok(sym_module_name_ok(sym_str(long_name, 255)), "255 bytes");
    ok(!sym_module_name_ok(sym_str(long_name, 256)), "256 bytes");
}


static void
error_text(const char *want, sym_error_t err)
{
    char text[200];

    is_str(sym_cstr(sym_error_text(&err, text, sizeof(text))), want, want);
}


static void
test_error(void)
{
    sym_error_t err = { 0 };
    char text[200];

    error_text("ok", (sym_error_t){ 0 });
    error_text("malformed: size is not a number (FUNC record, line 12, byte "
               "345)",
               (sym_error_t){ .status = SYM_MALFORMED,
                              .what = "size is not a number",
                              .section = "FUNC record",
                              .line = 12,
                              .offset = 345 });
    error_text(
        "truncated (MSF directory, byte 0)",
        (sym_error_t){ .status = SYM_TRUNCATED, .section = "MSF directory" });
    error_text(
        "damaged: bad (byte 9)",
        (sym_error_t){ .status = SYM_DAMAGED, .what = "bad", .offset = 9 });
    error_text("malformed: missing (s3.object.key, item 3)",
               (sym_error_t){ .status = SYM_MALFORMED,
                              .what = "missing",
                              .section = "s3.object.key",
                              .item = 3 });
    error_text("cannot open: No such file or directory",
               (sym_error_t){
                   .status = SYM_IO, .what = "cannot open", .sys_errno = 2 });
    error_text("unknown status", (sym_error_t){ .status = (sym_status_t) 99 });

    is_u64(sym_fail(&err, SYM_LIMIT, "first"), SYM_LIMIT, "fails");
    is_u64(sym_fail(&err, SYM_IO, "second"), SYM_LIMIT, "the first one stays");
    is_str(sym_cstr(err.what), "first", "... with its text");

    err.section = "section";
    for (size_t size = 0; size < 40; size++) {
        char full[200];

        memset(text, '#', sizeof(text));
        (void) sym_error_text(&err, full, sizeof(full));
        (void) sym_error_text(&err, text, size);
        if (text[size] != '#'
            || (size > 0
                && (strlen(text) >= size
                    || strncmp(text, full, strlen(text)) != 0)))
        {
            ok(false, "a buffer of %zu bytes", size);
        }
    }
    ok(true, "buffers too small are filled and closed");
}


/* SipHash-1-3 of 0, 1, 2, ... under the key 0, 1, 2, ..., as OpenSSL has it:
 * openssl mac -macopt c-rounds:1 -macopt d-rounds:3 -macopt size:8 SIPHASH */
static void
test_hash(void)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } vectors[] = {
        { 0, 0xabac0158050fc4dc },  { 1, 0xc9f49bf37d57ca93 },
        { 7, 0xd3927d989bb11140 },  { 8, 0x369095118d299a8e },
        { 15, 0xd320d86d2a519956 }, { 63, 0x9d199062b7bbb3a8 },
    };
    const sym_hash_key_t key = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
    sym_hash_key_t own = sym_hash_key(), again = sym_hash_key();
    sym_hash_state_t ab = sym_hash_begin(&key), a_b = ab;
    char bytes[64];

    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char) i;
    }

    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        is_u64(sym_hash(&key, sym_str(bytes, vectors[i].len)), vectors[i].hash,
               "the hash of a string");
    }

    sym_hash_add(&ab, SYM_STR("ab"));
    sym_hash_add(&ab, SYM_STR("c"));
    sym_hash_add(&a_b, SYM_STR("a"));
    sym_hash_add(&a_b, SYM_STR("bc"));
    ok(sym_hash_end(ab) != sym_hash_end(a_b),
       "strings that are split at another place");
    ok(own.k0 == again.k0 && own.k1 == again.k1,
       "a process has one key for all tables");
    ok(own.k0 != 0 && own.k1 != 0 && own.k0 != own.k1,
       "... which is not empty");
}


/* The previous hash multiplied and folded each word, so that an attacker could
 * choose two words that cancel out, whatever the seed. */
static uint64_t
old_hash(uint64_t h, sym_str_t s)
{
    uint64_t v;

    h = (h ^ s.len) * 0x9e3779b97f4a7c15u;
    for (; s.len >= sizeof(v); s.data += sizeof(v), s.len -= sizeof(v)) {
        memcpy(&v, s.data, sizeof(v));
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 29;
}


/* Steps to find or add n strings of 16 * words bytes in a table of 4 n
 * slots. */
static uint64_t
probes(const char *texts, size_t n, size_t len, const sym_hash_key_t *key)
{
    uint64_t *slots = calloc(4 * n, sizeof(*slots)), steps = 0;

    for (size_t i = 0; slots != NULL && i < n; i++) {
        const sym_str_t text = sym_str(texts + i * len, len);
        uint64_t hash = key != NULL ? sym_hash(key, text) : old_hash(0, text);
        size_t at = (size_t) hash & (4 * n - 1);

        for (steps++; slots[at] != 0; steps++) {
            at = (at + 1) & (4 * n - 1);
        }
        slots[at] = 1;
    }

    free(slots);
    return steps;
}


/*
 * 4,096 strings that collided under the old hash.  A word changes the hash as
 * (h ^ v) * m does; a change of the topmost bit of v changes the topmost bit of
 * the product alone, of h that and bit 31, and the next word takes it back.
 */
static void
test_hash_flood(void)
{
    enum { WORDS = 24, N = 1 << (WORDS / 2), LEN = WORDS * 8 };
    static char texts[N * LEN];
    const sym_hash_key_t key = sym_hash_key();
    uint64_t old, now, first, v;
    bool are_equal = true;

    for (size_t i = 0; i < N; i++) {
        for (size_t pair = 0; pair < WORDS / 2; pair++) {
            uint64_t bit = i >> pair & 1;

            v = bit << 63;
            memcpy(texts + i * LEN + pair * 16, &v, 8);
            v = bit << 63 | bit << 31;
            memcpy(texts + i * LEN + pair * 16 + 8, &v, 8);
        }
    }

    for (uint64_t seed = 0; seed < 5; seed++) {
        first = old_hash(seed, sym_str(texts, LEN));
        for (size_t i = 1; i < N; i++) {
            are_equal =
                are_equal
                && old_hash(seed, sym_str(texts + i * LEN, LEN)) == first;
        }
    }
    ok(are_equal, "strings that collided in the old hash, whatever its seed");

    old = probes(texts, N, LEN, NULL);
    now = probes(texts, N, LEN, &key);
    is_u64(old, (uint64_t) N * (N + 1) / 2,
           "... cost a step for each of the others");
    ok(now < (uint64_t) 2 * N, "... but not now: %" PRIu64 " steps", now);
}


int
main(void)
{
    test_hash();
    test_hash_flood();
    test_cursor();
    test_big_endian();
    test_take();
    test_leb();
    test_numbers();
    test_prefixes();
    test_digits();
    test_small_numbers();
    test_odd_bytes();
    test_utf8();
    test_str();
    test_arena();
    test_module_key();
    test_error();
    return done_testing();
}
