/*
 * names.h - names of the files in an uploaded archive.
 *
 * No file is ever opened by such a name: the ids of a file determine its path.
 * Names that could lead out of a folder are still refused, because other
 * programs see them.
 */
#ifndef SYM_UPLOADS_NAMES_H
#define SYM_UPLOADS_NAMES_H

#include "base/str.h"

/* Whether the name is UTF-8 without control characters and backslashes, is not
 * absolute, and has no empty, "." and ".." components. */
bool sym_upload_name_ok(sym_str_t name);

typedef enum {
    SYM_MOZILLA_FILE,    /* A/HEX/B */
    SYM_MOZILLA_IGNORED, /* Tecken ignores it, too */
    SYM_MOZILLA_BANNED,  /* contains SYM_MOZILLA_SNIPPET */
    SYM_MOZILLA_UNKNOWN  /* Tecken refuses the archive */
} sym_mozilla_name_t;

#define SYM_MOZILLA_SNIPPET "qcom/proprietary"

/* How Tecken treats a file with this name. */
sym_mozilla_name_t sym_mozilla_name(sym_str_t name);

#endif
