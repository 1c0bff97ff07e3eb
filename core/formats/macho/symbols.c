/*
 * symbols.c - LC_SYMTAB: names of functions.
 *
 * LC_FUNCTION_STARTS contains the starts of functions without names, too; they
 * end the symbols before them.
 */
#include <stdlib.h>

#include "formats/bitcode/symbol_map.h"
#include "formats/macho/file.h"
#include "formats/native/text.h"

#define SYMBOL_TABLE "symbol table"
#define STRING_TABLE "string table"

/* struct nlist, struct nlist_64 */
#define NLIST_BYTES 12
#define NLIST_BYTES_64 16

#define N_STAB 0xe0 /* any of these bits: an entry for debuggers */
#define N_TYPE 0x0e
#define N_SECT 0x0e
#define N_EXT 0x01
#define N_ARM_THUMB_DEF 0x0008

typedef struct {
    uint32_t name;
    uint8_t type, section;
    uint16_t desc;
    uint64_t value;
} nlist_t;

/* An iterator over the function starts. */
typedef struct {
    sym_cursor_t c;
    sym_error_t err; /* error of the cursor; it only ends the starts early */
    uint64_t addr;
    uint64_t mask; /* clears the bit that marks Thumb code */
} starts_t;


static nlist_t
read_nlist(sym_cursor_t *c, bool is_64bit)
{
    nlist_t n = { .name = sym_u32(c) };

    n.type = sym_u8(c);
    n.section = sym_u8(c);
    n.desc = sym_u16(c);
    n.value = is_64bit ? sym_u64(c) : sym_u32(c);
    return n;
}


/* The code section of a symbol; NULL: the symbol is not in one. */
static const sym_macho_section_t *
code_of(const sym_macho_t *m, const nlist_t *n)
{
    const sym_macho_section_t *s;

    if (n->section == 0 || n->section > m->n_sections) {
        return NULL;
    }

    /* __mh_execute_header names the first section, but is before it */
    s = &m->sections[n->section - 1];
    return s->is_code && n->value >= s->addr && n->value - s->addr < s->size
                   && n->value >= m->info.image_base
               ? s
               : NULL;
}


/* Removes the underscore that compilers add to each C name.  Hidden names do
 * not have it. */
static sym_str_t
plain_name(sym_str_t s)
{
    return s.len > 1 && !sym_str_starts(s, SYM_STR(SYM_HIDDEN))
                   && s.data[0] == '_'
               ? sym_str(s.data + 1, s.len - 1)
               : s;
}


/* True if the entry is a symbol of code; counts invalid entries. */
static bool
take_symbol(const sym_macho_t *m, const nlist_t *n, sym_str_t strings,
            sym_macho_symbol_t *symbol, uint64_t *long_bytes,
            uint64_t *n_skipped)
{
    const sym_macho_section_t *s;
    uint64_t value;

    if ((n->type & N_STAB) != 0 || (n->type & N_TYPE) != N_SECT) {
        return false;
    }

    s = code_of(m, n);
    if (s == NULL) {
        *n_skipped += n->section == 0 || n->section > m->n_sections;
        return false;
    }

    symbol->name = plain_name(sym_native_text(strings, n->name, long_bytes));
    if (symbol->name.len == 0) {
        *n_skipped += symbol->name.data == NULL;
        return false;
    }

    value = n->value;
    if (m->info.cpu == SYM_CPU_ARM && (n->desc & N_ARM_THUMB_DEF) != 0) {
        value &= ~(uint64_t) 1;
    }

    symbol->addr = value - m->info.image_base;
    symbol->size = s->addr + s->size - value;
    symbol->is_external = (n->type & N_EXT) != 0;
    return true;
}


/* Order: by address, then the best of each address first. */
static int
by_address(const void *p, const void *q)
{
    const sym_macho_symbol_t *a = p, *b = q;

    if (a->addr != b->addr) {
        return a->addr < b->addr ? -1 : 1;
    }

    if (a->is_external != b->is_external) {
        return a->is_external ? -1 : 1;
    }

    if (a->name.len != b->name.len) {
        return a->name.len > b->name.len ? -1 : 1;
    }

    return sym_str_cmp(a->name, b->name);
}


static size_t
drop_aliases(sym_macho_symbol_t *symbols, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || symbols[kept - 1].addr != symbols[i].addr) {
            symbols[kept++] = symbols[i];
        }
    }

    return kept;
}


/* The start of the first function after addr; UINT64_MAX: unknown. */
static uint64_t
next_start(starts_t *s, uint64_t addr)
{
    while ((s->addr & s->mask) <= addr) {
        uint64_t delta = sym_uleb(&s->c);

        /* a zero, or the end, ends the list */
        if (delta == 0 || delta > UINT64_MAX - s->addr) {
            s->addr = UINT64_MAX;
            s->mask = UINT64_MAX;
            break;
        }
        s->addr += delta;
    }

    return s->addr & s->mask;
}


static void
cut_sizes(const sym_macho_t *m, sym_macho_symbol_t *symbols, size_t n)
{
    starts_t starts = { .mask = UINT64_MAX };

    /* bytes outside the file are not a list */
    starts.c = sym_macho_cursor(m, m->starts.offset, m->starts.size,
                                "function starts", &starts.err);
    if (m->info.cpu == SYM_CPU_ARM) {
        starts.mask--;
    }

    for (size_t i = 0; i < n; i++) {
        sym_macho_symbol_t *s = &symbols[i];
        uint64_t end = next_start(&starts, s->addr);

        if (i + 1 < n && symbols[i + 1].addr < end) {
            end = symbols[i + 1].addr;
        }

        if (end - s->addr < s->size) {
            s->size = end - s->addr;
        }
    }
}


static size_t
take_symbols(const sym_macho_t *m, sym_cursor_t *table, sym_str_t strings,
             sym_macho_symbol_t *symbols, uint64_t *n_skipped)
{
    uint64_t long_bytes = 0;
    size_t n = 0;

    while (sym_left(table) != 0) {
        nlist_t entry = read_nlist(table, m->info.is_64bit);

        n += take_symbol(m, &entry, strings, &symbols[n], &long_bytes,
                         n_skipped);
    }

    return n;
}


sym_status_t
sym_macho_symbols(sym_macho_t *m, sym_macho_symbols_t *out, sym_error_t *err)
{
    uint64_t entry = m->info.is_64bit ? NLIST_BYTES_64 : NLIST_BYTES;
    sym_cursor_t table, strings;
    sym_macho_symbol_t *symbols;

    *out = (sym_macho_symbols_t){ 0 };
    table = sym_macho_cursor(m, m->symbols_at, m->n_symbols * entry,
                             SYMBOL_TABLE, err);
    strings =
        sym_macho_cursor(m, m->strings_at, m->strings_size, STRING_TABLE, err);
    if (err->status != SYM_OK || sym_left(&table) == 0) {
        return err->status;
    }

    /* freed with the file; the size is bounded, because the file contains these
     * entries */
    symbols =
        sym_arena_calloc(&m->arena, sym_left(&table) / entry, sizeof(*symbols));
    if (symbols == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for symbols");
    }

    out->n = take_symbols(m, &table,
                          sym_str((const char *) strings.pos,
                                  (size_t) (strings.end - strings.pos)),
                          symbols, &out->n_skipped);
    qsort(symbols, out->n, sizeof(*symbols), by_address);
    out->n = drop_aliases(symbols, out->n);
    cut_sizes(m, symbols, out->n);
    out->symbols = symbols;
    return SYM_OK;
}
