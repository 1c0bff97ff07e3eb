#include "api/atos/address.h"

#include "base/hex.h"

/* Skips "0x". */
static bool
skip_0x(sym_str_t *text)
{
    if (text->len < 2 || text->data[0] != '0' || (text->data[1] | 0x20) != 'x')
    {
        return false;
    }

    *text = sym_str(text->data + 2, text->len - 2);
    return true;
}


bool
sym_atos_address_read(sym_str_t text, uint64_t *address)
{
    return skip_0x(&text) ? sym_hex_read(text, address)
                          : sym_dec_read(text, address);
}


bool
sym_atos_base_read(sym_str_t text, uint64_t *value)
{
    (void) skip_0x(&text);
    return sym_hex_read(text, value);
}


bool
sym_atos_offset(const sym_atos_base_t *base, uint64_t image_base,
                uint64_t address, uint64_t *offset)
{
    if (base->from == SYM_ATOS_OFFSET) {
        *offset = address;
        return true;
    }

    if (address < base->value) {
        return false;
    }

    address -= base->value;

    if (base->from == SYM_ATOS_LOAD) {
        *offset = address;
        return true;
    }

    *offset = address - image_base;
    return address >= image_base;
}
