/*
 * lines.h - lines of a descriptor, as they come.
 *
 * For commands at the other end of a pipe: what is there is read and answered,
 * and only then is more waited for.
 */
#ifndef SYMLOADER_CLI_LINES_H
#define SYMLOADER_CLI_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

/* A longer line comes in parts. */
#define LINES_BYTES 65536

typedef struct {
    size_t have, taken; /* bytes of the buffer: filled, done with */
    bool at_end;
    char buffer[LINES_BYTES];
} lines_t;

/* Waits for bytes: what read(2) returns, but for EINTR. */
ssize_t lines_read(lines_t *l, int fd);

/* Reading would not wait: more was sent, or there is no more.  Of a file always. */
bool lines_are_ready(int fd);

/* The next line that is whole, without its newline, or the last one at the end;
 * lives until more is read.  False: none. */
bool lines_next(lines_t *l, sym_str_t *line);

/* Takes the next line if it is a hexadecimal number and nothing else. */
bool lines_number(lines_t *l, uint64_t *value);

/* The line without white space at its ends. */
sym_str_t lines_trim(sym_str_t line);

/* Takes the next word off a line; false: the line has ended. */
bool lines_word(sym_str_t *line, sym_str_t *word);

#endif
