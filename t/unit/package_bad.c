/*
 * Packages that no tool should write: finding the files of
 * t/bad/package/CASE/input, or reading them if they are an uncompressed cpio,
 * must fail with exactly the text in .../error.  Pieces are small, so each field
 * is cut somewhere.
 */
#include "bad_cases.h"

#include "formats/packed/cpio.h"
#include "formats/packed/package.h"

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
read_cpio(sym_str_t in, sym_error_t *err)
{
    static sym_cpio_t cpio;
    sym_packed_entry_t entry;
    const char *data;
    sym_status_t rc;
    size_t len;

    sym_cpio_start(&cpio, next_piece, &in);
    while ((rc = sym_cpio_next(&cpio, &entry, err)) == SYM_OK) {
        do {
            rc = sym_pieces_body(&cpio.in, &data, &len, err);
        } while (rc == SYM_OK && len != 0);
        if (rc != SYM_OK) {
            break;
        }
    }

    return rc;
}


static void
test(const char *name, sym_str_t in, sym_str_t want)
{
    sym_error_t err = { 0 };
    sym_status_t rc = SYM_OK;
    sym_str_t payload = in;
    bool is_cpio = true;
    char text[256];

    if (sym_package_is(in)) {
        rc = sym_package_payload(in, &payload, &is_cpio, &err);
    }

    if (rc == SYM_OK && is_cpio) {
        rc = read_cpio(payload, &err);
    }

    ok(rc != SYM_OK && rc != SYM_NOT_FOUND, "%s: is refused", name);
    is_str(want, sym_error_text(&err, text, sizeof(text)), "... says why");
}


int
main(void)
{
    bad_cases("t/bad/package", 22, test);
    return done_testing();
}
