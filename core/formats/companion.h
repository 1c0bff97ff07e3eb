/*
 * companion.h - a file that another file needs: for its debug information, its
 * dwz supplement, or its split units.
 */
#ifndef SYM_FORMATS_COMPANION_H
#define SYM_FORMATS_COMPANION_H

#include <stdbool.h>

#include "base/str.h"
#include "object/object_id.h"

/* Limit on the length of a path in a debug file. */
#define SYM_COMPANION_PATH_MAX 4096

/* WANT uses the same numbers (docs/formats/loader-protocol.md, section 4). */
typedef enum {
    SYM_COMPANION_DEBUG,      /* debug information of a stripped file */
    SYM_COMPANION_ALT,        /* dwz's supplementary file */
    SYM_COMPANION_DWO,        /* one split unit */
    SYM_COMPANION_DWP,        /* all split units */
    SYM_COMPANION_UUID_MAP,   /* the UUID of the build before Apple
                                 recompiled it */
    SYM_COMPANION_SYMBOL_MAP, /* names that Apple's tools hid */
    SYM_COMPANION_LINE_MAP    /* C# lines of IL2CPP's output */
} sym_companion_kind_t;

/* The name is spelled as in the debug file; it may be a path relative to dir.
 * attempt: number of files of this kind that were rejected. */
typedef struct {
    uint32_t kind; /* sym_companion_kind_t */
    uint32_t attempt;
    uint32_t name_len, dir_len, id_len;
    char name[SYM_COMPANION_PATH_MAX];
    char dir[SYM_COMPANION_PATH_MAX];
    uint8_t id[SYM_BUILD_ID_MAX]; /* a build id, or the UUID of a map */
} sym_companion_t;

/* The contents of the file. */
typedef struct {
    uint8_t *data; /* the caller frees it */
    size_t len;
    bool is_by_id; /* the file was found by its build id */
} sym_companion_file_t;

/* Sets name, folder and build id of *c.  False: one of them is too long. */
bool sym_companion_set(sym_companion_t *c, sym_companion_kind_t kind,
                       sym_str_t name, sym_str_t dir, sym_str_t id);

#endif
