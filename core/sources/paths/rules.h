/*
 * rules.h - the layout of files at a source, and which modules are requested
 * from it.
 */
#ifndef SYM_SOURCES_PATHS_RULES_H
#define SYM_SOURCES_PATHS_RULES_H

#include "base/error.h"
#include "object/files.h"
#include "object/module_key.h"
#include "object/object_ref.h"
#include "base/str.h"

typedef enum {
    SYM_LAYOUT_BREAKPAD,
    SYM_LAYOUT_NATIVE,
    SYM_LAYOUT_DEBUGINFOD,
    SYM_LAYOUT_SYMSTORE,
    SYM_LAYOUT_SYMSTORE_INDEX2,
    SYM_LAYOUT_SSQP,
    SYM_LAYOUT_UNIFIED,
    SYM_LAYOUT_SLASHSYMBOLS,
    SYM_LAYOUT_SITE, /* URL paths: files of a web site */

    /* without folders, and without a name in the configuration */
    SYM_LAYOUT_URL,   /* the object's own URL */
    SYM_LAYOUT_SENTRY /* one query for each type of file */
} sym_layout_t;

#define SYM_LAYOUTS (SYM_LAYOUT_SENTRY + 1)

/* Form of the id in paths of the layout breakpad. */
typedef enum {
    SYM_SOURCE_IDS_AS_IS, /* as sent by the client */
    SYM_SOURCE_IDS_UPPER  /* same in upper case, as in uploaded paths */
} sym_source_ids_t;

/* Casing of the letters of a path, A to Z. */
typedef enum {
    SYM_SOURCE_CASING_DEFAULT, /* as defined by the layout */
    SYM_SOURCE_CASING_LOWER,
    SYM_SOURCE_CASING_UPPER
} sym_source_casing_t;

typedef struct sym_source_rules_s {
    sym_layout_t layout;
    unsigned files; /* a bit for each sym_source_file_t to request */
    sym_source_ids_t ids;
    sym_source_casing_t casing;

    /* which modules are requested: see sym_source_takes() */
    bool requires_checksum;
    const sym_str_t *patterns; /* glob.h */
    uint32_t n_patterns;
} sym_source_rules_t;

/* Sets a layout by its name in the configuration, such as "breakpad"; false: no
 * such layout. */
bool sym_layout_find(sym_str_t name, sym_layout_t *layout);

/* Whether the layout has places for objects that are referred to in this way: by
 * ids, by a URL, by the path of one, with or without a code id or a release, or by
 * a debug id as a URN. */
bool sym_layout_takes(sym_layout_t layout, const sym_object_ref_t *ref);

/* Returns the files for which a layout has paths. */
unsigned sym_layout_files(sym_layout_t layout);

/* Returns the files of a type by its name in the configuration ("elf", "pdb",
 * ...); 0: no such type. */
unsigned sym_source_files_find(sym_str_t type);

/*
 * Whether the name may become a folder at a source: a store can keep it, it is
 * neither "." nor "..", and it contains no '/', '\\' or control character.
 * Other names could lead out of the folder, or end a request line.
 */
bool sym_source_name_ok(sym_str_t name);

/* Whether the object may be requested from the source.  It must have a checksum
 * if one is required.  If there are patterns, one of them must match the path
 * of its code file or of its debug file.  Takes steps (steps.h); if none are
 * left, the result may be wrong. */
bool sym_source_takes(const sym_source_rules_t *rules,
                      const sym_object_ref_t *ref, uint64_t *steps);

#endif
