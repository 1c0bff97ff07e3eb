/*
 * dwarf_kit.h - builds DWARF by hand for tests, in either byte order and width.
 */
#ifndef T_UNIT_DWARF_KIT_H
#define T_UNIT_DWARF_KIT_H

#include <stdlib.h>

#include "formats/dwarf/constants.h"
#include "formats/dwarf/dwarf.h"

typedef struct {
    uint8_t data[8192];
    size_t n;
} kit_bytes_t;

/* The sections of one file, and the form of what is added next. */
typedef struct {
    bool is_big;
    uint8_t version, offset_size, addr_size;
    kit_bytes_t info, abbrev, line, str, line_str, str_offsets, addr, ranges,
        rnglists;
} kit_t;

__attribute__((unused)) static void
put(const kit_t *k, kit_bytes_t *b, uint64_t v, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        unsigned shift = 8 * (k->is_big ? size - 1 - i : i);

        b->data[b->n] = 0;
        if (shift < 64) {
            b->data[b->n] = (uint8_t) (v >> shift);
        }
        b->n++;
    }
}


#define PUT_OFFSET(k, b, v) put((k), (b), (v), (k)->offset_size)
#define PUT_ADDR(k, b, v) put((k), (b), (v), (k)->addr_size)

__attribute__((unused)) static void
uleb(kit_bytes_t *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) {
        b->data[b->n++] = (uint8_t) (v | 0x80);
    }
    b->data[b->n++] = (uint8_t) v;
}


/* One byte is enough for the tests. */
__attribute__((unused)) static void
sleb(kit_bytes_t *b, int v)
{
    b->data[b->n++] = (uint8_t) (v & 0x7f);
}


/* Returns the offset. */
__attribute__((unused)) static size_t
text(kit_bytes_t *b, const char *s)
{
    size_t at = b->n;

    memcpy(b->data + at, s, strlen(s) + 1);
    b->n += strlen(s) + 1;
    return at;
}


/* An initial length, to be closed; returns where the counted bytes begin. */
__attribute__((unused)) static size_t
open_length(const kit_t *k, kit_bytes_t *b)
{
    if (k->offset_size == 8) {
        put(k, b, 0xffffffff, 4);
    }
    PUT_OFFSET(k, b, 0);
    return b->n;
}


__attribute__((unused)) static void
close_length(const kit_t *k, kit_bytes_t *b, size_t start)
{
    size_t end = b->n;

    b->n = start - k->offset_size;
    PUT_OFFSET(k, b, end - start);
    b->n = end;
}


/* attributes and forms in pairs, ending in 0 */
__attribute__((unused)) static void
abbrev(kit_t *k, unsigned code, unsigned tag, bool has_children,
       const unsigned *pairs)
{
    uleb(&k->abbrev, code);
    uleb(&k->abbrev, tag);
    uleb(&k->abbrev, has_children);
    for (; pairs[0] != 0; pairs += 2) {
        uleb(&k->abbrev, pairs[0]);
        uleb(&k->abbrev, pairs[1]);
    }
    uleb(&k->abbrev, 0);
    uleb(&k->abbrev, 0);
}


#define ABBREV(k, code, tag, children, ...)                                    \
    abbrev((k), (code), (tag), (children), (const unsigned[]){ __VA_ARGS__, 0 })

/* A unit's header; returns where its length counts from. */
__attribute__((unused)) static size_t
open_unit(kit_t *k, uint64_t abbrev_offset)
{
    size_t start = open_length(k, &k->info);

    put(k, &k->info, k->version, 2);
    if (k->version >= 5) {
        put(k, &k->info, DW_UT_compile, 1);
        put(k, &k->info, k->addr_size, 1);
        PUT_OFFSET(k, &k->info, abbrev_offset);
    } else {
        PUT_OFFSET(k, &k->info, abbrev_offset);
        put(k, &k->info, k->addr_size, 1);
    }
    return start;
}


/* A line program's header with the files a.c in /src (DWARF 5: of the
 * compilation directory) and inc/b.h: numbers 1 and 2 in every version. */
__attribute__((unused)) static size_t
open_lines(kit_t *k, size_t *header)
{
    static const uint8_t lengths[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
    kit_bytes_t *b = &k->line;
    size_t start = open_length(k, b), header_start;

    put(k, b, k->version, 2);
    if (k->version >= 5) {
        put(k, b, k->addr_size, 1);
        put(k, b, 0, 1);
    }
    PUT_OFFSET(k, b, 0);
    header_start = b->n;
    *header = header_start;

    put(k, b, 2, 1); /* min_inst_length */
    if (k->version >= 4) {
        put(k, b, 1, 1);
    }
    put(k, b, 1, 1);                   /* default_is_stmt */
    put(k, b, (uint8_t) -3, 1);        /* line_base */
    put(k, b, 12, 1);                  /* line_range */
    put(k, b, sizeof(lengths) + 1, 1); /* opcode_base */
    memcpy(b->data + b->n, lengths, sizeof(lengths));
    b->n += sizeof(lengths);

    if (k->version < 5) {
        (void) text(b, "inc");
        put(k, b, 0, 1);
        (void) text(b, "a.c");
        put(k, b, 0, 3);
        (void) text(b, "b.h");
        put(k, b, 1, 1);
        put(k, b, 0, 2);
        put(k, b, 0, 1);
    } else {
        put(k, b, 1, 1);
        uleb(b, DW_LNCT_path);
        uleb(b, DW_FORM_line_strp);
        uleb(b, 2);
        PUT_OFFSET(k, b, text(&k->line_str, "/src"));
        PUT_OFFSET(k, b, text(&k->line_str, "inc"));

        put(k, b, 3, 1);
        uleb(b, DW_LNCT_path);
        uleb(b, DW_FORM_string);
        uleb(b, DW_LNCT_directory_index);
        uleb(b, DW_FORM_udata);
        uleb(b, 5); /* MD5 */
        uleb(b, DW_FORM_data16);
        uleb(b, 3);
        for (unsigned i = 0; i < 3; i++) {
            (void) text(b, i == 2 ? "b.h" : "a.c");
            uleb(b, i == 2);
            put(k, b, 0, 16);
        }
    }

    size_t end = b->n;
    b->n = header_start - k->offset_size;
    PUT_OFFSET(k, b, end - header_start);
    b->n = end;
    return start;
}


__attribute__((unused)) static void
set_address(kit_t *k, uint64_t addr)
{
    put(k, &k->line, 0, 1);
    uleb(&k->line, 1u + k->addr_size);
    put(k, &k->line, DW_LNE_set_address, 1);
    PUT_ADDR(k, &k->line, addr);
}


/* advance_pc by the given bytes, and the end. */
__attribute__((unused)) static void
end_sequence(kit_t *k, unsigned bytes)
{
    put(k, &k->line, DW_LNS_advance_pc, 1);
    uleb(&k->line, bytes / 2);
    put(k, &k->line, 0, 1);
    put(k, &k->line, 1, 1);
    put(k, &k->line, DW_LNE_end_sequence, 1);
}


static sym_str_t
kit_view(const kit_bytes_t *b)
{
    return sym_str((const char *) b->data, b->n);
}


__attribute__((unused)) static sym_dwarf_sections_t
kit_sections(const kit_t *k)
{
    return (sym_dwarf_sections_t){
        .info = kit_view(&k->info),
        .abbrev = kit_view(&k->abbrev),
        .line = kit_view(&k->line),
        .str = kit_view(&k->str),
        .line_str = kit_view(&k->line_str),
        .str_offsets = kit_view(&k->str_offsets),
        .addr = kit_view(&k->addr),
        .ranges = kit_view(&k->ranges),
        .rnglists = kit_view(&k->rnglists),
    };
}

#endif
