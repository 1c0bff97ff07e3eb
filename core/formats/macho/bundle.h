/*
 * bundle.h - paths of dSYM bundles.
 *
 * A bundle X.dSYM is a folder.  Its debug files are in
 * Contents/Resources/DWARF, usually one, named like the binary.  These
 * functions handle only paths.  The caller opens the files, and accepts those
 * that sym_macho_is() accepts.
 */
#ifndef SYM_FORMATS_MACHO_BUNDLE_H
#define SYM_FORMATS_MACHO_BUNDLE_H

#include <stdbool.h>

#include "base/str.h"

#define SYM_DSYM_FOLDER "Contents/Resources/DWARF"

/* True if the path of a folder ends in ".dSYM" and any number of slashes. */
bool sym_dsym_is_bundle(sym_str_t path);

/*
 * Writes the path of the folder with the bundle's debug files, with a NUL, and
 * returns its length.  0: the path does not fit, or is not a bundle's.
 */
size_t sym_dsym_folder(sym_str_t path, char *out, size_t size);

/* False for files that tools leave among debug files: their names begin with a
 * dot (".", "..", ".DS_Store", "._crash"). */
bool sym_dsym_takes(sym_str_t name);

/* Kind of a path in an archive. */
typedef enum {
    SYM_DSYM_NONE,   /* not part of a bundle */
    SYM_DSYM_FILE,   /* in the bundle's folder of debug files */
    SYM_DSYM_BESIDES /* property lists and similar files, and files that
                        macOS adds */
} sym_dsym_member_t;

sym_dsym_member_t sym_dsym_member(sym_str_t path);

#endif
