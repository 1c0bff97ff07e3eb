/*
 * dwarf_container.h - the sections of a file in one run of bytes, for the fuzz
 * target and the cases of t/bad/dwarf.  t/lib/dwarf_container.py makes them.
 *
 * A byte of flags; then a byte that says which section, a length of three
 * bytes, little endian, and so many bytes; until nothing is left.
 */
#ifndef T_UNIT_DWARF_CONTAINER_H
#define T_UNIT_DWARF_CONTAINER_H

#include "dwarf/dwarf.h"

enum {
    CONTAINER_BIG_ENDIAN = 1,
    CONTAINER_STATEMENTS = 2,
    CONTAINER_ALT = 4,         /* there is a supplementary file */
    CONTAINER_ALT_SECTION = 16 /* added to the section's number */
};

/* Views into data.  in->alt becomes alt, or NULL. */
static void
container_open(const uint8_t *data, size_t size, sym_dwarf_input_t *in,
               sym_dwarf_sections_t *alt)
{
    *in = (sym_dwarf_input_t){ 0 };
    *alt = (sym_dwarf_sections_t){ 0 };

    if (size == 0) {
        return;
    }

    in->is_big_endian = (data[0] & CONTAINER_BIG_ENDIAN) != 0;
    in->rows = (data[0] & CONTAINER_STATEMENTS) != 0 ? SYM_DWARF_ROWS_STATEMENTS
                                                     : SYM_DWARF_ROWS_ALL;
    in->alt = (data[0] & CONTAINER_ALT) != 0 ? alt : NULL;

    for (size_t at = 1; size - at >= 4;) {
        uint8_t which = data[at];
        size_t len = (size_t) data[at + 1] | (size_t) data[at + 2] << 8
                     | (size_t) data[at + 3] << 16;
        sym_dwarf_sections_t *s =
            which >= CONTAINER_ALT_SECTION ? alt : &in->sections;
        sym_str_t *views[] = { &s->info, &s->abbrev,   &s->line,
                               &s->str,  &s->line_str, &s->str_offsets,
                               &s->addr, &s->ranges,   &s->rnglists };

        at += 4;
        len = len < size - at ? len : size - at;
        which %= CONTAINER_ALT_SECTION;
        if (which < sizeof(views) / sizeof(views[0])) {
            *views[which] = sym_str((const char *) data + at, len);
        }
        at += len;
    }
}

#endif
