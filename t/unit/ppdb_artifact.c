/*
 * The artifact `ppdb`: an offset finds the last point at or before it, whatever
 * points the method has; whatever byte of it is changed, the reader stays
 * inside.
 */
#include <stdlib.h>

#include "memory_extents.h"
#include "tap.h"
#include "artifacts/kinds.h"
#include "artifacts/ppdb/read/ppdb.h"
#include "artifacts/ppdb/write/ppdb_writer.h"
#include "base/language.h"

#define METHODS 3000
#define DOCUMENTS 300
#define POINTS_MAX 40
#define LARGE_POINTS 30000 /* points of one method: several pieces */
#define LARGE_METHODS 60000
#define LARGE_DOCUMENTS 60000

typedef struct {
    sym_ppdb_given_t *points; /* points as they were added */
    size_t n;
} method_t;

static method_t methods[METHODS + 1];
static uint32_t seed = 1;


static uint32_t
below(uint32_t n)
{
    seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (uint32_t) (((uint64_t) seed * n) >> 32);
}


/* Some methods have no points, some have one document, some have distant lines
 * and large offsets. */
static void
make_method(method_t *m, size_t n)
{
    bool is_wide = below(8) == 0, has_documents = below(4) == 0;
    uint32_t offset = below(3), line = below(is_wide ? 0x1fffffff : 5000),
             document = below(DOCUMENTS);

    m->points = calloc(n + 1, sizeof(*m->points));
    m->n = n;

    for (size_t i = 0; i < n; i++) {
        m->points[i] = (sym_ppdb_given_t){ offset, line, document };
        offset += below(is_wide ? 70000 : 9); /* 0: replaced by the next */
        line = below(3) == 0 ? line : below(is_wide ? 0x1fffffff : 5000);
        document = has_documents ? below(DOCUMENTS) : document;
    }
}


static void
path_of(uint32_t i, char path[64])
{
    (void) snprintf(path, 64, i % 2 == 0 ? "C:\\src\\d%u\\f%u.cs" : "f%u%u.vb",
                    i % 7, i);
}


static void
add_documents(sym_ppdb_writer_t *w)
{
    for (uint32_t i = 0; i < DOCUMENTS; i++) {
        char path[64];
        uint32_t number = UINT32_MAX;

        path_of(i, path);
        if (sym_ppdb_add_document(w, sym_cstr(path),
                                  (uint8_t) (SYM_LANG_CSHARP + i % 3), &number)
                != SYM_OK
            || number != i)
        {
            ok(false, "document %u is added", i);
        }
    }
}


static void
add_methods(sym_ppdb_writer_t *w)
{
    for (uint32_t i = 1; i <= METHODS; i++) {
        method_t *m = &methods[i];
        sym_ppdb_given_t *copy;

        make_method(m, i == 77 ? LARGE_POINTS : below(POINTS_MAX));
        copy = calloc(m->n + 1, sizeof(*copy));
        memcpy(copy, m->points, m->n * sizeof(*copy));

        if (sym_ppdb_add_method(w, i, copy, m->n) != SYM_OK) {
            ok(false, "method %u is added", i);
        }

        free(copy);
    }
}


/* Finds the point by a walk over everything that was added. */
static const sym_ppdb_given_t *
expected(const method_t *m, uint32_t offset)
{
    const sym_ppdb_given_t *found = NULL;

    for (size_t i = 0; i < m->n && m->points[i].offset <= offset; i++) {
        found = &m->points[i];
    }

    return found;
}


static bool
is_right(const sym_ppdb_t *p, uint32_t method, uint32_t offset)
{
    const sym_ppdb_given_t *want = expected(&methods[method], offset);
    sym_ppdb_point_t got;
    sym_status_t rc = sym_ppdb_lookup(p, method, offset, &got);

    return want == NULL
               ? rc == SYM_NOT_FOUND
               : rc == SYM_OK && got.line == want->line
                     && got.document == want->document && got.offset <= offset;
}


static unsigned
wrong_answers(const sym_ppdb_t *p)
{
    unsigned wrong = 0;

    for (uint32_t i = 1; i <= METHODS; i++) {
        const method_t *m = &methods[i];

        for (size_t k = 0; k<m->n; k += m->n> 1000 ? 97 : 1) {
            uint32_t at = m->points[k].offset;

            wrong += !is_right(p, i, at) || !is_right(p, i, at + 1)
                     || (at != 0 && !is_right(p, i, at - 1));
        }

        wrong += !is_right(p, i, 0) || !is_right(p, i, UINT32_MAX);
    }

    return wrong;
}


static void
test_documents(const sym_ppdb_t *p)
{
    unsigned wrong = 0;
    sym_ppdb_document_t d;

    for (uint32_t i = 0; i < DOCUMENTS; i++) {
        char path[64], got[128];

        path_of(i, path);
        if (sym_ppdb_document(p, i, &d) == SYM_OK) {
            (void) snprintf(got, sizeof(got), "%.*s%.*s", (int) d.folder.len,
                            d.folder.data, (int) d.name.len, d.name.data);
            wrong += strcmp(got, path) != 0 || d.lang != SYM_LANG_CSHARP + i % 3
                     || memchr(d.name.data, '\\', d.name.len) != NULL;
        } else {
            wrong++;
        }
    }

    is_u64(wrong, 0, "documents have their paths and languages");
    ok(sym_ppdb_document(p, DOCUMENTS, &d) == SYM_DAMAGED, "and no others");
}


static void
test_random(void)
{
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_ppdb_writer_t *w =
        sym_ppdb_writer_create(memory_put, &m, METHODS, &err);
    sym_extent_view_t views[64] = { { 0 } };
    sym_writer_stats_t stats;
    sym_ppdb_point_t point;
    uint64_t bytes = 0;
    sym_ppdb_t p;

    add_documents(w);
    add_methods(w);
    (void) is_status(sym_ppdb_finish(w, true, &stats), SYM_OK, &err, "written");
    sym_ppdb_writer_free(w);

    for (uint32_t i = 0; i < m.n; i++) {
        bytes += m.extents[i].len;
    }

    is_u64(stats.extents, m.n, "as many extents as were passed");
    is_u64(stats.bytes, bytes, "as many bytes");
    is_u64(stats.quality, SYM_PPDB_LINES, "it has lines");
    ok(m.n > 3 && m.n <= 64, "it takes several extents");
    (void) is_status(sym_ppdb_open(&p, memory_get, &m, &err), SYM_OK, &err,
                     "it opens");
    (void) is_status(sym_ppdb_check(&p, &err), SYM_OK, &err, "it is sound");
    ok(p.has_sources, "it says that there are sources");
    test_documents(&p);
    is_u64(wrong_answers(&p), 0, "every offset finds its point");
    sym_ppdb_remember(&p, views);
    is_u64(wrong_answers(&p), 0, "... with the extents remembered, too");
    ok(sym_ppdb_lookup(&p, 0, 0, &point) == SYM_NOT_FOUND, "no method 0");
    ok(sym_ppdb_lookup(&p, METHODS + 1, 0, &point) == SYM_NOT_FOUND,
       "no method after the last");
    memory_free(&m);
}


static void
make_small(memory_extents_t *m)
{
    sym_ppdb_given_t two[] = { { 0, 10, 0 }, { 5, 11, 0 }, { 9, 400, 1 } };
    sym_ppdb_given_t many[3000];
    sym_error_t err = { 0 };
    sym_ppdb_writer_t *w = sym_ppdb_writer_create(memory_put, m, 3, &err);
    sym_writer_stats_t stats;
    uint32_t number;

    for (uint32_t i = 0; i < 3000; i++) {
        many[i] = (sym_ppdb_given_t){ i, i, 0 };
    }

    (void) sym_ppdb_add_document(w, SYM_STR("/src/a.fs"), SYM_LANG_FSHARP,
                                 &number);
    (void) sym_ppdb_add_document(w, SYM_STR("b.cs"), SYM_LANG_CSHARP, &number);
    (void) sym_ppdb_add_method(w, 1, two, 3);
    (void) sym_ppdb_add_method(w, 3, many, 3000);
    ok(sym_ppdb_finish(w, false, &stats) == SYM_OK, "written");
    sym_ppdb_writer_free(w);
}


/* Looks up everything in it. */
static bool
is_sound(memory_extents_t *m)
{
    sym_error_t bad = { 0 };
    sym_ppdb_document_t document;
    sym_ppdb_point_t point;
    sym_ppdb_t p;

    if (sym_ppdb_open(&p, memory_get, m, &bad) != SYM_OK) {
        return false;
    }

    for (uint32_t i = 0; i < 5; i++) {
        (void) sym_ppdb_lookup(&p, i, 7, &point);
        (void) sym_ppdb_lookup(&p, i, 2048, &point);
        (void) sym_ppdb_document(&p, i, &document);
    }

    return sym_ppdb_check(&p, &bad) == SYM_OK;
}


/* Sanitizers detect errors. */
static void
test_damage(void)
{
    memory_extents_t m = { 0 };
    unsigned unseen = 0;

    make_small(&m);
    is_u64(m.n, 1, "a small one has one extent");
    ok(is_sound(&m), "which is sound");

    for (size_t i = 0; i < m.extents[0].len; i++) {
        uint8_t *p = m.extents[0].data + i, was = *p;

        for (unsigned bit = 0; bit < 8; bit++) {
            *p = (uint8_t) (was ^ 1u << bit);
            unseen += is_sound(&m) && i < 8; /* magic, version */
        }

        *p = was;
    }

    is_u64(unseen, 0, "another magic or version is detected");

    for (size_t len = m.extents[0].len; len-- > 0 && unseen == 0;) {
        m.extents[0].len = len;
        unseen = is_sound(&m);
    }

    is_u64(unseen, 0, "a truncated one is never sound");
    memory_free(&m);
}


static void
test_limits(void)
{
    static char path[SYM_PPDB_PATH_MAX + 1];
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_ppdb_writer_t *w = sym_ppdb_writer_create(memory_put, &m, 0, &err);
    sym_writer_stats_t stats;
    uint32_t number;
    sym_ppdb_t p;

    memset(path, '/', sizeof(path));
    ok(sym_ppdb_add_document(w, sym_str(path, SYM_PPDB_PATH_MAX), 0, &number)
           == SYM_OK,
       "the longest path");
    ok(sym_ppdb_finish(w, false, &stats) == SYM_OK
           && stats.quality == SYM_PPDB_NO_LINES,
       "no method at all");
    ok(sym_ppdb_open(&p, memory_get, &m, &err) == SYM_OK
           && sym_ppdb_check(&p, &err) == SYM_OK && !p.has_sources,
       "... is sound");
    ok(sym_ppdb_add_document(w, sym_str(path, sizeof(path)), 0, &number)
           == SYM_LIMIT,
       "a path that is too long");
    sym_ppdb_writer_free(w);
    memory_free(&m);
}


/* Written by hand, after docs/formats/ppdb.md: two methods, the first with
 * offsets 0, 3 and 300 in lines 7, 8 and 5 of a.vb; the second has no lines. */
static void
test_document(void)
{
    static const uint8_t bytes[] = {
        /* header */
        'S', 'Y', 'M', 'P', 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 83,
        0, 0, 0, 91, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
        0, 0, 0, 107, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        /* 64: texts */
        'd', '/', 'a', '.', 'v', 'b',
        /* 70: a piece */
        0x06, 3, 5, 0, 0, 0, 3, 0, 0x2c, 1, 2, 3, 0,
        /* 83: methods */
        70, 0, 0, 0, 0, 0, 0, 0,
        /* 91: documents */
        64, 0, 0, 0, 66, 0, 0, 0, 2, 0, 4, 0, SYM_LANG_VISUALBASIC, 0, 0, 0
    };
    static const struct {
        uint32_t offset, line;
    } want[] = { { 0, 7 },   { 2, 7 },   { 3, 8 },
                 { 299, 8 }, { 300, 5 }, { 70000, 5 } };
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_ppdb_document_t d = { 0 };
    sym_ppdb_point_t point;
    sym_ppdb_t p;

    (void) memory_put(&m, 0, bytes, sizeof(bytes), &err);
    (void) is_status(sym_ppdb_open(&p, memory_get, &m, &err), SYM_OK, &err,
                     "one made after the document opens");
    (void) is_status(sym_ppdb_check(&p, &err), SYM_OK, &err, "it is sound");
    ok(p.has_sources, "it has sources");
    (void) sym_ppdb_document(&p, 0, &d);
    is_str(d.folder, "d/", "folder");
    is_str(d.name, "a.vb", "name");
    is_str(sym_cstr(sym_language_name(d.lang)), "visualbasic", "language");

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        ok(sym_ppdb_lookup(&p, 1, want[i].offset, &point) == SYM_OK
               && point.line == want[i].line,
           "line at %u", want[i].offset);
    }

    ok(sym_ppdb_lookup(&p, 2, 0, &point) == SYM_NOT_FOUND, "no lines");
    memory_free(&m);
}


/* Documents are found while methods are read; both tables go on in other
 * extents, which must be consecutive. */
static void
test_large(void)
{
    memory_extents_t m = { 0 };
    sym_error_t err = { 0 };
    sym_writer_stats_t stats;
    sym_ppdb_t p;
    sym_ppdb_writer_t *w =
        sym_ppdb_writer_create(memory_put, &m, LARGE_METHODS, &err);

    for (uint32_t i = 1; i <= LARGE_METHODS; i++) {
        sym_ppdb_given_t points[3] = { { 0, i, 0 },
                                       { 5, i + 1, 0 },
                                       { 9, i + 2, 0 } };
        uint32_t number;
        char path[64];

        if (i <= LARGE_DOCUMENTS) {
            (void) snprintf(path, sizeof(path),
                            "/a/long/folder/%u/name_of_%u.cs", i, i);
            (void) sym_ppdb_add_document(w, sym_cstr(path), SYM_LANG_CSHARP,
                                         &number);
        }
        (void) sym_ppdb_add_method(w, i, points, 3);
    }

    ok(sym_ppdb_finish(w, false, &stats) == SYM_OK, "a large one is written");
    ok(sym_ppdb_open(&p, memory_get, &m, &err) == SYM_OK
           && sym_ppdb_check(&p, &err) == SYM_OK,
       "its tables are complete");
    sym_ppdb_writer_free(w);
    memory_free(&m);
}


static void
test_kind(void)
{
    const sym_kind_row_t *row = sym_kind_named(SYM_STR("ppdb"));

    ok(row != NULL && row->kind == SYM_KIND_PPDB
           && row == sym_kind_find(SYM_KIND_PPDB),
       "a kind by its name");
    is_str(sym_cstr(row->quality_name(SYM_PPDB_LINES)), "lines", "its quality");
    is_str(sym_cstr(sym_language_name(SYM_LANG_OBJCPP)), "objcpp",
           "a language by its name");
    is_str(sym_cstr(sym_language_name(99)), "", "an unknown language");
}


int
main(void)
{
    test_kind();
    test_document();
    test_random();
    test_large();
    test_damage();
    test_limits();

    for (unsigned i = 0; i <= METHODS; i++) {
        free(methods[i].points);
    }

    return done_testing();
}
