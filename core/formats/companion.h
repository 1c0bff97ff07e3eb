/*
 * companion.h - a file that another one needs: its debug information, what dwz
 * took out of it, its split units.
 */
#ifndef SYM_FORMATS_COMPANION_H
#define SYM_FORMATS_COMPANION_H

#include <stdbool.h>

#include "base/str.h"
#include "object/object_id.h"

/* Of a path in a debug file. */
#define SYM_COMPANION_PATH_MAX 4096

/* The numbers are those of WANT in docs/formats/loader-protocol.md, section 4,
 * too. */
typedef enum {
    SYM_COMPANION_DEBUG,      /* the debug information of a stripped file */
    SYM_COMPANION_ALT,        /* what dwz took out of it */
    SYM_COMPANION_DWO,        /* one split unit */
    SYM_COMPANION_DWP,        /* all of them */
    SYM_COMPANION_UUID_MAP,   /* of a recompiled module: its first UUID */
    SYM_COMPANION_SYMBOL_MAP, /* the names that Apple's tools hid */
    SYM_COMPANION_LINE_MAP    /* C# lines of IL2CPP's output */
} sym_companion_kind_t;

/* In the words of the debug file: name may be a path, dir is what it counts
 * from.  attempt: files of that kind that were of no use. */
typedef struct {
    uint32_t kind; /* sym_companion_kind_t */
    uint32_t attempt;
    uint32_t name_len, dir_len, id_len;
    char name[SYM_COMPANION_PATH_MAX];
    char dir[SYM_COMPANION_PATH_MAX];
    uint8_t id[SYM_BUILD_ID_MAX]; /* build id; of maps a UUID */
} sym_companion_t;

/* The file, whole. */
typedef struct {
    uint8_t *data; /* the caller's to free() */
    size_t len;
    bool is_by_id; /* its name says that it has the build id */
} sym_companion_file_t;

/* Fills *c with a name, a folder and a build id; false: one is too long. */
bool sym_companion_set(sym_companion_t *c, sym_companion_kind_t kind,
                       sym_str_t name, sym_str_t dir, sym_str_t id);

#endif
