/*
 * Tars that break the format's rules: reading t/bad/tar/CASE/input to its end
 * must fail with exactly the text in .../error.  Pieces are small, so each field
 * is cut somewhere.
 */
#include "bad_cases.h"

#include "formats/packed/tar.h"

#define PIECE_BYTES 7

static sym_status_t
next_piece(void *ctx, const char **data, size_t *len, sym_error_t *err)
{
    sym_str_t *rest = ctx;

    (void) err;
    *data = rest->data;
    *len = rest->len < PIECE_BYTES ? rest->len : PIECE_BYTES;
    *rest = sym_str(rest->data + *len, rest->len - *len);
    return SYM_OK;
}


static sym_status_t
read_all(sym_str_t in, sym_error_t *err)
{
    static sym_tar_t tar;
    sym_packed_entry_t entry;
    const char *data;
    sym_status_t rc;
    size_t len;

    sym_tar_start(&tar, next_piece, &in);
    while ((rc = sym_tar_next(&tar, &entry, err)) == SYM_OK) {
        do {
            rc = sym_pieces_body(&tar.in, &data, &len, err);
        } while (rc == SYM_OK && len != 0);
    }

    return rc;
}


static void
test(const char *name, sym_str_t in, sym_str_t want)
{
    sym_error_t err = { 0 };
    char text[256];

    (void) read_all(in, &err);
    is_str(want, sym_error_text(&err, text, sizeof(text)), name);
}


int
main(void)
{
    bad_cases("t/bad/tar", 14, test);
    return done_testing();
}
