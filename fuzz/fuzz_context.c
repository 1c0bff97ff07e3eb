/*
 * The lines around a line of any bytes: a text in memory and the same text in
 * blocks must give equal results, which are UTF-8, have no newline, and are
 * short.  The input begins with the line, the column and the size of blocks
 * (u16 each).
 */
#include <stdint.h>
#include <string.h>

#include "base/little.h"
#include "check.h"
#include "symbolicate/context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    sym_str_t text;
    uint64_t block_bytes;
} blocks_t;


static sym_status_t
block(void *ctx, uint64_t number, sym_str_t *bytes)
{
    const blocks_t *b = ctx;
    uint64_t at = number * b->block_bytes;
    uint64_t left = at < b->text.len ? b->text.len - at : 0;

    check(left > 0);
    *bytes = sym_str(b->text.data + at,
                     (size_t) (left < b->block_bytes ? left : b->block_bytes));
    return SYM_OK;
}


static sym_status_t
count(void *ctx, uint64_t number, uint64_t *newlines)
{
    const blocks_t *b = ctx;
    uint64_t end = number * b->block_bytes;

    *newlines = 0;
    for (uint64_t i = 0; i < end && i < b->text.len; i++) {
        *newlines += b->text.data[i] == '\n';
    }
    return SYM_OK;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t line, column;
    blocks_t b;
    sym_context_text_t t, blocks;
    sym_context_t one, other;
    sym_status_t rc;

    if (size < 6 || size > 65536) {
        return 0;
    }

    line = sym_get16(data);
    column = sym_get16(data + 2);
    b.block_bytes = (uint64_t) sym_get16(data + 4) + 1;
    b.text = sym_str((const char *) data + 6, size - 6);

    t = sym_context_memory(&b.text);
    blocks = (sym_context_text_t){ .len = t.len,
                                   .newlines = t.newlines,
                                   .block_bytes = b.block_bytes,
                                   .ctx = &b,
                                   .count = count,
                                   .block = block };
    rc = sym_context_read(&t, line, column, &one);
    check(rc == SYM_OK || rc == SYM_NOT_FOUND);
    check(sym_context_read(&blocks, line, column, &other) == rc);

    if (rc == SYM_OK) {
        check(one.n == other.n && one.before == other.before);
        check(one.before < one.n && one.n <= SYM_CONTEXT_LINES);
    }

    for (unsigned i = 0; rc == SYM_OK && i < one.n; i++) {
        check(sym_str_eq(one.lines[i], other.lines[i]));
        check(one.lines[i].len <= SYM_CONTEXT_LINE_MAX);
        check(sym_utf8_valid(one.lines[i]));
        check(memchr(one.lines[i].data, '\n', one.lines[i].len) == NULL);
    }

    return 0;
}
