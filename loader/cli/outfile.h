/*
 * outfile.h - a file that is written whole or not at all.
 *
 * Grows under another name beside its own and takes that at the end, so whoever
 * reads it finds the old one or the new one.  A signal that ends the process
 * removes it first.  One at a time in a process.
 */
#ifndef SYMLOADER_CLI_OUTFILE_H
#define SYMLOADER_CLI_OUTFILE_H

#include "base/error.h"

/*
 * A descriptor to write to; -1: *err says why.  What is there and no regular
 * file (a pipe, /dev/null) is written to as it is.
 */
int outfile_open(const char *path, sym_error_t *err);

/* All was written: gives the file its name.  Closes the descriptor. */
sym_status_t outfile_keep(int fd, const char *path, sym_error_t *err);

/* Leaves nothing behind.  Closes the descriptor. */
void outfile_drop(int fd);

#endif
