#include "formats/unwind/exidx.h"

#include "base/cursor.h"

#define SECTION "exception table of ARM"

#define ENTRY_BYTES 8
#define CANNOT_UNWIND 1u
#define IS_COMPACT 0x80000000u

#define SP 13
#define LR 14
#define PC 15

/* Limit on the work, because functions may share instructions. */
#define WORK_PER_BYTE 16
#define WORK_MIN ((uint64_t) 1 << 20)

/* Limit on a function's instructions: three in the first word, four in each of
 * 255 more. */
#define BYTES_MAX (3 + 4 * 255)

/* State while a frame is unwound. vsp is the ABI's virtual stack pointer. */
typedef struct {
    uint8_t base; /* register from which vsp was set */
    int64_t vsp;  /* vsp relative to that register */
    uint32_t saved;
    int64_t at[16]; /* where registers are saved, relative to that register */
} frame_t;


static uint32_t
word_at(const sym_exidx_input_t *in, const sym_exidx_section_t *s,
        uint64_t address, bool *is_there)
{
    const uint64_t at = address - s->address;
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(s->bytes.data, s->bytes.len, SECTION, &err);
    uint32_t word;

    c.is_big_endian = in->is_big_endian;
    (void) sym_bytes(&c, at);
    word = sym_u32(&c);
    *is_there = address >= s->address && sym_ok(&c);
    return word;
}


/* An address relative to the word itself, in 31 bits (prel31). */
static uint64_t
target_of(uint64_t address, uint32_t word)
{
    const uint32_t offset = (word & 0x7fffffff) | (word & 0x40000000) << 1;

    return (uint32_t) (address + offset);
}


/* --- instructions --- */

static bool
pop(frame_t *f, uint32_t registers)
{
    for (unsigned i = 0; i < 16; i++) {
        if ((registers >> i & 1) != 0) {
            f->at[i] = f->vsp;
            f->saved |= 1u << i;
            f->vsp += 4;
        }
    }

    return (registers >> SP & 1) == 0;
}


/* vsp = register: replaces the offset. */
static bool
set_base(frame_t *f, unsigned number)
{
    if (number == SP || number == PC || f->saved != 0) {
        return false;
    }

    f->base = (uint8_t) number;
    f->vsp = 0;
    return true;
}


/* 1011xxxx and 11xxxxxx: restore vector registers, and so only move vsp. */
static bool
run_long(frame_t *f, uint8_t op, sym_cursor_t *c)
{
    switch (op) {
    case 0xb1:
        return pop(f, sym_u8(c) & 0xf);
    case 0xb2:
        f->vsp += 0x204 + (int64_t) ((sym_uleb(c) & UINT32_MAX) << 2);
        return true;
    case 0xb3: /* FSTMFDX */
        f->vsp += INT64_C(8) * ((sym_u8(c) & 0xf) + 1) + 4;
        return true;
    case 0xb4: /* instructions of signed return addresses */
        return true;
    case 0xc6:
    case 0xc8:
    case 0xc9:
        f->vsp += INT64_C(8) * ((sym_u8(c) & 0xf) + 1);
        return true;
    case 0xc7:
        f->vsp += INT64_C(4) * __builtin_popcount(sym_u8(c) & 0xf);
        return true;
    default:
        break;
    }

    if ((op & 0xf8) == 0xb8) { /* FSTMFDX */
        f->vsp += INT64_C(8) * ((op & 7) + 1) + 4;
        return true;
    }

    if ((op & 0xf8) == 0xc0 || (op & 0xf8) == 0xd0) {
        f->vsp += INT64_C(8) * ((op & 7) + 1);
        return true;
    }

    return false; /* reserved */
}


static bool
run(frame_t *f, sym_cursor_t *c)
{
    while (sym_left(c) > 0 && sym_ok(c)) {
        const uint8_t op = sym_u8(c);
        bool is_known = true;

        if (op == 0xb0) { /* finish */
            break;
        }

        if (op < 0x80) {
            const int64_t size = INT64_C(4) * ((op & 0x3f) + 1);

            f->vsp += op < 0x40 ? size : -size;
        } else if (op < 0x90) {
            const uint32_t mask = (uint32_t) (op & 0xf) << 8 | sym_u8(c);

            is_known = mask != 0 && pop(f, mask << 4);
        } else if (op < 0xa0) {
            is_known = set_base(f, op & 0xf);
        } else if (op < 0xb0) {
            const uint32_t last = op & 7;

            is_known =
                pop(f, ((2u << last) - 1) << 4 | (op >= 0xa8 ? 1u << LR : 0));
        } else {
            is_known = run_long(f, op, c);
        }

        if (!is_known) {
            return false;
        }
    }

    return sym_ok(c);
}


/* --- functions --- */

static sym_cfi_rule_t
rule_of(const frame_t *f, unsigned number)
{
    if ((f->saved >> number & 1) != 0) {
        return (sym_cfi_rule_t){ .how = SYM_CFI_AT_CFA,
                                 .offset = f->at[number] - f->vsp };
    }

    return (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER, .base = LR };
}


static void
make_rules(const frame_t *f, sym_cfi_rules_t *rules)
{
    *rules = (sym_cfi_rules_t){ .has = f->saved | 1u << PC };
    rules->cfa = (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER,
                                   .base = f->base,
                                   .offset = f->vsp };

    for (unsigned i = 0; i < 16; i++) {
        if ((f->saved >> i & 1) != 0) {
            rules->rule[i] = rule_of(f, i);
        }
    }

    if ((f->saved >> PC & 1) == 0) {
        rules->rule[PC] = rule_of(f, LR);
    }
}


/* The high byte of each word is its first instruction.  `first` contains `n`
 * instructions; `more` words follow at the address. */
static size_t
take_bytes(const sym_exidx_input_t *in, uint32_t first, unsigned n,
           uint64_t address, unsigned more, uint8_t *to)
{
    size_t len = 0;
    bool is_there = true;

    while (n-- > 0) {
        to[len++] = (uint8_t) (first >> 8 * n);
    }

    for (unsigned i = 0; i < more; i++) {
        const uint32_t word =
            word_at(in, &in->table, address + 4 * (uint64_t) i, &is_there);

        if (!is_there) {
            return 0;
        }
        for (unsigned k = 4; k-- > 0;) {
            to[len++] = (uint8_t) (word >> 8 * k);
        }
    }

    return len;
}


/* The number of the function's instructions; 0: they cannot be read. */
static size_t
find_bytes(const sym_exidx_input_t *in, uint64_t address, uint32_t word,
           uint8_t *to)
{
    bool is_there;

    if ((word & IS_COMPACT) != 0) {
        return (word & 0x7f000000) == 0 ? take_bytes(in, word, 3, 0, 0, to) : 0;
    }

    address = target_of(address, word);
    word = word_at(in, &in->table, address, &is_there);
    address += 4;

    if (is_there && (word & IS_COMPACT) == 0) {
        /* a personality routine precedes the data, which are read as g++'s */
        word = word_at(in, &in->table, address, &is_there);
        address += 4;
        return is_there ? take_bytes(in, word, 3, address, word >> 24, to) : 0;
    }

    if (!is_there || (word >> 24 & 0x7f) > 2) {
        return 0;
    }

    return (word >> 24 & 0x7f) == 0
               ? take_bytes(in, word, 3, 0, 0, to)
               : take_bytes(in, word, 2, address, word >> 16 & 0xff, to);
}


static bool
read_function(const sym_exidx_input_t *in, sym_cfi_writer_t *w, uint64_t entry,
              uint32_t word, uint64_t start, uint64_t end, uint64_t *work)
{
    uint8_t bytes[BYTES_MAX];
    sym_error_t err = { 0 };
    sym_cursor_t c;
    frame_t f = { .base = SP };
    sym_cfi_rules_t rules;
    uint32_t number;
    size_t len;

    if (word == CANNOT_UNWIND || end <= start || start < in->image_base) {
        return true;
    }

    len = find_bytes(in, entry + 4, word, bytes);
    *work -= len < *work ? len : *work;
    c = sym_cursor(bytes, len, SECTION, &err);
    if (len == 0 || !run(&f, &c)) {
        return false;
    }

    make_rules(&f, &rules);
    if (sym_cfi_writer_rules(w, &rules, &number) == SYM_OK) {
        (void) sym_cfi_writer_fallback(w, start - in->image_base,
                                       end - in->image_base, number);
    }
    return true;
}


sym_status_t
sym_exidx_read(const sym_exidx_input_t *in, sym_cfi_writer_t *w,
               uint64_t *broken, sym_error_t *err)
{
    const size_t n = in->index.bytes.len / ENTRY_BYTES;
    uint64_t work =
        WORK_MIN + WORK_PER_BYTE * (in->index.bytes.len + in->table.bytes.len);

    for (size_t i = 0; i < n && err->status == SYM_OK; i++) {
        const uint64_t entry = in->index.address + i * ENTRY_BYTES;
        bool is_there, is_next;
        const uint32_t place = word_at(in, &in->index, entry, &is_there);
        const uint32_t word = word_at(in, &in->index, entry + 4, &is_there);
        const uint32_t next =
            word_at(in, &in->index, entry + ENTRY_BYTES, &is_next);

        *broken += !read_function(in, w, entry, word, target_of(entry, place),
                                  is_next ? target_of(entry + ENTRY_BYTES, next)
                                          : in->code_end,
                                  &work);
        if (work == 0) {
            return sym_fail(err, SYM_LIMIT,
                            "functions share too many unwind instructions");
        }
    }

    return err->status;
}
