/*
 * The reader of .sym files, with a writer that only records its calls.  The
 * expected records follow from the grammar in docs/use/compat.md.
 */
#include "formats/breakpad/breakpad.h"
#include "fake_writer.h"
#include "tap.h"

#define MODULE "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a.out\n"

typedef struct {
    sym_error_t err;
    sym_writer_t *writer;
    sym_breakpad_t *reader;
    char *text;
} run_t;


/* Reads `in` in pieces of the given size, each in memory of its own. */
static run_t
run(sym_str_t in, size_t piece)
{
    static sym_error_t err; /* must outlive the copy that is returned */
    run_t r;

    err = (sym_error_t){ 0 };
    r.writer = sym_writer_create(&err);
    r.reader = sym_breakpad_create(r.writer, &err);

    for (size_t at = 0; at < in.len; at += piece) {
        size_t len = in.len - at < piece ? in.len - at : piece;
        char *copy = malloc(len);

        memcpy(copy, in.data + at, len);
        (void) sym_breakpad_feed(r.reader, copy, len);
        free(copy);
    }

    (void) sym_breakpad_end(r.reader);
    r.err = err;
    r.text = fake_writer_text(r.writer);
    return r;
}


/* Overwrites a buffer with text, without a NUL. */
static void
put(char *to, sym_str_t text)
{
    memcpy(to, text.data, text.len);
}


static void
drop(run_t *r)
{
    sym_breakpad_free(r->reader);
    sym_writer_free(r->writer);
    free(r->text);
}


static bool
same_text(const char *got, const char *want, const char *name)
{
    if (!ok(strcmp(got, want) == 0, "%s", name)) {
        printf("# got:\n%s# want:\n%s", got, want);
        return false;
    }

    return true;
}


/* MODULE line and `body` give `want`, in pieces of any size. */
static void
reads(const char *body, const char *want, const char *name)
{
    size_t len = strlen(MODULE) + strlen(body);
    char *in = malloc(len + 1);
    size_t different = 0;
    run_t r;

    (void) snprintf(in, len + 1, "%s%s", MODULE, body);
    r = run(sym_str(in, len), len);
    is_status(r.err.status, SYM_OK, &r.err, name);
    same_text(r.text, want, name);
    drop(&r);

    for (size_t piece = 1; piece <= 64; piece++) {
        r = run(sym_str(in, len), piece);
        different += r.err.status != SYM_OK || strcmp(r.text, want) != 0;
        drop(&r);
    }

    is_u64(different, 0, "... the same in pieces of 1 to 64 bytes");
    free(in);
}


/* MODULE line and `body` fail with the given error. */
static void
fails(const char *body, const char *want, const char *name)
{
    size_t len = strlen(MODULE) + strlen(body);
    char *in = malloc(len + 1);
    char text[256];
    run_t r;

    (void) snprintf(in, len + 1, "%s%s", MODULE, body);
    r = run(sym_str(in, len), len);
    same_text(sym_error_text(&r.err, text, sizeof(text)), want, name);
    drop(&r);
    free(in);
}


static void
test_records(void)
{
    reads("INFO CODE_ID 89AB\n"
          "FILE 0 /src/a.c\nFILE 7 b.h\n"
          "INLINE_ORIGIN 3 inlined(int)\n"
          "FUNC 1000 20 8 main(int, char **)\n"
          "INLINE 0 12 0 3 1004 8 1010 4\n"
          "1000 4 11 0\n1004 8 5 7\n100c 14 13 0\n"
          "PUBLIC 2000 0 _start\n"
          "STACK CFI INIT 1000 20 .cfa: $rsp 8 +\n",
          "func 1000+20 main(int, char **)\n"
          "  line 1000+4 11 /src/a.c\n"
          "  line 1004+8 5 b.h\n"
          "  line 100c+14 13 /src/a.c\n"
          "  inline 0 1004+8 inlined(int) at 12 /src/a.c\n"
          "  inline 0 1010+4 inlined(int) at 12 /src/a.c\n"
          "public 2000 _start\n",
          "records of every kind");

    reads("FUNC m 10 4 0 shared\nPUBLIC m 20 0 too\nFUNC 30 1 0\nPUBLIC 40 0\n",
          "func 10+4 shared\npublic 20 too\nfunc 30+1 <unknown>\n"
          "public 40 <unknown>\n",
          "m is accepted, a missing name is <unknown>");

    reads("FUNC\t10  4 \t 0   two  words  \r\n  10\t4   3 \t9  \r\n", "",
          "a tab after FUNC is no FUNC record");
    reads("FUNC  10  4 \t 0   two  words  \r\n  10\t4   3 \t9  \r\n",
          "func 10+4 two  words\n  line 10+4 3 -\n",
          "white space between fields and around lines, CRLF");

    reads("FUNC 10 40 0 f\n\n10 4 5 1\n\r\n\n14 4 6 1",
          "func 10+40 f\n  line 10+4 5 -\n  line 14+4 6 -\n",
          "blank lines are ignored, a last newline may be missing");

    reads("FUNC AbC dEf 0 f\nABC 1 00012 0\n",
          "func abc+def f\n  line abc+1 12 -\n",
          "hexadecimal in either case, leading zeros");
}


static void
test_numbers(void)
{
    reads("FILE 18446744073709551615 far.c\nFILE 4000000000 big.c\n"
          "FILE 1 one.c\nFILE 1 uno.c\n"
          "FUNC 0 8 0 f\n"
          "0 1 1 18446744073709551615\n1 1 2 4000000000\n2 1 3 1\n3 1 4 2\n",
          "func 0+8 f\n  line 0+1 1 far.c\n  line 1+1 2 big.c\n"
          "  line 2+1 3 uno.c\n  line 3+1 4 -\n",
          "file numbers are sparse, huge, doubled or unknown");

    reads("FUNC 10 8 0 f\n10 1 -1 0\n11 1 4294967295 0\n12 1 4294967296 0\n"
          "13 1 0 0\n",
          "func 10+8 f\n  line 10+1 0 -\n  line 11+1 4294967295 -\n"
          "  line 12+1 0 -\n  line 13+1 0 -\n",
          "lines that are negative or over 32 bits are unknown");

    reads("FUNC 100000000 10 0 far\n100000000 10 1 0\n"
          "FUNC 10 0 0 empty\n10 4 1 0\n"
          "FUNC fffffff0 100000 0 last\n"
          "fffffff0 10 1 0\nfffffff4 ffffffffffffffff 2 0\n100000000 1 3 0\n"
          "fffffff8 0 4 0\n"
          "PUBLIC 100000000 0 far\nPUBLIC ffffffff 0 near\n",
          "func fffffff0+10 last\n  line fffffff0+10 1 -\n"
          "  line fffffff4+c 2 -\npublic ffffffff near\n",
          "addresses end at 32 bits, records of size 0 are dropped");

    reads("FUNC 0 ffffffffffffffff 0 all\n0 100000000 1 0\n",
          "func 0+ffffffff all\n  line 0+ffffffff 1 -\n",
          "sizes end at 32 bits");
}


static void
test_inlines(void)
{
    reads("FILE 1 a.c\nFUNC 10 40 0 f\nINLINE 0 5 1 9 10 4\n"
          "INLINE_ORIGIN 9 late\nINLINE 0 6 1 9 20 4\nINLINE 0 7 1 8 30 4\n"
          "FUNC 60 4 0 g\nINLINE 0 8 1 9 60 1\nINLINE_ORIGIN 9 other\n"
          "INLINE 0 8 1 9 61 1\n",
          "func 10+40 f\n"
          "  inline 0 10+4 late at 5 a.c\n"
          "  inline 0 20+4 late at 6 a.c\n"
          "  inline 0 30+4 \"\" at 7 a.c\n"
          "func 60+4 g\n"
          "  inline 0 60+1 late at 8 a.c\n"
          "  inline 0 61+1 other at 8 a.c\n",
          "an origin may come after its INLINE, or never");

    reads("FILE 1 a.c\nFILE 2 b.c\nFILE 3 c.c\n"
          "INLINE_ORIGIN 1 2 foo(int)\nINLINE_ORIGIN 2 -1 bar\n"
          "INLINE_ORIGIN 3 3 baz\n"
          "FUNC 10 40 0 f\nINLINE 0 5 1 10 10\nINLINE 1 6 2 10 8\n"
          "INLINE 2 7 3 10 4\nINLINE 1 8 3 18 4\nINLINE 3 9 3 18 4\n"
          "10 4 1 1\n14 4 2 2\n",
          "func 10+40 f\n  line 10+4 1 a.c\n  line 14+4 2 b.c\n"
          "  inline 0 10+10 foo(int) at 5 a.c\n"
          "  inline 1 10+8 bar at 6 b.c\n"
          "  inline 2 10+4 baz at 7 -\n"
          "  inline 1 18+4 baz at 8 b.c\n"
          "  inline 3 18+4 baz at 9 -\n",
          "the form of 2021: a call's file is its caller's");

    reads("FILE 2 b.c\nINLINE_ORIGIN 1 2 x\nINLINE_ORIGIN 1 2 x\n"
          "INLINE_ORIGIN 3 2 y\nINLINE_ORIGIN 3 -1 y\n"
          "FUNC 0 8 0 f\nINLINE 0 5 1 0 4\nINLINE 1 6 1 0 4\n"
          "INLINE_ORIGIN 1 z\nINLINE 0 7 1 4 4\nINLINE 1 8 1 4 4\n"
          "INLINE 0 9 3 4 4\nINLINE 1 10 3 4 4\n",
          "func 0+8 f\n"
          "  inline 0 0+4 x at 5 -\n  inline 1 0+4 x at 6 b.c\n"
          "  inline 0 4+4 z at 7 -\n  inline 1 4+4 z at 8 -\n"
          "  inline 0 4+4 y at 9 -\n  inline 1 4+4 y at 10 -\n",
          "the last of repeated origins counts");

    reads("INLINE_ORIGIN 1 7\nINLINE_ORIGIN 2 -x y\nFUNC 0 4 0 f\n"
          "INLINE 0 1 0 1 0 1\nINLINE 0 1 0 2 1 1\n",
          "func 0+4 f\n  inline 0 0+1 7 at 1 -\n  inline 0 1+1 -x y at 1 -\n",
          "names that only look like a file number");

    reads("FUNC 0 40 0 f\nINLINE 4294967299 1 0 1 0 1\n"
          "INLINE 0 1 0 1 4 0 100000000 1 8 ffffffffffff\n",
          "func 0+40 f\n  inline 4294967295 0+1 \"\" at 1 -\n"
          "  inline 0 8+fffffff8 \"\" at 1 -\n",
          "depths and ranges of no use");
}


static void
test_sections(void)
{
    reads("whatever\nFILE 1 a.c\nINLINE_ORIGIN 1 x\n\nFILE 2 b.c\n"
          "FILE x c.c\nFILE\nFUNC 10 8 0 f\n10 4 1 1\n14 4 2 2\n"
          "PUBLIC zz 0 bad\nsomething else\nFILE 3 c.c\nPUBLIC 20 q\n"
          "FUNC 30 4 0 g\n30 4 3 3\n",
          "func 10+8 f\n  line 10+4 1 a.c\n  line 14+4 2 b.c\n"
          "func 30+4 g\n  line 30+4 3 c.c\n",
          "text between records is ignored, FILE records are not; a malformed "
          "FILE or PUBLIC is skipped");

    reads("FUNC 10 4 0 f\nSTACK WIN 4 1 2\nFUNC 20 zz\nPUBLIC 30 0 p\n\xff\n",
          "func 10+4 f\n", "reading ends at STACK");

    reads("FILE 1 caf\xc3\xa9.c\nFILE 2 bad\xc3.c\nFUNC 0 8 0 \xe2\x82\xac\n"
          "0 1 1 1\n1 1 2 2\nPUBLIC 20 0 \xed\xa0\x80\n",
          "func 0+8 \xe2\x82\xac\n  line 0+1 1 caf\xc3\xa9.c\n"
          "  line 1+1 2 -\n",
          "UTF-8 is kept; FILE and PUBLIC skip invalid bytes");

    reads("FUNC 0 8 0 name\xc2\xa0\xe3\x80\x80\n", "func 0+8 name\n",
          "Unicode white space around a line is removed");
}


static void
test_paths(void)
{
    static const char *const paths[][2] = {
        { "/a/./b/../c.h", "/a/c.h" },
        { "/a/../b", "/b" },
        { "/../../b", "/b" },
        { "../../b/./c", "../../b/c" },
        { "../a/../b", "../b" },
        { "a//b", "a/b" },
        { "/a//b.c", "/a/b.c" },
        { "/a//b//c.c", "/a//b/c.c" },
        { "C:\\a\\\\b.c", "C:\\a\\b.c" },
        { "C:\\\\a\\b.c", "C:\\\\a\\b.c" },
        { "src\\main.c", "src/main.c" },
        { "/usr/src\\main.c", "/usr/src/main.c" },
        { "src\\a\\main.c", "src\\a\\main.c" },
        { "//a.c", "/a.c" },
        { "///a.c", "\\a.c" },
        { "\\a.c", "\\a.c" },
        { "/a.c", "/a.c" },
        { "C:\\x\\..", "C:" },
        { "C:/a.c", "C:\\a.c" },
        { "/x/C:", "C:" },
        { "a/b//../c", "a/b/c" },
        { "a/b//", "a/b" },
        { "c:/a/b.h", "c:\\a\\b.h" },
        { "c:\\a\\..\\..\\b", "c:\\b" },
        { "C:", "C:" },
        { "c:x/y", "c:x/y" },
        { "\\\\host\\share/x", "\\\\host\\share\\x" },
        { "//host/x", "\\\\host\\x" },
        { "a\\b/c", "a\\b\\c" },
        { "a/b\\c", "a/b/c" },
        { "/rustc/x/<::core::macros::assert macros>",
          "<::core::macros::assert macros>" },
        { "<built-in>", "<built-in>" },
        { "/src/<x", "/src/<x" },
        { "hg:hg.mozilla.org/mozilla-central:dom/x.cpp:0af1",
          "hg:hg.mozilla.org/mozilla-central:dom/x.cpp:0af1" },
        { "two words.c", "two words.c" },
        { "/", "/" },
        { ".", "" },
        { "a/..", "" },
    };

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char body[256], want[256];

        (void) snprintf(body, sizeof(body),
                        "FILE 1 %s\nFUNC 0 4 0 f\n0 4 1 1\n", paths[i][0]);
        (void) snprintf(want, sizeof(want), "func 0+4 f\n  line 0+4 1 %s\n",
                        paths[i][1]);
        reads(body, want, paths[i][0]);
    }
}


static void
test_module(void)
{
    sym_str_t in = SYM_STR(
        "MODULE  Windows  AMD64 0123456789abcdef0123456789ABCDEF1a my "
        "app.pdb\r\n"
        "INFO GENERATOR mozilla/dump_syms 2.3.7\r\n"
        "INFO CODE_ID 5FB2A8C31000 my app.dll\r\n"
        "INFO CODE_ID 1 other.dll\r\nFILE 1 a\r\nINFO CODE_ID 2 late\r\n");
    run_t r = run(in, 7);
    const sym_breakpad_module_t *m = sym_breakpad_module(r.reader);

    is_status(r.err.status, SYM_OK, &r.err, "a module without symbols");
    is_str(m->os, "Windows", "operating system");
    is_str(m->arch, "AMD64", "architecture as written");
    is_str(m->debug_id, "0123456789abcdef0123456789ABCDEF1a",
           "debug id as written");
    is_str(m->debug_file, "my app.pdb", "debug file with a space");
    is_str(m->code_id, "5FB2A8C31000", "the first CODE_ID");
    is_str(m->code_file, "my app.dll", "code file with a space");
    drop(&r);

    in = SYM_STR("MODULE mac arm64e 0123456789");
    r = run(in, 100);
    m = sym_breakpad_module(r.reader);
    is_status(r.err.status, SYM_OK, &r.err, "no newline, no name, PDB 2.0 id");
    is_str(m->debug_file, "", "... an empty name");
    is_str(m->code_file, "", "... no code file");
    drop(&r);
}


static void
test_counts(void)
{
    sym_str_t in =
        SYM_STR(MODULE "INFO CODE_ID 1\nFILE 1 a\nFILE x\nnonsense\n"
                       "INLINE_ORIGIN 1 x\nFUNC 0 8 0 f\nINLINE 0 1 1 1 0 1\n"
                       "0 1 1 1\n1 0 1 1\nFUNC 0 0 0 g\n0 1 1 1\n"
                       "PUBLIC 0 0 p\nPUBLIC\nPUBLIC z\n\n"
                       "STACK CFI INIT 0 1 x\nSTACK CFI 0 x\n"
                       "STACK WIN 4 1\nrest\n");
    run_t r = run(in, in.len);
    const sym_breakpad_stats_t *s = sym_breakpad_stats(r.reader);

    is_u64(s->bytes, in.len, "bytes");
    is_u64(s->lines, 20, "lines");
    is_u64(s->files, 1, "files");
    is_u64(s->functions, 2, "functions");
    is_u64(s->publics, 1, "publics");
    is_u64(s->line_records, 3, "line records");
    is_u64(s->inlines, 1, "inlines");
    is_u64(s->inline_origins, 1, "inline origins");
    is_u64(s->stack_cfi, 2, "STACK CFI");
    is_u64(s->stack_win, 1, "STACK WIN");
    /* FILE x; nonsense; the size of 0; FUNC g and its line; PUBLIC without
     * fields, which is no PUBLIC; PUBLIC z; rest */
    is_u64(s->ignored, 8, "ignored");
    drop(&r);
}


/* The fast path and the general one must read the same numbers. */
static void
test_fast_lines(void)
{
    static char in[1 << 16], want[1 << 17];
    uint64_t seed = 42;
    size_t n =
        (size_t) snprintf(in, sizeof(in), "%sFUNC 0 ffffffff 0 f\n", MODULE);
    size_t m = (size_t) snprintf(want, sizeof(want), "func 0+ffffffff f\n");
    run_t r;

    for (int i = 0; i < 1200; i++) {
        uint32_t v[3];

        for (int k = 0; k < 3; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            v[k] = (uint32_t) (seed >> 33) >> (seed >> 20 & 31);
        }
        v[1] = v[1] % 4096 + 1;
        v[0] &= 0xfffeffff;
        n += (size_t) snprintf(in + n, sizeof(in) - n,
                               i % 3 == 0 ? "%X %X %u %u%s" : "%x %x %u %u%s",
                               v[0], v[1], v[2], (unsigned) i * 77,
                               i % 7 == 0 ? "\r\n" : "\n");
        m += (size_t) snprintf(want + m, sizeof(want) - m,
                               "  line %x+%x %u -\n", v[0], v[1], v[2]);
    }

    r = run(sym_str(in, n), n);
    is_status(r.err.status, SYM_OK, &r.err, "1,200 line records");
    same_text(r.text, want, "... whole");
    drop(&r);

    r = run(sym_str(in, n), 40);
    same_text(r.text, want, "... in pieces too short for the fast way");
    drop(&r);
}


/* Same for INLINE records, most of which are longer than one fast read. */
static void
test_fast_inlines(void)
{
    static char in[1 << 17], want[1 << 18];
    uint64_t seed = 7;
    size_t n = (size_t) snprintf(in, sizeof(in),
                                 "%sFILE 3 c\nINLINE_ORIGIN 77777 g\n"
                                 "FUNC 0 ffffffff 0 f\n",
                                 MODULE);
    size_t m = (size_t) snprintf(want, sizeof(want), "func 0+ffffffff f\n");
    run_t r;

    for (unsigned i = 0; i < 600; i++) {
        unsigned line = i * i * i % 1000003;

        n += (size_t) snprintf(in + n, sizeof(in) - n, "INLINE %u %u 3 77777",
                               i % 40, line);

        for (unsigned k = 0; k <= i % 9; k++) {
            uint32_t addr, size;

            seed = seed * 6364136223846793005u + 1442695040888963407u;
            addr = (uint32_t) (seed >> 33) >> (seed >> 20 & 31);
            size = (unsigned) (seed >> 40) % 70000 + 1;
            n +=
                (size_t) snprintf(in + n, sizeof(in) - n,
                                  i % 3 == 0 ? " %X %X" : " %x %x", addr, size);
            m += (size_t) snprintf(want + m, sizeof(want) - m,
                                   "  inline %u %x+%x g at %u c\n", i % 40,
                                   addr, size, line);
        }

        n += (size_t) snprintf(in + n, sizeof(in) - n,
                               i % 7 == 0 ? "\r\n" : "\n");
    }

    r = run(sym_str(in, n), n);
    is_status(r.err.status, SYM_OK, &r.err, "600 INLINE records");
    is_u64(sym_breakpad_stats(r.reader)->inlines, 600, "... counted");
    same_text(r.text, want, "... whole");
    drop(&r);

    r = run(sym_str(in, n), 60);
    same_text(r.text, want, "... in pieces too short for the fast way");
    drop(&r);
}


static bool
same_stats(const run_t *a, const run_t *b)
{
    const sym_breakpad_stats_t *x = sym_breakpad_stats(a->reader);
    const sym_breakpad_stats_t *y = sym_breakpad_stats(b->reader);

    /* counts, then a flag and its padding */
    return memcmp((const void *) x, (const void *) y,
                  offsetof(sym_breakpad_stats_t, is_cut))
               == 0
           && x->is_cut == y->is_cut;
}


/* Whole and piecewise reading must agree on the result and the error, whatever
 * byte is put into a record.  Returns how many are refused. */
static size_t
try_any_byte(const char *before, const char *record, const char *name)
{
    char in[1024], text[2][256];
    size_t different = 0, refused = 0, start = strlen(MODULE) + strlen(before);

    for (size_t at = 0; at < strlen(record); at++) {
        for (unsigned c = 0; c < 256; c++) {
            size_t n = (size_t) snprintf(in, sizeof(in),
                                         MODULE "%s%s2000 1 1 1\n%0128d\n",
                                         before, record, 0);
            run_t whole, pieces;

            in[n - 130] = '\n'; /* zeros, out of range but present */
            put(in + n - 129, SYM_STR("PUBLIC "));
            in[start + at] = (char) c;
            whole = run(sym_str(in, n), n);
            pieces = run(sym_str(in, n), 5);
            sym_error_text(&whole.err, text[0], sizeof(text[0]));
            sym_error_text(&pieces.err, text[1], sizeof(text[1]));
            different +=
                strcmp(text[0], text[1]) != 0
                || strcmp(whole.text, pieces.text) != 0
                || (whole.err.status == SYM_OK && !same_stats(&whole, &pieces));
            refused += whole.err.status != SYM_OK;
            drop(&whole);
            drop(&pieces);
        }
    }

    is_u64(different, 0, name);
    return refused;
}


static void
test_any_byte(void)
{
    size_t n = try_any_byte("FUNC 0 ffff 0 f\n", "1234 56 78 90\n",
                            "any byte anywhere in a line record: fast and slow "
                            "reading agree");

    ok(n > 2000 && n < 14 * 256 - 100, "... most of them are refused, not all");

    n = try_any_byte("FILE 3 c\nINLINE_ORIGIN 4 g\nFUNC 0 ffff 0 f\n",
                     "INLINE 0 12 3 4 1010 8 102a 9\n",
                     "... in an INLINE record");
    ok(n > 4000 && n < 30 * 256 - 100, "... most are refused, not all");

    n = try_any_byte("FILE 3 c\n",
                     "INLINE_ORIGIN 4 g h\nINLINE_ORIGIN 5 i\n"
                     "FUNC 0 ffff 0 f\nINLINE 0 12 3 4 10 8\n",
                     "... in INLINE_ORIGIN records, and those that need them");
    ok(n > 4000 && n < 75 * 256 - 100, "... many are refused, not all");
}


static void
test_limits(void)
{
    size_t len = ((size_t) 2 << 20) + 200;
    char *in = malloc(len);
    char text[256];
    run_t r;

    memset(in, 'x', len);
    put(in, SYM_STR(MODULE));
    r = run(sym_str(in, len), len);
    same_text(sym_error_text(&r.err, text, sizeof(text)),
              "over a limit: line is longer than 2 MiB (line, line 2, byte 60)",
              "a line over 2 MiB, unfinished");
    drop(&r);

    in[len - 1] = '\n';
    r = run(sym_str(in, len), 4096);
    same_text(sym_error_text(&r.err, text, sizeof(text)),
              "over a limit: line is longer than 2 MiB (line, line 2, byte 60)",
              "... finished, in pieces");
    drop(&r);

    len = strlen(MODULE) + ((size_t) 2 << 20) + 1;
    in[len - 1] = '\n';
    r = run(sym_str(in, len), 4096);
    is_status(r.err.status, SYM_OK, &r.err, "a line of exactly 2 MiB");
    drop(&r);
    free(in);

    fails("FUNC 0 10 0 f\n1 1 1 1 1\n",
          "malformed: text after the file number (line record, line 3, byte "
          "82)",
          "nothing after a failure is read");
}


static void
test_cut(void)
{
    static const struct {
        const char *text;
        bool is_cut;
    } cases[] = {
        { MODULE, false },
        { MODULE "PUBLIC 10 0 f\n", false },
        { MODULE "PUBLIC 10 0 f\r\n\n", false },
        { MODULE "PUBLIC 10 0 f", true },
        { MODULE "STACK CFI INIT 10 4 .cfa: $r", true },
        { MODULE "FUNC 10 4 0 f\n10", true }, /* it cannot be read either */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sym_str_t in = sym_cstr(cases[i].text);

        for (size_t piece = 1; piece <= in.len; piece += in.len - 1) {
            run_t r = run(in, piece);

            ok(sym_breakpad_stats(r.reader)->is_cut == cases[i].is_cut,
               "a last line %s newline, %zu: pieces of %zu",
               cases[i].is_cut ? "without" : "with", i, piece);
            drop(&r);
        }
    }
}


int
main(void)
{
    test_records();
    test_numbers();
    test_inlines();
    test_sections();
    test_paths();
    test_module();
    test_counts();
    test_fast_lines();
    test_fast_inlines();
    test_any_byte();
    test_limits();
    test_cut();
    return done_testing();
}
