/*
 * lines.h - reads lines from a descriptor as they arrive.
 *
 * For commands that read a pipe: they answer the available lines before they
 * wait for more.
 */
#ifndef SYMLOADER_CLI_LINES_H
#define SYMLOADER_CLI_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

/* Longer lines are returned in parts. */
#define LINES_BYTES 65536

typedef struct {
    size_t have, taken; /* number of bytes in the buffer, and of those
                           consumed */
    bool at_end;
    char buffer[LINES_BYTES];
} lines_t;

/* Waits for bytes; returns what read(2) returns, except EINTR. */
ssize_t lines_read(lines_t *l, int fd);

/* Whether reading would not block: more bytes or the end have arrived.  Always
   true for a file. */
bool lines_are_ready(int fd);

/* Takes the next complete line, without its newline, or the last line at the
 * end; it is valid until the next read.  False: there is none. */
bool lines_next(lines_t *l, sym_str_t *line);

/* Takes the next line if it is only a hexadecimal number. */
bool lines_number(lines_t *l, uint64_t *value);

/* Returns the line without white space at its ends. */
sym_str_t lines_trim(sym_str_t line);

/* Takes the next word of a line; false: end of the line. */
bool lines_word(sym_str_t *line, sym_str_t *word);

#endif
