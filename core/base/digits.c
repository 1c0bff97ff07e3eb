#include "base/digits.h"

#include "base/hex.h"

#define ROW 16

typedef uint8_t row_t __attribute__((vector_size(ROW)));
typedef uint16_t twos_t __attribute__((vector_size(ROW)));
typedef uint8_t bytes_t __attribute__((vector_size(ROW / 2)));

#define IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline row_t
load(const char *p)
{
    row_t row;

    memcpy(&row, p, sizeof(row));
    return row;
}


static inline bool
is_zero(row_t row)
{
    uint64_t halves[2];

    memcpy(halves, &row, sizeof(halves));
    return (halves[0] | halves[1]) == 0;
}


/* Returns all ones in each byte that is a letter from A to F or a to f. */
static inline row_t
letters_of(row_t c)
{
    return (row_t) ((c | 0x20) - 'a' < 6);
}


static inline row_t
bad_of(row_t c, row_t letters)
{
    return ~(letters | (row_t) (c - '0' < 10));
}


bool
sym_digits_upper(const char *p, size_t n, char *out)
{
    row_t bad = { 0 };
    bool is_fine = true;

    for (; n >= ROW; n -= ROW, p += ROW, out += ROW) {
        row_t c = load(p), letters = letters_of(c);

        bad |= bad_of(c, letters);
        c &= ~(letters & 0x20);
        memcpy(out, &c, sizeof(c));
    }

    for (; n > 0; n--, p++, out++) {
        is_fine &= sym_hex_digit(*p) >= 0;
        *out = (char) (*p >= 'a' ? *p - ('a' - 'A') : *p);
    }

    return is_fine && is_zero(bad);
}


bool
sym_digits_read(const char *p, size_t n, uint8_t *out)
{
    row_t bad = { 0 };
    int signs = 0;

    for (; n >= ROW / 2; n -= ROW / 2, p += ROW, out += ROW / 2) {
        row_t c = load(p), letters = letters_of(c);
        twos_t twos = (twos_t) ((c & 15) + (letters & 9));
        bytes_t bytes;

        bad |= bad_of(c, letters);
        twos = (IS_BIG ? twos | twos >> 4 : twos << 4 | twos >> 8) & 0xff;
        bytes = __builtin_convertvector(twos, bytes_t);
        memcpy(out, &bytes, sizeof(bytes));
    }

    for (; n > 0; n--, p += 2, out++) {
        int high = sym_hex_digit(p[0]), low = sym_hex_digit(p[1]);

        signs |= high | low;
        *out = (uint8_t) ((unsigned) high << 4 | (unsigned) low);
    }

    return signs >= 0 && is_zero(bad);
}


/* `letter`, 'a' or 'A', selects the case. */
static inline size_t
write_row(const uint8_t *p, size_t n, char letter, char *out)
{
    const uint8_t above = (uint8_t) (letter - '0' - 10);
    size_t i = 0;

    for (; n - i >= ROW / 2; i += ROW / 2) {
        bytes_t bytes;
        twos_t twos;
        row_t c;

        memcpy(&bytes, p + i, sizeof(bytes));
        twos = __builtin_convertvector(bytes, twos_t);
        twos = IS_BIG ? (twos << 4 | (twos & 15)) & 0x0f0f
                      : (twos >> 4) | (twos & 15) << 8;
        c = (row_t) twos;
        c += '0' + ((row_t) (c > 9) & above);
        memcpy(out + 2 * i, &c, sizeof(c));
    }

    for (; i < n; i++) {
        unsigned high = p[i] >> 4, low = p[i] & 15;

        out[2 * i] = (char) ('0' + high + (high > 9 ? above : 0));
        out[2 * i + 1] = (char) ('0' + low + (low > 9 ? above : 0));
    }

    return 2 * n;
}


size_t
sym_digits_write_upper(const uint8_t *bytes, size_t n, char *out)
{
    return write_row(bytes, n, 'A', out);
}


size_t
sym_digits_write_lower(const uint8_t *bytes, size_t n, char *out)
{
    return write_row(bytes, n, 'a', out);
}
