/*
 * operands.h - finds the files of `symloader load`.
 *
 * An operand that is a file is taken under any name.  A folder is searched to
 * any depth, in sorted order, for files that end in .sym, .sym.gz, .debug, .js,
 * .mjs, .cjs or .map, and for debug files by their first bytes (so a dSYM bundle, which is a
 * folder, needs no rule of its own).  In the layout of a Windows symbol server,
 * NAME/ID/, cabinets (NAM_) and pointers (file.ptr) count, too.  Links to files
 * with these endings are followed, unless they lead to a debug file of the same
 * tree, which the walk finds anyway; links to folders only if they are
 * operands, so that loops of links are harmless.  Memory is the depth of the
 * tree times its widest folder.
 */
#ifndef SYMLOADER_CLI_OPERANDS_H
#define SYMLOADER_CLI_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

typedef struct walk_s walk_t;

typedef struct {
    const char *path;   /* lives until the next call */
    const char *target; /* not NULL: the target of a pointer */
    uint64_t size;      /* 0 for a pipe */
    bool is_pipe;
    bool is_in_tree;     /* found in a folder, not named by the caller */
    const char *root;    /* of that folder, its path without links; or NULL */
    const char *below;   /* path below that folder; else the file's name */
    int sys_errno;       /* not 0: cannot be opened */
    const char *problem; /* not NULL: static text, cannot be used */
    const char *passed;  /* not NULL: static text, may be skipped */
} walk_file_t;

/* NULL when out of memory. */
walk_t *walk_create(char *const *operands, int n_operands);
void walk_free(walk_t *walk);

/* False: that was the last. */
bool walk_next(walk_t *walk, walk_file_t *file);

/* Number of files of other types in folders that were skipped so far. */
/* Whether the name is that of a script or source map. */
bool operands_is_script(const char *path);

uint64_t walk_passed(const walk_t *walk);

#endif
