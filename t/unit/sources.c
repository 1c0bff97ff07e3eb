/*
 * The artifact `sources`: a file added under a path is found under it, byte for
 * byte; whatever byte of it is changed, the reader stays inside.
 */
#include <stdlib.h>

#include "memory_extents.h"
#include "tap.h"
#include "artifacts/sources/read/sources.h"
#include "artifacts/sources/write/writer.h"
#include "symbolicate/source_text.h"

/* More than one block, and incompressible. */
#define LARGE_BYTES ((size_t) 200001)
/* Their tables need more than one extent. */
#define MANY 5000

static char large[LARGE_BYTES];


static void
fill_large(void)
{
    uint32_t x = 1;

    for (size_t i = 0; i < LARGE_BYTES; i++) {
        x = x * UINT32_C(1664525) + UINT32_C(1013904223);
        large[i] = (char) (x >> 24);
    }
}


static void
add(sym_sources_writer_t *w, const char *path, const char *url, sym_str_t text)
{
    sym_error_t err = { 0 };

    if (sym_sources_add(w, sym_cstr(path), sym_cstr(url), text, &err) != SYM_OK)
    {
        ok(false, "%s is added", path);
    }
}


static void
end(sym_sources_writer_t *w, memory_extents_t *m)
{
    sym_writer_stats_t stats;
    sym_error_t err = { 0 };
    uint64_t bytes = 0;

    ok(sym_sources_finish(w, &stats, &err) == SYM_OK, "written");

    for (uint32_t i = 0; i < m->n; i++) {
        bytes += m->extents[i].len;
    }

    is_u64(stats.extents, m->n, "as many extents as were passed");
    is_u64(stats.bytes, bytes, "as many bytes");
    sym_sources_writer_free(w);
}


static bool
is_text(const sym_sources_t *s, const sym_sources_file_t *file, sym_str_t text)
{
    char out[SYM_SOURCES_BLOCK_TEXT];
    uint64_t lines = 0;
    size_t at = 0;

    for (uint32_t i = 0; i < file->n_blocks; i++) {
        uint64_t line;
        size_t len;

        if (sym_sources_block(s, file, i, out, &len, &line) != SYM_OK
            || line != lines || len > text.len - at
            || memcmp(out, text.data + at, len) != 0)
        {
            return false;
        }

        for (size_t k = 0; k < len; k++) {
            lines += out[k] == '\n';
        }

        at += len;
    }

    return at == text.len && file->len == text.len && file->lines == lines;
}


static void
is_source(const sym_sources_t *s, const char *path, sym_str_t text)
{
    sym_sources_file_t file;

    ok(sym_sources_find(s, sym_cstr(path), &file) == SYM_OK
           && is_text(s, &file, text),
       "%s", path);
}


static void
test_few(void)
{
    const sym_str_t one = SYM_STR("int a;\nint b;\n"), two = SYM_STR("x"),
                    big = { large, sizeof(large) };
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_sources_writer_t *w = sym_sources_writer_create(memory_put, &m, &err);
    sym_sources_file_t file;
    uint32_t number;
    sym_sources_t s;

    add(w, "/src/b.c", "", one);
    add(w, "/src/large", "", big);
    add(w, "c:\\src\\a.c", "https://x/a.c", two);
    add(w, "/src/b.c", "", two);
    add(w, "/empty", "", SYM_STR(""));
    sym_sources_leave_out(w);
    end(w, &m);

    ok(sym_sources_open(&s, memory_get, &m, &err) == SYM_OK, "opened");
    ok(sym_sources_check(&s, &err) == SYM_OK, "sound");
    is_u64(s.n_files, 5, "five names");
    is_u64(s.left_out, 1, "one was omitted");
    is_u64(s.text_bytes, one.len + 2 * two.len + big.len, "bytes of text");
    is_source(&s, "/src/b.c", one);
    is_source(&s, "/src/large", big);
    is_source(&s, "c:/src/a.c", two);
    is_source(&s, "c:\\src/a.c", two);
    is_source(&s, "https://x/a.c", two);
    is_source(&s, "/empty", SYM_STR(""));
    ok(sym_sources_find(&s, SYM_STR("/src/b"), &file) == SYM_NOT_FOUND,
       "a prefix is not a path");
    ok(sym_sources_find(&s, SYM_STR("/SRC/b.c"), &file) == SYM_NOT_FOUND,
       "case counts");
    ok(sym_sources_file(&s, 5, &file) == SYM_NOT_FOUND, "no sixth file");
    ok(sym_sources_file(&s, 3, &file) == SYM_OK, "the fourth");
    is_str(file.path, "c:\\src\\a.c", "has the path as written");
    ok(sym_sources_first(&s, SYM_STR("/src/"), &number) == SYM_OK
           && number == 1,
       "the first file of a folder");
    ok(sym_sources_first(&s, SYM_STR("/src/large"), &number) == SYM_OK
           && number == 2,
       "a path is the first from itself on");
    ok(sym_sources_first(&s, SYM_STR("i"), &number) == SYM_OK && number == 5,
       "no file after the last one");
    memory_free(&m);
}


static void
test_many(void)
{
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_sources_writer_t *w = sym_sources_writer_create(memory_put, &m, &err);
    unsigned wrong = 0;
    sym_sources_t s;

    for (unsigned i = 0; i < MANY; i++) {
        char path[64], text[64];

        (void) snprintf(path, sizeof(path), "/src/%u/file.c", i * 7919 % MANY);
        (void) snprintf(text, sizeof(text), "text %u\n", i * 7919 % MANY);
        add(w, path, "", sym_cstr(text));
    }

    end(w, &m);
    ok(sym_sources_open(&s, memory_get, &m, &err) == SYM_OK
           && sym_sources_check(&s, &err) == SYM_OK,
       "many files are sound");
    ok(m.n > 3, "they take several extents");

    for (unsigned i = 0; i < MANY; i++) {
        sym_sources_file_t file;
        char path[64], text[64];

        (void) snprintf(path, sizeof(path), "/src/%u/file.c", i);
        (void) snprintf(text, sizeof(text), "text %u\n", i);
        wrong += sym_sources_find(&s, sym_cstr(path), &file) != SYM_OK
                 || !is_text(&s, &file, sym_cstr(text));
    }

    is_u64(wrong, 0, "each is found");
    memory_free(&m);
}


/* Sanitizers detect errors. */
static void
test_damage(void)
{
    const sym_str_t text =
        SYM_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_sources_writer_t *w = sym_sources_writer_create(memory_put, &m, &err);
    unsigned unseen = 0;
    sym_sources_t s;

    add(w, "/a.c", "", text);
    add(w, "/b.c", "https://x/b.c", SYM_STR("int b;\n"));
    end(w, &m);

    for (size_t i = 0; i < m.extents[0].len; i++) {
        uint8_t *p = (uint8_t *) m.extents[0].data + i, was = *p;

        for (unsigned bit = 0; bit < 8; bit++) {
            sym_error_t bad = { 0 };

            *p = (uint8_t) (was ^ 1u << bit);
            if (sym_sources_open(&s, memory_get, &m, &bad) == SYM_OK
                && sym_sources_check(&s, &bad) == SYM_OK)
            {
                unseen += i < 8; /* magic, version */
            }
        }

        *p = was;
    }

    is_u64(unseen, 0, "another magic or version is detected");

    for (size_t len = m.extents[0].len; len-- > 0;) {
        sym_error_t bad = { 0 };

        m.extents[0].len = len;
        unseen = sym_sources_open(&s, memory_get, &m, &bad) == SYM_OK
                 && sym_sources_check(&s, &bad) == SYM_OK;

        if (unseen != 0) {
            break;
        }
    }

    is_u64(unseen, 0, "a truncated one is never sound");
    memory_free(&m);
}


static void
test_limits(void)
{
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_sources_writer_t *w = sym_sources_writer_create(memory_put, &m, &err);

    ok(sym_sources_add(w, sym_str(large, SYM_SOURCES_PATH_MAX + 1), SYM_STR(""),
                       SYM_STR("x"), &err)
           == SYM_LIMIT,
       "a path that is too long");
    sym_sources_writer_free(w);
    memory_free(&m);
}


static void
is_url(const sym_sources_t *s, const char *path, const char *want)
{
    char url[SYM_SOURCES_URL_MAX];
    size_t len = 0;
    sym_status_t rc = sym_sources_url(s, sym_cstr(path), url, &len);

    is_str(sym_str(url, rc == SYM_OK ? len : 0), want, path);
}


/* The rules of Source Link; most are the examples of its document. */
static void
test_links(void)
{
    static const char *const links[][2] = {
        { "C:\\src\\*", "http://MyDefaultDomain.com/src/*" },
        { "C:\\src\\fOO\\*", "http://MyFooDomain.com/src/*" },
        { "C:\\src\\foo\\specific.txt", "http://My.com/specific.txt" },
        { "C:\\src\\bar\\*", "http://MyBarDomain.com/src/*" },
        { "/home/user/src/*", "https://linux.com/*?again=*" },
        { "/exact*/file", "https://x/*" },
    };
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_sources_writer_t *w = sym_sources_writer_create(memory_put, &m, &err);
    sym_writer_stats_t stats;
    sym_sources_link_t link;
    sym_sources_file_t file;
    sym_sources_t s;

    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        ok(sym_sources_add_link(w, sym_cstr(links[i][0]), sym_cstr(links[i][1]),
                                &err)
               == SYM_OK,
           "%s is added", links[i][0]);
    }

    ok(sym_sources_finish(w, &stats, &err) == SYM_OK
           && stats.quality == SYM_SOURCES_LINKS,
       "written, with links only");
    sym_sources_writer_free(w);
    ok(sym_sources_open(&s, memory_get, &m, &err) == SYM_OK
           && sym_sources_check(&s, &err) == SYM_OK && s.n_links == 6,
       "sound");
    is_url(&s, "c:\\src\\bAr\\foo\\FiLe.txt",
           "http://MyBarDomain.com/src/foo/FiLe.txt");
    is_url(&s, "c:\\src\\foo\\FiLe.txt", "http://MyFooDomain.com/src/FiLe.txt");
    is_url(&s, "c:\\src\\foo\\SpEcIfIc.txt", "http://My.com/specific.txt");
    is_url(&s, "c:\\src\\other\\path",
           "http://MyDefaultDomain.com/src/other/path");
    is_url(&s, "/home/user/src/Path/TO/f",
           "https://linux.com/Path/TO/f?again=Path/TO/f");
    is_url(&s, "/exact*/file", "https://x/*");
    is_url(&s, "/exactly/file", "");
    is_url(&s, "c:\\other\\path", "");
    is_url(&s, "", "");
    ok(sym_sources_find(&s, SYM_STR("/home/user/src/f"), &file)
           == SYM_NOT_FOUND,
       "a link is not a text");
    ok(sym_sources_link(&s, 0, &link) == SYM_OK && !link.is_prefix,
       "links of one path come first");
    ok(sym_sources_link(&s, 6, &link) == SYM_NOT_FOUND, "no seventh link");

    for (size_t len = m.extents[0].len; len-- > 0;) {
        sym_error_t bad = { 0 };

        m.extents[0].len = len;
        if (sym_sources_open(&s, memory_get, &m, &bad) == SYM_OK
            && sym_sources_check(&s, &bad) == SYM_OK)
        {
            ok(false, "sound with %zu bytes", len);
        }
    }

    memory_free(&m);
}


/* A URL longer than its place, and more links than there may be. */
static void
test_link_limits(void)
{
    static char stars[SYM_SOURCES_PATH_MAX];
    static char path[SYM_SOURCES_PATH_MAX];
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_sources_writer_t *w = sym_sources_writer_create(memory_put, &m, &err);
    sym_writer_stats_t stats;
    char url[SYM_SOURCES_URL_MAX];
    sym_sources_t s;
    size_t len;
    unsigned n = 0;

    memset(stars, '*', sizeof(stars));
    memset(path, 'p', sizeof(path));
    (void) sym_sources_add_link(w, SYM_STR("*"), sym_str(stars, sizeof(stars)),
                                &err);
    (void) sym_sources_finish(w, &stats, &err);
    sym_sources_writer_free(w);
    (void) sym_sources_open(&s, memory_get, &m, &err);
    ok(sym_sources_url(&s, sym_str(path, 3), url, &len) == SYM_LIMIT,
       "a URL that is too long");
    ok(sym_sources_url(&s, sym_str(path, 2), url, &len) == SYM_OK
           && len == sizeof(url),
       "one that just fits");
    memory_free(&m);

    w = sym_sources_writer_create(memory_put, &m, &err);
    while (n <= SYM_SOURCES_LINKS_MAX
           && sym_sources_add_link(w, SYM_STR("a"), SYM_STR("b"), &err)
                  == SYM_OK)
    {
        n++;
    }

    is_u64(n, SYM_SOURCES_LINKS_MAX, "this many links, no more");
    is_u64(err.status, SYM_LIMIT, "... and it is reported");
    sym_sources_writer_free(w);
    memory_free(&m);
}


/* A file that our code has not written: a script made it, after
 * docs/formats/sources.md.  Two bytes of length come first, as for the
 * fuzzer. */
static void
test_document(void)
{
    char text[30 * 7 + 1] = "";
    uint8_t bytes[4096];
    FILE *f = fopen("fuzz/corpus/sources/artifact", "rb");
    size_t len = f != NULL ? fread(bytes, 1, sizeof(bytes), f) : 0;
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_sources_t s;

    if (f != NULL) {
        (void) fclose(f);
    }

    if (!ok(len > 2, "a file made after the document exists")) {
        return;
    }

    for (unsigned i = 0; i < 30; i++) {
        strcat(text, "int a;\n");
    }

    (void) memory_put(&m, 0, bytes + 2, len - 2, &err);
    (void) is_status(sym_sources_open(&s, memory_get, &m, &err), SYM_OK, &err,
                     "it opens");
    (void) is_status(sym_sources_check(&s, &err), SYM_OK, &err, "it is sound");
    is_u64(s.n_files, 3, "three names");
    is_source(&s, "/src/a.c", sym_cstr(text));
    is_source(&s, "C:\\src\\b.c", SYM_STR("x"));
    is_source(&s, "https://x/b.c", SYM_STR("x"));
    memory_free(&m);
}


/* The lines around a line (unit/context.c), read from an artifact: if requested
 * in order, only their blocks are read, each once. */
static void
test_context(void)
{
    enum { LINES = 300000 };
    char *text = malloc((size_t) LINES * 16), *p = text;
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_sources_writer_t *w = sym_sources_writer_create(memory_put, &m, &err);
    sym_sources_file_t file;
    sym_source_text_t source = { .arena = NULL };
    sym_context_text_t lines;
    sym_sources_t s;
    sym_arena_t arena;
    sym_context_t c;
    unsigned bad = 0;

    for (unsigned i = 1; i <= LINES; i++) {
        p += sprintf(p, "line %u;\n", i);
    }

    add(w, "/a.c", "", sym_str(text, (size_t) (p - text)));
    end(w, &m);
    sym_arena_init(&arena, 0);
    ok(sym_sources_open(&s, memory_get, &m, &err) == SYM_OK
           && sym_sources_find(&s, SYM_STR("/a.c"), &file) == SYM_OK,
       "a text of %u lines", (unsigned) LINES);
    source.arena = &arena;
    lines = sym_source_text(&source, &s, &file);

    for (unsigned i = 6; i <= LINES; i += 997) {
        char want[32];

        (void) snprintf(want, sizeof(want), "line %u;", i - 5);
        bad += sym_context_read(&lines, i, 0, &c) != SYM_OK || c.before != 5
               || c.n != 11 || !sym_str_eq(c.lines[0], sym_cstr(want));
        (void) snprintf(want, sizeof(want), "line %u;", i);
        bad += !sym_str_eq(c.lines[5], sym_cstr(want));
    }

    is_u64(bad, 0, "... has the right ones around each");
    is_u64(source.unpacked, file.n_blocks, "... and unpacks each block once");
    is_u64(sym_context_read(&lines, LINES + 1, 0, &c), SYM_NOT_FOUND,
           "... and none after the last one");
    sym_arena_drop(&arena);
    memory_free(&m);
    free(text);
}


int
main(void)
{
    fill_large();
    test_document();
    test_few();
    test_many();
    test_damage();
    test_limits();
    test_links();
    test_link_limits();
    test_context();
    return done_testing();
}
