/*
 * pointer.h - finds the target of a "file.ptr" in the tree of a Windows symbol
 * server (sources/symstore_pointer.h).
 *
 * The text is untrusted, and may contain the path of any file on this machine.
 * So only files in the same tree are accepted, after links have been resolved.
 */
#ifndef SYMLOADER_CLI_POINTER_H
#define SYMLOADER_CLI_POINTER_H

#include <limits.h>

/*
 * NULL: target is the file's path with links resolved.  Otherwise the static
 * text is the reason why there is no target.  root: the tree's folder, with
 * links resolved.
 */
const char *pointer_follow(const char *path, const char *root,
                           char target[PATH_MAX]);

#endif
