#include "sources/guard/address.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/hex.h"

#define PARTS_MAX 4

typedef struct {
    uint8_t bytes[16];
    unsigned bits;
} block_t;

static const block_t reserved_v4[] = {
    { { 0 }, 8 },             /* "this network" */
    { { 10 }, 8 },            /* private */
    { { 100, 64 }, 10 },      /* shared: carriers' NAT */
    { { 127 }, 8 },           /* loopback */
    { { 169, 254 }, 16 },     /* link-local, metadata */
    { { 172, 16 }, 12 },      /* private */
    { { 192, 0, 0 }, 24 },    /* protocol assignments */
    { { 192, 0, 2 }, 24 },    /* documentation */
    { { 192, 31, 196 }, 24 }, /* AS112 */
    { { 192, 52, 193 }, 24 }, /* AMT */
    { { 192, 88, 99 }, 24 },  /* 6to4 relays */
    { { 192, 168 }, 16 },     /* private */
    { { 192, 175, 48 }, 24 }, /* AS112 */
    { { 198, 18 }, 15 },      /* benchmarks */
    { { 198, 51, 100 }, 24 }, /* documentation */
    { { 203, 0, 113 }, 24 },  /* documentation */
    { { 224 }, 4 },           /* multicast */
    { { 240 }, 4 },           /* reserved, broadcast */
};

/* Exceptions inside 2000::/3, the range of public hosts. */
static const block_t global_v6 = { { 0x20 }, 3 };
static const block_t reserved_v6[] = {
    { { 0x20, 0x01 }, 23 },                /* protocols; Teredo */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 },    /* documentation */
    { { 0x20, 0x02 }, 16 },                /* 6to4 */
    { { 0x26, 0x20, 0, 0x4f, 0x80 }, 48 }, /* AS112 */
    { { 0x3f, 0xff }, 20 },                /* documentation */
};

static const block_t mapped_v6 = { { [10] = 0xff, [11] = 0xff }, 96 };
static const block_t nat64_v6 = { { 0x00, 0x64, 0xff, 0x9b }, 96 };


static bool
is_in(const uint8_t *bytes, const block_t *block)
{
    unsigned whole = block->bits / 8, rest = block->bits % 8;
    unsigned mask = 0xff00U >> rest;

    return memcmp(bytes, block->bytes, whole) == 0
           && (rest == 0
               || ((bytes[whole] ^ block->bytes[whole]) & mask & 0xff) == 0);
}


static bool
is_in_one_of(const uint8_t *bytes, const block_t *blocks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_in(bytes, &blocks[i])) {
            return true;
        }
    }

    return false;
}


static bool
is_reserved_v4(const uint8_t *bytes)
{
    return is_in_one_of(bytes, reserved_v4,
                        sizeof(reserved_v4) / sizeof(reserved_v4[0]));
}


bool
sym_address_is_reserved(const sym_address_t *address)
{
    const uint8_t *bytes = address->bytes;

    if (!address->is_v6) {
        return is_reserved_v4(bytes);
    }

    if (is_in(bytes, &mapped_v6) || is_in(bytes, &nat64_v6)) {
        return is_reserved_v4(bytes + 12);
    }

    return !is_in(bytes, &global_v6)
           || is_in_one_of(bytes, reserved_v6,
                           sizeof(reserved_v6) / sizeof(reserved_v6[0]));
}


/* --- reading --- */

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}


/* Parses a decimal number, octal with a leading 0, or hexadecimal with 0x; "0x"
 * alone is 0. */
static bool
read_number(sym_str_t text, uint64_t *value)
{
    unsigned base = 10;
    size_t i = 0;

    if (text.len >= 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x') {
        base = 16;
        i = 2;
    } else if (text.len >= 2 && text.data[0] == '0') {
        base = 8;
        i = 1;
    } else if (text.len == 0) {
        return false;
    }

    *value = 0;
    for (; i < text.len; i++) {
        int digit = sym_hex_digit(text.data[i]);

        if (digit < 0 || (unsigned) digit >= base) {
            return false;
        }
        *value = *value * base + (unsigned) digit;
        if (*value > UINT32_MAX) {
            return false;
        }
    }

    return true;
}


/* A host whose last part begins like a number is never a name. */
static bool
ends_in_number(sym_str_t host)
{
    size_t start = host.len, i;

    while (start > 0 && host.data[start - 1] != '.') {
        start--;
    }

    for (i = start; i < host.len && is_digit(host.data[i]); i++) {
    }

    return start < host.len
           && (i == host.len
               || (host.len - start >= 2 && host.data[start] == '0'
                   && (host.data[start + 1] | 0x20) == 'x'));
}


static sym_status_t
read_v4(sym_str_t host, sym_address_t *address)
{
    uint64_t parts[PARTS_MAX], all;
    size_t n = 0, start = 0;

    for (size_t i = 0; i <= host.len; i++) {
        if (i < host.len && host.data[i] != '.') {
            continue;
        }
        if (n == PARTS_MAX
            || !read_number(sym_str(host.data + start, i - start), &parts[n]))
        {
            return SYM_MALFORMED;
        }
        n++;
        start = i + 1;
    }

    /* the last part has all remaining bytes */

    all = parts[n - 1];
    if (all >> (8 * (PARTS_MAX + 1 - n)) != 0) {
        return SYM_MALFORMED;
    }

    for (size_t i = 0; i + 1 < n; i++) {
        if (parts[i] > 255) {
            return SYM_MALFORMED;
        }
        all |= parts[i] << (8 * (PARTS_MAX - 1 - i));
    }

    for (size_t i = 0; i < PARTS_MAX; i++) {
        address->bytes[i] = (uint8_t) (all >> (8 * (PARTS_MAX - 1 - i)));
    }

    return SYM_OK;
}


sym_status_t
sym_address_read(sym_str_t host, sym_address_t *address)
{
    char text[INET6_ADDRSTRLEN];

    memset(address, 0, sizeof(*address));

    if (host.len > 0 && host.data[0] == '[') {
        if (host.len < 4 || host.len - 2 >= sizeof(text)
            || host.data[host.len - 1] != ']')
        {
            return SYM_MALFORMED;
        }
        memcpy(text, host.data + 1, host.len - 2);
        text[host.len - 2] = '\0';
        address->is_v6 = true;
        return inet_pton(AF_INET6, text, address->bytes) == 1 ? SYM_OK
                                                              : SYM_MALFORMED;
    }

    if (host.len > 0 && host.data[host.len - 1] == '.') {
        host.len--;
    }

    return ends_in_number(host) ? read_v4(host, address) : SYM_NOT_FOUND;
}


size_t
sym_address_write(const sym_address_t *address, char out[SYM_ADDRESS_TEXT_MAX])
{
    char text[INET6_ADDRSTRLEN];

    if (inet_ntop(address->is_v6 ? AF_INET6 : AF_INET, address->bytes, text,
                  sizeof(text))
        == NULL)
    {
        return 0; /* the buffer is large enough for every address */
    }

    return (size_t) snprintf(out, SYM_ADDRESS_TEXT_MAX,
                             address->is_v6 ? "[%s]" : "%s", text);
}
