#include "artifacts/symcache/write/squeeze.h"

#include <string.h>

/*
 * Layout: four widths in bits, a byte each, and the last three numbers of the
 * first row.  Then each row, xor those numbers, in as many bytes as the widths
 * need together.  If that is more than 8 bytes, rows are unchanged.
 */
typedef struct {
    uint8_t width[SYM_ROW_NUMBERS];
    uint32_t first[SYM_ROW_NUMBERS - 1];
} head_t;

static unsigned
bits_of(uint32_t v)
{
    return 63 - (unsigned) __builtin_clzll((uint64_t) v << 1 | 1);
}


/* Positions of the numbers in a word. */
typedef struct {
    unsigned at[SYM_ROW_NUMBERS];
    unsigned bytes;
} layout_t;

/* False: they do not fit a word.  Shifts stay below 64, because a number of
 * width 0 can be at any position. */
static int
lay_out(const head_t *head, layout_t *l)
{
    unsigned bits = 0;

    for (size_t k = 0; k < SYM_ROW_NUMBERS; k++) {
        l->at[k] = bits & 63;
        bits += head->width[k];
    }

    l->bytes = (bits + 7) / 8;
    return bits <= 64;
}


uint8_t *
sym_squeeze(uint8_t *p, const sym_row_t *rows, size_t n)
{
    sym_row_t first, all = { { 0 } };
    head_t head;
    layout_t l;

    if (n == 0) {
        return p;
    }

    first = rows[0];
    first.v[0] = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < SYM_ROW_NUMBERS; k++) {
            all.v[k] |= rows[i].v[k] ^ first.v[k];
        }
    }

    for (size_t k = 0; k < SYM_ROW_NUMBERS; k++) {
        head.width[k] = (uint8_t) bits_of(all.v[k]);
    }
    memcpy(head.first, &first.v[1], sizeof(head.first));
    memcpy(p, &head, sizeof(head));
    p += sizeof(head);

    if (!lay_out(&head, &l)) {
        memcpy(p, rows, n * sizeof(*rows));
        return p + n * sizeof(*rows);
    }

    for (size_t i = 0; i < n; i++, p += l.bytes) {
        uint64_t bits = 0;

        for (size_t k = 0; k < SYM_ROW_NUMBERS; k++) {
            bits |= (uint64_t) (rows[i].v[k] ^ first.v[k]) << l.at[k];
        }
        memcpy(p, &bits, sizeof(bits)); /* the next row overwrites the excess
                                           bytes */
    }

    return p;
}


const uint8_t *
sym_unsqueeze(const uint8_t *p, sym_row_t *rows, size_t n)
{
    sym_row_t first = { { 0 } };
    uint64_t mask[SYM_ROW_NUMBERS];
    head_t head;
    layout_t l;

    if (n == 0) {
        return p;
    }

    memcpy(&head, p, sizeof(head));
    memcpy(&first.v[1], head.first, sizeof(head.first));
    p += sizeof(head);

    if (!lay_out(&head, &l)) {
        memcpy(rows, p, n * sizeof(*rows));
        return p + n * sizeof(*rows);
    }

    for (size_t k = 0; k < SYM_ROW_NUMBERS; k++) {
        mask[k] = ((uint64_t) 1 << head.width[k]) - 1;
    }

    for (size_t i = 0; i < n; i++, p += l.bytes) {
        uint64_t bits;

        memcpy(&bits, p, sizeof(bits));
        for (size_t k = 0; k < SYM_ROW_NUMBERS; k++) {
            rows[i].v[k] = (uint32_t) (bits >> l.at[k] & mask[k]) ^ first.v[k];
        }
    }

    return p;
}
