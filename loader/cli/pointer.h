/*
 * pointer.h - finds the target of a "file.ptr" in the tree of a Windows symbol
 * server (sources/symstore_pointer.h).
 *
 * The text is untrusted, and may name any file of this machine: only a file of
 * the same tree, after resolving links, is accepted.
 */
#ifndef SYMLOADER_CLI_POINTER_H
#define SYMLOADER_CLI_POINTER_H

#include <limits.h>

/*
 * NULL: target is the file's path without links.  Otherwise a static text says
 * why there is no target.  root is the tree's folder, without links.
 */
const char *pointer_follow(const char *path, const char *root,
                           char target[PATH_MAX]);

#endif
