#include "base/hex.h"

/* A digit's value + 1; 0: not a digit. */
static const uint8_t hex_digits[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
    ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
    ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
    ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

int
sym_hex_digit(char c)
{
    return hex_digits[(uint8_t) c] - 1;
}


typedef uint8_t eight_t __attribute__((vector_size(8)));

/* Loads a word in little-endian order. */
static uint64_t
first_lowest(eight_t bytes)
{
    uint64_t word;

    memcpy(&word, &bytes, sizeof(word));
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word)
                                                  : word;
}


/* Counts the leading digits of the eight bytes at p, and sets their value; 8:
 * more digits may follow. */
static size_t
read_eight(const char *p, uint64_t *value)
{
    eight_t c, letters, digits;
    uint64_t v, others;
    unsigned bits;

    memcpy(&c, p, sizeof(c));
    letters = (eight_t) ((c | 0x20) - 'a' < 6);
    digits = (c & 15) + (letters & 9);
    others = ~first_lowest(letters | (eight_t) (c - '0' < 10));

    if (others == 0) {
        return 8;
    }

    bits = (unsigned) __builtin_ctzll(others) & ~7u;

    if (bits == 0) {
        return 0;
    }

    /* reverses the byte order, then joins digits: pairs to bytes, bytes to 16
     * bits, and these to 32 bits */
    v = __builtin_bswap64(first_lowest(digits) << (64 - bits));
    v = (v | v >> 4) & 0x00ff00ff00ff00ffu;
    v = (v | v >> 8) & 0x0000ffff0000ffffu;
    *value = (v | v >> 16) & 0xffffffffu;
    return bits / 8;
}


size_t
sym_hex_prefix(sym_str_t s, uint64_t *value)
{
    uint64_t v = 0;
    size_t i;

    /* most addresses are short */
    if (s.len >= 8) {
        i = read_eight(s.data, value);
        if (i != 0 && i != 8) {
            return i;
        }
    }

    for (i = 0; i < s.len && v >> 60 == 0; i++) {
        unsigned digit = hex_digits[(uint8_t) s.data[i]];

        if (digit == 0) {
            break;
        }
        v = v << 4 | (digit - 1);
    }

    *value = v;
    return i;
}


bool
sym_hex_read(sym_str_t s, uint64_t *value)
{
    uint64_t v;

    if (s.len == 0 || sym_hex_prefix(s, &v) != s.len) {
        return false;
    }

    *value = v;
    return true;
}


bool
sym_dec_read(sym_str_t s, uint64_t *value)
{
    uint64_t v = 0;

    if (s.len == 0) {
        return false;
    }

    for (size_t i = 0; i < s.len; i++) {
        uint64_t digit = (uint64_t) (uint8_t) s.data[i] - '0';

        if (digit > 9 || v > (UINT64_MAX - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }

    *value = v;
    return true;
}


/* Returns the eight digits of a number, in memory order. */
static uint64_t
eight_digits(uint32_t value)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t v = __builtin_bswap32(value), letters;

    /* spreads each byte to 16 bits, then its halves to a byte each, the upper
     * half first */
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v >> 4 & 0x000f000f000f000fu) | (v & 0x000f000f000f000fu) << 8;

    letters = (v + 6 * ones) >> 4 & ones;
    v += '0' * ones + letters * ('a' - '0' - 10);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(v) : v;
}


static char *
write_hex32(char *p, uint32_t value)
{
    unsigned n = value == 0 ? 1 : (35 - (unsigned) __builtin_clz(value)) / 4;
    uint64_t digits = eight_digits(value << (32 - 4 * n));

    memcpy(p, &digits, sizeof(digits));
    return p + n;
}


int
sym_hex_percent(sym_str_t s, size_t at)
{
    int high, low;

    if (at >= s.len || s.len - at < 3 || s.data[at] != '%') {
        return -1;
    }

    high = sym_hex_digit(s.data[at + 1]);
    low = sym_hex_digit(s.data[at + 2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}


char *
sym_hex_write(char *p, uint64_t value)
{
    uint64_t low;

    if (value <= UINT32_MAX) {
        return write_hex32(p, (uint32_t) value);
    }

    p = write_hex32(p, (uint32_t) (value >> 32));
    low = eight_digits((uint32_t) value);
    memcpy(p, &low, sizeof(low));
    return p + sizeof(low);
}


static const uint64_t powers[] = {
    0,
    10u,
    100u,
    1000u,
    10000u,
    100000u,
    1000000u,
    10000000u,
    100000000u,
    1000000000u,
    10000000000u,
    100000000000u,
    1000000000000u,
    10000000000000u,
    100000000000000u,
    1000000000000000u,
    10000000000000000u,
    100000000000000000u,
    1000000000000000000u,
    10000000000000000000u,
};


static unsigned
count_digits(uint64_t value)
{
    /* log10(2) is about 1233 / 4096; the result may be one too low */
    unsigned bits = 64 - (unsigned) __builtin_clzll(value | 1);
    unsigned n = bits * 1233 >> 12;

    return n + (value >= powers[n]);
}


static const char pairs[] =
    "00010203040506070809101112131415161718192021222324"
    "25262728293031323334353637383940414243444546474849"
    "50515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";


/* For numbers of up to four digits, such as most line numbers: writes four
   digits and drops leading zeros. */
static char *
write_small(char *p, uint32_t value)
{
    unsigned zeros = value < 10 ? 3 : value < 100 ? 2 : value < 1000;
    char digits[8] = { 0 };

    memcpy(digits, pairs + (size_t) 2 * (value / 100), 2);
    memcpy(digits + 2, pairs + (size_t) 2 * (value % 100), 2);
    memcpy(p, digits + zeros, 4);
    return p + 4 - zeros;
}


char *
sym_dec_write(char *p, uint64_t value)
{
    char *end, *q;

    if (value < 10000) {
        return write_small(p, (uint32_t) value);
    }

    end = q = p + count_digits(value);

    while (value >= 10) {
        q -= 2;
        memcpy(q, pairs + 2 * (value % 100), 2);
        value /= 100;
    }

    if (q != p) {
        *p = (char) ('0' + value);
    }

    return end;
}
