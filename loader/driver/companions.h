/*
 * companions.h - opens the files that a debug file says it belongs with.
 *
 * The converter cannot open files: it asks, and what it asks for are the debug
 * file's own words (wire.h).  So names only choose among files in folders that
 * the loader was pointed to: that of the file, and its root.  The root is the
 * nearest folder above the file that has a .build-id or .dwz in it, as
 * /usr/lib/debug has; else the folder that is being loaded; else the file's.
 * Neither ".." nor a link leads out of them, whatever was written where.
 */
#ifndef SYMLOADER_DRIVER_COMPANIONS_H
#define SYMLOADER_DRIVER_COMPANIONS_H

#include "common/converter_protocol.h"

/*
 * file: its path without links; tree: the folder that is being loaded, likewise,
 * or NULL.  Gives a descriptor and fills *given, or -1: there is none.  Of
 * several files that would do want->attempt chooses.
 */
int companions_open(const char *file, const char *tree,
                    const sym_companion_t *want, converter_given_t *given);

#endif
