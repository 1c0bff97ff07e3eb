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
    sym_elf_section_t *section;
    const char *name;
    uint32_t method;
    uint64_t size;
    sym_str_t in;
    size_t header_bytes;
    uint8_t *out; /* room for what is unpacked */
    sym_error_t err;
} packed_t;

/* Several, unpacked by whoever is free. */
typedef struct {
    packed_t packed[SYM_ELF_UNPACK_MAX];
    size_t n;
    size_t next; /* atomic */
} batch_t;


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
reserve(sym_elf_t *e, packed_t *p, sym_error_t *err)
{
    if (check_packed(e, p, p->name, err) != SYM_OK) {
        return err->status;
    }

    p->out = sym_arena_alloc(&e->arena, (size_t) p->size);
    if (p->out == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for unpacked sections");
    }

    e->unpacked_left -= p->size;
    return SYM_OK;
}


/* Touches nothing but the packed section: of a batch, each in a thread. */
static void
unpack(packed_t *p)
{
    size_t size = (size_t) p->size;

    if (p->method == COMPRESSED_ZSTD) {
        (void) sym_elf_unpack_zstd(p->in, p->out, size, p->name, &p->err);
    } else if (sym_inflate(p->in, p->out, size, &p->err) != SYM_OK) {
        p->err.section = p->err.status == SYM_NOMEM ? NULL : p->name;
    }

    if (p->err.status != SYM_OK && p->err.section != NULL) {
        p->err.offset += p->header_bytes;
    }
}


static sym_status_t
finish(const packed_t *p, sym_error_t *err)
{
    if (p->err.status != SYM_OK) {
        *err = p->err;
        return err->status;
    }

    p->section->plain = sym_str((const char *) p->out, (size_t) p->size);
    return SYM_OK;
}


/* Some linkers wrote ".zdebug_x" where packing gained nothing: then there is no
 * magic, and the bytes are plain. */
static bool
is_old_packed(const sym_elf_section_t *s, sym_str_t raw)
{
    return sym_str_starts(s->name, SYM_STR(OLD_DEBUG))
           && sym_str_starts(raw, OLD_MAGIC);
}


/* A section that is packed has p->out then; of any other the bytes are known. */
static sym_status_t
begin(sym_elf_t *e, sym_elf_section_t *s, const char *name, packed_t *p,
      sym_error_t *err)
{
    sym_str_t raw;

    *p = (packed_t){ .section = s, .name = name };

    if (s->plain.data != NULL) {
        return SYM_OK;
    }

    if (sym_elf_raw(e, s, name, &raw, err) != SYM_OK) {
        return err->status;
    }

    if ((s->flags & SYM_SHF_COMPRESSED) != 0) {
        (void) read_compression_header(e, raw, name, p, err);
    } else if (is_old_packed(s, raw)) {
        (void) read_old_header(raw, name, p, err);
    } else {
        s->plain = raw;
        return SYM_OK;
    }

    return err->status != SYM_OK ? err->status : reserve(e, p, err);
}


sym_status_t
sym_elf_plain(sym_elf_t *e, sym_elf_section_t *s, const char *name,
              sym_str_t *bytes, sym_error_t *err)
{
    packed_t p;

    if (begin(e, s, name, &p, err) != SYM_OK) {
        return err->status;
    }

    if (p.out != NULL) {
        unpack(&p);
        if (finish(&p, err) != SYM_OK) {
            return err->status;
        }
    }

    *bytes = s->plain;
    return SYM_OK;
}


static sym_elf_section_t *
find_any(const sym_elf_t *e, const char *name)
{
    sym_elf_section_t *s = sym_elf_find(e, sym_cstr(name));

    return s != NULL ? s : find_old(e, sym_cstr(name));
}


sym_status_t
sym_elf_section(sym_elf_t *e, const char *name, sym_str_t *bytes,
                sym_error_t *err)
{
    sym_elf_section_t *s = find_any(e, name);

    *bytes = sym_str(NULL, 0);
    return s == NULL ? SYM_NOT_FOUND : sym_elf_plain(e, s, name, bytes, err);
}


static sym_elf_section_t *
find_last(const sym_elf_t *e, sym_str_t name)
{
    sym_elf_section_t *first = sym_elf_find(e, name), *s;

    if (first == NULL) {
        return find_old(e, name);
    }

    s = e->sections + e->n_sections - 1;
    while (!sym_elf_has_bytes(s) || !sym_str_eq(s->name, name)) {
        s--; /* to the first at most */
    }

    return s;
}


sym_status_t
sym_elf_section_last(sym_elf_t *e, const char *name, sym_str_t *bytes,
                     sym_error_t *err)
{
    sym_elf_section_t *s = find_last(e, sym_cstr(name));

    *bytes = sym_str(NULL, 0);
    return s == NULL ? SYM_NOT_FOUND : sym_elf_plain(e, s, name, bytes, err);
}


/* --- several at once --- */

static void
unpack_some(void *task)
{
    batch_t *b = task;
    size_t i;

    while ((i = __atomic_fetch_add(&b->next, 1, __ATOMIC_RELAXED)) < b->n) {
        unpack(&b->packed[i]);
    }
}


sym_status_t
sym_elf_unpack(sym_elf_t *e, const char *const *names, size_t n,
               const sym_crew_t *crew, sym_error_t *err)
{
    batch_t b = { .n = 0 };

    for (size_t i = 0; i < n && b.n < SYM_ELF_UNPACK_MAX; i++) {
        sym_elf_section_t *s = find_any(e, names[i]);
        packed_t *p = &b.packed[b.n];

        if (s != NULL && begin(e, s, names[i], p, err) != SYM_OK) {
            return err->status;
        }

        b.n += s != NULL && p->out != NULL;
    }

    if (b.n != 0) {
        sym_crew_run(crew, unpack_some, &b);
    }

    for (size_t i = 0; i < b.n; i++) {
        if (finish(&b.packed[i], err) != SYM_OK) {
            return err->status;
        }
    }

    return SYM_OK;
}
