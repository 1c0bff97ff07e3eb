#include "formats/pdb/publics.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "formats/native/undecorate.h"
#include "formats/pdb/le.h"

#define S_PUB32_ST 0x1009
#define S_PUB32 0x110e

/* PUBSYM32 (cvinfo.h): flags, offset, section, name */
#define PUBLIC_OFFSET 4
#define PUBLIC_SECTION 8
#define PUBLIC_NAME 10


static sym_str_t
name_of(const uint8_t *name, size_t len, bool is_pascal)
{
    const uint8_t *end;

    if (len == 0) {
        return SYM_STR("");
    }

    if (is_pascal) {
        return sym_str((const char *) name + 1, *name < len ? *name : len - 1);
    }

    end = memchr(name, '\0', len);
    return sym_str((const char *) name,
                   end != NULL ? (size_t) (end - name) : len);
}


/* A public symbol has no size, so it extends to the next symbol, over all code
 * between them.  It does not continue after a function that begins at its
 * address. */
static sym_status_t
read_public(const sym_pdb_t *pdb, const uint8_t *data, size_t len,
            bool is_pascal, sym_pdb_publics_t *all)
{
    const sym_pdb_addresses_t *a = &pdb->addresses;
    const uint32_t offset = sym_le32(data + PUBLIC_OFFSET);
    const uint32_t section = sym_le16(data + PUBLIC_SECTION);
    const sym_str_t name =
        name_of(data + PUBLIC_NAME, len - PUBLIC_NAME, is_pascal);
    sym_pdb_public_t *items;
    uint32_t linked;
    sym_pdb_stretch_t s;

    if (!sym_pdb_is_code(a, section) || name.len == 0
        || !sym_pdb_linked(a, section, offset, &linked) || linked == UINT32_MAX)
    {
        return SYM_OK;
    }

    /* OMAP may have removed its first address */
    if (!sym_pdb_next_stretch(a, &linked, linked + 1, &s)) {
        return SYM_OK;
    }

    items = sym_array_grow(all->items, &all->size, all->n + 1, sizeof(*items));
    if (items == NULL) {
        return SYM_NOMEM;
    }

    all->items = items;
    all->items[all->n++] = (sym_pdb_public_t){ s.addr, sym_undecorate(name) };
    return SYM_OK;
}


sym_status_t
sym_pdb_read_publics(const sym_pdb_t *pdb, sym_pdb_publics_t *publics,
                     sym_error_t *err)
{
    const sym_str_t all = pdb->streams[SYM_PDB_SYMBOLS];
    const uint8_t *p = (const uint8_t *) all.data;
    size_t left = all.len;
    sym_status_t rc = SYM_OK;

    while (rc == SYM_OK && left >= 4) {
        const size_t len = (size_t) 2 + sym_le16(p);
        const uint16_t kind = sym_le16(p + 2);

        if (len < 4 || len > left) {
            return sym_fail(err, SYM_MALFORMED,
                            "symbol record runs past its stream");
        }

        if ((kind == S_PUB32 || kind == S_PUB32_ST) && len - 4 > PUBLIC_NAME) {
            rc = read_public(pdb, p + 4, len - 4, kind == S_PUB32_ST, publics);
        }

        p += len;
        left -= len;
    }

    return rc == SYM_OK ? rc : sym_fail(err, rc, "no memory for publics");
}
