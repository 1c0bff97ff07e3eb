/*
 * section.c - the contents of sections, by ELF's names for them.
 */
#include "formats/packed/zdebug.h"
#include "formats/pe/file.h"

#define DOT_Z SYM_STR(".z")


static sym_pe_section_t *
find(const sym_pe_t *pe, sym_str_t prefix, const char *rest)
{
    size_t len = strlen(rest);

    for (size_t i = 0; i < pe->n_sections; i++) {
        sym_pe_section_t *s = &pe->sections[i];

        if (s->file_size != 0 && s->name.len == prefix.len + len
            && sym_str_starts(s->name, prefix)
            && memcmp(s->name.data + prefix.len, rest, len) == 0)
        {
            return s;
        }
    }

    return NULL;
}


uint32_t
sym_pe_section_rva(const sym_pe_t *pe, const char *name)
{
    const sym_pe_section_t *s = find(pe, SYM_STR(""), name);

    return s != NULL ? s->rva : 0;
}


/* Excludes the padding up to the file alignment. */
static sym_status_t
raw_bytes(const sym_pe_t *pe, const sym_pe_section_t *s, const char *name,
          sym_str_t *bytes, sym_error_t *err)
{
    uint32_t size = s->size < s->file_size ? s->size : s->file_size;

    *bytes = sym_pe_raw(pe, s->offset, size);
    return bytes->len == size
               ? SYM_OK
               : sym_pe_fail(err, SYM_TRUNCATED, name, pe->len,
                             "the section runs past the end of the file");
}


sym_status_t
sym_pe_section(sym_pe_t *pe, const char *name, sym_str_t *bytes,
               sym_error_t *err)
{
    sym_pe_section_t *s = find(pe, SYM_STR(""), name);
    sym_pe_section_t *packed =
        s == NULL && name[0] == '.' ? find(pe, DOT_Z, name + 1) : NULL;
    sym_str_t raw;

    s = s != NULL ? s : packed;
    if (s == NULL) {
        return SYM_NOT_FOUND;
    }

    if (s->plain.data == NULL) {
        if (raw_bytes(pe, s, name, &raw, err) != SYM_OK) {
            return err->status;
        }

        if (packed == NULL) {
            s->plain = raw;
        } else if (sym_zdebug_unpack(raw, name, s->offset, &pe->arena,
                                     &pe->unpacked_left, &s->plain, err)
                   != SYM_OK)
        {
            return err->status;
        }
    }

    *bytes = s->plain;
    return SYM_OK;
}
