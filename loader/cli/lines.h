/*
 * lines.h - lines of a descriptor, as they arrive.
 *
 * For commands at the end of a pipe: available lines are read and answered
 * before waiting for more.
 */
#ifndef SYMLOADER_CLI_LINES_H
#define SYMLOADER_CLI_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

/* A longer line is returned in parts. */
#define LINES_BYTES 65536

typedef struct {
    size_t have, taken; /* bytes of the buffer: filled, done with */
    bool at_end;
    char buffer[LINES_BYTES];
} lines_t;

/* Waits for bytes; returns what read(2) returns, except EINTR. */
ssize_t lines_read(lines_t *l, int fd);

/* Whether reading would not block: more bytes arrived, or the end.  Always true
   for a file. */
bool lines_are_ready(int fd);

/* The next complete line, without its newline, or the last one at the end; it
 * lives until the next read.  False: none. */
bool lines_next(lines_t *l, sym_str_t *line);

/* Consumes the next line if it is only a hexadecimal number. */
bool lines_number(lines_t *l, uint64_t *value);

/* The line without white space at its ends. */
sym_str_t lines_trim(sym_str_t line);

/* Consumes the next word of a line; false: end of the line. */
bool lines_word(sym_str_t *line, sym_str_t *word);

#endif
