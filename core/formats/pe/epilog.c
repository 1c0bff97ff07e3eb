#include "formats/pe/epilog.h"

#include <string.h>

#include "formats/pe/file.h"

#define RSP 7
#define RIP 16
#define R12                                                                    \
    12 /* R12 and RSP: an address relative to one of these registers needs a
          SIB byte */

#define POP_MAX 2 /* bytes */

/* State of a search for a function's epilogs. */
typedef struct {
    const sym_pe_frame_t *frame;
    const uint8_t *code;
    size_t len;
    uint8_t pops[POP_MAX * SYM_PE_PUSHES_MAX];
    size_t n_pops; /* bytes */
} search_t;


static void
make_pops(search_t *s)
{
    for (unsigned i = 0; i < s->frame->n; i++) {
        const uint8_t number = s->frame->pushed[i];

        if (number >= 8) {
            s->pops[s->n_pops++] = 0x41; /* REX.B */
        }
        s->pops[s->n_pops++] = 0x58 | (number & 7);
    }
}


/* Whether the bytes before `at` end with these bytes. */
static bool
ends_with(const search_t *s, size_t at, const uint8_t *bytes, size_t n)
{
    return at >= n && memcmp(s->code + at - n, bytes, n) == 0;
}


/* add rsp, SIZE */
static bool
is_added(const search_t *s, size_t at, int64_t size)
{
    uint8_t near[] = { 0x48, 0x83, 0xc4, (uint8_t) size };
    uint8_t far[] = { 0x48, 0x81, 0xc4, 0, 0, 0, 0 };

    sym_put32(far + 3, (uint32_t) size);
    return (size <= INT8_MAX && ends_with(s, at, near, sizeof(near)))
           || ends_with(s, at, far, sizeof(far));
}


/* mov rsp, FRAME: gcc writes it if the offset is 0 */
static bool
is_moved(const search_t *s, size_t at)
{
    const uint8_t base = s->frame->frame_register, low = base & 7;
    const uint8_t from[] = { (uint8_t) (base >= 8 ? 0x4c : 0x48), 0x89,
                             (uint8_t) (0xc4 | low << 3) };
    const uint8_t to[] = { (uint8_t) (base >= 8 ? 0x49 : 0x48), 0x8b,
                           (uint8_t) (0xe0 | low) };

    return ends_with(s, at, from, sizeof(from))
           || ends_with(s, at, to, sizeof(to));
}


/* lea rsp, [FRAME + OFFSET] */
static bool
is_loaded(const search_t *s, size_t at, int64_t offset)
{
    const uint8_t base = s->frame->frame_register;
    uint8_t bytes[8] = { (uint8_t) (base >= 8 ? 0x49 : 0x48), 0x8d, 0, 0x24 };
    const size_t head = (base & 7) == (R12 & 7) ? 4 : 3;

    bytes[2] = (uint8_t) (0x60 | (base & 7));
    bytes[head] = (uint8_t) offset;
    if (offset >= INT8_MIN && offset <= INT8_MAX
        && ends_with(s, at, bytes, head + 1))
    {
        return true;
    }

    if (offset == 0 && is_moved(s, at)) {
        return true;
    }

    bytes[2] = (uint8_t) (0xa0 | (base & 7));
    sym_put32(bytes + head, (uint32_t) offset);
    return ends_with(s, at, bytes, head + 4);
}


/* Whether, at the address, the stack pointer points to the pushed registers. */
static bool
is_released(const search_t *s, size_t at)
{
    const int64_t pushed = 8 + 8 * (int64_t) s->frame->n;
    const int64_t size = s->frame->size - pushed;

    if (s->frame->has_frame && is_loaded(s, at, s->frame->frame_size - pushed))
    {
        return true;
    }

    return size == 0 ? !s->frame->has_frame : is_added(s, at, size);
}


/* Whether the instruction at the address returns, or jumps out of the
 * function. */
static bool
is_left(const search_t *s, size_t at)
{
    const uint8_t *code = s->code + at;
    const size_t left = s->len - at;
    int64_t to;

    switch (code[0]) {
    case 0xc3: /* ret */
    case 0xc2:
        return true;
    case 0xf3: /* rep ret */
        return left >= 2 && code[1] == 0xc3;
    case 0xeb:
        to = left >= 2 ? (int64_t) at + 2 + (int8_t) code[1] : 0;
        return to < 0 || to >= (int64_t) s->len;
    case 0xe9:
        to = left >= 5 ? (int64_t) at + 5 + (int32_t) sym_get32(code + 1) : 0;
        return to < 0 || to >= (int64_t) s->len;
    case 0xff: /* jmp to an address in memory, or in a register */
        return left >= 2 && (code[1] & 0x38) == 0x20;
    case 0x48:
        return left >= 3 && code[1] == 0xff && (code[2] & 0x38) == 0x20;
    default:
        return false;
    }
}


/* The rules after the first `n` registers were popped. */
static void
pass_popped(sym_pe_unwind_t *u, const sym_pe_frame_t *frame, unsigned n,
            uint64_t from, uint64_t to)
{
    const int64_t size = 8 + 8 * (int64_t) (frame->n - n);
    sym_cfi_rules_t rules = { .has = UINT64_C(1) << RIP };
    uint32_t number;

    rules.cfa = (sym_cfi_rule_t){ .how = SYM_CFI_REGISTER,
                                  .base = RSP,
                                  .offset = size };
    rules.rule[RIP] = (sym_cfi_rule_t){ .how = SYM_CFI_AT_CFA, .offset = -8 };

    for (unsigned i = n; i < frame->n; i++) {
        const unsigned r = sym_pe_x64_registers[frame->pushed[i]];

        rules.has |= UINT64_C(1) << r;
        rules.rule[r] =
            (sym_cfi_rule_t){ .how = SYM_CFI_AT_CFA,
                              .offset = 8 * (int64_t) (i - n) - size };
    }

    if (sym_cfi_writer_rules(u->w, &rules, &number) == SYM_OK) {
        (void) sym_cfi_writer_range(u->w, from, to, number);
    }
}


static void
pass_epilog(sym_pe_unwind_t *u, const search_t *s, uint64_t start, size_t last)
{
    uint64_t at = start + last - s->n_pops;

    for (unsigned i = 0; i < s->frame->n; i++) {
        const uint64_t next = at + (s->frame->pushed[i] >= 8 ? 2 : 1);

        pass_popped(u, s->frame, i, at, next);
        at = next;
    }

    pass_popped(u, s->frame, s->frame->n, at, at + 1);
}


void
sym_pe_epilogs(sym_pe_unwind_t *u, const sym_pe_function_t *f,
               const sym_pe_frame_t *frame)
{
    const sym_str_t bytes = sym_pe_at(u->pe, f->begin);
    const size_t most = f->end - f->begin;
    search_t s = { .frame = frame,
                   .code = (const uint8_t *) bytes.data,
                   .len = bytes.len < most ? bytes.len : most };

    /* a function without pushes and allocation has the rules of its body to the
     * end */
    if (s.len > u->work_left
        || (frame->n == 0 && frame->size == 8 && !frame->has_frame))
    {
        return;
    }

    u->work_left -= s.len;
    make_pops(&s);

    for (size_t at = s.n_pops; at < s.len; at++) {
        if (is_left(&s, at) && ends_with(&s, at, s.pops, s.n_pops)
            && is_released(&s, at - s.n_pops))
        {
            pass_epilog(u, &s, f->begin, at);
        }
    }
}
