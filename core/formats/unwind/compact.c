#include "formats/unwind/compact.h"

#include "base/cursor.h"

#define SECTION "__unwind_info"

#define HEADER_BYTES 28
#define INDEX_BYTES 12
#define PAGE_REGULAR 2
#define PAGE_COMPRESSED 3

/* Limit on the work, because pages may overlap in a hostile file. */
#define ENTRIES_PER_BYTE 2

#define MODE(encoding) ((encoding) >> 24 & 0xf)
#define X86_FRAME 1
#define X86_IMMEDIATE 2
#define X86_INDIRECT 3
#define ARM64_FRAMELESS 2
#define ARM64_FRAME 4

#define SAVED_MAX 6

typedef struct {
    const sym_compact_input_t *in;
    const sym_unwind_arch_row_t *arch;
    sym_cfi_writer_t *w;
    uint32_t commons_at, n_commons;
    uint64_t entries_left;

    /* a function whose end is not yet known */
    bool is_open;
    uint32_t start, encoding;
    sym_error_t *broken, *err;
} compact_t;


static sym_cursor_t
cursor_at(const compact_t *c, uint64_t offset)
{
    sym_cursor_t at =
        sym_cursor(c->in->bytes.data, c->in->bytes.len, SECTION, c->broken);

    at.is_big_endian = c->in->is_big_endian;
    (void) sym_bytes(&at, offset);
    return at;
}


static uint32_t
number_at(const compact_t *c, uint64_t offset)
{
    sym_cursor_t at = cursor_at(c, offset);

    return sym_u32(&at);
}


/* --- encodings --- */

static void
set_rule(sym_cfi_rules_t *r, unsigned number, sym_cfi_how_t how, unsigned base,
         int64_t offset)
{
    r->has |= UINT64_C(1) << number;
    r->rule[number] = (sym_cfi_rule_t){ .how = how,
                                        .base = (uint8_t) base,
                                        .offset = offset };
}


static void
set_cfa(sym_cfi_rules_t *r, unsigned base, int64_t offset)
{
    r->cfa = (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER,
                               .base = (uint8_t) base,
                               .offset = offset };
}


/* UNWIND_X86_REG_*, UNWIND_X86_64_REG_*: 1 to 6, converted to DWARF numbers. */
static unsigned
x86_register(const compact_t *c, uint32_t number)
{
    static const uint8_t x86[7] = { 0xff, 3, 1, 2, 7, 6, 5 },
                         x86_64[7] = { 0xff, 3, 12, 13, 14, 15, 6 };

    return number > SAVED_MAX              ? SYM_UNWIND_NO_REGISTER
           : c->in->arch == SYM_UNWIND_X86 ? x86[number]
                                           : x86_64[number];
}


static bool
x86_frame(const compact_t *c, uint32_t encoding, sym_cfi_rules_t *r)
{
    const int64_t word = c->arch->word_bytes;
    const int64_t first = -2 * word - word * (encoding >> 16 & 0xff);

    set_cfa(r, c->arch->fp, 2 * word);
    set_rule(r, c->arch->pc, SYM_CFI_AT_CFA, 0, -word);
    set_rule(r, c->arch->fp, SYM_CFI_AT_CFA, 0, -2 * word);

    for (unsigned i = 0; i < 5; i++) {
        const unsigned n = x86_register(c, encoding >> 3 * i & 7);

        if (n != SYM_UNWIND_NO_REGISTER) {
            set_rule(r, n, SYM_CFI_AT_CFA, 0, first + word * (int64_t) i);
        }
    }

    return true;
}


/* Decodes a permutation: the registers, in the order of their positions.  Each
 * digit selects one of the registers that are left. */
static bool
read_permutation(uint32_t n, uint32_t permutation, uint8_t saved[SAVED_MAX])
{
    static const uint8_t radix[SAVED_MAX + 1][SAVED_MAX] = {
        { 0 },
        { 1 },
        { 5, 1 },
        { 20, 4, 1 },
        { 60, 12, 3, 1 },
        { 120, 24, 6, 2, 1 },
        { 120, 24, 6, 2, 1, 1 },
    };
    uint8_t left[SAVED_MAX] = { 1, 2, 3, 4, 5, 6 };

    for (uint32_t i = 0; i < n; i++) {
        uint32_t digit = permutation / radix[n][i];

        permutation -= digit * radix[n][i];
        if (digit >= SAVED_MAX - i) {
            return false;
        }

        saved[i] = left[digit];
        memmove(left + digit, left + digit + 1, SAVED_MAX - 1 - digit);
    }

    return true;
}


static bool
x86_frameless(const compact_t *c, uint32_t encoding, uint64_t size,
              sym_cfi_rules_t *r)
{
    const int64_t word = c->arch->word_bytes;
    const uint32_t n = encoding >> 10 & 7;
    uint8_t saved[SAVED_MAX];

    if (n > SAVED_MAX || size < (uint64_t) word * (n + 1u)
        || !read_permutation(n, encoding & 0x3ff, saved))
    {
        return false;
    }

    set_cfa(r, c->arch->sp, (int64_t) size);
    set_rule(r, c->arch->pc, SYM_CFI_AT_CFA, 0, -word);

    for (uint32_t i = 0; i < n; i++) {
        set_rule(r, x86_register(c, saved[i]), SYM_CFI_AT_CFA, 0,
                 word * ((int64_t) i - (int64_t) n - 1));
    }

    return true;
}


/* Reads the frame size, an operand of an instruction of the function. */
static bool
x86_indirect(const compact_t *c, uint32_t start, uint32_t encoding,
             sym_cfi_rules_t *r)
{
    const uint64_t at =
        (uint64_t) start + (encoding >> 16 & 0xff) - c->in->text_address;
    const uint64_t adjust =
        (uint64_t) c->arch->word_bytes * (encoding >> 13 & 7);

    if (c->in->text.len < 4 || at > c->in->text.len - 4) {
        return false;
    }

    return x86_frameless(
        c, encoding,
        sym_get32((const uint8_t *) c->in->text.data + at) + adjust, r);
}


static bool
arm64_encoding(const compact_t *c, uint32_t encoding, sym_cfi_rules_t *r)
{
    const bool is_frame = MODE(encoding) == ARM64_FRAME;
    int64_t at = is_frame ? -24 : -8;

    if (!is_frame && MODE(encoding) != ARM64_FRAMELESS) {
        return false;
    }

    if (is_frame) {
        set_cfa(r, c->arch->fp, 16);
        set_rule(r, c->arch->fp, SYM_CFI_AT_CFA, 0, -16);
        set_rule(r, c->arch->lr, SYM_CFI_AT_CFA, 0, -8);
        set_rule(r, c->arch->pc, SYM_CFI_AT_CFA, 0, -8);
    } else {
        set_cfa(r, c->arch->sp, 16 * (int64_t) (encoding >> 12 & 0xfff));
        set_rule(r, c->arch->pc, SYM_CFI_REGISTER, c->arch->lr, 0);
    }

    /* pairs of X registers, from X19 and X20 on; pairs of D registers follow at
     * lower addresses */
    for (unsigned i = 0; i < 5; i++) {
        if ((encoding >> i & 1) != 0) {
            set_rule(r, 19 + 2 * i, SYM_CFI_AT_CFA, 0, at);
            set_rule(r, 20 + 2 * i, SYM_CFI_AT_CFA, 0, at - 8);
            at -= 16;
        }
    }

    return true;
}


static bool
read_encoding(const compact_t *c, sym_cfi_rules_t *r)
{
    const uint32_t e = c->encoding;

    if (c->in->arch == SYM_UNWIND_ARM64) {
        return arm64_encoding(c, e, r);
    }

    switch (MODE(e)) {
    case X86_FRAME:
        return x86_frame(c, e, r);
    case X86_IMMEDIATE:
        return x86_frameless(
            c, e, (uint64_t) c->arch->word_bytes * (e >> 16 & 0xff), r);
    case X86_INDIRECT:
        return x86_indirect(c, c->start, e, r);
    default:
        return false;
    }
}


/* --- tables --- */

/* A function ends at the start of the next one. */
static void
next_function(compact_t *c, uint32_t start, uint32_t encoding)
{
    sym_cfi_rules_t rules = { .program = { "", 0 } };
    uint32_t number;

    if (c->is_open && start > c->start && read_encoding(c, &rules)
        && sym_cfi_writer_rules(c->w, &rules, &number) == SYM_OK)
    {
        (void) sym_cfi_writer_fallback(c->w, c->start, start, number);
    }

    c->is_open = true;
    c->start = start;
    c->encoding = encoding;
}


static bool
count_entries(compact_t *c, uint32_t n)
{
    if (n > c->entries_left) {
        (void) sym_fail(c->broken, SYM_LIMIT, "pages overlap");
        return false;
    }

    c->entries_left -= n;
    return true;
}


static void
read_regular(compact_t *c, uint64_t page)
{
    sym_cursor_t at = cursor_at(c, page + 4);
    const uint16_t first = sym_u16(&at), n = sym_u16(&at);

    at = cursor_at(c, page + first);
    for (uint16_t i = 0; count_entries(c, 1) && i < n && sym_ok(&at); i++) {
        const uint32_t start = sym_u32(&at), encoding = sym_u32(&at);

        if (sym_ok(&at)) {
            next_function(c, start, encoding);
        }
    }
}


static void
read_compressed(compact_t *c, uint64_t page, uint32_t base)
{
    sym_cursor_t at = cursor_at(c, page + 4);
    const uint16_t first = sym_u16(&at), n = sym_u16(&at),
                   own_at = sym_u16(&at), n_own = sym_u16(&at);

    at = cursor_at(c, page + first);
    for (uint16_t i = 0; count_entries(c, 1) && i < n && sym_ok(&at); i++) {
        const uint32_t entry = sym_u32(&at), which = entry >> 24;
        uint32_t encoding = 0;

        if (which < c->n_commons) {
            encoding = number_at(c, c->commons_at + 4 * (uint64_t) which);
        } else if (which - c->n_commons < n_own) {
            encoding = number_at(
                c, page + own_at + 4 * (uint64_t) (which - c->n_commons));
        }

        if (sym_ok(&at)) {
            next_function(c, base + (entry & 0xffffff), encoding);
        }
    }
}


static void
read_pages(compact_t *c, sym_cursor_t *index, uint32_t n)
{
    for (uint32_t i = 0; i < n && sym_ok(index) && c->err->status == SYM_OK;
         i++) {
        const uint32_t base = sym_u32(index), page = sym_u32(index);

        (void) sym_u32(index);

        if (!sym_ok(index)) {
            return;
        }

        if (page == 0) {
            next_function(c, base, 0); /* the end of the last page */
            continue;
        }

        if (number_at(c, page) == PAGE_REGULAR) {
            read_regular(c, page);
        } else if (number_at(c, page) == PAGE_COMPRESSED) {
            read_compressed(c, page, base);
        }
    }
}


sym_status_t
sym_compact_read(const sym_compact_input_t *in, sym_cfi_writer_t *w,
                 sym_error_t *broken, sym_error_t *err)
{
    compact_t c = { .in = in,
                    .arch = sym_unwind_arch(in->arch),
                    .w = w,
                    .entries_left = ENTRIES_PER_BYTE * in->bytes.len,
                    .broken = broken,
                    .err = err };
    sym_cursor_t head = cursor_at(&c, 0), index;
    uint32_t index_at, n;

    if (in->arch != SYM_UNWIND_X86 && in->arch != SYM_UNWIND_X86_64
        && in->arch != SYM_UNWIND_ARM64)
    {
        return SYM_OK;
    }

    if (sym_u32(&head) != 1) {
        (void) sym_fail(broken, SYM_UNSUPPORTED, "an unknown version");
        return SYM_OK;
    }

    c.commons_at = sym_u32(&head);
    c.n_commons = sym_u32(&head);
    (void) sym_u64(&head); /* array of personality functions */
    index_at = sym_u32(&head);
    n = sym_u32(&head);
    index = cursor_at(&c, index_at);
    read_pages(&c, &index, n);
    return err->status;
}
