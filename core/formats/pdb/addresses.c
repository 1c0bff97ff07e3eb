#include "formats/pdb/addresses.h"

#include "formats/pdb/le.h"

/* IMAGE_SECTION_HEADER (PE/COFF, 4) */
#define SECTION_BYTES 40
#define ADDRESS_AT 12
#define FLAGS_AT 36
#define IS_CODE 0x00000020u
#define IS_EXECUTABLE 0x20000000u

#define OMAP_BYTES 8

/* The section header with that number; NULL: not found. */
static const char *
section_at(const sym_pdb_addresses_t *a, uint32_t section)
{
    return section != 0 && section <= a->sections.len / SECTION_BYTES
               ? a->sections.data + (size_t) (section - 1) * SECTION_BYTES
               : NULL;
}


bool
sym_pdb_linked(const sym_pdb_addresses_t *a, uint32_t section, uint32_t offset,
               uint32_t *linked)
{
    const char *s = section_at(a, section);
    uint32_t begin = s != NULL ? sym_le32(s + ADDRESS_AT) : 0;

    *linked = begin + offset;
    return s != NULL && *linked >= begin;
}


bool
sym_pdb_is_code(const sym_pdb_addresses_t *a, uint32_t section)
{
    const char *s = section_at(a, section);

    return s != NULL
           && (sym_le32(s + FLAGS_AT) & (IS_CODE | IS_EXECUTABLE)) != 0;
}


static uint32_t
omap_from(const sym_pdb_addresses_t *a, size_t i)
{
    return sym_le32(a->omap.data + i * OMAP_BYTES);
}


/* The number of OMAP rows up to an address. */
static size_t
omap_upper(const sym_pdb_addresses_t *a, uint32_t linked)
{
    size_t low = 0, high = a->omap.len / OMAP_BYTES;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (omap_from(a, middle) <= linked) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}


bool
sym_pdb_next_stretch(const sym_pdb_addresses_t *a, uint32_t *linked,
                     uint32_t end, sym_pdb_stretch_t *stretch)
{
    const size_t n = a->omap.len / OMAP_BYTES;
    size_t next = n != 0 ? omap_upper(a, *linked) : 0;

    if (n == 0) {
        *stretch = (sym_pdb_stretch_t){ *linked, *linked, end - *linked };
        *linked = end;
        return stretch->size != 0;
    }

    while (*linked < end) {
        const uint32_t from = *linked;
        uint32_t to = next < n ? omap_from(a, next) : end, begin;

        to = to < end ? to : end;
        to = to > from ? to : from; /* rows out of order */
        *linked = to;
        if (next == n && to == from) {
            *linked = end;
        }

        next++;
        if (next < 2 || to == from) {
            continue; /* the address is before the first row, or the range is
                         empty */
        }

        begin = sym_le32(a->omap.data + (next - 2) * OMAP_BYTES + 4);
        if (begin != 0) { /* 0: the range was removed */
            *stretch = (sym_pdb_stretch_t){
                from, begin + (from - omap_from(a, next - 2)), to - from
            };
            return true;
        }
    }

    return false;
}
