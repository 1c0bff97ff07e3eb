/*
 * companion_files.h - opens a debug file's companions on disk.
 *
 * The converter cannot open files, so it sends the names that the debug file
 * contains (converter_protocol.h).  These are untrusted, so a name only chooses
 * among files in two folders: the debug file's folder, and its root.  The root
 * is the nearest folder above the file that contains .build-id or .dwz, like
 * /usr/lib/debug; else the folder that is being loaded; else the file's
 * folder.  Neither ".." nor a link can lead out of them.
 */
#ifndef SYMLOADER_DRIVER_COMPANION_FILES_H
#define SYMLOADER_DRIVER_COMPANION_FILES_H

#include "common/converter_protocol.h"

/*
 * file: the path of the debug file; tree: the folder that is being loaded, or
 * NULL; both with links resolved.  Returns a descriptor and fills *given, or -1
 * if there is no such file.  want->attempt chooses among several candidates.
 */
int companions_open(const char *file, const char *tree,
                    const sym_companion_t *want, converter_given_t *given);

/* Whether a file with this path, in the same package as the debug file, may be
 * the companion; *is_by_id: its path contains the build id. */
bool companions_fit(sym_str_t path, const sym_companion_t *want,
                    bool *is_by_id);

#endif
