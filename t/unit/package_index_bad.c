/*
 * Indexes of packages.  Those of t/bad/package_index/CASE/input must not be
 * followed: reading them, or checking the first entry, must fail with exactly the
 * text in .../error.  Pieces are small, so each field is cut somewhere.
 */
#include "bad_cases.h"

#include <stdlib.h>
#include <string.h>

#include "formats/packed/package_index.h"

#define PIECE_BYTES 7
#define LARGE_PIECE_BYTES 65536

typedef struct {
    sym_str_t left;
    size_t piece;
    bool has_begun;
    unsigned n;
    sym_package_entry_t first, last;
} reader_t;

static sym_status_t
more(void *ctx, const char **data, size_t *len, sym_error_t *err)
{
    reader_t *r = ctx;
    const size_t most = r->has_begun ? r->piece : SYM_PACKAGE_INDEX_SNIFF;

    (void) err;
    r->has_begun = true;
    *data = r->left.data;
    *len = most < r->left.len ? most : r->left.len;
    r->left = sym_str(r->left.data + *len, r->left.len - *len);
    return SYM_OK;
}


static void
take(void *ctx, const sym_package_entry_t *entry)
{
    reader_t *r = ctx;

    if (r->n++ == 0) {
        r->first = *entry;
    }
    r->last = *entry;
}


static sym_status_t
read_index(reader_t *r, sym_str_t in, sym_error_t *err)
{
    /* expat reads an unfinished tag again with each piece */
    *r = (reader_t){ .left = in,
                     .piece = in.len < LARGE_PIECE_BYTES ? PIECE_BYTES
                                                         : LARGE_PIECE_BYTES };
    *err = (sym_error_t){ 0 };
    return sym_package_index_read(more, r, take, r, err);
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    sym_package_content_t content;
    sym_error_t err;
    reader_t r;
    char text[512];
    const char *why = text;

    if (read_index(&r, in, &err) != SYM_OK) {
        (void) sym_error_text(&err, text, sizeof(text));
    } else if (ok(r.n != 0, "%s: an entry", name)) {
        why = sym_package_entry_check(&r.first, &content);
    }

    ok(why != NULL && sym_str_eq(sym_cstr(why), want), "%s: %s", name,
       why != NULL ? why : "it is taken");
}


/* deb822(5): any case of a name, blanks around a value, continuations, a last
 * paragraph without an empty line. */
static void
test_debian(void)
{
    static const char text[] =
        "\n\nPACKAGE:a\nDescription: b\n Size: 7\n .\nfilename: \t pool/..a/b "
        "\n"
        "Size: 18446744073709551615\r\nSha256: "
        "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
    sym_package_content_t content;
    sym_error_t err;
    reader_t r;

    ok(read_index(&r, SYM_STR(text), &err) == SYM_OK, "Debian: is read");
    is_u64(r.n, 1, "an entry");
    ok(sym_package_entry_check(&r.first, &content) == NULL, "is good");
    is_str(sym_cstr(r.first.name), "a", "its name");
    is_str(sym_cstr(r.first.path), "pool/..a/b", "its path");
    is_u64(content.size_bytes, UINT64_MAX, "its size");
    ok(content.digest_len == 32 && content.digest[1] == 0x11
           && content.digest[31] == 0xff,
       "its digest");
}


/* As createrepo_c writes it: names also in other places, values with entities of
 * XML, other checksums before and after. */
static void
test_rpm(void)
{
    static const char text[] =
        "<?xml version=\"1.0\"?>\n<metadata packages=\"1\">"
        "<package type=\"rpm\">\n<name>a&amp;b</name>\n"
        "<checksum type=\"sha256\">"
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
        "</checksum><checksum type=\"sha512\">00</checksum>"
        "<size package=\"77\" installed=\"5\"/>"
        "<location href=\"Packages/a/a&lt;b.rpm\"/><format>"
        "<name>other</name><size package=\"5\"/><rpm:entry name=\"c\"/>"
        "</format></package></metadata>";
    sym_package_content_t content;
    sym_error_t err;
    reader_t r;

    ok(read_index(&r, SYM_STR(text), &err) == SYM_OK, "RPM: is read");
    is_u64(r.n, 1, "an entry");
    ok(r.first.from == SYM_PACKAGE_RPM, "is a package");
    ok(sym_package_entry_check(&r.first, &content) == NULL, "is good");
    is_str(sym_cstr(r.first.name), "a&b", "its name");
    is_str(sym_cstr(r.first.path), "Packages/a/a<b.rpm", "its path");
    is_u64(content.size_bytes, 77, "its size");
}


static void
test_rpm_list(void)
{
    static const char text[] =
        "<repomd><data type=\"other\"><location href=\"no\"/></data>"
        "<data type=\"primary\"><checksum type=\"sha256\">"
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
        "</checksum><open-checksum type=\"sha256\">00</open-checksum>"
        "<location href=\"repodata/1-primary.xml.gz\"/><size>565</size>"
        "<open-size>1144</open-size></data>"
        "<data type=\"primary_db\"><location href=\"no\"/></data></repomd>";
    sym_package_content_t content;
    sym_error_t err;
    reader_t r;

    ok(read_index(&r, SYM_STR(text), &err) == SYM_OK, "repomd.xml: is read");
    is_u64(r.n, 1, "an entry");
    ok(r.first.from == SYM_PACKAGE_RPM_LIST, "is an index");
    ok(sym_package_entry_check(&r.first, &content) == NULL, "is good");
    is_str(sym_cstr(r.first.path), "repodata/1-primary.xml.gz", "its path");
    is_u64(content.size_bytes, 565, "its size");
}


static void
put(char *to, const char *text)
{
    while (*text != '\0') {
        *to++ = *text++;
    }
}


/* A tag of three million bytes is refused before it ends, and many short ones
 * of as many bytes are not. */
static void
test_long_tag(void)
{
    static const char begin[] = "<metadata><package><location href=\"";
    const size_t size = 3000000;
    char *text = malloc(size);
    sym_error_t err;
    reader_t r;

    if (text == NULL) {
        abort();
    }

    memset(text, 'a', size);
    put(text, begin);
    ok(read_index(&r, sym_str(text, size), &err) == SYM_MALFORMED,
       "a long tag: is refused");
    is_str(sym_cstr(err.what), "it has a tag that is too long", "why");
    ok(r.left.len > size / 2, "... before its end");

    memset(text, '\n', size);
    put(text, "<metadata>");
    for (size_t i = 10; i + 40 < size; i += 20) {
        put(text + i, "<package></package>");
    }
    put(text + size - 11, "</metadata>");
    ok(read_index(&r, sym_str(text, size), &err) == SYM_OK,
       "many short ones: are read");
    ok(r.n > 149000, "... all");
    free(text);
}


int
main(void)
{
    test_debian();
    test_rpm();
    test_rpm_list();
    test_long_tag();
    bad_cases("t/bad/package_index", 30, test_case);
    return done_testing();
}
