/*
 * names.h - names of the files in an uploaded archive.
 *
 * Nothing is ever opened by such a name: a file's ids decide where it is placed.
 * Names that could lead out of a folder are refused even so, because they are
 * shown to others.
 */
#ifndef SYM_UPLOADS_NAMES_H
#define SYM_UPLOADS_NAMES_H

#include "base/str.h"

/* UTF-8 without control characters, backslashes, empty, "." and ".." components;
 * not absolute. */
bool sym_upload_name_ok(sym_str_t name);

typedef enum {
    SYM_MOZILLA_FILE,    /* A/HEX/B */
    SYM_MOZILLA_IGNORED, /* Tecken ignores it, too */
    SYM_MOZILLA_BANNED,  /* contains SYM_MOZILLA_SNIPPET */
    SYM_MOZILLA_UNKNOWN  /* Tecken refuses the archive */
} sym_mozilla_name_t;

#define SYM_MOZILLA_SNIPPET "qcom/proprietary"

/* What Tecken does with a file of that name. */
sym_mozilla_name_t sym_mozilla_name(sym_str_t name);

#endif
