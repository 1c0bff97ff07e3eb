/*
 * context.h - the lines of a source file around a line, in the form in which
 * Sentry shows them.
 *
 * The shown part equals Symbolicator's (crates/symbolicator-service,
 * source_context.rs): five lines on each side, and about 140 bytes around a
 * column of a long line.  A text consists of blocks, and only those that
 * contain the lines are read.  So the work is a few blocks for each line, for
 * texts of any size.
 */
#ifndef SYM_SYMBOLICATE_CONTEXT_H
#define SYM_SYMBOLICATE_CONTEXT_H

#include "base/error.h"
#include "base/str.h"

#define SYM_CONTEXT_AROUND 5
#define SYM_CONTEXT_LINES (2 * SYM_CONTEXT_AROUND + 1)

/* Maximum length of a shown line: the cut may move by 3 bytes to the start of a
 * character, and both ends may get a mark. */
#define SYM_CONTEXT_LINE_MAX 160

/*
 * A text in blocks of one size; the last block may be shorter.  The bytes and
 * the counts are untrusted.
 */
typedef struct {
    uint64_t len;
    uint64_t newlines;
    uint64_t block_bytes; /* not 0 */
    void *ctx;

    /* Number of newlines before a block; SYM_DAMAGED. */
    sym_status_t (*count)(void *ctx, uint64_t number, uint64_t *newlines);

    /* Bytes of a block; valid until the second call after this one. */
    sym_status_t (*block)(void *ctx, uint64_t number, sym_str_t *bytes);
} sym_context_text_t;

/* The lines in order; lines[before] is the requested one. */
typedef struct {
    sym_str_t lines[SYM_CONTEXT_LINES]; /* views of `text` */
    unsigned n, before;
    size_t bytes; /* total length of the lines */
    char text[SYM_CONTEXT_LINES * SYM_CONTEXT_LINE_MAX];
} sym_context_t;

/*
 * Gets the lines around a line (from 1; 0 also means the first line, as in
 * Symbolicator).  Long lines are cut around a column in bytes (0: from their
 * start).
 *
 * A line ends at "\n" or "\r\n", or at the end of the text.  Bytes that are not
 * UTF-8 become U+FFFD.  *context must stay in place.  SYM_NOT_FOUND: the text
 * has no such line; SYM_DAMAGED, and errors of `count` and `block`.
 */
sym_status_t sym_context_read(const sym_context_text_t *text, uint64_t line,
                              uint64_t column, sym_context_t *context);

/* Uses a text in memory as one block; the text must stay in place. */
sym_context_text_t sym_context_memory(sym_str_t *text);

#endif
