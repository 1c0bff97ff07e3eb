#include "formats/dwarf/form.h"

#include "formats/dwarf/constants.h"

/* Forms 0 to 0x2c.  Sizes that depend on the unit are filled in later. */
enum { OFFSET = 0x40, ADDRESS };

static const struct {
    uint8_t read, class;
} forms[] = {
    [DW_FORM_addr] = { ADDRESS, SYM_DW_ADDRESS },
    [DW_FORM_block2] = { SYM_DW_READ_BLOCK2, SYM_DW_OTHER },
    [DW_FORM_block4] = { SYM_DW_READ_BLOCK4, SYM_DW_OTHER },
    [DW_FORM_data2] = { SYM_DW_READ_2, SYM_DW_CONSTANT },
    [DW_FORM_data4] = { SYM_DW_READ_4, SYM_DW_CONSTANT },
    [DW_FORM_data8] = { SYM_DW_READ_8, SYM_DW_CONSTANT },
    [DW_FORM_string] = { SYM_DW_READ_STRING, SYM_DW_TEXT },
    [DW_FORM_block] = { SYM_DW_READ_BLOCK, SYM_DW_OTHER },
    [DW_FORM_block1] = { SYM_DW_READ_BLOCK1, SYM_DW_OTHER },
    [DW_FORM_data1] = { SYM_DW_READ_1, SYM_DW_CONSTANT },
    [DW_FORM_flag] = { SYM_DW_READ_1, SYM_DW_OTHER },
    [DW_FORM_sdata] = { SYM_DW_READ_SLEB, SYM_DW_CONSTANT },
    [DW_FORM_strp] = { OFFSET, SYM_DW_STR },
    [DW_FORM_udata] = { SYM_DW_READ_ULEB, SYM_DW_CONSTANT },
    [DW_FORM_ref_addr] = { OFFSET, SYM_DW_REF_INFO },
    [DW_FORM_ref1] = { SYM_DW_READ_1, SYM_DW_REF },
    [DW_FORM_ref2] = { SYM_DW_READ_2, SYM_DW_REF },
    [DW_FORM_ref4] = { SYM_DW_READ_4, SYM_DW_REF },
    [DW_FORM_ref8] = { SYM_DW_READ_8, SYM_DW_REF },
    [DW_FORM_ref_udata] = { SYM_DW_READ_ULEB, SYM_DW_REF },
    [DW_FORM_indirect] = { SYM_DW_READ_INDIRECT, SYM_DW_OTHER },
    [DW_FORM_sec_offset] = { OFFSET, SYM_DW_SECTION_OFFSET },
    [DW_FORM_exprloc] = { SYM_DW_READ_BLOCK, SYM_DW_OTHER },
    [DW_FORM_flag_present] = { SYM_DW_READ_0, SYM_DW_OTHER },
    [DW_FORM_strx] = { SYM_DW_READ_ULEB, SYM_DW_STR_INDEX },
    [DW_FORM_addrx] = { SYM_DW_READ_ULEB, SYM_DW_ADDRESS_INDEX },
    [DW_FORM_ref_sup4] = { SYM_DW_READ_4, SYM_DW_REF_ALT },
    [DW_FORM_strp_sup] = { OFFSET, SYM_DW_ALT_STR },
    [DW_FORM_data16] = { SYM_DW_READ_16, SYM_DW_OTHER },
    [DW_FORM_line_strp] = { OFFSET, SYM_DW_LINE_STR },
    [DW_FORM_ref_sig8] = { SYM_DW_READ_8, SYM_DW_OTHER },
    [DW_FORM_implicit_const] = { SYM_DW_READ_CONST, SYM_DW_CONSTANT },
    [DW_FORM_loclistx] = { SYM_DW_READ_ULEB, SYM_DW_OTHER },
    [DW_FORM_rnglistx] = { SYM_DW_READ_ULEB, SYM_DW_RANGE_INDEX },
    [DW_FORM_ref_sup8] = { SYM_DW_READ_8, SYM_DW_REF_ALT },
    [DW_FORM_strx1] = { SYM_DW_READ_1, SYM_DW_STR_INDEX },
    [DW_FORM_strx2] = { SYM_DW_READ_2, SYM_DW_STR_INDEX },
    [DW_FORM_strx3] = { SYM_DW_READ_3, SYM_DW_STR_INDEX },
    [DW_FORM_strx4] = { SYM_DW_READ_4, SYM_DW_STR_INDEX },
    [DW_FORM_addrx1] = { SYM_DW_READ_1, SYM_DW_ADDRESS_INDEX },
    [DW_FORM_addrx2] = { SYM_DW_READ_2, SYM_DW_ADDRESS_INDEX },
    [DW_FORM_addrx3] = { SYM_DW_READ_3, SYM_DW_ADDRESS_INDEX },
    [DW_FORM_addrx4] = { SYM_DW_READ_4, SYM_DW_ADDRESS_INDEX },
};

static uint8_t
read_of_size(uint8_t size)
{
    switch (size) {
    case 2:
        return SYM_DW_READ_2;
    case 4:
        return SYM_DW_READ_4;
    default:
        return SYM_DW_READ_8; /* headers with other sizes were refused before */
    }
}


static bool
is_gnu_form(uint64_t form, sym_dw_form_t *out)
{
    switch (form) {
    case DW_FORM_GNU_addr_index:
        *out = (sym_dw_form_t){ SYM_DW_READ_ULEB, SYM_DW_ADDRESS_INDEX };
        return true;
    case DW_FORM_GNU_str_index:
        *out = (sym_dw_form_t){ SYM_DW_READ_ULEB, SYM_DW_STR_INDEX };
        return true;
    case DW_FORM_GNU_ref_alt:
        *out = (sym_dw_form_t){ OFFSET, SYM_DW_REF_ALT };
        return true;
    case DW_FORM_GNU_strp_alt:
        *out = (sym_dw_form_t){ OFFSET, SYM_DW_ALT_STR };
        return true;
    default:
        return false;
    }
}


bool
sym_dw_form(uint64_t form, sym_dw_shape_t shape, sym_dw_form_t *out)
{
    if (form < sizeof(forms) / sizeof(forms[0])) {
        *out = (sym_dw_form_t){ forms[form].read, forms[form].class };
        if (out->read == SYM_DW_READ_0 && form != DW_FORM_flag_present) {
            return false; /* no form has this number */
        }
    } else if (!is_gnu_form(form, out)) {
        return false;
    }

    if (form == DW_FORM_ref_addr && shape.version <= 2) {
        out->read = ADDRESS; /* DWARF 2, 7.5.4: size of an address */
    }

    if (out->read == OFFSET) {
        out->read = read_of_size(shape.offset_size);
    } else if (out->read == ADDRESS) {
        out->read = read_of_size(shape.addr_size);
    }

    return true;
}


int
sym_dw_fixed(uint8_t read)
{
    switch (read) {
    case SYM_DW_READ_0:
    case SYM_DW_READ_CONST:
        return 0;
    case SYM_DW_READ_1:
        return 1;
    case SYM_DW_READ_2:
        return 2;
    case SYM_DW_READ_3:
        return 3;
    case SYM_DW_READ_4:
        return 4;
    case SYM_DW_READ_8:
        return 8;
    case SYM_DW_READ_16:
        return 16;
    default:
        return -1;
    }
}


/* Reads the form that precedes the value (7.5.3). */
static sym_dw_form_t
indirect(sym_dw_bytes_t *b, sym_dw_shape_t shape)
{
    uint64_t number = sym_dw_uleb(b);
    sym_dw_form_t form;

    if (!sym_dw_form(number, shape, &form) || form.read == SYM_DW_READ_INDIRECT
        || form.read == SYM_DW_READ_CONST)
    {
        sym_cursor_fail(&b->c, SYM_MALFORMED, "indirect form is of no use");
        return (sym_dw_form_t){ SYM_DW_READ_0, SYM_DW_OTHER };
    }

    return form;
}


void
sym_dw_pass(sym_dw_bytes_t *b, uint8_t read, sym_dw_shape_t shape)
{
    if (read == SYM_DW_READ_INDIRECT) {
        read = indirect(b, shape).read;
    }

    switch (read) {
    case SYM_DW_READ_ULEB:
    case SYM_DW_READ_SLEB:
        sym_dw_pass_uleb(b);
        break;
    case SYM_DW_READ_STRING:
        (void) sym_dw_string(b);
        break;
    case SYM_DW_READ_BLOCK1:
        sym_dw_skip(b, sym_dw_u8(b));
        break;
    case SYM_DW_READ_BLOCK2:
        sym_dw_skip(b, sym_dw_u16(b));
        break;
    case SYM_DW_READ_BLOCK4:
        sym_dw_skip(b, sym_dw_u32(b));
        break;
    case SYM_DW_READ_BLOCK:
        sym_dw_skip(b, sym_dw_uleb(b));
        break;
    default:
        sym_dw_skip(b, (uint64_t) sym_dw_fixed(read));
    }
}


sym_dw_value_t
sym_dw_value(sym_dw_bytes_t *b, sym_dw_form_t form, sym_dw_shape_t shape)
{
    sym_dw_value_t v;

    if (form.read == SYM_DW_READ_INDIRECT) {
        form = indirect(b, shape);
    }

    v = (sym_dw_value_t){ 1, form.class };

    switch (form.read) {
    case SYM_DW_READ_1:
        v.u = sym_dw_u8(b);
        break;
    case SYM_DW_READ_2:
        v.u = sym_dw_u16(b);
        break;
    case SYM_DW_READ_3:
        v.u = sym_dw_number(b, 3);
        break;
    case SYM_DW_READ_4:
        v.u = sym_dw_u32(b);
        break;
    case SYM_DW_READ_8:
        v.u = sym_dw_u64(b);
        break;
    case SYM_DW_READ_ULEB:
        v.u = sym_dw_uleb(b);
        break;
    case SYM_DW_READ_SLEB:
        v.u = (uint64_t) sym_dw_sleb(b);
        break;
    case SYM_DW_READ_STRING:
        v.u = sym_dw_offset(b);
        (void) sym_dw_string(b);
        break;
    default:
        sym_dw_pass(b, form.read, shape);
    }

    return v;
}
