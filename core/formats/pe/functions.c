#include "formats/pe/functions.h"

#include <stdlib.h>

#include "base/sort.h"
#include "formats/pe/file.h"

#define PDATA "exception table"

/* x64: begin, end, unwind information ("x64 exception handling") */
#define X64_BYTES 12
#define X64_INDIRECT 1u /* the other bits are the RVA of another entry */
#define X64_CHAINED 4u  /* UNW_FLAG_CHAININFO */

/* ARM and arm64: begin; unwind information or its RVA ("ARM64 exception
 * handling") */
#define ARM_BYTES 8
#define ARM_PLACE 0 /* lowest two bits 0: the RVA of .xdata */
#define ARM_FRAGMENT 2

/* Limit on the length of a chain, which may be a cycle.  Linkers chain each
 * part to the function itself, in one step. */
#define CHAIN_MAX 32

static const sym_pe_function_t none = { 0 };


/* --- x64 --- */

static sym_pe_function_t
read_x64(sym_cursor_t *c)
{
    sym_pe_function_t f = { .begin = sym_u32(c), .end = sym_u32(c) };

    f.unwind = sym_u32(c);
    f.root = f.begin;
    return f;
}


/* Gets the entry to which this one is chained.  False: the entry is not
 * chained. */
static bool
read_parent(const sym_pe_t *pe, const sym_pe_function_t *f,
            sym_pe_function_t *parent)
{
    sym_error_t err = { 0 };
    sym_str_t bytes = sym_pe_at(pe, f->unwind & ~X64_INDIRECT);
    sym_cursor_t c = sym_cursor(bytes.data, bytes.len, PDATA, &err);
    uint8_t flags, n;

    if ((f->unwind & X64_INDIRECT) == 0) {
        flags = sym_u8(&c) >> 3;
        (void) sym_u8(&c); /* size of the prolog */
        n = sym_u8(&c);    /* codes of two bytes, padded to an even number */
        (void) sym_u8(&c);
        (void) sym_bytes(&c, 2 * ((uint64_t) n + n % 2));

        if (!sym_ok(&c) || (flags & X64_CHAINED) == 0) {
            return false;
        }
    }

    *parent = read_x64(&c);
    return sym_ok(&c);
}


static uint32_t
find_root(const sym_pe_t *pe, const sym_pe_function_t *f)
{
    sym_pe_function_t at = *f, parent;

    for (unsigned i = 0; i < CHAIN_MAX; i++) {
        if (!read_parent(pe, &at, &parent)) {
            return at.begin;
        }

        at = parent;
    }

    return f->begin; /* the chain is a cycle */
}


/* --- ARM --- */

/* Clears the lowest bit: Thumb-2 code has an odd address, but its instructions
 * begin at even ones. */
static uint32_t
arm_unit(const sym_pe_t *pe)
{
    return pe->info.machine == SYM_PE_ARMNT ? 2 : 4;
}


static uint32_t
arm_length(const sym_pe_t *pe, uint32_t unwind)
{
    sym_error_t err = { 0 };
    sym_cursor_t c;
    sym_str_t bytes;

    if ((unwind & 3) != ARM_PLACE) {
        return (unwind >> 2 & 0x7ff) * arm_unit(pe);
    }

    bytes = sym_pe_at(pe, unwind);
    c = sym_cursor(bytes.data, bytes.len, PDATA, &err);
    return (sym_u32(&c) & 0x3ffff) * arm_unit(pe);
}


static sym_pe_function_t
read_arm(const sym_pe_t *pe, sym_cursor_t *c)
{
    sym_pe_function_t f = { .begin = sym_u32(c) & ~(uint32_t) 1,
                            .unwind = sym_u32(c) };
    uint32_t length = sym_ok(c) ? arm_length(pe, f.unwind) : 0;

    f.root = f.begin;
    f.end = length <= UINT32_MAX - f.begin ? f.begin + length : f.begin;
    return f;
}


/* --- the table --- */

static size_t
entry_bytes(const sym_pe_t *pe)
{
    switch (pe->info.machine) {
    case SYM_PE_AMD64:
        return X64_BYTES;
    case SYM_PE_ARM64:
    case SYM_PE_ARMNT:
        return ARM_BYTES;
    default:
        return 0;
    }
}


static sym_pe_function_t
read_entry(const sym_pe_t *pe, sym_cursor_t *c)
{
    sym_pe_function_t f =
        pe->info.machine == SYM_PE_AMD64 ? read_x64(c) : read_arm(pe, c);

    if (!sym_ok(c) || f.end <= f.begin) {
        return none;
    }

    if (pe->info.machine == SYM_PE_AMD64) {
        f.root = find_root(pe, &f);
    }

    return f;
}


static int
by_begin(const void *p, const void *q)
{
    const sym_pe_function_t *a = p, *b = q;

    if (a->begin != b->begin) {
        return a->begin < b->begin ? -1 : 1;
    }

    return (a->end > b->end) - (a->end < b->end);
}


static size_t
drop_doubles(sym_pe_function_t *items, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || items[kept - 1].begin != items[i].begin) {
            items[kept++] = items[i];
        }
    }

    return kept;
}


static sym_status_t
read_table(sym_pe_t *pe, sym_pe_function_t *items, sym_str_t table)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(table.data, table.len, PDATA, &err);
    size_t n = 0, bytes = entry_bytes(pe);
    bool is_sorted = true;

    while (sym_left(&c) >= bytes) {
        sym_pe_function_t f = read_entry(pe, &c);

        if (f.end != 0) {
            is_sorted = is_sorted && (n == 0 || items[n - 1].begin < f.begin);
            items[n++] = f;
        }
    }

    /* the linker sorts it, because Windows searches it */
    if (!is_sorted) {
        qsort(items, n, sizeof(*items), by_begin);
        n = drop_doubles(items, n);
    }

    pe->functions = items;
    pe->n_functions = n;
    return SYM_OK;
}


sym_status_t
sym_pe_functions(sym_pe_t *pe, sym_pe_functions_t *out, sym_error_t *err)
{
    sym_str_t table = sym_pe_directory(pe, SYM_PE_EXCEPTIONS);
    size_t bytes = entry_bytes(pe);
    sym_pe_function_t *items;

    if (pe->functions == NULL && bytes != 0 && table.len >= bytes) {
        items = sym_arena_calloc(&pe->arena, table.len / bytes, sizeof(*items));
        if (items == NULL) {
            return sym_fail(err, SYM_NOMEM, "no memory for exception tables");
        }

        (void) read_table(pe, items, table);
    }

    *out = (sym_pe_functions_t){ pe->functions, pe->n_functions };
    return SYM_OK;
}


const sym_pe_function_t *
sym_pe_function_before(const sym_pe_functions_t *f, uint32_t rva)
{
    size_t low = 0, high = f->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (f->items[middle].begin <= rva) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low != 0 ? &f->items[low - 1] : NULL;
}
