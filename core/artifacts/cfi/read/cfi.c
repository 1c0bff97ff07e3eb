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


void
sym_cfi_remember(sym_cfi_t *c, sym_extent_view_t *table)
{
    c->in.cache = table;
}


/* --- bytes of rules and rows --- */

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

static sym_cfi_rule_t
take_rule(bytes_t *b)
{
    uint8_t how = take(b);
    sym_cfi_rule_t r = { .how = (sym_cfi_how_t) how };

    switch (how) {
    case SYM_CFI_UNDEFINED:
        break;
    case SYM_CFI_REGISTER:
    case SYM_CFI_AT_REGISTER:
        r.base = take(b);
        r.offset = take_sleb(b);
        break;
    case SYM_CFI_CFA:
    case SYM_CFI_AT_CFA:
        r.offset = take_sleb(b);
        break;
    case SYM_CFI_VALUE:
    case SYM_CFI_AT_VALUE:
        r.program = take_bytes(b, take_uleb(b));
        break;
    default:
        b->failed = true;
    }

    return r;
}


static sym_status_t
read_rules(const uint8_t *data, size_t len, sym_cfi_rules_t *rules)
{
    bytes_t b = {
        data,
        data + (len < SYM_CFI_RULES_BYTES_MAX ? len : SYM_CFI_RULES_BYTES_MAX),
        false
    };
    uint8_t n = take(&b);

    rules->program = sym_str("", 0);
    rules->parameter_bytes = 0;
    rules->has = 0;
    rules->cfa = (sym_cfi_rule_t){ .how = SYM_CFI_UNDEFINED };

    if (n == SYM_CFI_PROGRAM) {
        rules->parameter_bytes = (uint32_t) take_uleb(&b);
        rules->program = take_bytes(&b, take_uleb(&b));
        return b.failed || rules->program.len == 0 ? SYM_DAMAGED : SYM_OK;
    }

    rules->cfa = take_rule(&b);

    while (n-- > 0 && !b.failed) {
        uint8_t number = take(&b);

        if (number >= SYM_UNWIND_REGISTERS) {
            return SYM_DAMAGED;
        }

        rules->has |= UINT64_C(1) << number;
        rules->rule[number] = take_rule(&b);
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
    return data != NULL ? read_rules(data, len, rules) : SYM_DAMAGED;
}


/* --- pages --- */

static const uint8_t *
page_record(const sym_cfi_t *c, uint32_t number)
{
    return sym_extent_record(&c->in, c->pages_ref, number, SYM_CFI_PAGE_BYTES);
}


/* Number of rows; 0: damaged. */
static uint32_t
begin_page(const sym_cfi_t *c, const uint8_t *record, bytes_t *b)
{
    size_t len;
    const uint8_t *data = sym_extent_rest(&c->in, sym_get32(record + 4), &len);

    if (data == NULL || data[0] > SYM_CFI_PAGE_ROWS) {
        return 0;
    }

    *b = (bytes_t){ data + 1, data + len, false };
    return data[0];
}


sym_status_t
sym_cfi_page(const sym_cfi_t *c, uint32_t number,
             sym_cfi_row_t rows[SYM_CFI_PAGE_ROWS], uint32_t *n)
{
    const uint8_t *record;
    uint64_t address;
    bytes_t b;

    if (number >= c->n_pages) {
        return SYM_NOT_FOUND;
    }

    record = page_record(c, number);
    *n = record != NULL ? begin_page(c, record, &b) : 0;
    if (*n == 0) {
        return SYM_DAMAGED;
    }

    address = sym_get32(record);
    for (uint32_t i = 0; i < *n; i++) {
        uint64_t gap = i != 0 ? take_uleb(&b) : 0, rule = take_uleb(&b);

        if (gap > UINT32_MAX - address || (i != 0 && gap == 0)
            || rule > c->n_rules) {
            return SYM_DAMAGED;
        }

        address += gap;
        rows[i] = (sym_cfi_row_t){ (uint32_t) address, (uint32_t) rule };
    }

    return b.failed ? SYM_DAMAGED : SYM_OK;
}


/* The last page that begins at or before the address; NULL: there is none, or
 * its record is damaged. */
static const uint8_t *
find_page(const sym_cfi_t *c, uint32_t address, sym_status_t *rc)
{
    uint32_t low = 0, high = c->n_pages;
    const uint8_t *found = NULL;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *record = page_record(c, middle);

        if (record == NULL) {
            *rc = SYM_DAMAGED;
            return NULL;
        }

        if (sym_get32(record) <= address) {
            found = record;
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    *rc = found != NULL ? SYM_OK : SYM_NOT_FOUND;
    return found;
}


sym_status_t
sym_cfi_lookup(const sym_cfi_t *c, uint32_t address, sym_cfi_rules_t *rules)
{
    sym_status_t rc;
    const uint8_t *record = find_page(c, address, &rc);
    uint64_t left, gap, rule;
    uint32_t n;
    bytes_t b;

    if (record == NULL) {
        return rc;
    }

    n = begin_page(c, record, &b);
    left = address - sym_get32(record);
    rule = take_uleb(&b);

    while (n > 1) {
        gap = take_uleb(&b);
        if (gap > left) {
            break;
        }

        left -= gap;
        rule = take_uleb(&b);
        n--;
    }

    return n == 0 || b.failed || rule > c->n_rules
               ? SYM_DAMAGED
               : sym_cfi_rules(c, (uint32_t) rule, rules);
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
