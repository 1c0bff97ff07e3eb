#include "formats/sourcemap/mappings.h"

#define VLQ_BITS 5
#define VLQ_MORE 0x20
#define VLQ_SHIFT_MAX 63

/* The value of a base64 digit (RFC 4648, 4), plus one; 0 for other bytes.
 * After a value of 32 or more the number continues. */
static const uint8_t digits[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,
    ['G'] = 7,  ['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12,
    ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18,
    ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30,
    ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36,
    ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
    ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54,
    ['2'] = 55, ['3'] = 56, ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60,
    ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};


int
sym_vlq_read(const char **pos, const char *end,
             int64_t fields[SYM_VLQ_FIELDS_MAX])
{
    const char *p = *pos;
    uint64_t value = 0;
    unsigned shift = 0;
    int n = 0;

    for (; p < end && *p != ',' && *p != ';'; p++) {
        uint8_t digit = (uint8_t) (digits[(uint8_t) *p] - 1);

        if (shift > VLQ_SHIFT_MAX) {
            return -1;
        }

        value += (uint64_t) (digit & (VLQ_MORE - 1)) << shift;
        if ((digit & VLQ_MORE) != 0) {
            shift += VLQ_BITS;
            continue;
        }

        if (n < SYM_VLQ_FIELDS_MAX) {
            int64_t half = (int64_t) value >> 1;

            fields[n] =
                (value & 1) != 0 ? (int64_t) (0 - (uint64_t) half) : half;
        }

        n += n <= SYM_VLQ_FIELDS_MAX;
        value = 0;
        shift = 0;
    }

    *pos = p;
    return value == 0 && shift == 0 ? n : -1;
}


void
sym_mappings_begin(sym_mappings_t *m, const sym_map_part_t *part)
{
    *m = (sym_mappings_t){ .part = part,
                           .pos = part->mappings.data,
                           .end = part->mappings.data + part->mappings.len };
}


static sym_status_t
fail(const sym_mappings_t *m, sym_status_t status, const char *what,
     sym_error_t *err)
{
    if (err->status == SYM_OK) {
        err->section = "mappings";
        err->offset = (uint64_t) (m->pos - m->part->mappings.data);
    }

    return sym_fail(err, status, what);
}


/* Sums have 32 bits and may wrap. */
static inline uint32_t
add(uint32_t number, int64_t difference)
{
    return number + (uint32_t) (uint64_t) difference;
}


static sym_status_t
read_source(sym_mappings_t *m, const int64_t *fields, int n,
            sym_sourcemap_token_t *token, sym_error_t *err)
{
    const sym_map_part_t *part = m->part;

    m->source = add(m->source, fields[1]);
    if (m->source >= part->sources.n) {
        return fail(m, SYM_MALFORMED, "a mapping names no source of the map",
                    err);
    }

    m->source_line = add(m->source_line, fields[2]);
    m->source_column = add(m->source_column, fields[3]);
    token->source = part->first_source + m->source;
    token->source_line = m->source_line;
    token->source_column = m->source_column;

    if (n == 5) {
        m->name = add(m->name, fields[4]);
        if (m->name >= part->names.n) {
            return fail(m, SYM_MALFORMED, "a mapping names no name of the map",
                        err);
        }
        token->name = part->first_name + m->name;
    }

    return SYM_OK;
}


static sym_status_t
place(const sym_mappings_t *m, sym_sourcemap_token_t *token, sym_error_t *err)
{
    const sym_map_part_t *part = m->part;

    if (m->line > UINT32_MAX - part->line
        || (m->line == 0 && m->column > UINT32_MAX - part->column))
    {
        return fail(m, SYM_LIMIT, "a mapping is after line or column 2^32",
                    err);
    }

    token->line = part->line + m->line;
    token->column = m->column + (m->line == 0 ? part->column : 0);
    return SYM_OK;
}


sym_status_t
sym_mappings_next(sym_mappings_t *m, sym_sourcemap_token_t *token,
                  sym_error_t *err)
{
    int64_t fields[SYM_VLQ_FIELDS_MAX];
    int n;

    for (; m->pos < m->end && (*m->pos == ',' || *m->pos == ';'); m->pos++) {
        if (*m->pos == ';') {
            m->line++;
            m->column = 0;
        }
    }

    if (m->pos == m->end) {
        return SYM_NOT_FOUND;
    }

    n = sym_vlq_read(&m->pos, m->end, fields);
    if (n != 1 && n != 4 && n != 5) {
        return fail(m, SYM_MALFORMED, "a mapping has not 1, 4 or 5 fields",
                    err);
    }

    m->column = add(m->column, fields[0]);
    *token = (sym_sourcemap_token_t){ .source = SYM_SOURCEMAP_NONE,
                                      .source_line = SYM_SOURCEMAP_NONE,
                                      .source_column = SYM_SOURCEMAP_NONE,
                                      .name = SYM_SOURCEMAP_NONE,
                                      .scope = SYM_SOURCEMAP_NONE };

    return n > 1 && read_source(m, fields, n, token, err) != SYM_OK
               ? err->status
               : place(m, token, err);
}
