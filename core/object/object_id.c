#include "object/object_id.h"

#include "base/digits.h"
#include "base/hex.h"

#define UUID_DIGITS ((size_t) 2 * SYM_UUID_BYTES)
#define UUID_DASHED 36
#define PDB20_DIGITS 8
#define AGE_DIGITS 8

static const char lower[] = "0123456789abcdef";
static const char upper[] = "0123456789ABCDEF";


/* --- comparing --- */

sym_object_type_t
sym_object_type(sym_str_t word)
{
    static const struct {
        const char *word;
        sym_object_type_t type;
    } types[] = { { "elf", SYM_OBJECT_ELF },
                  { "macho", SYM_OBJECT_MACHO },
                  { "pe", SYM_OBJECT_PE },
                  { "pe_dotnet", SYM_OBJECT_PE_DOTNET },
                  { "wasm", SYM_OBJECT_WASM } };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (sym_str_eq(word, sym_cstr(types[i].word))) {
            return types[i].type;
        }
    }

    return SYM_OBJECT_UNKNOWN;
}


bool
sym_debug_id_eq(const sym_debug_id_t *a, const sym_debug_id_t *b)
{
    return a->form == b->form && a->age == b->age
           && memcmp(a->signature, b->signature, SYM_UUID_BYTES) == 0;
}


bool
sym_code_id_eq(const sym_code_id_t *a, const sym_code_id_t *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}


/* --- reading --- */

static bool
read_age(sym_str_t s, uint32_t *age)
{
    uint64_t value;

    if (s.len > AGE_DIGITS || !sym_hex_read(s, &value)) {
        return false;
    }

    *age = (uint32_t) value;
    return true;
}


static sym_str_t
behind(sym_str_t s, size_t n)
{
    return sym_str(s.data + n, s.len - n);
}


/* Reads a UUID at the start of s; returns its length in s.  0: there is
 * none. */
static size_t
read_uuid(sym_str_t s, sym_debug_id_t *id)
{
    /* start of a piece, and its bytes: RFC 9562, 4 */
    static const uint8_t at[] = { 0, 9, 14, 19, 24 }, n[] = { 4, 2, 2, 2, 6 };
    uint8_t *out = id->signature;

    id->form = SYM_DEBUG_ID_UUID;
    if (s.len <= PDB20_DIGITS || s.data[PDB20_DIGITS] != '-') {
        return s.len >= UUID_DIGITS
                       && sym_digits_read(s.data, SYM_UUID_BYTES, out)
                   ? UUID_DIGITS
                   : 0;
    }

    for (size_t i = 0; i < sizeof(at); i++) {
        if (s.len < UUID_DASHED || (i != 0 && s.data[at[i] - 1] != '-')
            || !sym_digits_read(s.data + at[i], n[i], out))
        {
            return 0;
        }
        out += n[i];
    }

    return UUID_DASHED;
}


static bool
none(sym_debug_id_t *id)
{
    *id = (sym_debug_id_t){ .form = SYM_DEBUG_ID_NONE };
    return false;
}


/* Reads a time stamp, perhaps a dash, and an age. */
static bool
read_pdb20(sym_str_t s, bool has_dash, sym_debug_id_t *id)
{
    size_t head = PDB20_DIGITS + has_dash;

    *id = (sym_debug_id_t){ .form = SYM_DEBUG_ID_PDB20 };
    return (s.len > head && (!has_dash || s.data[PDB20_DIGITS] == '-')
            && sym_digits_read(s.data, PDB20_DIGITS / 2, id->signature)
            && read_age(behind(s, head), &id->age))
           || none(id);
}


bool
sym_debug_id_read_breakpad(sym_str_t s, sym_debug_id_t *id)
{
    if (s.len <= PDB20_DIGITS + AGE_DIGITS) {
        return read_pdb20(s, false, id);
    }

    *id = (sym_debug_id_t){ 0 };
    return (read_uuid(s, id) == UUID_DIGITS
            && read_age(behind(s, UUID_DIGITS), &id->age))
           || none(id);
}


bool
sym_debug_id_read_sentry(sym_str_t s, sym_debug_id_t *id)
{
    size_t len;

    if (s.len <= PDB20_DIGITS + 1 + AGE_DIGITS) {
        return read_pdb20(s, true, id);
    }

    *id = (sym_debug_id_t){ 0 };
    len = read_uuid(s, id);
    if (len == 0) {
        return none(id);
    }

    if (s.len == len) {
        return true;
    }

    if (len == UUID_DASHED && s.data[len++] != '-') {
        return none(id);
    }

    return read_age(behind(s, len), &id->age) || none(id);
}


bool
sym_debug_id_read_uuid(sym_str_t s, sym_debug_id_t *id)
{
    size_t len;

    *id = (sym_debug_id_t){ 0 };
    len = read_uuid(s, id);
    return (len != 0 && len == s.len) || none(id);
}


void
sym_debug_id_of_build_id(const uint8_t *build_id, size_t len,
                         bool is_big_endian, sym_debug_id_t *id)
{
    /* the first three fields of a GUID are numbers of 4, 2 and 2 bytes */
    static const uint8_t little[] = { 3, 2, 1, 0, 5, 4, 7, 6 };

    *id = (sym_debug_id_t){ .form = SYM_DEBUG_ID_UUID };
    for (size_t i = 0; i < SYM_UUID_BYTES; i++) {
        size_t from = !is_big_endian && i < sizeof(little) ? little[i] : i;

        id->signature[i] = from < len ? build_id[from] : 0;
    }
}


bool
sym_code_id_read(sym_str_t s, sym_code_id_t *id)
{
    id->len = 0;
    for (size_t i = 0; i < s.len; i++) {
        int digit = sym_hex_digit(s.data[i]);

        if (s.data[i] == '-') {
            continue;
        }

        if (digit < 0 || id->len == SYM_CODE_ID_MAX) {
            id->len = 0;
            return false;
        }

        id->text[id->len++] = lower[digit];
    }

    return id->len != 0;
}


bool
sym_code_id_read_build_id(sym_str_t s, sym_code_id_t *id)
{
    if (s.len % 2 != 0 || memchr(s.data, '-', s.len) != NULL) {
        id->len = 0;
        return false;
    }

    return sym_code_id_read(s, id);
}


bool
sym_code_id_read_pe(sym_str_t s, sym_code_id_t *id)
{
    if (s.len <= 8 || s.len > 16 || memchr(s.data, '-', s.len) != NULL) {
        id->len = 0;
        return false;
    }

    return sym_code_id_read(s, id);
}


bool
sym_code_id_read_debug_id(sym_str_t s, sym_code_id_t *id)
{
    sym_debug_id_t debug_id, swapped;

    id->len = 0;
    if (!sym_debug_id_read_breakpad(s, &debug_id)
        || debug_id.form != SYM_DEBUG_ID_UUID || debug_id.age != 0)
    {
        return false;
    }

    /* restores the byte order */
    sym_debug_id_of_build_id(debug_id.signature, SYM_UUID_BYTES, false,
                             &swapped);
    id->len = (uint8_t) sym_digits_write_lower(swapped.signature,
                                               SYM_UUID_BYTES, id->text);
    return true;
}


bool
sym_mozilla_is_code_id(sym_str_t id)
{
    return id.len % 2 == 0
           && (id.len == 16 || id.len == UUID_DIGITS || id.len >= 40);
}


bool
sym_mozilla_code_id(sym_str_t name, sym_str_t id, sym_code_id_t *code_id)
{
    code_id->len = 0;

    if (sym_mozilla_is_code_id(id)) {
        return sym_code_id_read_build_id(id, code_id);
    }

    return !sym_str_ends_nocase(name, SYM_STR(".pdb"))
           && sym_code_id_read_pe(id, code_id);
}


/* --- writing --- */

static size_t
write_age(uint32_t age, const char *digits, char *out)
{
    size_t n = 1;

    while (n < AGE_DIGITS && age >> (4 * n) != 0) {
        n++;
    }

    for (size_t i = 0; i < n; i++) {
        out[i] = digits[age >> (4 * (n - 1 - i)) & 15];
    }

    return n;
}


static size_t
signature_bytes(const sym_debug_id_t *id)
{
    return id->form == SYM_DEBUG_ID_NONE   ? 0
           : id->form == SYM_DEBUG_ID_UUID ? SYM_UUID_BYTES
                                           : PDB20_DIGITS / 2;
}


static size_t
write_signature(const sym_debug_id_t *id, char *out)
{
    return sym_digits_write_upper(id->signature, signature_bytes(id), out);
}


size_t
sym_debug_id_write_breakpad(const sym_debug_id_t *id, char out[SYM_ID_TEXT_MAX])
{
    size_t n = write_signature(id, out);

    return n == 0 ? 0 : n + write_age(id->age, upper, out + n);
}


size_t
sym_debug_id_write_sentry(const sym_debug_id_t *id, char out[SYM_ID_TEXT_MAX])
{
    char digits[UUID_DIGITS];
    size_t len, n = 0;

    len = sym_digits_write_lower(id->signature, signature_bytes(id), digits);

    for (size_t i = 0; i < len; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20) {
            out[n++] = '-';
        }
        out[n++] = digits[i];
    }

    if (id->age != 0 && n != 0) {
        out[n++] = '-';
        n += write_age(id->age, lower, out + n);
    }

    return n;
}


size_t
sym_debug_id_write_symstore(const sym_debug_id_t *id, sym_object_type_t type,
                            char out[SYM_ID_TEXT_MAX])
{
    uint32_t age = type == SYM_OBJECT_PE_DOTNET ? UINT32_MAX : id->age;
    size_t n = write_signature(id, out);

    return n == 0 ? 0 : n + write_age(age, lower, out + n);
}


size_t
sym_code_id_write_pe(const sym_code_id_t *id, char out[SYM_ID_TEXT_MAX])
{
    if (id->len <= 8 || id->len > 16) {
        return 0;
    }

    for (size_t i = 0; i < id->len; i++) {
        out[i] =
            (char) (i < 8 ? upper[sym_hex_digit(id->text[i])] : id->text[i]);
    }

    return id->len;
}


/* --- names --- */

sym_str_t
sym_object_file_name(sym_str_t path)
{
    size_t begin;

    while (
        path.len != 0
        && (path.data[path.len - 1] == '/' || path.data[path.len - 1] == '\\'))
    {
        path.len--;
    }

    if (path.len == 0) {
        return SYM_STR(""); /* path.data may be NULL */
    }

    for (begin = path.len; begin != 0; begin--) {
        if (path.data[begin - 1] == '/' || path.data[begin - 1] == '\\') {
            break;
        }
    }

    return sym_str(path.data + begin, path.len - begin);
}
