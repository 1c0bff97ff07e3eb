/*
 * outfile.h - a file that is written completely or not at all.
 *
 * The file is written under a temporary name in the same folder, and renamed at
 * the end, so readers see either the old or the new file.  If a signal ends the
 * process, the temporary file is removed.  A process has only one such file at
 * a time.
 */
#ifndef SYMLOADER_CLI_OUTFILE_H
#define SYMLOADER_CLI_OUTFILE_H

#include "base/error.h"

/*
 * Returns a descriptor to write to; -1: *err has the reason.  Everything but a
 * regular file (a pipe, /dev/null) is written directly.
 */
int outfile_open(const char *path, sym_error_t *err);

/* Renames the complete file to its name.  Closes the descriptor. */
sym_status_t outfile_keep(int fd, const char *path, sym_error_t *err);

/* Removes the temporary file.  Closes the descriptor. */
void outfile_drop(int fd);

#endif
