/*
 * symbol_map.h - BCSymbolMap files: the names that Apple's tools hid.
 *
 * For an app that was uploaded as bitcode, Apple returns debug files with names
 * like "__hidden#N_".  The map, which stays with the developer, has name number
 * N in line N after the header.
 */
#ifndef SYM_FORMATS_BITCODE_SYMBOL_MAP_H
#define SYM_FORMATS_BITCODE_SYMBOL_MAP_H

#include "base/error.h"
#include "base/str.h"

/* Prefix of hidden names. */
#define SYM_HIDDEN "__hidden#"

/* Larger files are refused, because each line takes four bytes of memory. */
#define SYM_SYMBOL_MAP_BYTES_MAX ((size_t) 1 << 30)

typedef struct {
    sym_str_t text;   /* borrowed: the complete file */
    uint32_t *starts; /* offsets of lines and of the end; owned */
    uint32_t n;
} sym_symbol_map_t;

/* Reads a file, which must outlive *map.  After a failure *map is empty. */
sym_status_t sym_symbol_map_read(sym_symbol_map_t *map, sym_str_t file,
                                 sym_error_t *err);
void sym_symbol_map_free(sym_symbol_map_t *map);

/* Longer names stay hidden, because many records could refer to one name. */
#define SYM_HIDDEN_NAME_MAX 8192

/* The name for "__hidden#N_", as a view of the file.  Other texts are returned
 * unchanged. */
sym_str_t sym_symbol_map_resolve(const sym_symbol_map_t *map, sym_str_t text);

#endif
