/*
 * An index of any bytes, read at once and in pieces, whose size is the first
 * byte: with the same entries and the same end.  A checked path never leads out
 * of its root.
 */
#include "check.h"
#include "formats/packed/package_index.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    sym_str_t left;
    size_t piece; /* 0: all */
    bool has_begun;
    uint64_t sum, n, n_valid;
} said_t;

/* FNV-1a */
static void
add(said_t *said, const char *text)
{
    for (; *text != '\0'; text++) {
        said->sum = (said->sum ^ (uint8_t) *text) * 0x100000001b3;
    }
    said->sum = said->sum * 0x100000001b3 + 1;
}


static void
see(void *ctx, const sym_package_entry_t *e)
{
    said_t *said = ctx;
    sym_package_content_t content;

    add(said, e->name);
    add(said, e->path);
    add(said, e->size);
    add(said, e->digest);
    said->n++;

    if (sym_package_entry_check(e, &content) == NULL) {
        said->n_valid++;
        check(e->path[0] != '/' && strstr(e->path, "/../") == NULL);
        check(strncmp(e->path, "../", 3) != 0 && strcmp(e->path, "..") != 0);
        check(strpbrk(e->path, "\r\n ") == NULL);
        check(content.digest_len
              == (e->from == SYM_PACKAGE_ALPINE ? 20 : SYM_SHA256_LEN));
    }
}


static sym_status_t
more(void *ctx, const char **data, size_t *len, sym_error_t *err)
{
    said_t *said = ctx;
    const size_t most = said->piece == 0   ? said->left.len
                        : !said->has_begun ? SYM_PACKAGE_INDEX_SNIFF
                                           : said->piece;

    (void) err;
    said->has_begun = true;
    *data = said->left.data;
    *len = most < said->left.len ? most : said->left.len;
    said->left = sym_str(said->left.data + *len, said->left.len - *len);
    return SYM_OK;
}


static sym_status_t
read_all(said_t *said, sym_str_t in, size_t piece)
{
    sym_error_t err = { 0 };

    *said = (said_t){ .left = in, .piece = piece };
    return sym_package_index_read(more, said, see, said, &err);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    said_t whole, pieces;
    sym_status_t rc;
    sym_str_t in;

    if (size < 2) {
        return 0;
    }

    in = sym_str((const char *) data + 1, size - 1);
    rc = read_all(&whole, in, 0);
    check(rc == read_all(&pieces, in, 1 + (size_t) data[0]));
    check(rc != SYM_OK
          || (whole.sum == pieces.sum && whole.n == pieces.n
              && whole.n_valid == pieces.n_valid));
    check(whole.n <= in.len);
    return 0;
}
