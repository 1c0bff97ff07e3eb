/*
 * outfile.h - a file that is written completely or not at all.
 *
 * The file is written under a temporary name in the same folder and renamed at
 * the end, so a reader sees the old file or the new one.  A signal that ends
 * the process removes the temporary file.  A process has one such file at a
 * time.
 */
#ifndef SYMLOADER_CLI_OUTFILE_H
#define SYMLOADER_CLI_OUTFILE_H

#include "base/error.h"

/*
 * A descriptor to write to; -1: *err has the reason.  Anything but a regular
 * file (a pipe, /dev/null) is written directly.
 */
int outfile_open(const char *path, sym_error_t *err);

/* Renames the complete file to its name.  Closes the descriptor. */
sym_status_t outfile_keep(int fd, const char *path, sym_error_t *err);

/* Removes the temporary file.  Closes the descriptor. */
void outfile_drop(int fd);

#endif
