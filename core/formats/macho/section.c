/*
 * section.c - the contents of sections.
 */
#include "formats/packed/zdebug.h"
#include "formats/macho/file.h"


/* True if the section's name, as Mach-O cuts it at 16 bytes, is prefix and
 * rest. */
static bool
is_named(sym_str_t name, sym_str_t prefix, const char *rest)
{
    size_t len = strnlen(rest, SYM_MACHO_NAME_BYTES - prefix.len);

    return name.len == prefix.len + len && sym_str_starts(name, prefix)
           && memcmp(name.data + prefix.len, rest, len) == 0;
}


static sym_macho_section_t *
find_named(const sym_macho_t *m, sym_str_t prefix, const char *rest)
{
    for (size_t i = 0; i < m->n_sections; i++) {
        if (is_named(m->sections[i].name, prefix, rest)) {
            return &m->sections[i];
        }
    }

    return NULL;
}


/* The section, or a compressed one of the old kind: "__zdebug_info". */
static sym_macho_section_t *
find_either(const sym_macho_t *m, const char *name, bool *is_packed)
{
    sym_macho_section_t *s;

    *is_packed = false;
    if (name[0] != '.') {
        return find_named(m, SYM_STR(""), name);
    }

    s = find_named(m, SYM_STR("__"), name + 1);
    if (s == NULL || !s->has_bytes) {
        *is_packed = true;
        s = find_named(m, SYM_STR("__z"), name + 1);
    }
    return s;
}


static sym_status_t
raw_bytes(const sym_macho_t *m, const sym_macho_section_t *s, const char *name,
          sym_str_t *bytes, sym_error_t *err)
{
    if (s->offset < m->start || s->offset > m->end
        || s->size > m->end - s->offset) {
        return sym_macho_fail(err, SYM_TRUNCATED, name, s->at,
                              "the section runs past the end of the file");
    }

    *bytes = sym_str((const char *) m->data + s->offset, (size_t) s->size);
    return SYM_OK;
}


sym_status_t
sym_macho_section(sym_macho_t *m, const char *name, sym_str_t *bytes,
                  sym_error_t *err)
{
    bool is_packed;
    sym_macho_section_t *s = find_either(m, name, &is_packed);
    sym_str_t raw;

    if (s == NULL || !s->has_bytes) {
        return SYM_NOT_FOUND;
    }

    if (s->plain.data == NULL) {
        if (raw_bytes(m, s, name, &raw, err) != SYM_OK) {
            return err->status;
        }

        if (!is_packed) {
            s->plain = raw;
        } else if (sym_zdebug_unpack(raw, name, s->offset, &m->arena,
                                     &m->unpacked_left, &s->plain, err)
                   != SYM_OK)
        {
            return err->status;
        }
    }

    *bytes = s->plain;
    return SYM_OK;
}


uint64_t
sym_macho_section_address(const sym_macho_t *m, const char *name)
{
    const sym_macho_section_t *s = find_named(m, SYM_STR(""), name);

    return s != NULL ? s->addr : 0;
}
