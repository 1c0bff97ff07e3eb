/*
 * splits.h - split units (.dwo) of a debug file, and the package of all units
 * (.dwp).
 *
 * These files have the format of the debug file, so its reader opens them.
 */
#ifndef SYM_FORMATS_NATIVE_SPLITS_H
#define SYM_FORMATS_NATIVE_SPLITS_H

#include "formats/dwarf/dwarf.h"
#include "formats/format.h"

typedef struct sym_native_splits_s sym_native_splits_t;

/* A format's functions for such files. */
typedef struct {
    /* NULL: the file is unusable, or *err is SYM_NOMEM.  The object borrows the
     * bytes. */
    void *(*open)(const sym_native_splits_t *splits,
                  const sym_companion_file_t *file, sym_error_t *err);
    sym_status_t (*section)(void *object, const char *name, sym_str_t *bytes,
                            sym_error_t *err);
    void (*close)(void *object); /* accepts NULL */
} sym_split_format_t;

typedef struct {
    sym_companion_file_t file;
    void *object; /* NULL: not found */
} sym_split_file_t;

struct sym_native_splits_s {
    const sym_split_format_t *format;
    const sym_format_services_t *services;
    bool is_big_endian;
    sym_split_file_t package;
    sym_dwarf_sections_t sections; /* sections of the package */
    sym_str_t index;
};

/* Makes `in` open the split units named by its skeletons. */
sym_status_t sym_native_splits_open(sym_native_splits_t *s,
                                    const sym_split_format_t *format,
                                    sym_dwarf_input_t *in,
                                    const sym_format_services_t *services,
                                    sym_error_t *err);

/* Does nothing if *s was never opened. */
void sym_native_splits_close(sym_native_splits_t *s);

#endif
