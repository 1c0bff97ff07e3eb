/*
 * gensym.c - writes large Breakpad symbol files that look like real ones.
 *
 *     gensym [--functions N | --size BYTES[k|m|g]] [--seed N] [--name NAME]
 *            [--id ID] [--style rust|cpp|mixed]  >  NAME.sym
 *
 * The same options give the same bytes.  Random values are drawn from
 * distributions measured on three real files (quantiles 0 10 25 50 75 90 99 100
 * %):
 *
 *   rust: crash-client.sym (Rust, macOS; 1,996 FUNC, 65,240 lines, 40,148
 *   INLINE, 9,898 INLINE_ORIGIN, 350 FILE; 4 % of the bytes STACK CFI)
 *     lines a function   1 2 5 12 31 72 319 1688, mean 33
 *     bytes a line       1 3 4 7 12 20 60 1040, mean 10
 *     gap after it       0 2 4 8 11 14 185 7000
 *     function name      8 31 44 59 88 149 686 1804, 28 % repeated
 *     origin name        5 31 43 65 109 259 890 2234; a quarter of the INLINE
 *                        is the first with its origin, the tenth used most has
 *                        59 % of the uses
 *     file name          30 75 79 88 95 103 114 121
 *     INLINE a line      0.62, none in 16 % of functions; depth 0 0 1 3 6 8 14
 *                        26, mean 3.9; 1.7 ranges each, of 1 3 6 13 28 58 280
 *                        7953 bytes
 *     48 % of lines have the file of the line before
 *   cpp: null_read_av.sym and test_app.sym (C++; 1,223 FUNC, 17,916 lines, no
 *   INLINE; some 30 % of the bytes STACK)
 *     lines a function   1 2 5 15 41 78 491 650
 *     bytes a line       1 3 4 7 13 22 45 256
 *     function name      4 11 40 58 97 160 336 398
 *     file name          20 36 43 61 76 84 90 90
 *     64 % of lines have the file of the line before
 *   mixed: functions of both styles in turn.
 *
 * 2,000 functions of style rust are 4.2 MB (real: 4.2) with 0.66 INLINE per
 * line, depth 3.4 on average, 44 % of lines in the file of the line before.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUANTILES 8
#define DEPTH_MAX 26
#define LINES_MAX 2048
#define CALLS_MAX 4096
#define RANGES_MAX 16384
#define NAME_MAX_BYTES 2400

typedef struct {
    uint16_t at[QUANTILES];
} spread_t;

typedef struct {
    spread_t lines, line_bytes, gap, name, file;
    unsigned keeps_file;  /* per mille of lines with the same file */
    unsigned has_inlines; /* per mille of functions */
    unsigned stack;       /* STACK records per 100 functions */
    bool is_rust;
} style_t;

static const style_t rust = {
    .lines = { { 1, 2, 5, 12, 31, 72, 319, 1688 } },
    .line_bytes = { { 1, 3, 4, 7, 12, 20, 60, 1040 } },
    .gap = { { 0, 2, 4, 8, 11, 14, 185, 7000 } },
    .name = { { 8, 31, 44, 59, 88, 149, 686, 1804 } },
    .file = { { 30, 75, 79, 88, 95, 103, 114, 121 } },
    .keeps_file = 800, /* inlined calls change it, too */
    .has_inlines = 940,
    .stack = 65,
    .is_rust = true,
};

static const style_t cpp = {
    .lines = { { 1, 2, 5, 15, 41, 78, 491, 650 } },
    .line_bytes = { { 1, 3, 4, 7, 13, 22, 45, 256 } },
    .gap = { { 0, 0, 3, 8, 11, 14, 15, 269 } },
    .name = { { 4, 11, 40, 58, 97, 160, 336, 398 } },
    .file = { { 20, 36, 43, 61, 76, 84, 90, 90 } },
    .keeps_file = 640,
    .has_inlines = 0,
    .stack = 690,
    .is_rust = false,
};

static const spread_t origin_name = { { 5, 31, 43, 65, 109, 259, 890, 2234 } };

/* Records of the current function. */
typedef struct {
    uint32_t depth, line, file, origin;
    uint32_t first_range, last_range;
} call_t;

typedef struct {
    uint32_t addr, size;
    uint32_t next;
} range_t;

typedef struct {
    uint32_t addr, size;
    uint32_t line, file;
} line_t;

typedef struct {
    uint64_t functions, size; /* one of them is 0 */
    uint64_t seed;
    const char *name, *id;
    const style_t *styles[2];
} options_t;

typedef struct {
    options_t o;
    uint64_t random;
    uint64_t expected; /* functions, about */
    uint32_t n_files, n_origins;
    uint32_t origin; /* the last one in use */

    char *buffer;
    size_t len;
    uint64_t written;

    line_t lines[LINES_MAX];
    uint32_t n_lines;
    call_t calls[CALLS_MAX];
    uint32_t n_calls;
    range_t ranges[RANGES_MAX];
    uint32_t n_ranges;
} gen_t;

/* --- chance --- */

static uint64_t
mix(uint64_t v)
{
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}


static uint64_t
next(uint64_t *random)
{
    *random += 0x9e3779b97f4a7c15u;
    return mix(*random);
}


static uint32_t
below(uint64_t *random, uint32_t n)
{
    return (uint32_t) ((next(random) >> 32) * n >> 32);
}


/* Low numbers are more frequent than high ones. */
static uint32_t
skewed(uint64_t *random, uint32_t n)
{
    uint64_t a = below(random, 1u << 16), b = below(random, 1u << 16);

    return (uint32_t) ((a * b >> 16) * n >> 16);
}


/* A few thousand serve the whole module; the first ones most. */
static uint32_t
popular(uint64_t *random, uint32_t n)
{
    return skewed(random, 1 + skewed(random, n < 1000 ? n : 1000));
}


static uint32_t
draw(uint64_t *random, const spread_t *s)
{
    static const uint16_t edges[QUANTILES] = { 0,   100, 250, 500,
                                               750, 900, 990, 1000 };
    uint32_t p = below(random, 1000), i = 0;

    while (p >= edges[i + 1]) {
        i++;
    }

    uint32_t low = s->at[i], high = s->at[i + 1];
    uint32_t width = (uint32_t) (edges[i + 1] - edges[i]);
    uint32_t part = p - edges[i];

    if (i == QUANTILES - 2) {
        /* the last hundredth is thin at its upper end */
        return low + skewed(random, (high - low) / 2 + 1);
    }

    return low + (high - low) * part / width;
}


/* --- output --- */

#define BUFFER_BYTES ((size_t) 1 << 20)
#define RECORD_MAX ((size_t) 1 << 17) /* none of our calls adds more */

static void
flush(gen_t *g)
{
    for (size_t at = 0; at < g->len;) {
        ssize_t n = write(STDOUT_FILENO, g->buffer + at, g->len - at);

        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            perror("gensym: cannot write");
            exit(1);
        }
        at += (size_t) n;
    }

    g->written += g->len;
    g->len = 0;
}


static void
room(gen_t *g)
{
    if (g->len > BUFFER_BYTES) {
        flush(g);
    }
}


static void
put_char(gen_t *g, char c)
{
    g->buffer[g->len++] = c;
}


static void
put_text(gen_t *g, const char *text, size_t len)
{
    memcpy(g->buffer + g->len, text, len);
    g->len += len;
}


static void
put(gen_t *g, const char *text)
{
    put_text(g, text, strlen(text));
}


static void
put_hex(gen_t *g, uint64_t v)
{
    int shift = v == 0 ? 0 : (63 - __builtin_clzll(v)) & ~3;

    for (; shift >= 0; shift -= 4) {
        put_char(g, "0123456789abcdef"[v >> shift & 15]);
    }
}


static void
put_dec(gen_t *g, uint64_t v)
{
    char digits[20];
    size_t n = sizeof(digits);

    do {
        digits[--n] = (char) ('0' + v % 10);
        v /= 10;
    } while (v != 0);

    put_text(g, digits + n, sizeof(digits) - n);
}


/* --- names --- */

static const char *const words[] = {
    "core",     "ptr",       "alloc",    "iter",     "option",    "vec",
    "Result",   "Option",    "Vec",      "String",   "io",        "fmt",
    "next",     "clone",     "get",      "set",      "map",       "drop",
    "from",     "into",      "new",      "push",     "pop",       "insert",
    "remove",   "find",      "begin",    "end",      "size",      "len",
    "Iterator", "Handle",    "Buffer",   "Reader",   "Writer",    "Stream",
    "Context",  "Manager",   "Service",  "Client",   "Server",    "Request",
    "Response", "Message",   "Channel",  "Socket",   "Thread",    "Mutex",
    "Guard",    "Cell",      "Box",      "Rc",       "Arc",       "Pin",
    "Future",   "Poll",      "Waker",    "Task",     "Executor",  "Runtime",
    "parse",    "visit",     "emit",     "encode",   "decode",    "serialize",
    "Node",     "Element",   "Document", "Style",    "Layout",    "Frame",
    "Surface",  "Texture",   "Shader",   "Render",   "Paint",     "Display",
    "network",  "http",      "dns",      "cache",    "storage",   "database",
    "cursor",   "index",     "table",    "row",      "column",    "query",
    "script",   "compiler",  "parser",   "lexer",    "token",     "ast",
    "analysis", "optimizer", "backend",  "frontend", "assembler", "linker",
    "math",     "geometry",  "matrix",   "vector",   "transform", "animation",
    "media",    "audio",     "video",    "codec",    "container", "track",
    "security", "crypto",    "hash",     "cipher",   "signature", "certificate",
    "internal", "detail",    "impl",     "private",  "generic",   "traits",
    "update",   "process",   "handle",   "dispatch", "schedule",  "notify",
};

#define N_WORDS ((uint32_t) (sizeof(words) / sizeof(words[0])))

typedef struct {
    char *text;
    size_t len;
    uint64_t random;
    bool is_rust;
} name_t;

static void
name_put(name_t *n, const char *text)
{
    size_t len = strlen(text);

    if (n->len + len < NAME_MAX_BYTES) {
        memcpy(n->text + n->len, text, len);
        n->len += len;
    }
}


static void
name_word(name_t *n)
{
    name_put(n, words[skewed(&n->random, N_WORDS)]);

    /* few names consist only of dictionary words */
    if (below(&n->random, 100) < 30) {
        name_put(n, n->is_rust ? "_" : "");
        name_put(n, words[below(&n->random, N_WORDS)]);
    }
}


static void
name_path(name_t *n, uint32_t parts)
{
    for (uint32_t i = 0; i < parts; i++) {
        if (i != 0) {
            name_put(n, "::");
        }
        name_word(n);
    }
}


/* A type of about `want` bytes. */
static void
name_type(name_t *n, size_t want, unsigned depth)
{
    size_t start = n->len;

    name_path(n, 1 + below(&n->random, 4));

    if (depth == 12 || n->len - start + 8 >= want) {
        return;
    }

    name_put(n, "<");
    for (bool first = true; n->len - start + 4 < want; first = false) {
        size_t left = want - (n->len - start);

        if (!first) {
            name_put(n, ", ");
        }
        if (below(&n->random, 4) == 0) {
            name_put(n, n->is_rust ? "&mut " : "const ");
        }

        size_t before = n->len;
        name_type(n, left > 24 ? left * (1 + below(&n->random, 3)) / 3 : left,
                  depth + 1);
        if (n->len == before) {
            break; /* full */
        }
    }
    name_put(n, ">");
}


/* The name for `key`: always the same. */
static size_t
make_name(char *text, uint64_t key, size_t want, bool is_rust)
{
    name_t n = { text, 0, key, is_rust };

    want = want * 3 / 4; /* a type is longer than wanted by a word or two */

    if (is_rust) {
        if (want > 40 && below(&n.random, 3) == 0) {
            name_put(&n, "<");
            name_type(&n, want / 2, 0);
            name_put(&n, " as ");
            name_type(&n, want / 3, 0);
            name_put(&n, ">::");
            name_word(&n);
        } else {
            name_type(&n, want, 0);
            if (below(&n.random, 4) == 0) {
                name_put(&n, "::{closure#0}");
            }
        }
        return n.len;
    }

    name_type(&n, want * 2 / 3, 0);
    name_put(&n, "::");
    name_word(&n);
    name_put(&n, "(");
    if (want > n.len + 8) {
        name_type(&n, want - n.len - 4, 1);
        name_put(&n, " const &");
    }
    name_put(&n, ")");
    return n.len;
}


static void
put_name(gen_t *g, uint64_t key, const spread_t *spread, bool is_rust)
{
    uint64_t random = key;

    g->len +=
        make_name(g->buffer + g->len, key, draw(&random, spread), is_rust);
}


static void
put_file_name(gen_t *g, uint64_t key, const style_t *s)
{
    static const char *const roots[] = {
        "/rustc/fdca237d5194bf8a1c9b437ebd2114d1c2ba6195/library",
        "/builds/worker/checkouts/gecko",
        "/home/build/src/project",
        "/Users/build/.cargo/registry/src/github.com-1ecc6299db9ec823",
    };
    uint64_t random = key;
    size_t start = g->len, want = draw(&random, &s->file);

    put(g, roots[skewed(&random, 4)]);
    while (g->len - start + 12 < want) {
        put_char(g, '/');
        put(g, words[below(&random, N_WORDS)]);
    }
    put_char(g, '/');
    put(g, words[below(&random, N_WORDS)]);
    put_char(g, '_');
    put_hex(g, key & 0xfff);
    put(g, s->is_rust ? ".rs" : below(&random, 3) == 0 ? ".h" : ".cpp");
}


/* --- a function --- */

/* The file with the code of an origin or function. */
static uint32_t
home_file(const gen_t *g, uint64_t key)
{
    uint64_t random = mix(key ^ 0x66696c65);

    return skewed(&random, g->n_files);
}


static uint32_t
home_line(uint64_t key)
{
    uint64_t random = mix(key ^ 0x6c696e65);

    return 1 + skewed(&random, 3000);
}


static void
make_lines(gen_t *g, const style_t *s, uint64_t addr)
{
    uint32_t file = below(&g->random, g->n_files), own = file;
    uint32_t line = home_line(next(&g->random));

    g->n_lines = draw(&g->random, &s->lines);
    g->n_lines = g->n_lines < 1 ? 1 : g->n_lines;

    for (uint32_t i = 0; i < g->n_lines; i++) {
        line_t *l = &g->lines[i];

        if (below(&g->random, 1000) >= s->keeps_file) {
            file = file != own ? own : skewed(&g->random, g->n_files);
            line = file != own ? home_line(file * 977u + i % 3)
                               : home_line(own) + i / 2;
        }

        line += below(&g->random, 4);
        if (below(&g->random, 100) < 30) {
            line -= line > 40 ? skewed(&g->random, 40) : 0;
        }

        l->addr = (uint32_t) addr;
        l->size = draw(&g->random, &s->line_bytes);
        l->size = l->size < 1 ? 1 : l->size;
        l->line = below(&g->random, 100) < 8 ? 0 : line;
        l->file = file;
        addr += l->size;
    }
}


static void
add_range(gen_t *g, call_t *c, uint32_t from, uint32_t to)
{
    range_t *r = &g->ranges[g->n_ranges];

    r->addr = g->lines[from].addr;
    r->size = g->lines[to - 1].addr + g->lines[to - 1].size - r->addr;
    r->next = UINT32_MAX;

    if (c->first_range == UINT32_MAX) {
        c->first_range = g->n_ranges;
    } else {
        g->ranges[c->last_range].next = g->n_ranges;
    }
    c->last_range = g->n_ranges++;
}


/* Dumpers number origins in order of appearance: a quarter of the calls is to
 * the next one, others mostly to a recent one. */
static uint32_t
next_origin(gen_t *g)
{
    uint32_t chance = below(&g->random, 100);

    if (chance < 25 && g->origin + 1 < g->n_origins) {
        return ++g->origin;
    }

    if (chance < 60) {
        uint32_t back = skewed(&g->random, 4000);

        return back < g->origin ? g->origin - back : g->origin;
    }

    return popular(&g->random, g->origin + 1);
}


/* Calls inlined into lines [from, to), with code in this file. */
static void
make_calls(gen_t *g, uint32_t from, uint32_t to, uint32_t depth, uint32_t file,
           uint32_t line)
{
    uint32_t earlier = UINT32_MAX;

    for (uint32_t at = from; at < to;) {
        uint32_t len, n;

        if (below(&g->random, 100) < (depth == 0 ? 82u : 42u)) {
            at++; /* a line of the caller's own */
            continue;
        }

        if (depth == DEPTH_MAX || g->n_calls == CALLS_MAX
            || g->n_ranges + 1 >= RANGES_MAX)
        {
            return;
        }

        len = 1 + skewed(&g->random, depth == 0 ? 24 : 2 * (to - at));
        len = len > to - at ? to - at : len;

        if (earlier != UINT32_MAX && below(&g->random, 100) < 85) {
            n = earlier; /* the same call continues here */
        } else {
            n = g->n_calls++;
            g->calls[n] = (call_t){ depth,      line + skewed(&g->random, 60),
                                    file,       next_origin(g),
                                    UINT32_MAX, UINT32_MAX };
            earlier = n;
        }

        add_range(g, &g->calls[n], at, at + len);

        uint32_t callee_file = home_file(g, g->calls[n].origin);
        uint32_t callee_line = home_line(g->calls[n].origin);

        for (uint32_t i = at; i < at + len; i++) {
            g->lines[i].file = callee_file;
            g->lines[i].line = callee_line + (i - at) % 9;
        }

        make_calls(g, at, at + len, depth + 1, callee_file, callee_line);
        at += len;
    }
}


static void
put_calls(gen_t *g)
{
    for (uint32_t i = 0; i < g->n_calls; i++) {
        const call_t *c = &g->calls[i];

        put(g, "INLINE ");
        put_dec(g, c->depth);
        put_char(g, ' ');
        put_dec(g, c->line);
        put_char(g, ' ');
        put_dec(g, c->file);
        put_char(g, ' ');
        put_dec(g, c->origin);

        for (uint32_t r = c->first_range; r != UINT32_MAX;
             r = g->ranges[r].next) {
            put_char(g, ' ');
            put_hex(g, g->ranges[r].addr);
            put_char(g, ' ');
            put_hex(g, g->ranges[r].size);
            room(g);
        }
        put_char(g, '\n');
    }
}


static void
put_lines(gen_t *g)
{
    for (uint32_t i = 0; i < g->n_lines; i++) {
        const line_t *l = &g->lines[i];

        put_hex(g, l->addr);
        put_char(g, ' ');
        put_hex(g, l->size);
        put_char(g, ' ');
        put_dec(g, l->line);
        put_char(g, ' ');
        put_dec(g, l->file);
        put_char(g, '\n');
    }
}


/* Writes one function at addr; returns its end. */
static uint64_t
make_function(gen_t *g, const style_t *s, uint64_t number, uint64_t addr)
{
    uint64_t end, key;

    g->n_calls = 0;
    g->n_ranges = 0;
    make_lines(g, s, addr);
    if (below(&g->random, 1000) < s->has_inlines) {
        make_calls(g, 0, g->n_lines, 0, g->lines[0].file, g->lines[0].line);
    }

    /* 28 % of the names repeat another function's */
    key = below(&g->random, 100) < 28 ? popular(&g->random, 1000) : number;
    end = g->lines[g->n_lines - 1].addr + g->lines[g->n_lines - 1].size;

    put(g, "FUNC ");
    put_hex(g, addr);
    put_char(g, ' ');
    put_hex(g, end - addr);
    put(g, " 0 ");
    put_name(g, mix(g->o.seed ^ key << 20), &s->name, s->is_rust);
    put_char(g, '\n');
    put_calls(g);
    put_lines(g);
    room(g);
    return end;
}


/* --- the file --- */

static double
root(double v)
{
    double r = v > 1 ? v : 1;

    for (int i = 0; i < 60; i++) {
        r = (r + v / r) / 2;
    }

    return r;
}


/* The number of files grows with the root of the module's size, that of origins
 * almost proportionally. */
static void
put_head(gen_t *g)
{
    double n = (double) g->expected;
    const style_t *s = g->o.styles[0];

    g->n_files = (uint32_t) (8 * root(n)) + 1;
    /* only functions of a style with inlined calls add any */
    g->n_origins = (uint32_t) (1000
                               + 2 * n
                                     * ((g->o.styles[0]->has_inlines != 0)
                                        + (g->o.styles[1]->has_inlines != 0)));

    put(g, "MODULE Linux x86_64 ");
    put(g, g->o.id);
    put_char(g, ' ');
    put(g, g->o.name);
    put(g, "\nINFO CODE_ID ");
    put_text(g, g->o.id, 32);
    put_char(g, '\n');

    for (uint32_t i = 0; i < g->n_files; i++) {
        put(g, "FILE ");
        put_dec(g, i);
        put_char(g, ' ');
        put_file_name(g, mix(g->o.seed << 32 ^ i), s);
        put_char(g, '\n');
        room(g);
    }

    if (g->o.styles[0]->has_inlines == 0 && g->o.styles[1]->has_inlines == 0) {
        return;
    }

    for (uint32_t i = 0; i < g->n_origins; i++) {
        put(g, "INLINE_ORIGIN ");
        put_dec(g, i);
        put_char(g, ' ');
        put_name(g, mix(g->o.seed << 31 ^ i), &origin_name, true);
        put_char(g, '\n');
        room(g);
    }
}


static void
put_tail(gen_t *g, uint64_t functions, uint64_t end)
{
    uint64_t stack =
        functions * (g->o.styles[0]->stack + g->o.styles[1]->stack) / 200;

    for (uint64_t i = 0; i < functions / 50 + 1; i++) {
        put(g, "PUBLIC ");
        put_hex(g, end + i * 64);
        put(g, " 0 ");
        put_name(g, mix(g->o.seed << 30 ^ i), &cpp.name, false);
        put_char(g, '\n');
        room(g);
    }

    for (uint64_t i = 0; i < stack; i++) {
        if (i % 5 == 0) {
            put(g, "STACK CFI INIT ");
            put_hex(g, 4096 + i * 48);
            put(g, " f0 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n");
        } else {
            put(g, "STACK CFI ");
            put_hex(g, 4096 + i * 48);
            put(g, " .cfa: $rsp 16 + $rbp: .cfa -16 + ^\n");
        }
        room(g);
    }
}


/* Approximate bytes of one function of the style, with all its records. */
static uint64_t
bytes_each(const style_t *s)
{
    return s->is_rust ? 2000 : 1050;
}


static void
generate(gen_t *g)
{
    uint64_t each =
        (bytes_each(g->o.styles[0]) + bytes_each(g->o.styles[1])) / 2;
    uint64_t addr = 4096, n = 0, tail;

    g->expected = g->o.functions != 0 ? g->o.functions : g->o.size / each;
    tail = g->expected * (g->o.styles[0]->stack + g->o.styles[1]->stack) / 200
           * 46;
    put_head(g);

    /* the last function must not exceed the last address */
    while (addr < UINT32_MAX - 8u * 1024 * 1024) {
        const style_t *s = g->o.styles[n & 1];

        if (g->o.functions != 0 ? n == g->o.functions
                                : g->written + g->len + tail >= g->o.size)
        {
            break;
        }

        addr = make_function(g, s, n, addr);
        addr += draw(&g->random, &s->gap);
        n++;
    }

    put_tail(g, n, addr);
    flush(g);

    if (g->o.functions != 0 && n < g->o.functions) {
        fprintf(stderr,
                "gensym: addresses end after %llu functions, at 4 GiB\n",
                (unsigned long long) n);
        exit(1);
    }
}


/* --- options --- */

static void
usage(const char *what)
{
    fprintf(stderr,
            "gensym: %s\n"
            "usage: gensym [--functions N | --size BYTES[k|m|g]] [--seed N]\n"
            "              [--name NAME] [--id ID] [--style rust|cpp|mixed]\n",
            what);
    exit(2);
}


static uint64_t
number(const char *text)
{
    char *end;
    uint64_t v;

    errno = 0;
    v = strtoull(text, &end, 10);
    switch (*end) {
    case 'k':
    case 'K':
        v <<= 10, end++;
        break;
    case 'm':
    case 'M':
        v <<= 20, end++;
        break;
    case 'g':
    case 'G':
        v <<= 30, end++;
        break;
    default:
        break;
    }

    if (end == text || *end != '\0' || errno != 0 || text[0] == '-') {
        usage("a number was expected");
    }

    return v;
}


static void
set_style(options_t *o, const char *text)
{
    if (strcmp(text, "rust") == 0) {
        o->styles[0] = o->styles[1] = &rust;
    } else if (strcmp(text, "cpp") == 0) {
        o->styles[0] = o->styles[1] = &cpp;
    } else if (strcmp(text, "mixed") == 0) {
        o->styles[0] = &rust;
        o->styles[1] = &cpp;
    } else {
        usage("--style is rust, cpp or mixed");
    }
}


static options_t
options(int argc, char **argv)
{
    options_t o = { .seed = 1,
                    .name = "generated",
                    .id = "0123456789ABCDEF0123456789ABCDEF0",
                    .styles = { &rust, &cpp } };

    for (int i = 1; i < argc; i += 2) {
        const char *key = argv[i], *value = argv[i + 1];

        if (i + 1 == argc) {
            usage("an option without its value");
        }

        if (strcmp(key, "--functions") == 0) {
            o.functions = number(value);
        } else if (strcmp(key, "--size") == 0) {
            o.size = number(value);
        } else if (strcmp(key, "--seed") == 0) {
            o.seed = number(value);
        } else if (strcmp(key, "--name") == 0) {
            o.name = value;
        } else if (strcmp(key, "--id") == 0) {
            o.id = value;
        } else if (strcmp(key, "--style") == 0) {
            set_style(&o, value);
        } else {
            usage("unknown option");
        }
    }

    if (o.functions != 0 && o.size != 0) {
        usage("--functions and --size exclude each other");
    }
    if (o.functions == 0 && o.size == 0) {
        o.functions = 10000;
    }
    if (strlen(o.id) < 32 || strlen(o.id) > 40 || strlen(o.name) > 255) {
        usage("an id has 32 to 40 digits, a name at most 255 bytes");
    }

    return o;
}


int
main(int argc, char **argv)
{
    gen_t *g = calloc(1, sizeof(*g));

    if (g != NULL) {
        g->buffer = malloc(BUFFER_BYTES + RECORD_MAX);
    }
    if (g == NULL || g->buffer == NULL) {
        fprintf(stderr, "gensym: out of memory\n");
        return 1;
    }

    g->o = options(argc, argv);
    g->random = mix(g->o.seed);
    generate(g);
    free(g->buffer);
    free(g);
    return 0;
}
