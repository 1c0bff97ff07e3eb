/*
 * lines.h - lines of a descriptor, as they come.
 *
 * For commands at the other end of a pipe: what is there is read and answered,
 * and only then is more waited for.
 */
#ifndef SYMLOADER_LINES_H
#define SYMLOADER_LINES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/str.h"

/* A longer line comes in parts.  For thousands of addresses at a time. */
#define LINES_BYTES 262144

typedef struct {
    size_t have, taken; /* bytes of the buffer: filled, done with */
    bool at_end;
    char buffer[LINES_BYTES];
} lines_t;

/* Waits for bytes, and takes all that can be had without more waiting, as far as
 * there is room.  What the last read(2) returned: 0 at the end, < 0: errno. */
ssize_t lines_read(lines_t *l, int fd);

/* The next line that is whole, without its newline, or the last one at the end;
 * lives until more is read.  False: none. */
bool lines_next(lines_t *l, sym_str_t *line);

/* Takes the next word off a line; false: there is none. */
bool lines_word(sym_str_t *line, sym_str_t *word);

#endif
