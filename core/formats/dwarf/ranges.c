#include "formats/dwarf/ranges.h"

#include <stdlib.h>

#include "formats/dwarf/constants.h"
#include "formats/dwarf/grow.h"

typedef struct {
    sym_dw_ranges_t *ranges;
    const sym_dw_open_t *u;
    uint64_t base;
    uint64_t ones; /* the highest possible address */
    sym_error_t *err;
} list_t;


void
sym_dw_ranges_free(sym_dw_ranges_t *r)
{
    free(r->items);
    *r = (sym_dw_ranges_t){ 0 };
}


/* Linkers replace the address of dropped code by these: 0, or LLVM's -1 and
 * -2. */
static bool
is_tombstone(const list_t *l, uint64_t addr)
{
    return addr == 0 || addr >= l->ones - 1;
}


static bool
add(list_t *l, uint64_t low, uint64_t high)
{
    sym_dw_ranges_t *r = l->ranges;

    low &= l->ones;
    high &= l->ones;
    if (low >= high || is_tombstone(l, low)) {
        r->dropped += low != high;
        return true;
    }

    if (r->n >= SYM_DWARF_RANGES_MAX) {
        (void) sym_fail(l->err, SYM_LIMIT, "too many ranges");
        return false;
    }

    if (!SYM_DW_ROOM(r->items, r->n, r->size)) {
        (void) sym_fail(l->err, SYM_NOMEM, "no memory for ranges");
        return false;
    }

    r->items[r->n++] = (sym_dw_range_t){ low, high };
    return true;
}


static bool
add_offsets(list_t *l, uint64_t low, uint64_t high)
{
    if (l->base >= l->ones - 1) {
        l->ranges->dropped++;
        return true;
    }

    return add(l, l->base + low, l->base + high);
}


static void
read_old_list(list_t *l, sym_dw_bytes_t *b)
{
    uint8_t size = l->u->unit->shape.addr_size;

    while (sym_ok(&b->c)) {
        uint64_t low = sym_dw_number(b, size);
        uint64_t high = sym_dw_number(b, size);

        if (!sym_ok(&b->c) || (low == 0 && high == 0)) {
            return;
        }

        if (low == l->ones) {
            l->base = high;
        } else if (low == l->ones - 1) {
            l->ranges->dropped++; /* LLVM's mark of dropped code */
        } else if (!add_offsets(l, low, high)) {
            return;
        }
    }
}


static uint64_t
indexed(const list_t *l, uint64_t index)
{
    uint64_t addr = 0;

    (void) sym_dw_address(l->u, (sym_dw_value_t){ index, SYM_DW_ADDRESS_INDEX },
                          &addr);
    return addr;
}


/* Reads an entry of a list.  False: it was the last one. */
static bool
read_new_entry(list_t *l, sym_dw_bytes_t *b)
{
    uint8_t size = l->u->unit->shape.addr_size;
    uint8_t kind = sym_dw_u8(b);
    uint64_t low, high;

    switch (kind) {
    case DW_RLE_base_addressx:
        l->base = indexed(l, sym_dw_uleb(b));
        return true;
    case DW_RLE_startx_endx:
        low = indexed(l, sym_dw_uleb(b));
        high = indexed(l, sym_dw_uleb(b));
        return sym_ok(&b->c) && add(l, low, high);
    case DW_RLE_startx_length:
        low = indexed(l, sym_dw_uleb(b));
        high = low + sym_dw_uleb(b);
        return sym_ok(&b->c) && add(l, low, high);
    case DW_RLE_offset_pair:
        low = sym_dw_uleb(b);
        high = sym_dw_uleb(b);
        return sym_ok(&b->c) && add_offsets(l, low, high);
    case DW_RLE_base_address:
        l->base = sym_dw_number(b, size);
        return true;
    case DW_RLE_start_end:
        low = sym_dw_number(b, size);
        high = sym_dw_number(b, size);
        return sym_ok(&b->c) && add(l, low, high);
    case DW_RLE_start_length:
        low = sym_dw_number(b, size);
        high = low + sym_dw_uleb(b);
        return sym_ok(&b->c) && add(l, low, high);
    case DW_RLE_end_of_list:
    default:
        return false;
    }
}


/* The list at number `index` of the unit's table. */
static bool
offset_of_index(const sym_dw_open_t *u, uint64_t index, uint64_t *offset)
{
    sym_error_t err = { 0 };
    uint8_t size = u->unit->shape.offset_size;
    sym_str_t section = u->info->sections->rnglists;
    sym_dw_bytes_t b;

    if (u->rnglists_base > section.len
        || index >= (section.len - u->rnglists_base) / size)
    {
        return false;
    }

    b = sym_dw_bytes_at(section, NULL, u->rnglists_base + index * size,
                        u->info->is_swapped, &err);
    *offset = u->rnglists_base + sym_dw_number(&b, size);
    return true;
}


static sym_status_t
read_list(list_t *l, sym_dw_context_t *x, sym_dw_value_t v)
{
    const sym_dw_open_t *u = l->u;
    bool is_new = u->unit->shape.version >= 5;
    sym_str_t section =
        is_new ? u->info->sections->rnglists : u->info->sections->ranges;
    sym_error_t bad = { 0 }; /* a broken list does not make the unit broken */
    uint64_t offset = v.u;
    sym_dw_bytes_t b;

    if (sym_dw_spend(x, 0, l->err) != SYM_OK) {
        return l->err->status;
    }

    if (v.class == SYM_DW_RANGE_INDEX) {
        if (!offset_of_index(u, v.u, &offset)) {
            return SYM_OK;
        }
    } else if (!is_new) {
        offset += u->ranges_base;
    }

    b = sym_dw_bytes_at(section, ".debug_ranges", offset, u->info->is_swapped,
                        &bad);
    if (!sym_ok(&b.c)) {
        return SYM_OK;
    }

    if (is_new) {
        while (sym_ok(&b.c) && read_new_entry(l, &b)) {
            /* reads to the end of the list */
        }
    } else {
        read_old_list(l, &b);
    }

    if (l->err->status != SYM_OK) {
        return l->err->status;
    }

    return sym_dw_spend(x, sym_dw_offset(&b) - offset, l->err);
}


sym_status_t
sym_dw_ranges_of(sym_dw_ranges_t *r, sym_dw_context_t *x,
                 const sym_dw_open_t *u, const sym_dw_die_t *die,
                 sym_error_t *err)
{
    list_t l = { .ranges = r, .u = u, .base = u->low_pc, .err = err };
    const sym_dw_value_t *high = &die->values[SYM_DW_HIGH_PC];
    uint64_t low_pc, high_pc;

    r->n = 0;
    l.ones = UINT64_MAX >> (64 - 8 * u->unit->shape.addr_size);

    if (sym_dw_has(die, SYM_DW_LOW_PC) && sym_dw_has(die, SYM_DW_HIGH_PC)
        && sym_dw_address(u, die->values[SYM_DW_LOW_PC], &low_pc))
    {
        if (high->class == SYM_DW_CONSTANT) {
            high_pc = low_pc + high->u; /* high_pc is a length since DWARF 4 */
        } else if (!sym_dw_address(u, *high, &high_pc)) {
            return SYM_OK;
        }

        (void) add(&l, low_pc, high_pc);
        return err->status;
    }

    return sym_dw_has(die, SYM_DW_RANGES)
               ? read_list(&l, x, die->values[SYM_DW_RANGES])
               : SYM_OK;
}
