#include "base/module_key.h"

#include "base/hex.h"

#define GUID_DIGITS 32
#define PDB20_DIGITS 8
#define AGE_DIGITS 8

size_t
sym_debug_id_canonical(sym_str_t id, char out[SYM_ID_MAX])
{
    size_t head, n = 0, age;

    if (id.len >= GUID_DIGITS) {
        head = GUID_DIGITS;
    } else if (id.len > PDB20_DIGITS && id.len <= PDB20_DIGITS + AGE_DIGITS) {
        head = PDB20_DIGITS;
    } else {
        return 0;
    }

    for (size_t i = 0; i < id.len; i++) {
        if (sym_hex_digit(id.data[i]) < 0) {
            return 0;
        }
    }

    id.len = id.len > head + AGE_DIGITS ? head + AGE_DIGITS : id.len;

    for (age = head; age + 1 < id.len && id.data[age] == '0'; age++) {
        /* leading zeros of the age say nothing */
    }

    for (size_t i = 0; i < id.len; i++) {
        char c = id.data[i];

        if (i < head || i >= age) {
            out[n++] = (char) (c >= 'a' ? c - 0x20 : c);
        }
    }

    if (n == head) {
        out[n++] = '0';
    }

    return n;
}


bool
sym_module_name_ok(sym_str_t name)
{
    return name.len > 0 && name.len <= SYM_NAME_MAX
           && memchr(name.data, '\0', name.len) == NULL
           && memchr(name.data, '/', name.len) == NULL;
}
