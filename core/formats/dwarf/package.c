/*
 * package.c - .dwp files: many units, and an index of each unit's part of each
 * section (DWARF 5, 7.3.5; GNU's version 2 for DWARF 4).
 *
 * The index of type units (.debug_tu_index) is not read: they have no code, and
 * the names of methods are in the units with their code.
 */
#include "formats/dwarf/bytes.h"
#include "formats/dwarf/constants.h"
#include "formats/dwarf/dwarf.h"

/* A third or more of the table is empty (7.3.5.3), so a longer search means
 * that the table is broken. */
#define PROBES_MAX 4096u

/* The index: its header, and the offsets of its tables. */
typedef struct {
    sym_str_t bytes;
    bool is_swapped;
    uint32_t version, n_columns, n_units, n_slots;
    uint64_t slots, rows, columns, offsets, sizes;
} index_t;

static sym_dw_bytes_t
at(const index_t *x, uint64_t offset, sym_error_t *err)
{
    return sym_dw_bytes_at(x->bytes, ".debug_cu_index", offset, x->is_swapped,
                           err);
}


/* Number `i` of the table, of 4 bytes; 0 beyond the end of the table. */
static uint32_t
entry(const index_t *x, uint64_t table, uint64_t i)
{
    sym_error_t bad = { 0 };
    sym_dw_bytes_t b = at(x, table + 4 * i, &bad);

    return sym_dw_u32(&b);
}


static bool
read_index(index_t *x)
{
    sym_error_t bad = { 0 };
    sym_dw_bytes_t b = at(x, 0, &bad);
    uint64_t cells;

    /* version 2 has four bytes; version 5 has two and padding */
    x->version = sym_dw_u16(&b);
    if (x->version == 0) {
        x->version = sym_dw_u16(&b); /* big endian */
    } else {
        sym_dw_skip(&b, 2);
    }

    x->n_columns = sym_dw_u32(&b);
    x->n_units = sym_dw_u32(&b);
    x->n_slots = sym_dw_u32(&b);

    if (!sym_ok(&b.c) || (x->version != 2 && x->version != 5) || x->n_slots == 0
        || (x->n_slots & (x->n_slots - 1)) != 0)
    {
        return false;
    }

    cells = (uint64_t) x->n_units * x->n_columns;
    x->slots = sym_dw_offset(&b);
    x->rows = x->slots + (uint64_t) 8 * x->n_slots;
    x->columns = x->rows + (uint64_t) 4 * x->n_slots;
    x->offsets = x->columns + (uint64_t) 4 * x->n_columns;

    /* compared first, to limit the product below */
    if (x->offsets > x->bytes.len || cells > (x->bytes.len - x->offsets) / 8) {
        return false;
    }

    x->sizes = x->offsets + 4 * cells;
    return true;
}


/* The unit's row, from 1.  0: the package has no such unit (7.3.5.3). */
static uint32_t
find_row(const index_t *x, uint64_t id)
{
    uint32_t mask = x->n_slots - 1;
    uint32_t slot = (uint32_t) id & mask;
    uint32_t step = ((uint32_t) (id >> 32) & mask) | 1;

    for (unsigned i = 0; i < PROBES_MAX && i < x->n_slots; i++) {
        uint32_t row = entry(x, x->rows, slot);
        sym_error_t bad = { 0 };
        sym_dw_bytes_t b = at(x, x->slots + (uint64_t) 8 * slot, &bad);

        if (row == 0 || row > x->n_units) {
            return 0;
        }

        if (sym_dw_u64(&b) == id) {
            return row;
        }
        slot = (slot + step) & mask;
    }

    return 0;
}


/* The row's part of a section.  False: it has none. */
static bool
cut(const index_t *x, uint32_t row, uint32_t column, sym_str_t whole,
    sym_str_t *part)
{
    uint64_t cell = (uint64_t) (row - 1) * x->n_columns + column;
    uint32_t offset = entry(x, x->offsets, cell);
    uint32_t size = entry(x, x->sizes, cell);

    if (offset > whole.len || size > whole.len - offset) {
        return false;
    }

    *part = size == 0 ? sym_str("", 0) : sym_str(whole.data + offset, size);
    return true;
}


static bool
cut_column(const index_t *x, uint32_t row, uint32_t column,
           const sym_dwarf_sections_t *package, sym_dwarf_sections_t *unit)
{
    switch (entry(x, x->columns, column)) {
    case DW_SECT_INFO:
        return cut(x, row, column, package->info, &unit->info);
    case DW_SECT_ABBREV:
        return cut(x, row, column, package->abbrev, &unit->abbrev);
    case DW_SECT_STR_OFFSETS:
        return cut(x, row, column, package->str_offsets, &unit->str_offsets);
    case DW_SECT_RNGLISTS:
        return x->version == 2 /* in version 2 this is a column of macros */
               || cut(x, row, column, package->rnglists, &unit->rnglists);
    default:
        return true;
    }
}


bool
sym_dwarf_package_find(const sym_dwarf_sections_t *package, sym_str_t index,
                       bool is_big_endian, uint64_t id,
                       sym_dwarf_sections_t *unit)
{
    index_t x = { .bytes = index };
    uint32_t row;

    x.is_swapped = is_big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    *unit = (sym_dwarf_sections_t){ .str = package->str };

    row = read_index(&x) ? find_row(&x, id) : 0;
    if (row == 0) {
        return false;
    }

    for (uint32_t i = 0; i < x.n_columns; i++) {
        if (!cut_column(&x, row, i, package, unit)) {
            return false;
        }
    }

    return true;
}
