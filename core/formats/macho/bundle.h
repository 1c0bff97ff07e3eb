/*
 * bundle.h - paths of dSYM bundles.
 *
 * A bundle X.dSYM is a folder.  Its debug files lie in
 * Contents/Resources/DWARF, usually one, named like the binary.  These
 * functions handle text only: the caller opens the files, and accepts those
 * that sym_macho_is() accepts.
 */
#ifndef SYM_FORMATS_MACHO_BUNDLE_H
#define SYM_FORMATS_MACHO_BUNDLE_H

#include <stdbool.h>

#include "base/str.h"

#define SYM_DSYM_FOLDER "Contents/Resources/DWARF"

/* True if the path of a folder is that of a bundle: ends in ".dSYM", then any
 * number of slashes. */
bool sym_dsym_is_bundle(sym_str_t path);

/*
 * Writes the path of the folder in the bundle that holds its debug files, with
 * a NUL, and returns its length; 0: it does not fit, or path is no bundle.
 */
size_t sym_dsym_folder(sym_str_t path, char *out, size_t size);

/* False for what tools leave among debug files: names that begin with a dot
 * (".", "..", ".DS_Store", "._crash"). */
bool sym_dsym_takes(sym_str_t name);

/* What lies at a path in an archive. */
typedef enum {
    SYM_DSYM_NONE,   /* nothing of a bundle */
    SYM_DSYM_FILE,   /* in the folder of a bundle's debug files */
    SYM_DSYM_BESIDES /* lists and the like, and what macOS adds */
} sym_dsym_member_t;

sym_dsym_member_t sym_dsym_member(sym_str_t path);

#endif
