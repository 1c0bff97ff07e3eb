/*
 * The lines around a line.  Expected are the results of Symbolicator's own
 * tests (crates/symbolicator-service/src/source_context.rs).  Its rules are
 * also implemented here in the simplest way, and compared on random texts, in
 * blocks of any size.
 */
#include <stdlib.h>

#include "tap.h"
#include "symbolicate/context.h"

#define LONG                                                                   \
    "The public is more familiar with bad design than good design. It is, in " \
    "effect, conditioned to prefer bad design, because that is what it lives " \
    "with. The new becomes threatening, the old reassuring."

/* --- Symbolicator's tests --- */

static sym_status_t
context_of(sym_str_t text, uint64_t line, uint64_t column, sym_context_t *c)
{
    sym_context_text_t t = sym_context_memory(&text);

    return sym_context_read(&t, line, column, c);
}


static void
is_line(const char *text, uint64_t column, const char *want)
{
    sym_context_t c;

    if (ok(context_of(sym_cstr(text), 1, column, &c) == SYM_OK, "a line at %u",
           (unsigned) column))
    {
        is_str(c.lines[c.before], want, "... is cut as Symbolicator does");
    }
}


#define HEARTS                                                                 \
    ".\xe2\x9d\xa4\xef\xb8\x8f\xf0\x9f\xa7\xa1\xf0\x9f\x92\x9b"                \
    "\xf0\x9f\x92\x9a\xf0\x9f\x92\x99\xf0\x9f\x92\x9c"
#define FIVE                                                                   \
    "\xf0\x9f\xa7\xa1\xf0\x9f\x92\x9b\xf0\x9f\x92\x9a"                         \
    "\xf0\x9f\x92\x99\xf0\x9f\x92\x9c"

static void
test_cut(void)
{
    is_line("foo", 0, "foo");
    is_line(LONG, 0,
            "The public is more familiar with bad design than good design. It "
            "is, in effect, conditioned to prefer bad design, because that is "
            "what it li {snip}");
    is_line(LONG, 10,
            "The public is more familiar with bad design than good design. It "
            "is, in effect, conditioned to prefer bad design, because that is "
            "what it li {snip}");
    is_line(LONG, 66,
            "{snip} blic is more familiar with bad design than good design. It "
            "is, in effect, conditioned to prefer bad design, because that is "
            "what it lives wi {snip}");
    is_line(LONG, 190,
            "{snip} gn. It is, in effect, conditioned to prefer bad design, "
            "because that is what it lives with. The new becomes threatening, "
            "the old reassuring.");
    is_line(LONG, 9999,
            "{snip} gn. It is, in effect, conditioned to prefer bad design, "
            "because that is what it lives with. The new becomes threatening, "
            "the old reassuring.");
    is_line(
        HEARTS HEARTS HEARTS HEARTS HEARTS HEARTS HEARTS HEARTS HEARTS HEARTS,
        70,
        "{snip} " FIVE HEARTS HEARTS HEARTS HEARTS
        ".\xe2\x9d\xa4\xef\xb8\x8f\xf0\x9f\xa7\xa1\xf0\x9f\x92\x9b {snip}");
}


/* --- which lines --- */

static void
is_window(const char *text, uint64_t line, const char *want)
{
    char got[512] = "";
    size_t len = 0;
    sym_context_t c;

    if (context_of(sym_cstr(text), line, 0, &c) == SYM_OK) {
        for (unsigned i = 0; i < c.n; i++) {
            len += (size_t) snprintf(got + len, sizeof(got) - len, "%s%.*s%s",
                                     i == c.before ? "[" : "",
                                     (int) c.lines[i].len, c.lines[i].data,
                                     i == c.before ? "]|" : "|");
        }
    }
    is_str(sym_cstr(got), want, text[0] != '\0' ? "a window" : "an empty text");
}


/* Line ends, as Rust's str::lines() treats them. */
static void
test_lines(void)
{
    const char *twelve = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";

    is_window(twelve, 6, "1|2|3|4|5|[6]|7|8|9|10|11|");
    is_window(twelve, 7, "2|3|4|5|6|[7]|8|9|10|11|12|");
    is_window(twelve, 5, "1|2|3|4|[5]|6|7|8|9|10|");
    is_window(twelve, 1, "[1]|2|3|4|5|6|");
    is_window(twelve, 0, "[1]|2|3|4|5|6|");
    is_window(twelve, 12, "7|8|9|10|11|[12]|");
    is_window(twelve, 13, "");
    is_window(twelve, 14, "");
    is_window(twelve, UINT64_MAX, "");
    is_window("", 1, "");
    is_window("", 0, "");
    is_window("\n", 1, "[]|");
    is_window("\n", 2, "");
    is_window("a\nb", 2, "a|[b]|");
    is_window("a\r\nb\r\n", 2, "a|[b]|");
    is_window("a\r\nb\r", 2, "a|[b\r]|");
    is_window("a\rb\nc\r\r\nd", 2, "a\rb|[c\r]|d|");
    is_window("\r\n\r\n", 2, "|[]|");
    is_window("\n\r", 2, "|[\r]|");
}


/* Bytes, as Rust's String::from_utf8_lossy() decodes them; the examples are
 * those of Unicode 15, tables 3-8 to 3-11. */
#define R "\xef\xbf\xbd"

static void
test_invalid(void)
{
    is_window("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", 1,
              "[" R R R R R R R R "A]|");
    is_window("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", 1,
              "[" R R R R R R R R "A]|");
    is_window("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", 1,
              "[" R R R R R "A" R R "B]|");
    is_window("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", 1, "[" R R R R "A]|");
    is_window("\xe2\x82", 1, "[" R "]|");
    is_window("\xef\xbb\xbfint\n", 1, "[\xef\xbb\xbfint]|");
}


/* --- the simplest implementation --- */

static size_t
plain_floor(const char *s, size_t len, size_t at)
{
    while (at < len && at > 0 && (s[at] & 0xc0) == 0x80) {
        at--;
    }
    return at < len ? at : len;
}


/* trim_context_line() for valid UTF-8. */
static size_t
plain_cut(sym_str_t line, size_t column, char out[SYM_CONTEXT_LINE_MAX])
{
    size_t len = line.len, col = column < len ? column : len;
    size_t start = col < 60 ? 0 : col - 60, end;

    if (len <= 150) {
        memcpy(out, line.data, len);
        return len;
    }

    start = start < 5 ? 0 : start;
    end = start + 140 < len ? start + 140 : len;
    end = end > len - 5 ? len : end;
    start = end == len ? end - 140 : start;
    start = plain_floor(line.data, len, start);
    end = plain_floor(line.data, len, end);
    return (size_t) snprintf(out, SYM_CONTEXT_LINE_MAX, "%s%.*s%s",
                             start > 0 ? "{snip} " : "", (int) (end - start),
                             line.data + start, end < len ? " {snip}" : "");
}


/* lines(): view i of the text; false: it has fewer lines. */
static bool
plain_line(sym_str_t text, uint64_t i, sym_str_t *line)
{
    for (;; i--) {
        const char *nl =
            text.len != 0 ? memchr(text.data, '\n', text.len) : NULL;
        size_t len = nl != NULL ? (size_t) (nl - text.data) : text.len;

        if (text.len == 0) {
            return false;
        }

        if (i == 0) {
            *line = sym_str(text.data, len);
            line->len -= nl != NULL && len > 0 && text.data[len - 1] == '\r';
            return true;
        }

        len += nl != NULL;
        text = sym_str(text.data + len, text.len - len);
    }
}


typedef struct {
    sym_str_t text;
    uint64_t block_bytes;
} blocks_t;


static sym_status_t
block_of(void *ctx, uint64_t number, sym_str_t *bytes)
{
    const blocks_t *b = ctx;
    uint64_t at = number * b->block_bytes, left = b->text.len - at;

    if (at >= b->text.len) {
        return SYM_DAMAGED;
    }

    *bytes = sym_str(b->text.data + at,
                     (size_t) (left < b->block_bytes ? left : b->block_bytes));
    return SYM_OK;
}


static sym_status_t
count_before(void *ctx, uint64_t number, uint64_t *newlines)
{
    const blocks_t *b = ctx;

    *newlines = 0;
    for (uint64_t i = 0; i < number * b->block_bytes && i < b->text.len; i++) {
        *newlines += b->text.data[i] == '\n';
    }
    return SYM_OK;
}


static bool
is_same(sym_str_t text, uint64_t block_bytes, uint64_t line, size_t column)
{
    blocks_t b = { text, block_bytes };
    sym_context_text_t t = { .len = text.len,
                             .block_bytes = block_bytes,
                             .ctx = &b,
                             .count = count_before,
                             .block = block_of };
    uint64_t first = line > 6 ? line - 6 : 0, wanted = line > 0 ? line - 1 : 0;
    bool is_right = true;
    sym_str_t want;
    sym_context_t c;
    sym_status_t rc;
    unsigned n = 0;

    (void) count_before(&b, UINT64_MAX / block_bytes, &t.newlines);
    rc = sym_context_read(&t, line, column, &c);

    if (!plain_line(text, wanted, &want)) {
        return rc == SYM_NOT_FOUND;
    }

    for (uint64_t i = first;
         is_right && i <= wanted + 5 && plain_line(text, i, &want); i++, n++)
    {
        char cut[SYM_CONTEXT_LINE_MAX];

        is_right = rc == SYM_OK && n < c.n
                   && sym_str_eq(c.lines[n],
                                 sym_str(cut, plain_cut(want, column, cut)));
    }

    is_right = is_right && n == c.n && c.before == wanted - first;
    return is_right;
}


static uint32_t
random_below(uint32_t *x, uint32_t n)
{
    *x = *x * UINT32_C(1664525) + UINT32_C(1013904223);
    return (uint32_t) (((uint64_t) *x * n) >> 32);
}


static void
test_random(void)
{
    static const char *const pieces[] = { "\n",           "\r\n",
                                          "\r",           "a",
                                          " b ",          "\xc3\xa4",
                                          "\xe2\x82\xac", "\xf0\x9f\x92\x9c" };
    uint32_t x = 20260801, bad = 0;

    for (unsigned round = 0; round < 4000; round++) {
        char text[4096];
        size_t len = 0, room = random_below(&x, sizeof(text) - 4);
        uint32_t rare = 1 + random_below(&x, 300);

        while (len < room) {
            uint32_t k = random_below(&x, rare) == 0 ? random_below(&x, 3)
                                                     : 3 + random_below(&x, 5);

            memcpy(text + len, pieces[k], strlen(pieces[k]));
            len += strlen(pieces[k]);
        }

        bad += !is_same(sym_str(text, len), 1 + random_below(&x, 300),
                        random_below(&x, 30), random_below(&x, 600));
    }

    is_u64(bad, 0, "4,000 random texts in blocks of random sizes");
}


/* --- cost, and wrong counts --- */

typedef struct {
    uint64_t newlines; /* before each block */
    unsigned blocks, counts;
    char fill;
    char bytes[2][32768];
} made_t;


static sym_status_t
made_block(void *ctx, uint64_t number, sym_str_t *bytes)
{
    made_t *m = ctx;
    char *out = m->bytes[m->blocks++ % 2];

    (void) number;
    memset(out, m->fill, sizeof(m->bytes[0]));
    *bytes = sym_str(out, sizeof(m->bytes[0]));
    return SYM_OK;
}


static sym_status_t
made_count(void *ctx, uint64_t number, uint64_t *newlines)
{
    made_t *m = ctx;

    m->counts++;
    *newlines = number * m->newlines;
    return SYM_OK;
}


static void
test_large(void)
{
    static made_t m = { .fill = 'x' };
    sym_context_text_t t = { .len = UINT64_C(1) << 30,
                             .block_bytes = 32768,
                             .ctx = &m,
                             .count = made_count,
                             .block = made_block };
    sym_context_t c;

    ok(sym_context_read(&t, 1, UINT64_C(1) << 29, &c) == SYM_OK && c.n == 1
           && c.lines[0].len == 140 + 14,
       "a text of 1 GiB, in one line");
    ok(m.blocks <= 2, "... of which %u blocks are read", m.blocks);
    ok(sym_context_read(&t, 2, 0, &c) == SYM_NOT_FOUND,
       "... has no second line");

    m = (made_t){ .fill = '\n', .newlines = 32768 };
    t.newlines = t.len;
    ok(sym_context_read(&t, UINT64_C(777777777), 0, &c) == SYM_OK && c.n == 11
           && c.bytes == 0,
       "1 GiB of lines");
    ok(m.blocks <= 32 && m.counts <= 64, "... %u blocks, %u counts", m.blocks,
       m.counts);

    m = (made_t){ .fill = 'x', .newlines = 1 };
    t.newlines = 32768;
    is_u64(sym_context_read(&t, 100, 0, &c), SYM_DAMAGED,
           "newlines that are counted but missing");
}


int
main(void)
{
    test_cut();
    test_lines();
    test_invalid();
    test_random();
    test_large();
    return done_testing();
}
