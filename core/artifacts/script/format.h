/*
 * format.h - the artifact `script`: the functions of a generated script.
 *
 * docs/formats/sourcemap.md describes it byte by byte; the names here are its
 * names.  Numbers are little endian on every host.
 */
#ifndef SYM_ARTIFACTS_SCRIPT_FORMAT_H
#define SYM_ARTIFACTS_SCRIPT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "artifacts/extents.h"
#include "base/little.h"
#include "base/str.h"

/* Increases with every change that an older reader would misread. */
#define SYM_SCRIPT_VERSION 2

#define SYM_SCRIPT_MAGIC 0x464d5953u /* "SYMF" */

/* The header, at the beginning of extent 0. */
#define SYM_SCRIPT_HEADER_BYTES 64

/* Records of tables (artifacts/extents.h). */
#define SYM_SCRIPT_BOUND_BYTES 12
#define SYM_SCRIPT_SCOPE_BYTES 4

/* No function contains the position: it belongs to the script itself. */
#define SYM_SCRIPT_NONE UINT32_MAX

/* Flags of the header. */
#define SYM_SCRIPT_UNPARSED 1 /* the script's functions could not be read */
#define SYM_SCRIPT_HAS_ID 2   /* the script contains its debug id */
#define SYM_SCRIPT_HAS_MAP 4  /* the script contains its source map */

/* Limits that reader and writer share. */
#define SYM_SCRIPT_NAME_MAX 16384 /* bytes of a function's name */
#define SYM_SCRIPT_PARTS_MAX 128
#define SYM_SCRIPT_REFERENCE_MAX 16384

/* Qualities. */
#define SYM_SCRIPT_TEXT 0 /* only the script's text is stored */
#define SYM_SCRIPT_FUNCTIONS 1

typedef struct {
    uint32_t line, column;
} sym_script_position_t;

/* A part of a function's name: an identifier at a position of the script, which
 * the source map may rename, or a text between identifiers. */
typedef struct {
    sym_str_t text;
    bool is_identifier;
    sym_script_position_t at;
} sym_script_part_t;

#endif
