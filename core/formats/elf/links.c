/*
 * links.c - names of the companion files of an ELF file.
 */
#include "formats/elf/file.h"

#define ALTLINK ".gnu_debugaltlink"
#define SUP ".debug_sup"

sym_status_t
sym_elf_debuglink(sym_elf_t *e, sym_debuglink_t *link, sym_error_t *err)
{
    sym_str_t bytes;
    sym_status_t rc = sym_elf_section(e, SYM_DEBUGLINK, &bytes, err);
    sym_cursor_t c;

    if (rc != SYM_OK) {
        return rc;
    }

    c = sym_elf_cursor(e, bytes, SYM_DEBUGLINK, err);
    return sym_debuglink_read(&c, link);
}


static sym_status_t
check_id(sym_cursor_t *c, sym_str_t id)
{
    if (sym_ok(c) && (id.len == 0 || id.len > SYM_BUILD_ID_MAX)) {
        sym_cursor_fail(c, SYM_MALFORMED, "id is empty, or over 64 bytes");
    }

    return c->err->status;
}


static sym_status_t
read_altlink(const sym_elf_t *e, sym_str_t bytes, sym_elf_altlink_t *link,
             sym_error_t *err)
{
    sym_cursor_t c = sym_elf_cursor(e, bytes, ALTLINK, err);

    link->name = sym_debuglink_name(&c);
    link->id = sym_bytes(&c, sym_left(&c));
    return check_id(&c, link->id);
}


/* DWARF 5, 7.3.6.  The supplementary file has such a section, too, with a flag
 * and an empty name. is_supplementary selects one of the two. */
static sym_status_t
read_sup(const sym_elf_t *e, sym_str_t bytes, bool of_supplementary,
         sym_elf_altlink_t *link, sym_error_t *err)
{
    sym_cursor_t c = sym_elf_cursor(e, bytes, SUP, err);
    uint16_t version = sym_u16(&c);
    bool is_supplementary = sym_u8(&c) != 0;

    if (sym_ok(&c) && version != 5) {
        return sym_elf_fail(err, SYM_UNSUPPORTED, SUP, 0, "unknown version");
    }

    if (sym_ok(&c) && is_supplementary != of_supplementary) {
        return SYM_NOT_FOUND;
    }

    if (of_supplementary) {
        (void) sym_u8(&c); /* the name */
    } else {
        link->name = sym_debuglink_name(&c);
    }
    link->id = sym_bytes(&c, sym_uleb(&c));
    return check_id(&c, link->id);
}


sym_status_t
sym_elf_altlink(sym_elf_t *e, sym_elf_altlink_t *link, sym_error_t *err)
{
    sym_str_t bytes;
    sym_status_t rc = sym_elf_section(e, ALTLINK, &bytes, err);

    if (rc == SYM_OK) {
        return read_altlink(e, bytes, link, err);
    }

    if (rc == SYM_NOT_FOUND) {
        rc = sym_elf_section(e, SUP, &bytes, err);
    }

    return rc == SYM_OK ? read_sup(e, bytes, false, link, err) : rc;
}


sym_status_t
sym_elf_sup_id(sym_elf_t *e, sym_str_t *id, sym_error_t *err)
{
    sym_elf_altlink_t own;
    sym_str_t bytes;
    sym_status_t rc = sym_elf_section(e, SUP, &bytes, err);

    rc = rc == SYM_OK ? read_sup(e, bytes, true, &own, err) : rc;
    if (rc == SYM_OK) {
        *id = own.id;
    }

    return rc;
}
