/*
 * dwarf_container.h - the sections of a file as one sequence of bytes, for the
 * fuzz target and the cases of t/bad/dwarf.  t/lib/dwarf_container.py makes
 * them.
 *
 * A byte of flags; then, repeated until the end, a byte with the section's
 * number, a length of three bytes, little endian, and the section's bytes.
 */
#ifndef T_UNIT_DWARF_CONTAINER_H
#define T_UNIT_DWARF_CONTAINER_H

#include "formats/dwarf/dwarf.h"

enum {
    CONTAINER_BIG_ENDIAN = 1,
    CONTAINER_STATEMENTS = 2,
    CONTAINER_ALT = 4,    /* there is a supplementary file */
    CONTAINER_SPLITS = 8, /* there is a .dwo; with an index, a .dwp */

    /* added to the section's number; twice: in the .dwo or .dwp */
    CONTAINER_ALT_SECTION = 16
};

typedef struct {
    sym_dwarf_sections_t alt, split;
    sym_str_t index; /* .debug_cu_index */
    bool is_big_endian;
} container_t;

static sym_status_t
container_split_open(void *ctx, const sym_dwarf_skeleton_t *skeleton,
                     sym_dwarf_split_t *split)
{
    const container_t *c = ctx;

    if (skeleton->attempt != 0) {
        return SYM_NOT_FOUND;
    }

    split->sections = c->split;
    return c->index.len == 0
                   || sym_dwarf_package_find(&c->split, c->index,
                                             c->is_big_endian, skeleton->id,
                                             &split->sections)
               ? SYM_OK
               : SYM_NOT_FOUND;
}


static void
container_split_close(void *ctx, sym_dwarf_split_t *split)
{
    (void) ctx;
    (void) split;
}


/* Views into data; c must live as long as in. */
static void
container_open(const uint8_t *data, size_t size, sym_dwarf_input_t *in,
               container_t *c)
{
    *in = (sym_dwarf_input_t){ 0 };
    *c = (container_t){ 0 };

    if (size == 0) {
        return;
    }

    in->is_big_endian = (data[0] & CONTAINER_BIG_ENDIAN) != 0;
    in->has_statements = (data[0] & CONTAINER_STATEMENTS) != 0;
    in->alt = (data[0] & CONTAINER_ALT) != 0 ? &c->alt : NULL;
    c->is_big_endian = in->is_big_endian;

    if ((data[0] & CONTAINER_SPLITS) != 0) {
        in->split_open = container_split_open;
        in->split_close = container_split_close;
        in->split_ctx = c;
    }

    for (size_t at = 1; size - at >= 4;) {
        uint8_t which = data[at];
        size_t len = (size_t) data[at + 1] | (size_t) data[at + 2] << 8
                     | (size_t) data[at + 3] << 16;
        sym_dwarf_sections_t *files[] = { &in->sections, &c->alt, &c->split };
        sym_dwarf_sections_t *s = files[which / CONTAINER_ALT_SECTION % 3];
        sym_str_t *views[] = { &s->info, &s->abbrev,   &s->line,
                               &s->str,  &s->line_str, &s->str_offsets,
                               &s->addr, &s->ranges,   &s->rnglists,
                               &c->index };

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
