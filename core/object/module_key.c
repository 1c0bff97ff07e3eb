#include "object/module_key.h"

#include "base/digits.h"
#include "base/hex.h"

#define GUID_DIGITS SYM_UUID_DIGITS
#define PDB20_DIGITS 8
#define AGE_DIGITS 8

#define LOCAL_WORD "local"

static const sym_str_t local_names[] = { { SYM_SCOPE_LOCAL, 0 } };

const sym_scopes_t sym_scopes_local = { .names = local_names, .n = 1 };


size_t
sym_debug_id_canonical(sym_str_t id, char out[SYM_ID_MAX])
{
    size_t head, len, age;
    bool is_fine;

    if (id.len >= GUID_DIGITS) {
        head = GUID_DIGITS;
    } else if (id.len > PDB20_DIGITS && id.len <= PDB20_DIGITS + AGE_DIGITS) {
        head = PDB20_DIGITS;
    } else {
        return 0;
    }

    len = id.len > head + AGE_DIGITS ? head + AGE_DIGITS : id.len;
    for (size_t i = len; i < id.len; i++) {
        if (sym_hex_digit(id.data[i]) < 0) {
            return 0;
        }
    }

    for (age = head; age + 1 < len && id.data[age] == '0'; age++) {
        /* leading zeros of the age are ignored */
    }

    is_fine = sym_digits_upper(id.data, age == head ? len : head, out)
              && (age == head
                  || sym_digits_upper(id.data + age, len - age, out + head));
    if (!is_fine) {
        return 0;
    }

    if (len == head) {
        out[len++] = '0';
        return len;
    }

    return head + (len - age);
}


bool
sym_debug_id_has_any_age(sym_str_t id)
{
    return id.len == GUID_DIGITS + AGE_DIGITS
           && memcmp(id.data + GUID_DIGITS, "FFFFFFFF", AGE_DIGITS) == 0;
}


bool
sym_module_key_is_cut(const sym_module_key_t *key)
{
    char reading[SYM_ID_MAX];

    return key->code_id.len > SYM_ID_MAX
           && sym_str_eq(key->id, sym_str(reading, sym_debug_id_canonical(
                                                       key->code_id, reading)));
}


size_t
sym_uuid_canonical(sym_str_t uuid, char out[SYM_ID_MAX])
{
    char digits[SYM_ID_MAX];
    size_t n = 0;

    for (size_t i = 0; i < uuid.len; i++) {
        if (uuid.data[i] == '-') {
            continue;
        }
        if (n == sizeof(digits)) {
            return 0;
        }
        digits[n++] = uuid.data[i];
    }

    /* shorter ids are from other systems */
    return n < 32 ? 0 : sym_debug_id_canonical(sym_str(digits, n), out);
}


sym_str_t
sym_scope_word(sym_str_t scope)
{
    return scope.len == 0 ? SYM_STR(LOCAL_WORD) : scope;
}


sym_str_t
sym_scope_of_word(sym_str_t word)
{
    return sym_str_eq(word, SYM_STR(LOCAL_WORD)) ? SYM_STR(SYM_SCOPE_LOCAL)
                                                 : word;
}


bool
sym_module_name_ok(sym_str_t name)
{
    return name.len > 0 && name.len <= SYM_NAME_MAX
           && memchr(name.data, '\0', name.len) == NULL
           && memchr(name.data, '/', name.len) == NULL;
}
