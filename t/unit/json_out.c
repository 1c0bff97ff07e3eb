/*
 * Text written as JSON is what Python's json.dumps writes, whatever the size of
 * the output windows; no byte is written past a window.
 */
#include <math.h>
#include <stdlib.h>

#include "json/out.h"
#include "tap.h"

#define ROOM 4096

/* Gives windows of `size` bytes (or of the requested size, if that is larger)
 * and joins what was written to them. */
typedef struct {
    char text[ROOM];
    size_t len, size;
    char *window;
    unsigned windows_left;
} sink_t;


static void
sink_take(sym_out_t *out, sink_t *sink)
{
    if (sink->window != NULL) {
        size_t n = (size_t) (out->pos - sink->window);

        memcpy(sink->text + sink->len, sink->window, n);
        sink->len += n;
        out->before += n;
        free(sink->window);
        sink->window = NULL;
    }
    out->pos = out->end = NULL;
}


static bool
sink_more(sym_out_t *out, size_t need)
{
    sink_t *sink = out->ctx;
    size_t size = need > sink->size ? need : sink->size;

    sink_take(out, sink);

    /* a block of its own, so that a sanitizer sees every byte past it */
    if (sink->windows_left == 0 || (sink->window = malloc(size)) == NULL) {
        return false;
    }

    sink->windows_left--;
    out->pos = sink->window;
    out->end = sink->window + size;
    return true;
}


static sym_out_t
sink_open(sink_t *sink, size_t size)
{
    *sink = (sink_t){ .size = size, .windows_left = 1000000 };
    return (sym_out_t){ .more = sink_more, .ctx = sink };
}


static void
is_string(sym_str_t text, const char *want, const char *name)
{
    static const size_t sizes[] = { 1, 2, 7, 13, 64, 1000 };
    bool same = true;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        sink_t sink;
        sym_out_t out = sink_open(&sink, sizes[i]);

        sym_out_string(&out, text);
        sink_take(&out, &sink);
        same = same && !out.failed
               && sym_str_eq(sym_str(sink.text, sink.len), sym_cstr(want))
               && out.before == strlen(want);
        if (!same) {
            is_str(sym_str(sink.text, sink.len), want, name);
            return;
        }
    }

    ok(same, "%s", name);
}


static void
strings(void)
{
    is_string(SYM_STR(""), "\"\"", "empty");
    is_string(SYM_STR("plain text ~ / with <all>"),
              "\"plain text ~ / with <all>\"", "printable ASCII as it is");
    is_string(SYM_STR("a\"b\\c"), "\"a\\\"b\\\\c\"", "quote and backslash");
    is_string(SYM_STR("\n\r\t\b\f"), "\"\\n\\r\\t\\b\\f\"", "short escapes");
    is_string(SYM_STR("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\\u007f\"",
              "other control characters");
    is_string(SYM_STR("\xc3\xa9\xe2\x82\xac"), "\"\\u00e9\\u20ac\"",
              "two and three bytes of UTF-8");
    is_string(SYM_STR("x\xf0\x9f\x98\x80y"), "\"x\\ud83d\\ude00y\"",
              "a surrogate pair, in lower case");
    is_string(SYM_STR("a\xff\xc3"), "\"a\\ufffd\\ufffd\"", "no UTF-8");
    is_string(SYM_STR("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"",
              "a surrogate is not UTF-8");
}


static void
numbers(void)
{
    static const struct {
        double seconds;
        const char *want;
    } times[] = {
        { 0, "0.000000" },         { 0.000123, "0.000123" },
        { 1.5, "1.500000" },       { 12.0000004, "12.000000" },
        { 0.9999996, "1.000000" }, { -1, "0.000000" },
        { NAN, "0.000000" },       { HUGE_VAL, "1000000000000.000000" },
    };
    sink_t sink;
    sym_out_t out = sink_open(&sink, 1);

    sym_out_dec(&out, 0);
    sym_out_raw(&out, SYM_STR(" "));
    sym_out_dec(&out, UINT64_MAX);
    sym_out_raw(&out, SYM_STR(" "));
    sym_out_hex_string(&out, 0);
    sym_out_hex_string(&out, 0x5380);
    sym_out_hex_string(&out, UINT64_MAX);
    sink_take(&out, &sink);
    is_str(sym_str(sink.text, sink.len),
           "0 18446744073709551615 \"0x0\"\"0x5380\"\"0xffffffffffffffff\"",
           "decimal and hexadecimal");

    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        out = sink_open(&sink, 1);
        sym_out_seconds(&out, times[i].seconds);
        sink_take(&out, &sink);
        is_str(sym_str(sink.text, sink.len), times[i].want, times[i].want);
    }
}


static void
no_room(void)
{
    sink_t sink;
    sym_out_t out = sink_open(&sink, 10);

    sink.windows_left = 2;
    sym_out_raw(&out, SYM_STR("0123456789abcdefghi"));
    ok(!out.failed, "two windows hold nineteen bytes");
    sym_out_string(&out, SYM_STR("more"));
    ok(out.failed, "a third is refused");
    sink.windows_left = 100;
    sym_out_dec(&out, 12345);
    sym_out_hex_string(&out, 1);
    sym_out_seconds(&out, 1);
    sym_out_escaped(&out, SYM_STR("\n"));
    sink_take(&out, &sink);
    ok(out.failed && sink.windows_left == 100, "for good");
    ok(sink.len <= 20, "nothing was written after that");
}


int
main(void)
{
    strings();
    numbers();
    no_room();
    return done_testing();
}
