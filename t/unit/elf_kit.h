/*
 * elf_kit.h - makes ELF files for tests, field by field, after the tables of
 * the System V ABI, in either class and byte order.
 */
#ifndef T_UNIT_ELF_KIT_H
#define T_UNIT_ELF_KIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

typedef struct {
    const char *name;
    uint32_t type;
    uint64_t flags, addr;
    sym_str_t bytes;
    uint64_t size; /* of SHT_NOBITS, which has no bytes */
    uint32_t link;
} kit_section_t;

typedef struct {
    uint32_t type;
    uint64_t addr;
    size_t section; /* its bytes; 0: none */
} kit_segment_t;

typedef struct {
    bool is_64bit, is_big_endian;
    uint16_t type, machine;
    const kit_section_t *sections; /* numbered from 1 */
    size_t n_sections;
    const kit_segment_t *segments;
    size_t n_segments;
    bool has_large_numbers; /* in section 0 instead of the header */
} kit_elf_t;

typedef struct {
    uint8_t *data;
    size_t len;
    bool is_64bit, is_big_endian;
} kit_bytes_t;


/* Reserves room for the given number of bytes. */
static uint8_t *
kit_room(kit_bytes_t *b, size_t bytes)
{
    uint8_t *room;

    b->data = realloc(b->data, b->len + bytes + 1);
    if (b->data == NULL) {
        abort();
    }

    room = b->data + b->len;
    b->len += bytes;
    return room;
}


static void
kit_number(kit_bytes_t *b, uint64_t value, size_t bytes)
{
    uint8_t *room = kit_room(b, bytes);

    for (size_t i = 0; i < bytes; i++) {
        size_t place = b->is_big_endian ? bytes - 1 - i : i;

        room[i] = (uint8_t) (value >> (8 * place));
    }
}


/* As wide as an address. */
static void
kit_word(kit_bytes_t *b, uint64_t value)
{
    kit_number(b, value, b->is_64bit ? 8 : 4);
}


static void
kit_text(kit_bytes_t *b, sym_str_t s)
{
    uint8_t *room = kit_room(b, s.len);

    if (s.len != 0) {
        memcpy(room, s.data, s.len);
    }
}


__attribute__((unused)) static sym_str_t
kit_view(const kit_bytes_t *b)
{
    return sym_str((const char *) b->data, b->len);
}


/* One entry of a symbol table; info: binding << 4 | type. */
__attribute__((unused)) static void
kit_symbol(kit_bytes_t *b, uint32_t name, unsigned info, uint16_t section,
           uint64_t value, uint64_t size)
{
    kit_number(b, name, 4);
    if (!b->is_64bit) {
        kit_word(b, value);
        kit_word(b, size);
    }
    kit_number(b, info, 1);
    kit_number(b, 0, 1);
    kit_number(b, section, 2);
    if (b->is_64bit) {
        kit_word(b, value);
        kit_word(b, size);
    }
}


static void
kit_section_header(kit_bytes_t *b, uint32_t name, const kit_section_t *s,
                   uint64_t offset, uint64_t size)
{
    bool is_symbols = s->type == 2 || s->type == 11;
    uint64_t symbol_bytes = b->is_64bit ? 24 : 16;

    kit_number(b, name, 4);
    kit_number(b, s->type, 4);
    kit_word(b, s->flags);
    kit_word(b, s->addr);
    kit_word(b, offset);
    kit_word(b, size);
    kit_number(b, s->link, 4);
    kit_number(b, 0, 4);
    kit_word(b, 4);
    kit_word(b, is_symbols ? symbol_bytes : 0);
}


static void
kit_program_header(kit_bytes_t *b, const kit_segment_t *p, uint64_t offset,
                   uint64_t size)
{
    kit_number(b, p->type, 4);
    if (b->is_64bit) {
        kit_number(b, 5, 4);
    }
    kit_word(b, offset);
    kit_word(b, p->addr);
    kit_word(b, p->addr);
    kit_word(b, size);
    kit_word(b, size);
    if (!b->is_64bit) {
        kit_number(b, 5, 4);
    }
    kit_word(b, 4);
}


static void
kit_file_header(kit_bytes_t *b, const kit_elf_t *f, uint64_t sections_at)
{
    uint64_t header = f->is_64bit ? 64 : 52;
    size_t n = f->n_sections + 2;

    kit_text(b, SYM_STR("\177ELF"));
    kit_number(b, f->is_64bit ? 2 : 1, 1);
    kit_number(b, f->is_big_endian ? 2 : 1, 1);
    kit_number(b, 1, 1);
    kit_text(b, SYM_STR("\0\0\0\0\0\0\0\0\0"));
    kit_number(b, f->type, 2);
    kit_number(b, f->machine, 2);
    kit_number(b, 1, 4);
    kit_word(b, 0);
    kit_word(b, f->n_segments == 0 ? 0 : header);
    kit_word(b, sections_at);
    kit_number(b, 0, 4);
    kit_number(b, header, 2);
    kit_number(b, f->is_64bit ? 56 : 32, 2);
    kit_number(b, f->has_large_numbers ? 0xffff : f->n_segments, 2);
    kit_number(b, f->is_64bit ? 64 : 40, 2);
    kit_number(b, f->has_large_numbers ? 0 : n, 2);
    kit_number(b, f->has_large_numbers ? 0xffff : n - 1, 2);
}


/* Header, program headers, contents, section names, section headers. */
__attribute__((unused)) static kit_bytes_t
kit_elf(const kit_elf_t *f)
{
    kit_bytes_t b = { NULL, 0, f->is_64bit, f->is_big_endian };
    uint64_t at =
        (f->is_64bit ? 64 : 52) + (f->is_64bit ? 56 : 32) * f->n_segments;
    uint64_t offsets[64] = { 0 };
    const kit_section_t names = { ".shstrtab", 3, 0, 0, { NULL, 0 }, 0, 0 };
    uint32_t name = 1;
    size_t names_bytes = 1;

    for (size_t i = 0; i < f->n_sections; i++) {
        offsets[i + 1] = at;
        at += f->sections[i].bytes.len;
        names_bytes += strlen(f->sections[i].name) + 1;
    }

    kit_file_header(&b, f, at + names_bytes + strlen(names.name) + 1);

    for (size_t i = 0; i < f->n_segments; i++) {
        const kit_segment_t *p = &f->segments[i];

        kit_program_header(
            &b, p, offsets[p->section],
            p->section == 0 ? 0 : f->sections[p->section - 1].bytes.len);
    }

    for (size_t i = 0; i < f->n_sections; i++) {
        kit_text(&b, f->sections[i].bytes);
    }

    kit_number(&b, 0, 1);
    for (size_t i = 0; i < f->n_sections; i++) {
        kit_text(&b,
                 sym_str(f->sections[i].name, strlen(f->sections[i].name) + 1));
    }
    kit_text(&b, sym_str(names.name, strlen(names.name) + 1));

    /* section 0 */
    kit_number(&b, 0, 8);
    kit_word(&b, 0);
    kit_word(&b, 0);
    kit_word(&b, 0);
    kit_word(&b, f->has_large_numbers ? f->n_sections + 2 : 0);
    kit_number(&b, f->has_large_numbers ? f->n_sections + 1 : 0, 4);
    kit_number(&b, f->has_large_numbers ? f->n_segments : 0, 4);
    kit_word(&b, 0);
    kit_word(&b, 0);

    for (size_t i = 0; i < f->n_sections; i++) {
        const kit_section_t *s = &f->sections[i];

        kit_section_header(&b, name, s, offsets[i + 1],
                           s->type == 8 ? s->size : s->bytes.len);
        name += (uint32_t) strlen(s->name) + 1;
    }
    kit_section_header(&b, name, &names, at,
                       names_bytes + strlen(names.name) + 1);
    return b;
}

#endif
