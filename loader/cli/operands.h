/*
 * operands.h - finds the files of `symloader load`.
 *
 * If an operand is a file, it is used, whatever its name is.  A folder is
 * searched to any depth, in sorted order, for files that end in .sym, .sym.gz,
 * .debug, .js, .mjs, .cjs or .map, and for debug files, which are recognized by
 * their first bytes, and packages of distributions.  (So a dSYM bundle, which is a folder, needs no special
 * rule.) In the layout of a Windows symbol server, NAME/ID/, cabinets (NAM_)
 * and pointers (file.ptr) are used, too.  Links to files with these endings are
 * followed, unless they lead to a debug file of the same tree, because the walk
 * finds it anyway.  Links to folders are followed only if they are operands, so
 * loops of links are harmless.  The memory needed is the depth of the tree
 * times its widest folder.
 */
#ifndef SYMLOADER_CLI_OPERANDS_H
#define SYMLOADER_CLI_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

typedef struct walk_s walk_t;

typedef struct {
    const char *path;   /* valid until the next call */
    const char *target; /* not NULL: the target of a pointer */
    uint64_t size;      /* 0 for a pipe */
    bool is_pipe;
    bool is_package;     /* a distribution's package, with files in it */
    bool is_in_tree;     /* it was found in a folder, not named by the caller */
    const char *root;    /* path of that folder, with links resolved; or NULL */
    const char *below;   /* path relative to that folder; or the file's name */
    int sys_errno;       /* not 0: the file cannot be opened */
    const char *problem; /* not NULL: why the file cannot be used; static
                            text */
    const char *passed;  /* not NULL: why the file may be skipped; static
                            text */
} walk_file_t;

/* NULL when out of memory. */
walk_t *walk_create(char *const *operands, int n_operands);
void walk_free(walk_t *walk);

/* Finds the next file.  False: there are no more. */
bool walk_next(walk_t *walk, walk_file_t *file);

/* Number of files of other types that were skipped in folders so far. */
/* Whether a script or source map can have this name. */
bool operands_is_script(const char *path);

uint64_t walk_passed(const walk_t *walk);

#endif
