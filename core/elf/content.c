/*
 * content.c - what sections hold, unpacked where it is packed.
 */
#include "packed/inflate.h"
#include "elf/file.h"
#include "elf/unpack.h"

/* System V ABI, chapter 4, "Compression Header" */
#define COMPRESSED_ZLIB 1
#define COMPRESSED_ZSTD 2

#define DEBUG ".debug_"
#define OLD_DEBUG ".zdebug_"

/* Before SHF_COMPRESSED: "ZLIB", then the size as 8 bytes, big endian. */
#define OLD_MAGIC SYM_STR("ZLIB")
#define OLD_HEADER_BYTES 12

typedef struct {
    uint32_t method;
    uint64_t size;
    sym_str_t in;
    size_t header_bytes;
} packed_t;


sym_elf_section_t *
sym_elf_find(const sym_elf_t *e, sym_str_t name)
{
    for (size_t i = 1; i < e->n_sections; i++) {
        sym_elf_section_t *s = &e->sections[i];

        if (sym_elf_has_bytes(s) && sym_str_eq(s->name, name)) {
            return s;
        }
    }

    return NULL;
}


/* ".zdebug_x" for ".debug_x" */
static sym_elf_section_t *
find_old(const sym_elf_t *e, sym_str_t name)
{
    const sym_str_t prefix = SYM_STR(DEBUG), old = SYM_STR(OLD_DEBUG);

    if (!sym_str_starts(name, prefix)) {
        return NULL;
    }

    for (size_t i = 1; i < e->n_sections; i++) {
        sym_elf_section_t *s = &e->sections[i];

        if (sym_elf_has_bytes(s) && s->name.len == name.len + 1
            && sym_str_starts(s->name, old)
            && memcmp(s->name.data + old.len, name.data + prefix.len,
                      name.len - prefix.len)
                   == 0)
        {
            return s;
        }
    }

    return NULL;
}


sym_status_t
sym_elf_raw(const sym_elf_t *e, const sym_elf_section_t *s, const char *name,
            sym_str_t *bytes, sym_error_t *err)
{
    if (s->offset > e->len || s->size > e->len - s->offset) {
        return sym_elf_fail(err, SYM_TRUNCATED, name, s->offset,
                            "section runs past the end of the file");
    }

    *bytes = sym_str((const char *) e->data + s->offset, (size_t) s->size);
    return SYM_OK;
}


/* --- unpacking --- */

static sym_status_t
read_compression_header(const sym_elf_t *e, sym_str_t raw, const char *name,
                        packed_t *p, sym_error_t *err)
{
    sym_cursor_t c = sym_elf_cursor(e, raw, name, err);

    p->method = sym_u32(&c);
    if (e->info.is_64bit) {
        (void) sym_u32(&c); /* ch_reserved */
    }
    p->size = sym_elf_word(e, &c);
    (void) sym_elf_word(e, &c); /* ch_addralign */
    p->header_bytes = raw.len - sym_left(&c);
    p->in = sym_bytes(&c, sym_left(&c));
    return err->status;
}


static sym_status_t
read_old_header(sym_str_t raw, const char *name, packed_t *p, sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(raw.data, raw.len, name, err);

    c.is_big_endian = true; /* in every file */
    (void) sym_bytes(&c, OLD_MAGIC.len);
    p->method = COMPRESSED_ZLIB;
    p->size = sym_u64(&c);
    p->header_bytes = OLD_HEADER_BYTES;
    p->in = sym_bytes(&c, sym_left(&c));
    return err->status;
}


/* Before memory is taken for it. */
static sym_status_t
check_packed(const sym_elf_t *e, const packed_t *p, const char *name,
             sym_error_t *err)
{
    if (p->method != COMPRESSED_ZLIB && p->method != COMPRESSED_ZSTD) {
        return sym_elf_fail(err, SYM_UNSUPPORTED, name, 0,
                            "packed neither with zlib nor with zstd");
    }

    if (p->method == COMPRESSED_ZLIB
        && p->size / SYM_INFLATE_RATIO_MAX > p->in.len) {
        return sym_elf_fail(err, SYM_MALFORMED, name, 0,
                            "announces more than zlib could pack");
    }

    if (p->size > e->unpacked_left || p->size > SIZE_MAX) {
        return sym_elf_fail(err, SYM_LIMIT, name, 0,
                            "unpacked sections are larger than allowed");
    }

    return SYM_OK;
}


static sym_status_t
unpack(sym_elf_t *e, const packed_t *p, const char *name, sym_str_t *bytes,
       sym_error_t *err)
{
    size_t size = (size_t) p->size;
    uint8_t *out;

    if (check_packed(e, p, name, err) != SYM_OK) {
        return err->status;
    }

    out = sym_arena_alloc(&e->arena, size);
    if (out == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for unpacked sections");
    }

    e->unpacked_left -= size;

    if (p->method == COMPRESSED_ZSTD) {
        (void) sym_elf_unpack_zstd(p->in, out, size, name, err);
    } else if (sym_inflate(p->in, out, size, err) != SYM_OK) {
        err->section = err->status == SYM_NOMEM ? NULL : name;
    }

    if (err->status != SYM_OK && err->section != NULL) {
        err->offset += p->header_bytes;
    }

    *bytes = sym_str((const char *) out, size);
    return err->status;
}


/* Some linkers wrote ".zdebug_x" where packing gained nothing: then there is no
 * magic, and the bytes are plain. */
static bool
is_old_packed(const sym_elf_section_t *s, sym_str_t raw)
{
    return sym_str_starts(s->name, SYM_STR(OLD_DEBUG))
           && sym_str_starts(raw, OLD_MAGIC);
}


sym_status_t
sym_elf_plain(sym_elf_t *e, sym_elf_section_t *s, const char *name,
              sym_str_t *bytes, sym_error_t *err)
{
    packed_t p = { 0 };
    sym_str_t raw;

    if (s->plain.data != NULL) {
        *bytes = s->plain;
        return SYM_OK;
    }

    if (sym_elf_raw(e, s, name, &raw, err) != SYM_OK) {
        return err->status;
    }

    if ((s->flags & SYM_SHF_COMPRESSED) != 0) {
        (void) read_compression_header(e, raw, name, &p, err);
    } else if (is_old_packed(s, raw)) {
        (void) read_old_header(raw, name, &p, err);
    } else {
        s->plain = raw;
        *bytes = raw;
        return SYM_OK;
    }

    if (err->status != SYM_OK || unpack(e, &p, name, &s->plain, err) != SYM_OK)
    {
        s->plain = sym_str(NULL, 0);
        return err->status;
    }

    *bytes = s->plain;
    return SYM_OK;
}


sym_status_t
sym_elf_section(sym_elf_t *e, const char *name, sym_str_t *bytes,
                sym_error_t *err)
{
    sym_elf_section_t *s = sym_elf_find(e, sym_cstr(name));

    *bytes = sym_str(NULL, 0);
    s = s != NULL ? s : find_old(e, sym_cstr(name));
    if (s == NULL) {
        return SYM_NOT_FOUND;
    }

    return sym_elf_plain(e, s, name, bytes, err);
}
