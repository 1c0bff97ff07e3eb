#include "formats/dwarf/abbrev.h"

#include <stdlib.h>

#include "formats/dwarf/constants.h"
#include "formats/dwarf/grow.h"

/* After LTO, the table of a program has some thousands of entries. */
#define ABBREVS_MAX ((size_t) 1 << 20)
#define STEPS_MAX ((size_t) 1 << 22)

/* Most bytes that one step skips before its value.  More bytes take additional
 * steps. */
#define SKIP_MAX ((uint32_t) 1 << 24)

static sym_dw_kind_t
kind_of(uint64_t tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
        return SYM_DW_SUBPROGRAM;
    case DW_TAG_inlined_subroutine:
        return SYM_DW_INLINED;
    case DW_TAG_compile_unit:
    case DW_TAG_partial_unit:
    case DW_TAG_skeleton_unit:
        return SYM_DW_UNIT;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_namespace:
    case DW_TAG_module:
        return SYM_DW_SCOPE;
    case DW_TAG_array_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_variant_part:
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
    case DW_TAG_GNU_template_parameter_pack:
    case DW_TAG_GNU_formal_parameter_pack:
        return SYM_DW_CHILDLESS;
    default:
        return SYM_DW_PLAIN;
    }
}


static sym_dw_slot_t
slot_of(uint64_t attribute)
{
    switch (attribute) {
    case DW_AT_low_pc:
        return SYM_DW_LOW_PC;
    case DW_AT_high_pc:
        return SYM_DW_HIGH_PC;
    case DW_AT_ranges:
        return SYM_DW_RANGES;
    case DW_AT_name:
        return SYM_DW_NAME;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        return SYM_DW_LINKAGE_NAME;
    case DW_AT_abstract_origin:
        return SYM_DW_ORIGIN;
    case DW_AT_specification:
        return SYM_DW_SPECIFICATION;
    case DW_AT_call_file:
        return SYM_DW_CALL_FILE;
    case DW_AT_call_line:
        return SYM_DW_CALL_LINE;
    case DW_AT_sibling:
        return SYM_DW_SIBLING;
    case DW_AT_stmt_list:
        return SYM_DW_STMT_LIST;
    case DW_AT_comp_dir:
        return SYM_DW_COMP_DIR;
    case DW_AT_language:
        return SYM_DW_LANGUAGE;
    case DW_AT_str_offsets_base:
        return SYM_DW_STR_OFFSETS_BASE;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
        return SYM_DW_ADDR_BASE;
    case DW_AT_rnglists_base:
        return SYM_DW_RNGLISTS_BASE;
    case DW_AT_GNU_ranges_base:
        return SYM_DW_RANGES_BASE;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
        return SYM_DW_DWO_NAME;
    case DW_AT_GNU_dwo_id:
        return SYM_DW_DWO_ID;
    default:
        return SYM_DW_NO_SLOT;
    }
}


#define BIT(slot) (1u << (slot))

/* The slots that an entry of this kind needs. */
static uint32_t
wanted(sym_dw_kind_t kind)
{
    switch (kind) {
    case SYM_DW_CHILDLESS:
        return BIT(SYM_DW_SIBLING);
    case SYM_DW_SUBPROGRAM:
        return BIT(SYM_DW_LOW_PC) | BIT(SYM_DW_HIGH_PC) | BIT(SYM_DW_RANGES)
               | BIT(SYM_DW_NAME) | BIT(SYM_DW_LINKAGE_NAME)
               | BIT(SYM_DW_ORIGIN) | BIT(SYM_DW_SPECIFICATION);
    case SYM_DW_INLINED:
        return BIT(SYM_DW_LOW_PC) | BIT(SYM_DW_HIGH_PC) | BIT(SYM_DW_RANGES)
               | BIT(SYM_DW_NAME) | BIT(SYM_DW_LINKAGE_NAME)
               | BIT(SYM_DW_ORIGIN) | BIT(SYM_DW_CALL_FILE)
               | BIT(SYM_DW_CALL_LINE);
    case SYM_DW_SCOPE:
        return BIT(SYM_DW_NAME) | BIT(SYM_DW_SPECIFICATION);
    case SYM_DW_UNIT:
        return BIT(SYM_DW_SLOTS) - 1;
    case SYM_DW_PLAIN:
    case SYM_DW_CODELESS: /* known only after all attributes were read */
    default:
        return 0;
    }
}


static sym_status_t
out_of_memory(sym_error_t *err)
{
    return sym_fail(err, SYM_NOMEM, "no memory for abbreviations");
}


static sym_status_t
add_step(sym_dw_abbrevs_t *t, sym_dw_step_t step, sym_error_t *err)
{
    if (t->n_steps >= STEPS_MAX) {
        return sym_fail(err, SYM_LIMIT, "too many attributes");
    }

    if (!SYM_DW_ROOM(t->steps, t->n_steps, t->steps_size)) {
        return out_of_memory(err);
    }

    t->steps[t->n_steps++] = step;
    return SYM_OK;
}


static sym_status_t
add_constant(sym_dw_abbrevs_t *t, uint64_t value, sym_error_t *err)
{
    if (!SYM_DW_ROOM(t->constants, t->n_constants, t->constants_size)) {
        return out_of_memory(err);
    }

    t->constants[t->n_constants++] = value;
    return SYM_OK;
}


/* State while one abbreviation's attributes are read. */
typedef struct {
    sym_dw_abbrevs_t *table;
    sym_dw_shape_t shape;
    uint32_t wants;
    uint32_t skip;
    uint32_t bytes; /* SYM_DW_NOT_FIXED if any attribute has no fixed size */
    sym_error_t *err;
} compile_t;


static sym_status_t
compile_attribute(compile_t *c, uint64_t attribute, uint64_t form,
                  uint64_t constant)
{
    sym_dw_step_t step = { .slot = SYM_DW_NO_SLOT };
    sym_dw_slot_t slot = slot_of(attribute);
    sym_dw_form_t f;
    int fixed;

    if (!sym_dw_form(form, c->shape, &f)) {
        return sym_fail(c->err, SYM_UNSUPPORTED, "unknown form");
    }

    fixed = sym_dw_fixed(f.read);
    c->bytes = fixed < 0 || c->bytes > SKIP_MAX ? SYM_DW_NOT_FIXED
                                                : c->bytes + (uint32_t) fixed;
    if (slot != SYM_DW_NO_SLOT && (c->wants & BIT(slot)) != 0) {
        c->wants &= ~BIT(slot); /* the first of duplicates wins */
        step.slot = (uint8_t) slot;
    } else if (fixed >= 0) {
        c->skip += (uint32_t) fixed;
        return c->skip <= SKIP_MAX
                   ? SYM_OK
                   : sym_fail(c->err, SYM_LIMIT, "too many attributes");
    }

    step.skip = c->skip;
    step.read = f.read;
    step.class = f.class;
    c->skip = 0;

    if (f.read == SYM_DW_READ_CONST) {
        step.constant = (uint32_t) c->table->n_constants;
        if (add_constant(c->table, constant, c->err) != SYM_OK) {
            return c->err->status;
        }
    }

    return add_step(c->table, step, c->err);
}


static sym_status_t
compile_abbrev(compile_t *c, sym_dw_bytes_t *b, sym_dw_abbrev_t *a)
{
    sym_dw_abbrevs_t *t = c->table;
    uint64_t attribute, form, tag = sym_dw_uleb(b);

    a->tag = tag <= UINT16_MAX ? (uint16_t) tag : 0;
    a->has_children = sym_dw_u8(b) != 0;
    a->kind = (uint8_t) kind_of(tag);
    a->first_step = (uint32_t) t->n_steps;
    c->wants = wanted((sym_dw_kind_t) a->kind);
    c->skip = c->bytes = 0;

    for (;;) {
        int64_t constant = 0;

        attribute = sym_dw_uleb(b);
        form = sym_dw_uleb(b);
        if (form == DW_FORM_implicit_const) {
            constant = sym_dw_sleb(b);
        }

        if (!sym_ok(&b->c)) {
            return c->err->status;
        }

        if (attribute == 0 && form == 0) {
            break;
        }

        if (compile_attribute(c, attribute, form, (uint64_t) constant)
            != SYM_OK) {
            return c->err->status;
        }
    }

    a->bytes = c->bytes;
    if (a->kind == SYM_DW_SUBPROGRAM && (c->wants & BIT(SYM_DW_LOW_PC)) != 0
        && (c->wants & BIT(SYM_DW_RANGES)) != 0)
    {
        a->kind = SYM_DW_CODELESS;
    }

    return add_step(t,
                    (sym_dw_step_t){ .skip = c->skip,
                                     .read = SYM_DW_READ_END,
                                     .slot = SYM_DW_NO_SLOT },
                    c->err);
}


static int
compare_codes(const void *a, const void *b)
{
    const sym_dw_abbrev_t *x = a, *y = b;

    if (x->code != y->code) {
        return x->code < y->code ? -1 : 1;
    }

    /* the first of equal codes wins, which bsearch() does not guarantee */
    return x->first_step < y->first_step ? -1 : x->first_step > y->first_step;
}


/* Compilers number codes from 1 without gaps; other codes need a search. */
static void
index_codes(sym_dw_abbrevs_t *t)
{
    while (t->n_dense < t->n_abbrevs
           && t->abbrevs[t->n_dense].code == t->n_dense + 1)
    {
        t->n_dense++;
    }

    if (t->n_dense < t->n_abbrevs) {
        qsort(t->abbrevs + t->n_dense, t->n_abbrevs - t->n_dense,
              sizeof(*t->abbrevs), compare_codes);
    }
}


/* Reads one abbreviation.  False: there are no more, or reading failed. */
static bool
read_abbrev(compile_t *c, sym_dw_bytes_t *b)
{
    sym_dw_abbrevs_t *t = c->table;
    sym_dw_abbrev_t a = { 0 };

    /* the last table's closing 0 may be missing */
    a.code = sym_dw_left(b) != 0 ? sym_dw_uleb(b) : 0;
    if (a.code == 0 || !sym_ok(&b->c)) {
        return false;
    }

    if (t->n_abbrevs >= ABBREVS_MAX) {
        (void) sym_fail(c->err, SYM_LIMIT, "too many abbreviations");
        return false;
    }

    if (!SYM_DW_ROOM(t->abbrevs, t->n_abbrevs, t->abbrevs_size)) {
        (void) out_of_memory(c->err);
        return false;
    }

    if (compile_abbrev(c, b, &a) != SYM_OK) {
        if (c->err->section == NULL) {
            c->err->section = ".debug_abbrev";
            c->err->offset = sym_dw_offset(b);
        }
        return false;
    }

    t->abbrevs[t->n_abbrevs++] = a;
    return true;
}


sym_status_t
sym_dw_abbrevs_read(sym_dw_abbrevs_t *t, sym_str_t section, uint64_t offset,
                    sym_dw_shape_t shape, sym_error_t *err)
{
    compile_t c = { .table = t, .shape = shape, .err = err };
    sym_dw_bytes_t b =
        sym_dw_bytes_at(section, ".debug_abbrev", offset, false, err);

    *t = (sym_dw_abbrevs_t){ 0 };

    while (read_abbrev(&c, &b)) {
        /* reads to the end of the table */
    }

    /* a failed cursor is at its end, so all bytes count as read */
    t->bytes = section.len > offset ? sym_dw_offset(&b) - offset : 0;
    index_codes(t);
    return err->status;
}


void
sym_dw_abbrevs_free(sym_dw_abbrevs_t *t)
{
    free(t->abbrevs);
    free(t->steps);
    free(t->constants);
    *t = (sym_dw_abbrevs_t){ 0 };
}


const sym_dw_abbrev_t *
sym_dw_abbrev_rare(const sym_dw_abbrevs_t *t, uint64_t code)
{
    size_t low = t->n_dense, high = t->n_abbrevs;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->abbrevs[middle].code < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low < t->n_abbrevs && t->abbrevs[low].code == code ? &t->abbrevs[low]
                                                              : NULL;
}


void
sym_dw_die_pass_steps(sym_dw_bytes_t *b, const sym_dw_abbrevs_t *t,
                      const sym_dw_abbrev_t *a, sym_dw_shape_t shape)
{
    const sym_dw_step_t *step = &t->steps[a->first_step];

    for (; step->read != SYM_DW_READ_END; step++) {
        sym_dw_skip(b, step->skip);
        sym_dw_pass(b, step->read, shape);
    }

    sym_dw_skip(b, step->skip);
}


void
sym_dw_die_read(sym_dw_bytes_t *b, const sym_dw_abbrevs_t *t,
                const sym_dw_abbrev_t *a, sym_dw_shape_t shape,
                sym_dw_die_t *die)
{
    const sym_dw_step_t *step = &t->steps[a->first_step];

    die->has = 0;

    for (; step->read != SYM_DW_READ_END; step++) {
        sym_dw_skip(b, step->skip);

        if (step->slot == SYM_DW_NO_SLOT) {
            sym_dw_pass(b, step->read, shape);
            continue;
        }

        if (step->read == SYM_DW_READ_CONST) {
            die->values[step->slot] =
                (sym_dw_value_t){ t->constants[step->constant],
                                  SYM_DW_CONSTANT };
        } else {
            die->values[step->slot] = sym_dw_value(
                b, (sym_dw_form_t){ step->read, step->class }, shape);
        }
        die->has |= BIT(step->slot);
    }

    sym_dw_skip(b, step->skip);
}
