/*
 * pe_kit.h - makes small PE files.
 *
 * The numbers are those of Microsoft's "PE Format", repeated here so that they
 * are independent of the reader.
 */
#ifndef SYM_UNIT_PE_KIT_H
#define SYM_UNIT_PE_KIT_H

#include <stdlib.h>

#include "formats/pe/pe.h"
#include "tap.h"

#define KIT_BASE 0x140000000u
#define KIT_HEADERS 0x400 /* their size, and where the first section begins */

typedef struct {
    uint8_t data[32768];
    size_t len;
    bool is_32bit;
    size_t directories; /* where they are */
    size_t sections;    /* where the next header comes */
    unsigned n_sections;
} kit_t;


static void
kit_number(kit_t *k, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        uint64_t byte = i < 8 ? value >> (8 * i) : 0;

        k->data[at + i] = (uint8_t) (byte & 0xff);
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


__attribute__((unused)) static void
kit_bytes(kit_t *k, const void *bytes, size_t len)
{
    if (k->len + len > sizeof(k->data)) {
        abort();
    }

    memcpy(k->data + k->len, bytes, len);
    k->len += len;
}


/* Headers without sections; the next bytes are at KIT_HEADERS. */
static void
kit_begin(kit_t *k, uint16_t machine, bool is_32bit)
{
    *k = (kit_t){ .is_32bit = is_32bit };
    memcpy(k->data, "MZ", 2);
    kit_number(k, 0x3c, 0x40, 4);
    memcpy(k->data + 0x40, "PE\0\0", 4);
    k->len = 0x44;

    kit_put(k, machine, 2);
    kit_put(k, 0, 2);          /* sections */
    kit_put(k, 0x5c9e0959, 4); /* time stamp */
    kit_put(k, 0, 8);          /* symbol table */
    kit_put(k, is_32bit ? 0xe0 : 0xf0, 2);
    kit_put(k, 0x22, 2);

    kit_put(k, is_32bit ? 0x10b : 0x20b, 2);
    kit_put(k, 0, is_32bit ? 26 : 22);
    kit_put(k, is_32bit ? 0x400000 : KIT_BASE, is_32bit ? 4 : 8);
    kit_put(k, 0, 24);
    kit_put(k, 0x9000, 4); /* size of the image */
    kit_put(k, KIT_HEADERS, 4);
    kit_put(k, 0, is_32bit ? 28 : 44);
    kit_put(k, 16, 4);

    k->directories = k->len;
    k->sections = k->len + 16 * 8;
    k->len = KIT_HEADERS;
}


__attribute__((unused)) static void
kit_directory(kit_t *k, unsigned which, uint32_t rva, uint32_t size)
{
    kit_number(k, k->directories + 8 * which, rva, 4);
    kit_number(k, k->directories + 8 * which + 4, size, 4);
}


#define KIT_CODE 0x60000020u
#define KIT_DATA 0x40000040u

/* A section with everything that was added since `from`. */
__attribute__((unused)) static void
kit_section(kit_t *k, const char *name, uint32_t rva, size_t from,
            uint32_t flags)
{
    size_t at = k->sections;

    memcpy(k->data + at, name, strnlen(name, 8));
    kit_number(k, at + 8, k->len - from, 4);
    kit_number(k, at + 12, rva, 4);
    kit_number(k, at + 16, k->len - from, 4);
    kit_number(k, at + 20, from, 4);
    kit_number(k, at + 36, flags, 4);
    k->sections += 40;
    kit_number(k, 0x46, ++k->n_sections, 2);
}


/* The reader gets a copy of exactly that size, so that a sanitizer sees reads
 * past its end. */
__attribute__((unused)) static sym_pe_t *
kit_open(const kit_t *k, uint8_t **copy, sym_error_t *err)
{
    const sym_pe_options_t options = { .unpacked_max = 1 << 20 };

    *err = (sym_error_t){ 0 };
    *copy = malloc(k->len);
    if (*copy == NULL) {
        abort();
    }

    memcpy(*copy, k->data, k->len);
    return sym_pe_open(*copy, k->len, &options, err);
}

#endif
