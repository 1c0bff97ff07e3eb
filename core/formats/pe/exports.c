/*
 * exports.c - the export table ("PE Format", The .edata Section).
 */
#include <stdlib.h>

#include "formats/native/text.h"
#include "formats/pe/candidates.h"

#define EXPORT_TABLE "export table"

typedef struct {
    sym_cursor_t addresses, names, ordinals;
    uint64_t n_addresses;
    bool *has_name; /* whether each address has a name */
} exports_t;


/* An array of n entries at an RVA, cut at the end of its section. */
static sym_cursor_t
table_at(const sym_pe_t *pe, uint32_t rva, uint64_t n, unsigned bytes,
         sym_error_t *err)
{
    sym_str_t all = sym_pe_at(pe, rva);
    uint64_t most = all.len / bytes;

    return sym_cursor(all.data, (size_t) (n < most ? n : most) * bytes,
                      EXPORT_TABLE, err);
}


static bool
read_directory(const sym_pe_t *pe, exports_t *e, sym_error_t *err)
{
    sym_str_t all = sym_pe_directory(pe, SYM_PE_EXPORTS);
    sym_cursor_t c = sym_cursor(all.data, all.len, EXPORT_TABLE, err);
    uint32_t n_addresses, n_names, addresses, names;

    (void) sym_bytes(&c, 20); /* fields from flags to ordinal base */
    n_addresses = sym_u32(&c);
    n_names = sym_u32(&c);
    addresses = sym_u32(&c);
    names = sym_u32(&c);

    e->ordinals = table_at(pe, sym_u32(&c), n_names, 2, err);
    e->addresses = table_at(pe, addresses, n_addresses, 4, err);
    e->names = table_at(pe, names, n_names, 4, err);
    e->n_addresses = sym_left(&e->addresses) / 4;
    return sym_ok(&c);
}


static uint32_t
address_of(const exports_t *e, uint64_t i)
{
    sym_cursor_t c = e->addresses;

    (void) sym_bytes(&c, 4 * i);
    return sym_u32(&c);
}


/* The RVA of a forwarder is in the export directory and refers to a string,
 * "NTDLL.RtlFree" ("PE Format", Export Address Table). */
static bool
is_forwarder(const sym_pe_t *pe, uint32_t rva)
{
    const sym_pe_directory_t *d = &pe->directories[SYM_PE_EXPORTS];

    return rva >= d->rva && rva - d->rva < d->size;
}


static bool
names_code(const sym_pe_t *pe, uint32_t rva)
{
    const sym_pe_section_t *s = sym_pe_section_at(pe, rva);

    return !is_forwarder(pe, rva) && s != NULL && sym_pe_is_code(s);
}


static sym_status_t
add_named(const sym_pe_t *pe, exports_t *e, sym_pe_candidates_t *list,
          sym_error_t *err)
{
    while (sym_left(&e->names) != 0 && sym_left(&e->ordinals) != 0) {
        uint32_t name = sym_u32(&e->names);
        uint16_t i = sym_u16(&e->ordinals); /* relative to the ordinal base */
        sym_pe_candidate_t c = { .rank = SYM_PE_EXPORT };

        if (i >= e->n_addresses) {
            list->n_skipped++;
            continue;
        }

        e->has_name[i] = true;
        c.rva = address_of(e, i);
        if (!names_code(pe, c.rva)) {
            continue;
        }

        c.name = sym_native_text(sym_pe_at(pe, name), 0, &list->long_bytes);
        if (c.name.len == 0) {
            list->n_skipped++;
        } else if (sym_pe_candidate_add(list, &c, err) != SYM_OK) {
            return err->status;
        }
    }

    return SYM_OK;
}


/* An export by ordinal only has no name, but it is a function. */
static sym_status_t
add_unnamed(const sym_pe_t *pe, exports_t *e, sym_pe_candidates_t *list,
            sym_error_t *err)
{
    for (uint64_t i = 0; sym_left(&e->addresses) != 0; i++) {
        const sym_pe_candidate_t c = { .rva = sym_u32(&e->addresses),
                                       .rank = SYM_PE_UNNAMED,
                                       .name = { "", 0 } };

        if (!e->has_name[i] && c.rva != 0 && names_code(pe, c.rva)
            && sym_pe_candidate_add(list, &c, err) != SYM_OK)
        {
            return err->status;
        }
    }

    return SYM_OK;
}


sym_status_t
sym_pe_read_exports(const sym_pe_t *pe, sym_pe_candidates_t *list,
                    sym_error_t *err)
{
    sym_error_t bad = { 0 };
    exports_t e;
    sym_status_t rc;

    if (pe->directories[SYM_PE_EXPORTS].size == 0
        || !read_directory(pe, &e, &bad)) {
        return SYM_OK;
    }

    e.has_name = calloc((size_t) e.n_addresses + 1, sizeof(*e.has_name));
    if (e.has_name == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for exports");
    }

    rc = add_named(pe, &e, list, err);
    rc = rc != SYM_OK ? rc : add_unnamed(pe, &e, list, err);
    free(e.has_name);
    return rc;
}
