/*
 * input.h - the bytes of one symbol file, unpacked.
 *
 * Reads a descriptor (it opens nothing) in large pieces and hands over plain
 * text: a file that begins like gzip (RFC 1952, 2.3.1) goes through zlib, all
 * its members one after another.  Used by the converter only.
 */
#ifndef SYMLOADER_INPUT_H
#define SYMLOADER_INPUT_H

#include <stdint.h>

#include "base/error.h"

typedef struct input_s input_t;

/* Buffers for any number of files; NULL when out of memory. */
input_t *input_create(void);
void input_free(input_t *in);

/* Starts on another file. */
void input_start(input_t *in, int fd);

/*
 * The next bytes; they live until the next call.  SYM_OK with *len 0: the end.
 * Errors give the offset in the file as it lies on the disk.
 */
sym_status_t input_next(input_t *in, const char **data, size_t *len,
                        sym_error_t *err);

#endif
