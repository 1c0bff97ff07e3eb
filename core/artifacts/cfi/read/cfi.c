#include "artifacts/cfi/read/cfi.h"

#include <string.h>

/* --- the header --- */

sym_status_t
sym_cfi_open(sym_cfi_t *c, sym_extent_get_pt get, void *ctx, sym_error_t *err)
{
    const uint8_t *h;
    uint32_t arch;

    *c = (sym_cfi_t){ .in = { get, ctx, NULL, 1 } };
    h = sym_extent_bytes(&c->in, 0, SYM_CFI_HEADER_BYTES);

    if (h == NULL || sym_get32(h) != SYM_CFI_MAGIC) {
        return sym_fail(err, SYM_DAMAGED, "not an artifact of kind cfi");
    }

    if (sym_get32(h + 4) != SYM_CFI_VERSION) {
        return sym_fail(err, SYM_VERSION, "a cfi of another version");
    }

    c->in.n = sym_get32(h + 8);
    arch = sym_get32(h + 12);
    c->flags = sym_get32(h + 16);
    c->n_pages = sym_get32(h + 20);
    c->pages_ref = sym_get32(h + 24);
    c->n_rules = sym_get32(h + 28);
    c->rules_ref = sym_get32(h + 32);
    c->name_ref = sym_get32(h + 36);
    c->n_rows = sym_get64(h + 40);
    c->arch =
        arch < SYM_UNWIND_ARCHS ? (sym_unwind_arch_t) arch : SYM_UNWIND_UNKNOWN;

    if (c->in.n == 0 || c->in.n > SYM_EXTENTS_LIMIT
        || c->arch == SYM_UNWIND_UNKNOWN || c->n_rules > SYM_CFI_RULES_MAX
        || c->n_rows > (uint64_t) c->n_pages * SYM_CFI_PAGE_ROWS)
    {
        return sym_fail(err, SYM_DAMAGED, "damaged header of a cfi");
    }

    return SYM_OK;
}


sym_str_t
sym_cfi_debug_file(const sym_cfi_t *c)
{
    size_t len = 0;
    const uint8_t *data =
        c->name_ref != 0 ? sym_extent_rest(&c->in, c->name_ref, &len) : NULL;

    return data != NULL && data[0] < len
               ? sym_str((const char *) data + 1, data[0])
               : SYM_STR("");
}


void
sym_cfi_remember(sym_cfi_t *c, sym_extent_view_t *table)
{
    c->in.cache = table;
}


/* --- the bytes of rules and rows --- */

typedef struct {
    const uint8_t *pos, *end;
    bool failed;
} bytes_t;


static inline uint8_t
take(bytes_t *b)
{
    if (b->pos == b->end) {
        b->failed = true;
        return 0;
    }

    return *b->pos++;
}


static uint64_t
take_long(bytes_t *b, uint8_t byte, unsigned *bits)
{
    uint64_t value = byte & 0x7f;

    for (*bits = 7; byte >= 0x80; *bits += 7) {
        if (*bits >= 64) {
            b->failed = true;
            return 0;
        }

        byte = take(b);
        value |= (uint64_t) (byte & 0x7f) << *bits;
    }

    return value;
}


static inline uint64_t
take_uleb(bytes_t *b)
{
    uint8_t byte = take(b);
    unsigned bits;

    return byte < 0x80 ? byte : take_long(b, byte, &bits);
}


static int64_t
take_sleb(bytes_t *b)
{
    unsigned bits;
    uint64_t value = take_long(b, take(b), &bits);

    if (bits < 64 && (value >> (bits - 1) & 1) != 0) {
        value |= ~UINT64_C(0) << bits;
    }

    return (int64_t) value;
}


static int64_t
take_offset(bytes_t *b, unsigned word_bytes)
{
    const int64_t coded = take_sleb(b), half = coded >> 1;

    return (coded & 1) != 0
               ? half
               : (int64_t) ((uint64_t) half * (uint64_t) word_bytes);
}


static sym_str_t
take_bytes(bytes_t *b, uint64_t len)
{
    sym_str_t s = { (const char *) b->pos, (size_t) len };

    if (len > (size_t) (b->end - b->pos)) {
        b->failed = true;
        return sym_str("", 0);
    }

    b->pos += len;
    return s;
}


/* --- rules --- */

static void
take_rule(bytes_t *b, unsigned word_bytes, sym_cfi_rule_t *r, uint8_t code)
{
    r->how = (sym_cfi_how_t) (code / SYM_CFI_RULE_REGISTERS);
    r->base = 0;
    r->offset = 0;
    r->program = sym_str("", 0);

    switch (r->how) {
    case SYM_CFI_UNDEFINED:
        break;
    case SYM_CFI_REGISTER:
    case SYM_CFI_AT_REGISTER:
        r->base = take(b);
        r->offset = take_offset(b, word_bytes);
        break;
    case SYM_CFI_CFA:
    case SYM_CFI_AT_CFA:
        r->offset = take_offset(b, word_bytes);
        break;
    case SYM_CFI_VALUE:
    case SYM_CFI_AT_VALUE:
        r->program = take_bytes(b, take_uleb(b));
        break;
    default:
        b->failed = true;
    }
}


static sym_status_t
read_rules(const uint8_t *data, size_t len, unsigned word_bytes,
           sym_cfi_rules_t *rules)
{
    bytes_t b = {
        data,
        data + (len < SYM_CFI_RULES_BYTES_MAX ? len : SYM_CFI_RULES_BYTES_MAX),
        false
    };
    uint8_t n = take(&b);

    rules->program = sym_str("", 0);
    rules->parameter_bytes = 0;
    rules->is_signal = false;
    rules->has = 0;
    rules->cfa = (sym_cfi_rule_t){ .how = SYM_CFI_UNDEFINED };

    if (n == SYM_CFI_PROGRAM) {
        rules->parameter_bytes = (uint32_t) take_uleb(&b);
        rules->program = take_bytes(&b, take_uleb(&b));
        return b.failed || rules->program.len == 0 ? SYM_DAMAGED : SYM_OK;
    }

    rules->is_signal = (n & SYM_CFI_SIGNAL) != 0;
    n &= (uint8_t) ~SYM_CFI_SIGNAL;
    take_rule(&b, word_bytes, &rules->cfa, take(&b));

    while (n-- > 0 && !b.failed) {
        const uint8_t code = take(&b);
        const unsigned number = code % SYM_CFI_RULE_REGISTERS;

        take_rule(&b, word_bytes, &rules->rule[number], code);
        rules->has |= UINT64_C(1) << number;
    }

    return b.failed ? SYM_DAMAGED : SYM_OK;
}


sym_status_t
sym_cfi_rules(const sym_cfi_t *c, uint32_t number, sym_cfi_rules_t *rules)
{
    const uint8_t *record, *data;
    size_t len;

    if (number == 0) {
        return SYM_NOT_FOUND;
    }

    record = number <= c->n_rules ? sym_extent_record(
                 &c->in, c->rules_ref, number - 1, SYM_CFI_RULE_BYTES)
                                  : NULL;
    data = record != NULL ? sym_extent_rest(&c->in, sym_get32(record), &len)
                          : NULL;
    return data != NULL ? read_rules(
               data, len, sym_unwind_arch(c->arch)->word_bytes, rules)
                        : SYM_DAMAGED;
}


/* --- pages --- */

static const uint8_t *
page_record(const sym_cfi_t *c, uint32_t number)
{
    return sym_extent_record(&c->in, c->pages_ref, number, SYM_CFI_PAGE_BYTES);
}


/* The columns of a page. */
typedef struct {
    uint32_t n; /* rows */
    const uint8_t *gaps, *rules;
    bytes_t far; /* numbers that do not fit the columns */
} page_t;


static bool
read_page(const sym_cfi_t *c, const uint8_t *record, page_t *p)
{
    size_t len;
    const uint8_t *data = sym_extent_rest(&c->in, sym_get32(record + 4), &len);

    p->n = data != NULL ? data[0] : 0;
    if (p->n == 0 || p->n > SYM_CFI_PAGE_ROWS || len < 2 * (size_t) p->n) {
        return false;
    }

    p->gaps = data + 1;
    p->rules = data + p->n;
    p->far = (bytes_t){ p->rules + p->n, data + len, false };
    return true;
}


/* Distance of row i + 1 from row i; `far` advances. */
static inline uint64_t
gap_of(const page_t *p, uint32_t i, bytes_t *far)
{
    return p->gaps[i] != SYM_CFI_GAP_FAR ? p->gaps[i] : take_uleb(far);
}


/* Gets the number of row i's rules.  False: damaged. */
static bool
rule_of_row(const sym_cfi_t *c, const page_t *p, uint32_t i, uint32_t *rule)
{
    uint64_t number = p->rules[i];
    bytes_t far = p->far;

    if (number == SYM_CFI_RULE_FAR) {
        for (uint32_t j = 0; j + 1 < p->n; j++) {
            (void) gap_of(p, j, &far);
        }

        for (uint32_t j = 0; j <= i; j++) {
            number = p->rules[j] == SYM_CFI_RULE_FAR ? take_uleb(&far) : number;
        }
    }

    *rule = (uint32_t) number;
    return !far.failed && number <= c->n_rules;
}


sym_status_t
sym_cfi_page(const sym_cfi_t *c, uint32_t number,
             sym_cfi_row_t rows[SYM_CFI_PAGE_ROWS], uint32_t *n)
{
    const uint8_t *record;
    uint64_t address;
    page_t p;
    bytes_t far;

    if (number >= c->n_pages) {
        return SYM_NOT_FOUND;
    }

    record = page_record(c, number);
    if (record == NULL || !read_page(c, record, &p)) {
        return SYM_DAMAGED;
    }

    *n = p.n;
    far = p.far;
    address = sym_get32(record);

    for (uint32_t i = 0; i < p.n; i++) {
        const uint64_t gap = i != 0 ? gap_of(&p, i - 1, &far) : 0;

        if (gap > UINT32_MAX - address || (i != 0 && gap == 0)
            || !rule_of_row(c, &p, i, &rows[i].rule))
        {
            return SYM_DAMAGED;
        }

        address += gap;
        rows[i].address = (uint32_t) address;
    }

    return far.failed ? SYM_DAMAGED : SYM_OK;
}


/* The last of n adjacent records that begins at or before the address;
 * otherwise the first.  The steps have no branches that depend on data. */
static const uint8_t *
last_before(const uint8_t *record, uint32_t n, uint32_t address)
{
    while (n > 1) {
        const uint32_t half = n / 2;
        const uint8_t *middle = record + (size_t) half * SYM_CFI_PAGE_BYTES;

        record = sym_get32(middle) <= address ? middle : record;
        n -= half;
    }

    return record;
}


/* Whether records `first` to `last` are in one extent. */
static bool
is_in_one(const sym_cfi_t *c, uint32_t first, uint32_t last)
{
    uint32_t a, b;

    return sym_table_ref(c->pages_ref, first, SYM_CFI_PAGE_BYTES, &a)
           && sym_table_ref(c->pages_ref, last, SYM_CFI_PAGE_BYTES, &b)
           && SYM_REF_EXTENT(a) == SYM_REF_EXTENT(b);
}


/* The last page that begins at or before the address.  NULL: there is none, or
 * its record is damaged. */
static const uint8_t *
find_page(const sym_cfi_t *c, uint32_t address, sym_status_t *rc)
{
    const uint8_t *found = c->n_pages != 0 ? page_record(c, 0) : NULL;
    uint32_t low = 0, n = c->n_pages;

    *rc = c->n_pages == 0 ? SYM_NOT_FOUND : SYM_DAMAGED;

    while (found != NULL && n > 1) {
        const uint32_t half = n / 2;
        const uint8_t *record;

        if (is_in_one(c, low, low + n - 1)) {
            if (page_record(c, low + n - 1) == NULL) {
                return NULL;
            }

            found = last_before(found, n, address);
            break;
        }

        record = page_record(c, low + half);
        if (record == NULL) {
            return NULL;
        }

        if (sym_get32(record) <= address) {
            low += half;
            found = record;
        }
        n -= half;
    }

    if (found != NULL && sym_get32(found) > address) {
        *rc = SYM_NOT_FOUND;
        return NULL;
    }

    return found;
}


sym_status_t
sym_cfi_lookup(const sym_cfi_t *c, uint32_t address, sym_cfi_rules_t *rules)
{
    sym_status_t rc;
    const uint8_t *record = find_page(c, address, &rc);
    uint32_t row = 0, rule;
    uint64_t left, gap;
    page_t p;
    bytes_t far;

    if (record == NULL) {
        return rc;
    }

    if (!read_page(c, record, &p)) {
        return SYM_DAMAGED;
    }

    left = address - sym_get32(record);
    far = p.far;

    while (row + 1 < p.n && (gap = gap_of(&p, row, &far)) <= left) {
        left -= gap;
        row++;
    }

    return !far.failed && rule_of_row(c, &p, row, &rule)
               ? sym_cfi_rules(c, rule, rules)
               : SYM_DAMAGED;
}


/* --- verification --- */

sym_status_t
sym_cfi_check(const sym_cfi_t *c, sym_error_t *err)
{
    sym_cfi_row_t rows[SYM_CFI_PAGE_ROWS];
    sym_cfi_rules_t rules;
    uint64_t n_rows = 0;
    int64_t last = -1;
    uint32_t n;

    for (uint32_t i = 1; i <= c->n_rules; i++) {
        if (sym_cfi_rules(c, i, &rules) != SYM_OK) {
            return sym_fail(err, SYM_DAMAGED, "damaged rules of a cfi");
        }
    }

    for (uint32_t i = 0; i < c->n_pages; i++) {
        if (sym_cfi_page(c, i, rows, &n) != SYM_OK || rows[0].address <= last) {
            return sym_fail(err, SYM_DAMAGED, "damaged rows of a cfi");
        }

        last = rows[n - 1].address;
        n_rows += n;
    }

    return n_rows == c->n_rows
               ? SYM_OK
               : sym_fail(err, SYM_DAMAGED, "a cfi miscounts its rows");
}
