/*
 * symtab.c - the COFF symbol table, which GNU's and LLVM's linkers leave in an
 * image ("PE Format", COFF Symbol Table).
 */
#include "formats/native/text.h"
#include "formats/pe/candidates.h"

#define SYMBOL_TABLE "symbol table"
#define SYMBOL_BYTES 18

#define CLASS_EXTERNAL 2
#define CLASS_STATIC 3
#define CLASS_WEAK 105

/* The derived type in a symbol's type field: function ("PE Format", Type
 * Representation). */
#define TYPE_FUNCTION 0x20
#define TYPE_DERIVED 0xf0

typedef struct {
    sym_str_t name; /* 8 bytes */
    uint32_t value;
    uint16_t section, type; /* section 0, and from 0xfffe on: no section */
    uint8_t storage_class, n_aux;
} symbol_t;


static symbol_t
read_symbol(sym_cursor_t *c)
{
    symbol_t s = { .name = sym_bytes(c, 8), .value = sym_u32(c) };

    s.section = sym_u16(c);
    s.type = sym_u16(c);
    s.storage_class = sym_u8(c);
    s.n_aux = sym_u8(c);
    return s;
}


/* A name of up to 8 bytes is stored in place.  A longer one is stored as four
 * zeros and an offset into the string table. */
static sym_str_t
name_of(const sym_pe_t *pe, const symbol_t *s, uint64_t *long_bytes)
{
    sym_error_t none = { 0 };
    sym_cursor_t c = sym_cursor(s->name.data, s->name.len, SYMBOL_TABLE, &none);

    if (memcmp(s->name.data, "\0\0\0\0", 4) != 0) {
        return sym_str(s->name.data, strnlen(s->name.data, s->name.len));
    }

    (void) sym_u32(&c);
    return sym_native_text(pe->strings, sym_u32(&c), long_bytes);
}


static bool
is_function(const symbol_t *s)
{
    return (s->type & TYPE_DERIVED) == TYPE_FUNCTION;
}


/* Reads a symbol of code.  False: the symbol is not one of code. */
static bool
rank_of(const symbol_t *s, sym_pe_rank_t *rank)
{
    *rank = is_function(s) ? SYM_PE_FUNCTION : SYM_PE_LABEL;

    switch (s->storage_class) {
    case CLASS_EXTERNAL:
    case CLASS_WEAK:
        return true;
    case CLASS_STATIC:
        if (!is_function(s) && s->n_aux != 0) {
            *rank = SYM_PE_UNNAMED; /* a section of an object file begins
                                       here */
        }
        return true;
    default:
        return false;
    }
}


static sym_status_t
add(const sym_pe_t *pe, const symbol_t *s, sym_pe_candidates_t *list,
    sym_error_t *err)
{
    const sym_pe_section_t *section;
    sym_pe_candidate_t c = { .name = SYM_STR("") };

    if (s->section == 0 || s->section > pe->n_sections || !rank_of(s, &c.rank))
    {
        return SYM_OK;
    }

    section = &pe->sections[s->section - 1];
    if (!sym_pe_is_code(section) || s->value >= section->size
        || s->value > UINT32_MAX - section->rva)
    {
        return SYM_OK;
    }

    c.rva = section->rva + s->value;
    if (c.rank != SYM_PE_UNNAMED) {
        c.name = name_of(pe, s, &list->long_bytes);
        if (c.name.len == 0) {
            list->n_skipped++;
            return SYM_OK;
        }
    }

    return sym_pe_candidate_add(list, &c, err);
}


sym_status_t
sym_pe_read_symtab(const sym_pe_t *pe, sym_pe_candidates_t *list,
                   sym_error_t *err)
{
    sym_error_t none = { 0 };
    sym_str_t bytes =
        sym_pe_raw(pe, pe->symbols_at, (uint64_t) pe->n_symbols * SYMBOL_BYTES);
    sym_cursor_t c = sym_cursor(bytes.data, bytes.len, SYMBOL_TABLE, &none);

    if (pe->symbols_at == 0) {
        return SYM_OK;
    }

    while (sym_left(&c) >= SYMBOL_BYTES) {
        symbol_t s = read_symbol(&c);

        if (add(pe, &s, list, err) != SYM_OK) {
            return err->status;
        }

        (void) sym_bytes(&c, (uint64_t) s.n_aux * SYMBOL_BYTES);
    }

    return SYM_OK;
}
