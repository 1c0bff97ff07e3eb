/*
 * macho_kit.h - makes small Mach-O files, in both widths and byte orders.
 *
 * The numbers are those of Apple's <mach-o/loader.h>, repeated here so that
 * they are independent of the reader.
 */
#ifndef SYM_UNIT_MACHO_KIT_H
#define SYM_UNIT_MACHO_KIT_H

#include <stdlib.h>

#include "formats/macho/macho.h"
#include "tap.h"

typedef struct {
    uint8_t data[16384];
    size_t len;
    bool is_64bit, is_big_endian;
    size_t start;    /* of the slice */
    size_t commands; /* so far */
} kit_t;


static void
kit_number(kit_t *k, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        size_t place = k->is_big_endian ? bytes - 1 - i : i;

        k->data[at + i] = (uint8_t) (value >> (8 * place));
    }
}


static void
kit_put(kit_t *k, uint64_t value, size_t bytes)
{
    if (k->len + bytes > sizeof(k->data)) {
        abort();
    }

    kit_number(k, k->len, value, bytes);
    k->len += bytes;
}


static void
kit_u32(kit_t *k, uint32_t value)
{
    kit_put(k, value, 4);
}


static void
kit_word(kit_t *k, uint64_t value)
{
    kit_put(k, value, k->is_64bit ? 8 : 4);
}


/* A field of 16 bytes. */
static void
kit_name(kit_t *k, const char *name)
{
    size_t len = strnlen(name, 16);

    memcpy(k->data + k->len, name, len);
    k->len += 16;
}


__attribute__((unused)) static size_t
kit_bytes(kit_t *k, const void *bytes, size_t len)
{
    size_t at = k->len - k->start;

    memcpy(k->data + k->len, bytes, len);
    k->len += len;
    return at;
}


static void
kit_header(kit_t *k, uint32_t cpu, uint32_t subtype, uint32_t type)
{
    k->start = k->len;
    k->commands = 0;
    kit_u32(k, k->is_64bit ? 0xfeedfacf : 0xfeedface);
    kit_u32(k, cpu);
    kit_u32(k, subtype);
    kit_u32(k, type);
    kit_u32(k, 0); /* ncmds */
    kit_u32(k, 0); /* sizeofcmds */
    kit_u32(k, 0); /* flags */
    if (k->is_64bit) {
        kit_u32(k, 0);
    }
}


/* Opens a command; kit_end() closes it. */
static size_t
kit_command(kit_t *k, uint32_t cmd)
{
    size_t at = k->len;

    kit_u32(k, cmd);
    kit_u32(k, 0);
    return at;
}


static void
kit_end(kit_t *k, size_t command)
{
    size_t header = k->is_64bit ? 32 : 28;

    kit_number(k, command + 4, k->len - command, 4);
    kit_number(k, k->start + 16, ++k->commands, 4);
    kit_number(k, k->start + 20, k->len - k->start - header, 4);
}


/* A segment with n sections, which follow. */
static size_t
kit_segment(kit_t *k, const char *name, uint64_t addr, uint64_t size,
            uint64_t offset, uint64_t file_size, uint32_t n)
{
    size_t at = kit_command(k, k->is_64bit ? 0x19 : 1);

    kit_name(k, name);
    kit_word(k, addr);
    kit_word(k, size);
    kit_word(k, offset);
    kit_word(k, file_size);
    kit_u32(k, 7);
    kit_u32(k, 5);
    kit_u32(k, n);
    kit_u32(k, 0);
    return at;
}


/* Returns where the offset field is. */
static size_t
kit_section(kit_t *k, const char *segment, const char *name, uint64_t addr,
            uint64_t size, uint32_t flags)
{
    size_t at;

    kit_name(k, name);
    kit_name(k, segment);
    kit_word(k, addr);
    kit_word(k, size);
    at = k->len;
    kit_u32(k, 0); /* offset */
    kit_u32(k, 0); /* align */
    kit_put(k, 0, 8);
    kit_u32(k, flags);
    kit_put(k, 0, 8);
    if (k->is_64bit) {
        kit_u32(k, 0);
    }
    return at;
}


__attribute__((unused)) static void
kit_uuid(kit_t *k)
{
    size_t at = kit_command(k, 0x1b);

    for (unsigned i = 0; i < 16; i++) {
        kit_put(k, 0xa0 + i, 1);
    }
    kit_end(k, at);
}


/* Returns where its four numbers are. */
static size_t
kit_symtab(kit_t *k)
{
    size_t at = kit_command(k, 2);

    kit_put(k, 0, 8);
    kit_put(k, 0, 8);
    kit_end(k, at);
    return at + 8;
}


static void
kit_nlist(kit_t *k, uint32_t name, uint8_t type, uint8_t section, uint16_t desc,
          uint64_t value)
{
    kit_u32(k, name);
    kit_put(k, type, 1);
    kit_put(k, section, 1);
    kit_put(k, desc, 2);
    kit_word(k, value);
}


/* Opens the i-th slice from a copy that ends where the file does. */
__attribute__((unused)) static sym_macho_t *
kit_open(const kit_t *k, size_t i, uint8_t **copy, sym_error_t *err)
{
    const sym_macho_options_t options = { .unpacked_max = 1 << 20 };
    sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX];
    size_t n;

    *copy = malloc(k->len != 0 ? k->len : 1);
    if (*copy == NULL) {
        abort();
    }
    memcpy(*copy, k->data, k->len);

    if (sym_macho_slices(*copy, k->len, slices, &n, err) != SYM_OK) {
        return NULL;
    }

    return i < n ? sym_macho_open(*copy, k->len, &slices[i], &options, err)
                 : NULL;
}

#endif
