#include "formats/dwarf/units.h"

#include <stdlib.h>

#include "formats/dwarf/constants.h"
#include "formats/dwarf/text.h"

/* Small files may repeat reads up to here. */
#define BUDGET_MIN ((uint64_t) 1 << 20)

/* An abbreviation table, shared by units. */
struct sym_dw_table_s {
    const sym_dw_info_t *info;
    uint64_t offset;
    sym_dw_shape_t shape;
    sym_dw_abbrevs_t abbrevs;
    unsigned users;
};


/* --- open units --- */

/* Bytes of all sections per byte of .debug_info. */
static double
bytes_per_byte(const sym_dw_info_t *main, const sym_dw_info_t *alt)
{
    const sym_dwarf_sections_t *s = main->sections;
    uint64_t bytes = s->info.len + s->abbrev.len + s->line.len + s->ranges.len
                     + s->rnglists.len + s->str.len + s->line_str.len;

    if (alt != NULL) {
        bytes += alt->sections->info.len + alt->sections->abbrev.len;
    }

    return s->info.len == 0 ? 0 : (double) bytes / (double) s->info.len;
}


void
sym_dw_context_init(sym_dw_context_t *x, const sym_dwarf_input_t *in,
                    const sym_dw_info_t *main, const sym_dw_info_t *alt)
{
    *x = (sym_dw_context_t){ .in = in,
                             .main = main,
                             .alt = alt,
                             .price = SYM_DWARF_REREAD_MAX
                                      * bytes_per_byte(main, alt) };
}


static void
drop_table(sym_dw_table_t *t)
{
    if (t != NULL && --t->users == 0) {
        sym_dw_abbrevs_free(&t->abbrevs);
        free(t);
    }
}


static void
forget(sym_dw_context_t *x)
{
    for (size_t i = 0; i < SYM_DW_OPEN_UNITS; i++) {
        if (x->open[i] != NULL) {
            sym_dw_close(x->open[i]);
            free(x->open[i]);
            x->open[i] = NULL;
        }
    }

    for (size_t i = 0; i < SYM_DW_TABLES; i++) {
        drop_table(x->tables[i]);
        x->tables[i] = NULL;
    }
}


void
sym_dw_context_begin(sym_dw_context_t *x, uint64_t bytes)
{
    forget(x); /* cached tables would escape the budget */
    x->budget = BUDGET_MIN + (uint64_t) ((double) bytes * x->price);
}


void
sym_dw_context_free(sym_dw_context_t *x)
{
    forget(x);
    *x = (sym_dw_context_t){ 0 };
}


void
sym_dw_context_forget(sym_dw_context_t *x, const sym_dw_info_t *info)
{
    for (size_t i = 0; i < SYM_DW_OPEN_UNITS; i++) {
        if (x->open[i] != NULL && x->open[i]->info == info) {
            sym_dw_close(x->open[i]);
        }
    }

    for (size_t i = 0; i < SYM_DW_TABLES; i++) {
        if (x->tables[i] != NULL && x->tables[i]->info == info) {
            drop_table(x->tables[i]);
            x->tables[i] = NULL;
        }
    }
}


sym_status_t
sym_dw_spend(sym_dw_context_t *x, uint64_t n, sym_error_t *err)
{
    if (n >= x->budget) {
        x->budget = 0;
        return sym_fail(err, SYM_LIMIT, "sections are read again too often");
    }

    x->budget -= n;
    return SYM_OK;
}


static bool
is_table_of(const sym_dw_table_t *t, const sym_dw_info_t *info,
            const sym_dw_unit_t *unit)
{
    return t != NULL && t->info == info && t->offset == unit->abbrev_offset
           && t->shape.version == unit->shape.version
           && t->shape.offset_size == unit->shape.offset_size
           && t->shape.addr_size == unit->shape.addr_size;
}


/* The unit's table, with one more user.  NULL on failure. */
static sym_dw_table_t *
get_table(sym_dw_context_t *x, const sym_dw_info_t *info,
          const sym_dw_unit_t *unit, sym_error_t *err)
{
    uint64_t hash = unit->abbrev_offset * 0x9e3779b97f4a7c15u;
    sym_dw_table_t **slot = &x->tables[(hash >> 32) % SYM_DW_TABLES];
    sym_dw_table_t *t = *slot;

    if (is_table_of(t, info, unit)) {
        t->users++;
        return t;
    }

    if (sym_dw_spend(x, 0, err) != SYM_OK) {
        return NULL;
    }

    t = calloc(1, sizeof(*t));
    if (t == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for abbreviations");
        return NULL;
    }

    t->info = info;
    t->offset = unit->abbrev_offset;
    t->shape = unit->shape;
    t->users = 1;

    (void) sym_dw_abbrevs_read(&t->abbrevs, info->sections->abbrev, t->offset,
                               t->shape, err);
    if (sym_dw_spend(x, t->abbrevs.bytes, err) != SYM_OK
        || err->status != SYM_OK) {
        drop_table(t);
        return NULL;
    }

    drop_table(*slot);
    *slot = t;
    t->users++;
    return t;
}


sym_dw_bytes_t
sym_dw_unit_at(const sym_dw_open_t *u, uint64_t offset, sym_error_t *err)
{
    sym_str_t bytes = u->info->sections->info;

    bytes.len = u->unit->end; /* this end is inside the section */
    return sym_dw_bytes_at(bytes, ".debug_info", offset, u->info->is_swapped,
                           err);
}


static uint64_t
value_or(const sym_dw_die_t *die, sym_dw_slot_t slot, uint64_t otherwise)
{
    return sym_dw_has(die, slot) ? die->values[slot].u : otherwise;
}


static void
read_root(const sym_dw_context_t *x, sym_dw_open_t *u)
{
    const sym_dw_die_t *die = &u->root;

    /* the default base is the end of the table's header (7.26, 7.27, 7.29) */
    uint8_t header = u->unit->shape.version < 5        ? 0
                     : u->unit->shape.offset_size == 8 ? 16
                                                       : 8;
    uint64_t language = value_or(die, SYM_DW_LANGUAGE, 0);

    u->str_offsets_base = value_or(die, SYM_DW_STR_OFFSETS_BASE, header);
    u->addr_base = value_or(die, SYM_DW_ADDR_BASE, header);
    u->rnglists_base = value_or(die, SYM_DW_RNGLISTS_BASE,
                                header == 0 ? 0 : header + UINT64_C(4));
    u->has_lines = sym_dw_has(die, SYM_DW_STMT_LIST);
    u->stmt_list = value_or(die, SYM_DW_STMT_LIST, 0);
    u->dwo_id = value_or(die, SYM_DW_DWO_ID, u->unit->dwo_id);
    u->is_skeleton = sym_dw_has(die, SYM_DW_DWO_NAME);
    u->language = language <= UINT16_MAX ? (uint16_t) language : 0;

    if (sym_dw_has(die, SYM_DW_COMP_DIR)) {
        u->comp_dir = sym_dw_text(x, u, die->values[SYM_DW_COMP_DIR]);
    }

    if (!sym_dw_has(die, SYM_DW_LOW_PC)
        || !sym_dw_address(u, die->values[SYM_DW_LOW_PC], &u->low_pc))
    {
        u->low_pc = 0;
    }
}


sym_status_t
sym_dw_open(sym_dw_context_t *x, sym_dw_open_t *u, const sym_dw_info_t *info,
            const sym_dw_unit_t *unit, sym_error_t *err)
{
    sym_dw_bytes_t b;
    const sym_dw_abbrev_t *a;

    *u = (sym_dw_open_t){ .info = info, .unit = unit };
    u->table = get_table(x, info, unit, err);
    if (u->table == NULL) {
        return err->status;
    }

    u->abbrevs = &u->table->abbrevs;
    b = sym_dw_unit_at(u, unit->first, err);
    a = sym_dw_abbrev(u->abbrevs, sym_dw_uleb(&b));
    if (a == NULL) {
        sym_cursor_fail(&b.c, SYM_MALFORMED, "no such abbreviation");
        return err->status;
    }

    /* before DWARF 5 the header does not contain the unit's type (7.5.1.1) */
    u->is_partial = a->tag == DW_TAG_partial_unit;

    sym_dw_die_read(&b, u->abbrevs, a, unit->shape, &u->root);
    if (!sym_ok(&b.c)
        || sym_dw_spend(x, sym_dw_offset(&b) - unit->first, err) != SYM_OK)
    {
        return err->status;
    }

    if (a->kind == SYM_DW_UNIT) {
        read_root(x, u);
    }

    return SYM_OK;
}


void
sym_dw_close(sym_dw_open_t *u)
{
    drop_table(u->table);
    free(u->scopes.items);
    *u = (sym_dw_open_t){ 0 };
}


sym_dw_open_t *
sym_dw_visit(sym_dw_context_t *x, const sym_dw_info_t *info,
             const sym_dw_unit_t *unit, sym_error_t *err)
{
    size_t at = unit->number % SYM_DW_OPEN_UNITS;
    sym_dw_open_t *u = x->open[at];

    if (u != NULL && u->unit == unit) {
        return u;
    }

    if (u == NULL) {
        u = calloc(1, sizeof(*u));
        if (u == NULL) {
            (void) sym_fail(err, SYM_NOMEM, "no memory for a unit");
            return NULL;
        }
        x->open[at] = u;
    }

    sym_dw_close(u);
    if (sym_dw_open(x, u, info, unit, err) != SYM_OK) {
        sym_dw_close(u);
        return NULL;
    }

    return u;
}


/* --- values --- */

/* Number `index` of the table at base, of this many bytes. */
static bool
read_indexed(const sym_dw_open_t *u, sym_str_t section, uint64_t base,
             uint64_t index, uint8_t size, uint64_t *value)
{
    sym_error_t err = { 0 };
    sym_dw_bytes_t b;

    if (base > section.len || index >= (section.len - base) / size) {
        return false;
    }

    b = sym_dw_bytes_at(section, NULL, base + index * size, u->info->is_swapped,
                        &err);
    *value = sym_dw_number(&b, size);
    return true;
}


static sym_str_t
own_text(const sym_dw_context_t *x, const sym_dw_open_t *u, sym_dw_value_t v)
{
    const sym_dwarf_sections_t *s = u->info->sections;
    uint64_t offset;

    switch (v.class) {
    case SYM_DW_TEXT:
        return sym_dw_text_at(s->info, v.u);
    case SYM_DW_STR:
        return sym_dw_text_at(s->str, v.u);
    case SYM_DW_LINE_STR:
        return sym_dw_text_at(s->line_str, v.u);
    case SYM_DW_STR_INDEX:
        if (read_indexed(u, s->str_offsets, u->str_offsets_base, v.u,
                         u->unit->shape.offset_size, &offset))
        {
            return sym_dw_text_at(s->str, offset);
        }
        break;
    case SYM_DW_ALT_STR:
        if (x->alt != NULL) {
            return sym_dw_text_at(x->alt->sections->str, v.u);
        }
        break;
    default:
        break;
    }

    return sym_str(NULL, 0);
}


sym_str_t
sym_dw_text(const sym_dw_context_t *x, const sym_dw_open_t *u, sym_dw_value_t v)
{
    return sym_dwarf_resolve(x->in, own_text(x, u, v));
}


bool
sym_dw_address(const sym_dw_open_t *u, sym_dw_value_t v, uint64_t *addr)
{
    if (v.class == SYM_DW_ADDRESS) {
        *addr = v.u;
        return true;
    }

    return v.class == SYM_DW_ADDRESS_INDEX
           && read_indexed(u, u->info->sections->addr, u->addr_base, v.u,
                           u->unit->shape.addr_size, addr);
}


bool
sym_dw_target(const sym_dw_context_t *x, const sym_dw_open_t *u,
              sym_dw_value_t v, const sym_dw_info_t **info, uint64_t *offset)
{
    *info = u->info;
    *offset = v.u;

    switch (v.class) {
    case SYM_DW_REF:
        *offset = u->unit->offset + v.u;
        return v.u < u->unit->end - u->unit->offset;
    case SYM_DW_REF_INFO:
        return true;
    case SYM_DW_REF_ALT:
        *info = x->alt;
        return x->alt != NULL;
    default:
        return false;
    }
}
