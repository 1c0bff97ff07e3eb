/*
 * section.c - the contents of sections.
 */
#include "formats/packed/inflate.h"
#include "formats/macho/file.h"

/* "ZLIB", then the length of what follows, unpacked, in big endian. */
#define ZDEBUG_MAGIC SYM_STR("ZLIB")
#define ZDEBUG_BYTES 12


/* True if prefix and rest are the name as Mach-O writes it: cut at 16 bytes. */
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


/* How long the packed bytes say they are. */
static sym_status_t
packed_size(const sym_macho_t *m, const sym_macho_section_t *s,
            const char *name, sym_str_t packed, uint64_t *size,
            sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(packed.data, packed.len, name, err);

    c.is_big_endian = true;
    if (packed.len < ZDEBUG_BYTES || !sym_str_starts(packed, ZDEBUG_MAGIC)) {
        return sym_macho_fail(err, SYM_MALFORMED, name, s->offset,
                              "compressed section without its header");
    }

    (void) sym_u32(&c);
    *size = sym_u64(&c);

    if (*size > m->unpacked_left) {
        return sym_macho_fail(err, SYM_LIMIT, name, s->offset + 4,
                              "sections unpack to more than is allowed");
    }

    if (*size / SYM_INFLATE_RATIO_MAX > packed.len) {
        return sym_macho_fail(err, SYM_MALFORMED, name, s->offset + 4,
                              "compressed section is too short for its length");
    }

    return SYM_OK;
}


static sym_status_t
unpack(sym_macho_t *m, sym_macho_section_t *s, const char *name,
       sym_str_t packed, sym_error_t *err)
{
    uint64_t size = 0;
    uint8_t *out;
    sym_str_t stream;

    if (packed_size(m, s, name, packed, &size, err) != SYM_OK) {
        return err->status;
    }

    out = sym_arena_alloc(&m->arena, (size_t) size);
    if (out == NULL) {
        return sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
    }

    stream = sym_str(packed.data + ZDEBUG_BYTES, packed.len - ZDEBUG_BYTES);
    if (sym_inflate(stream, out, (size_t) size, err) != SYM_OK) {
        err->section = name;
        err->offset += s->offset + ZDEBUG_BYTES;
        return err->status;
    }

    m->unpacked_left -= size;
    s->plain = sym_str((const char *) out, (size_t) size);
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
        } else if (unpack(m, s, name, raw, err) != SYM_OK) {
            return err->status;
        }
    }

    *bytes = s->plain;
    return SYM_OK;
}
