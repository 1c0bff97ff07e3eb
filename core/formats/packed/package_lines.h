/*
 * package_lines.h - packages in an index of lines.
 *
 * Debian and Alpine have a paragraph of fields for each package; an empty line
 * ends it.  Arch has a file for each package, where a line is a field's name,
 * and the next one its value.  The bytes are taken in pieces of any size, and
 * lines may have any length: those of Build-Ids do.  Memory is fixed.
 */
#ifndef SYM_FORMATS_PACKED_PACKAGE_LINES_H
#define SYM_FORMATS_PACKED_PACKAGE_LINES_H

#include "formats/packed/package_index.h"

typedef struct {
    sym_package_entry_t entry;
    char version[SYM_PACKAGE_NAME]; /* of Alpine */
    bool has_fields, is_taken;
    int pending; /* Arch: the field whose value is next; -1: none */
    size_t len;  /* of the line */
    char line[SYM_PACKAGE_PATH + 32];
} sym_package_lines_t;

void sym_package_lines_start(sym_package_lines_t *lines,
                             sym_package_from_t from);

/* Takes the next entry from *bytes and advances it.  False: *bytes is used up;
 * after the last piece sym_package_lines_end() takes the last entry, which may
 * have no empty line. */
bool sym_package_lines_next(sym_package_lines_t *lines, sym_str_t *bytes);
bool sym_package_lines_end(sym_package_lines_t *lines);

#endif
