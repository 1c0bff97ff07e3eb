/*
 * Files that no dumper should write: t/bad/breakpad/CASE/input must fail with
 * exactly the text in .../error, whole and in pieces of 1 to 64 bytes.
 */
#include "bad_cases.h"
#include "formats/breakpad/breakpad.h"
#include "fake_writer.h"

static void
error_of(sym_str_t in, size_t piece, char *text, size_t size)
{
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    sym_breakpad_t *b = sym_breakpad_create(w, &err);

    for (size_t at = 0; at < in.len; at += piece) {
        size_t len = in.len - at < piece ? in.len - at : piece;

        (void) sym_breakpad_feed(b, in.data + at, len);
    }

    (void) sym_breakpad_end(b);
    (void) sym_error_text(&err, text, size);
    sym_breakpad_free(b);
    sym_writer_free(w);
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    char text[256], piece_text[256];
    size_t different = 0;

    error_of(in, in.len + 1, text, sizeof(text));
    if (!ok(sym_str_eq(sym_cstr(text), want), "%s", name)) {
        printf("#   got '%s', want '%.*s'\n", text, (int) want.len, want.data);
    }

    for (size_t piece = 1; piece <= 64; piece++) {
        error_of(in, piece, piece_text, sizeof(piece_text));
        different += strcmp(text, piece_text) != 0;
    }
    is_u64(different, 0, "... the same in pieces");
}


int
main(void)
{
    bad_cases("t/bad/breakpad", 20, test_case);
    return done_testing();
}
