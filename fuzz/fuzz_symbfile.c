/*
 * A symbfile of any bytes: read at once and in pieces, whose size is the first
 * byte, with the same records.
 */
#include <stdlib.h>

#include "check.h"
#include "formats/symbfile/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All records of a reader, as one number. */
typedef struct {
    uint64_t sum;
    uint32_t n_strings;
} said_t;

static void
add(said_t *said, uint64_t value)
{
    said->sum = (said->sum ^ value) * 0x9e3779b97f4a7c15u;
    said->sum ^= said->sum >> 29;
}


static void
check_string(const said_t *said, uint32_t id)
{
    check(id == SYM_SYMBFILE_NO_STRING || id < said->n_strings);
}


static sym_status_t
string(void *ctx, sym_str_t text, uint32_t *id, sym_error_t *err)
{
    said_t *said = ctx;

    (void) err;
    check(sym_utf8_valid(text));
    add(said, text.len);
    *id = said->n_strings++;
    return SYM_OK;
}


static sym_status_t
range(void *ctx, const sym_symbfile_range_t *r, sym_error_t *err)
{
    said_t *said = ctx;

    (void) err;
    check(r->name < said->n_strings);
    check_string(said, r->file);
    check_string(said, r->call_file);
    add(said, r->addr);
    add(said, r->size);
    add(said, r->depth);

    for (size_t i = 0; i < r->n_lines; i++) {
        check(i == 0 || r->lines[i].offset >= r->lines[i - 1].offset);
        add(said, r->lines[i].offset);
        add(said, r->lines[i].line);
    }

    return SYM_OK;
}


static sym_status_t
pad(void *ctx, const sym_symbfile_pad_t *p, sym_error_t *err)
{
    said_t *said = ctx;

    (void) err;
    add(said, p->addr);

    for (size_t i = 0; i < p->n_frames; i++) {
        check(p->frames[i].name < said->n_strings
              && p->frames[i].file < said->n_strings);
        add(said, p->frames[i].name);
        add(said, p->frames[i].line);
    }

    return SYM_OK;
}


static said_t
read_pieces(const uint8_t *data, size_t size, size_t piece, sym_error_t *err)
{
    said_t said = { 0 };
    const sym_symbfile_sink_t sink = { string, range, pad, &said };
    sym_symbfile_t *s = sym_symbfile_create(&sink, err);
    sym_status_t rc = s != NULL ? SYM_OK : SYM_NOMEM;

    for (size_t at = 0, len; rc == SYM_OK && at < size; at += len) {
        uint8_t *copy;

        len = size - at < piece ? size - at : piece;
        copy = malloc(len); /* a sanitizer sees every byte past it */
        check(copy != NULL);
        memcpy(copy, data + at, len);
        rc = sym_symbfile_feed(s, copy, len);
        free(copy);
    }

    if (rc == SYM_OK) {
        rc = sym_symbfile_end(s);
    }

    check(rc == err->status && (rc == SYM_OK || err->what != NULL));
    sym_symbfile_free(s);
    return said;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_error_t err = { 0 }, again = { 0 };
    said_t whole, pieces;

    if (size < 2) {
        return 0;
    }

    whole = read_pieces(data + 1, size - 1, size, &err);
    pieces = read_pieces(data + 1, size - 1, (size_t) 1 + data[0], &again);
    check(err.status == again.status && err.what == again.what
          && err.offset == again.offset);
    check(whole.sum == pieces.sum && whole.n_strings == pieces.n_strings);
    return 0;
}
