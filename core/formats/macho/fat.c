/*
 * fat.c - the first bytes of a file, and the list of slices of a fat one.
 */
#include "formats/macho/arch.h"
#include "formats/macho/file.h"

/* <mach-o/fat.h>; always big endian. */
#define FAT_MAGIC 0xcafebabeu
#define FAT_MAGIC_64 0xcafebabfu

#define FAT_HEADER "fat header"


static uint32_t
magic_of(const uint8_t *p)
{
    return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8
           | p[3];
}


static bool
is_thin(uint32_t magic)
{
    return magic == SYM_MH_MAGIC || magic == SYM_MH_MAGIC_64
           || magic == __builtin_bswap32(SYM_MH_MAGIC)
           || magic == __builtin_bswap32(SYM_MH_MAGIC_64);
}


static bool
is_fat(const uint8_t *data, size_t len)
{
    uint32_t magic = magic_of(data);

    return (magic == FAT_MAGIC || magic == FAT_MAGIC_64) && len >= 8
           && magic_of(data + 4) <= SYM_MACHO_SLICES_MAX;
}


bool
sym_macho_is(const uint8_t *data, size_t len)
{
    return len >= 4 && (is_thin(magic_of(data)) || is_fat(data, len));
}


/* struct fat_arch, struct fat_arch_64 */
static void
read_slice(sym_cursor_t *c, bool is_64bit, sym_macho_slice_t *slice)
{
    slice->cpu = sym_u32(c);
    slice->cpu_subtype = sym_u32(c);
    slice->arch = sym_macho_arch(slice->cpu, slice->cpu_subtype);
    slice->offset = is_64bit ? sym_u64(c) : sym_u32(c);
    slice->size = is_64bit ? sym_u64(c) : sym_u32(c);
    (void) sym_u32(c); /* align */
    if (is_64bit) {
        (void) sym_u32(c); /* reserved */
    }
}


sym_status_t
sym_macho_slices(const uint8_t *data, size_t len,
                 sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX], size_t *n,
                 sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(data, len, FAT_HEADER, err);
    bool is_64bit;
    size_t count;

    *n = 0;
    if (!sym_macho_is(data, len)) {
        return sym_macho_fail(err, SYM_MALFORMED, "Mach-O header", 0,
                              "not a Mach-O file");
    }

    if (!is_fat(data, len)) {
        slices[0] = (sym_macho_slice_t){ 0, len, 0, 0, "" };
        *n = 1;
        return SYM_OK;
    }

    c.is_big_endian = true;
    is_64bit = sym_u32(&c) == FAT_MAGIC_64;
    count = sym_u32(&c);
    if (count == 0) {
        return sym_macho_fail(err, SYM_MALFORMED, FAT_HEADER, 4,
                              "a fat file without slices");
    }

    for (size_t i = 0; i < count; i++) {
        read_slice(&c, is_64bit, &slices[i]);
    }

    if (sym_ok(&c)) {
        *n = count;
    }
    return err->status;
}
