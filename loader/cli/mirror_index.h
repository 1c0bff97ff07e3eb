/*
 * mirror_index.h - the packages in an index, for `symloader mirror`.
 *
 * The index comes from elsewhere and is usually compressed, so a process in the
 * sandbox unpacks and reads it (formats/packed/package_index.h).  It is at most a
 * few packages ahead of the caller, who may need hours for one.
 */
#ifndef SYMLOADER_CLI_MIRROR_INDEX_H
#define SYMLOADER_CLI_MIRROR_INDEX_H

#include <sys/types.h>

#include "common/options.h"
#include "formats/packed/package_index.h"

typedef struct {
    int fd;
    pid_t pid;
} mirror_index_t;

/* Starts to read the file.  False: the error was printed to stderr. */
bool mirror_index_open(mirror_index_t *index, const options_t *options,
                       int file);
void mirror_index_close(mirror_index_t *index);

/* Gets the next entry, which must be checked.  False: the end, with *is_complete
 * false if the index cannot be read; the error was printed to stderr. */
bool mirror_index_next(mirror_index_t *index, sym_package_entry_t *entry,
                       bool *is_complete);

#endif
