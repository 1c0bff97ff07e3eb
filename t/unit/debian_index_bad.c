/*
 * Entries of an index that must not be followed: checking the first one of
 * t/bad/debian_index/CASE/input must fail with exactly the text in .../error.
 * Pieces are small, so each field is cut somewhere.
 */
#include "bad_cases.h"

#include "formats/packed/debian_index.h"

#define PIECE_BYTES 7

static bool
first_entry(sym_debian_index_t *index, sym_str_t in)
{
    while (in.len != 0) {
        sym_str_t piece =
            sym_str(in.data, in.len < PIECE_BYTES ? in.len : PIECE_BYTES);

        in = sym_str(in.data + piece.len, in.len - piece.len);
        if (sym_debian_index_next(index, &piece)) {
            return true;
        }
    }

    return sym_debian_index_end(index);
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    sym_debian_index_t index = { .len = 0 };
    sym_debian_content_t content;
    const char *why;

    if (!ok(first_entry(&index, in), "%s: an entry", name)) {
        return;
    }

    why = sym_debian_entry_check(&index.entry, &content);
    ok(why != NULL && sym_str_eq(sym_cstr(why), want), "%s: %s", name,
       why != NULL ? why : "it is taken");
}


/* deb822(5): any case of a name, blanks around a value, continuations, a last
 * paragraph without an empty line. */
static void
test_good(void)
{
    static const char text[] =
        "\n\nPACKAGE:a\nDescription: b\n Size: 7\n .\nfilename: \t pool/..a/b "
        "\n"
        "Size: 18446744073709551615\r\nSha256: "
        "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
    sym_debian_index_t index = { .len = 0 };
    sym_debian_content_t content;

    ok(first_entry(&index, SYM_STR(text)), "an entry");
    ok(sym_debian_entry_check(&index.entry, &content) == NULL, "is good");
    is_str(sym_cstr(index.entry.name), "a", "its name");
    is_str(sym_cstr(index.entry.path), "pool/..a/b", "its path");
    is_u64(content.size_bytes, UINT64_MAX, "its size");
    ok(content.sha256.bytes[1] == 0x11 && content.sha256.bytes[31] == 0xff,
       "its digest");
    ok(!sym_debian_index_end(&index), "there is one");
}


int
main(void)
{
    test_good();
    bad_cases("t/bad/debian_index", 21, test_case);
    return done_testing();
}
