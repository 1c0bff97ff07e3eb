#include "object/file_id.h"

#include "base/digits.h"
#include "base/sha256.h"

static const char digits64[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

bool
sym_file_id_of(sym_str_t head, sym_str_t tail, uint64_t size,
               uint8_t id[SYM_FILE_ID_BYTES])
{
    char text[2 * SYM_FILE_ID_PART + sizeof(size)];
    sym_sha256_t digest;
    size_t len = head.len + tail.len;

    if (head.len > SYM_FILE_ID_PART || tail.len > SYM_FILE_ID_PART) {
        return false;
    }

    if (head.len != 0) {
        memcpy(text, head.data, head.len);
    }

    if (tail.len != 0) {
        memcpy(text + head.len, tail.data, tail.len);
    }

    for (unsigned i = 0; i < sizeof(size); i++) {
        text[len++] = (char) (size >> (56 - 8 * i));
    }

    if (!sym_sha256(sym_str(text, len), &digest)) {
        return false;
    }

    memcpy(id, digest.bytes, SYM_FILE_ID_BYTES);
    return true;
}


static int
digit64(char c)
{
    const char *found;

    if (c == '+' || c == '/') {
        return c == '+' ? 62 : 63;
    }

    found = memchr(digits64, c, sizeof(digits64) - 1);
    return found != NULL ? (int) (found - digits64) : -1;
}


/* Only two bits of the last digit belong to the id. */
static bool
read_base64(sym_str_t text, uint8_t id[SYM_FILE_ID_BYTES])
{
    uint32_t bits = 0;
    unsigned n_bits = 0;
    size_t n = 0;

    for (size_t i = 0; i < SYM_FILE_ID_BASE64; i++) {
        int digit = digit64(text.data[i]);

        if (digit < 0) {
            return false;
        }

        bits = bits << 6 | (uint32_t) digit;
        n_bits += 6;

        if (n_bits >= 8) {
            n_bits -= 8;
            id[n++] = (uint8_t) (bits >> n_bits);
        }
    }

    return (bits & 0xf) == 0;
}


bool
sym_file_id_read(sym_str_t text, uint8_t id[SYM_FILE_ID_BYTES])
{
    if (text.len == SYM_FILE_ID_HEX) {
        return sym_digits_read(text.data, SYM_FILE_ID_BYTES, id);
    }

    if (text.len == SYM_FILE_ID_BASE64 + 2
        && memcmp(text.data + SYM_FILE_ID_BASE64, "==", 2) == 0)
    {
        text.len -= 2;
    }

    return text.len == SYM_FILE_ID_BASE64 && read_base64(text, id);
}


void
sym_file_id_hex(const uint8_t id[SYM_FILE_ID_BYTES], char out[SYM_FILE_ID_HEX])
{
    (void) sym_digits_write_lower(id, SYM_FILE_ID_BYTES, out);
}


void
sym_file_id_base64(const uint8_t id[SYM_FILE_ID_BYTES],
                   char out[SYM_FILE_ID_BASE64])
{
    for (unsigned i = 0; i < SYM_FILE_ID_BASE64; i++) {
        unsigned at = 6 * i / 8, shift = 6 * i % 8;
        unsigned pair = (unsigned) id[at] << 8;

        pair |= at + 1 < SYM_FILE_ID_BYTES ? id[at + 1] : 0;
        out[i] = digits64[pair >> (10 - shift) & 63];
    }
}


sym_debug_id_t
sym_file_id_debug_id(const uint8_t id[SYM_FILE_ID_BYTES])
{
    sym_debug_id_t debug_id = { .form = SYM_DEBUG_ID_UUID };

    memcpy(debug_id.signature, id, SYM_FILE_ID_BYTES);
    return debug_id;
}
