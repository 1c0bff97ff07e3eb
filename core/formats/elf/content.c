/*
 * content.c - contents of sections, which are unpacked if need be.
 */
#include <stdlib.h>

#include "base/gauge.h"
#include "formats/packed/flow.h"
#include "formats/elf/file.h"
#include "formats/elf/unpack.h"

/* System V ABI, chapter 4, "Compression Header" */
#define COMPRESSED_ZLIB 1
#define COMPRESSED_ZSTD 2

#define DEBUG ".debug_"
#define OLD_DEBUG ".zdebug_"

/* Used before SHF_COMPRESSED: "ZLIB", then the size as 8 bytes, big endian. */
#define OLD_MAGIC SYM_STR("ZLIB")
#define OLD_HEADER_BYTES 12

typedef struct {
    sym_elf_section_t *section;
    const char *name;
    uint32_t method;
    uint64_t size;
    sym_str_t in;
    size_t header_bytes;
    uint8_t *out; /* memory for the unpacked bytes */
    bool is_damaged;
    sym_error_t err;
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

    c.is_big_endian = true; /* big endian in files of either byte order */
    (void) sym_bytes(&c, OLD_MAGIC.len);
    p->method = COMPRESSED_ZLIB;
    p->size = sym_u64(&c);
    p->header_bytes = OLD_HEADER_BYTES;
    p->in = sym_bytes(&c, sym_left(&c));
    return err->status;
}


/* Checks the size before any memory is allocated. */
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


/* Writes only to the packed section, so several threads can unpack a batch of
   sections. */
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


/* Some linkers wrote ".zdebug_x" although packing gained nothing.  The magic is
 * then absent, and the bytes are plain. */
static bool
is_old_packed(const sym_elf_section_t *s, sym_str_t raw)
{
    return sym_str_starts(s->name, SYM_STR(OLD_DEBUG))
           && sym_str_starts(raw, OLD_MAGIC);
}


/* Afterwards p->out is set for a packed section, and the bytes of others are
 * known. */
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
sym_elf_section_raw(const sym_elf_t *e, sym_str_t name, sym_str_t *bytes,
                    sym_error_t *err)
{
    const sym_elf_section_t *s = sym_elf_find(e, name);

    return s == NULL ? SYM_NOT_FOUND
                     : sym_elf_raw(e, s, "the section", bytes, err);
}


sym_status_t
sym_elf_section(sym_elf_t *e, const char *name, sym_str_t *bytes,
                sym_error_t *err)
{
    sym_elf_section_t *s = find_any(e, name);

    *bytes = sym_str(NULL, 0);
    return s == NULL ? SYM_NOT_FOUND : sym_elf_plain(e, s, name, bytes, err);
}


uint64_t
sym_elf_section_address(const sym_elf_t *e, const char *name)
{
    const sym_elf_section_t *s = sym_elf_find(e, sym_cstr(name));

    return s != NULL ? s->addr : 0;
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
        s--; /* ends at the first section at the latest */
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

/* Smaller sections are unpacked before anyone could read them. */
#define FLOW_MIN ((uint64_t) 8 << 20)

struct sym_elf_unpacking_s {
    packed_t packed[SYM_ELF_UNPACK_MAX];
    size_t n;
    size_t next; /* atomic */

    packed_t *first;  /* the section that is read while it is unpacked, or
                         NULL */
    bool has_trouble; /* atomic */
    sym_gauge_t there, others; /* unpacked bytes of `first`; number of
                                  finished others */
};


static void
note_trouble(sym_elf_unpacking_t *u)
{
    __atomic_store_n(&u->has_trouble, true, __ATOMIC_RELEASE);
}


/* Errors are diagnosed at the end, when no thread reads any more, or at once if
 * no thread could start. */
static void
unpack_first(sym_elf_unpacking_t *u)
{
    packed_t *p = u->first;

    if (!sym_inflate_flow(p->in, p->out, (size_t) p->size, &u->there)) {
        p->is_damaged = u->there.at != 0;
        if (!p->is_damaged) {
            unpack(p);
        }
    }

    if (p->is_damaged || p->err.status != SYM_OK) {
        note_trouble(u);
    }

    sym_gauge_add(&u->there, SYM_GAUGE_END);
}


static void
unpack_other(sym_elf_unpacking_t *u, packed_t *p)
{
    unpack(p);
    if (p->err.status != SYM_OK) {
        note_trouble(u);
    }

    sym_gauge_add(&u->others, 1);
}


void
sym_elf_unpack_some(void *unpacking)
{
    sym_elf_unpacking_t *u = unpacking;
    size_t i;

    while ((i = __atomic_fetch_add(&u->next, 1, __ATOMIC_RELAXED)) < u->n) {
        if (&u->packed[i] == u->first) {
            unpack_first(u);
        } else {
            unpack_other(u, &u->packed[i]);
        }
    }
}


bool
sym_elf_unpack_wait(void *unpacking, uint64_t n)
{
    sym_elf_unpacking_t *u = unpacking;

    sym_gauge_wait(&u->others, u->n - (u->first != NULL));
    sym_gauge_wait(&u->there, n);
    return !__atomic_load_n(&u->has_trouble, __ATOMIC_ACQUIRE);
}


static bool
can_flow(const packed_t *p)
{
    return p->method == COMPRESSED_ZLIB && p->size >= FLOW_MIN;
}


/* Allocates memory for all packed sections, so that their addresses are
   fixed. */
static sym_status_t
add_sections(sym_elf_unpacking_t *u, sym_elf_t *e, const char *const *names,
             size_t n, bool is_read_meanwhile, sym_error_t *err)
{
    for (size_t i = 0; i < n && u->n < SYM_ELF_UNPACK_MAX; i++) {
        sym_elf_section_t *s = find_any(e, names[i]);
        packed_t *p = &u->packed[u->n];

        if (s == NULL) {
            continue;
        }

        if (begin(e, s, names[i], p, err) != SYM_OK) {
            return err->status;
        }

        if (p->out != NULL) {
            s->plain = sym_str((const char *) p->out, (size_t) p->size);
            u->first =
                i == 0 && is_read_meanwhile && can_flow(p) ? p : u->first;
            u->n++;
        }
    }

    return SYM_OK;
}


static void
forget(sym_elf_unpacking_t *u)
{
    for (size_t i = 0; i < u->n; i++) {
        u->packed[i].section->plain = sym_str(NULL, 0);
    }
}


static sym_elf_unpacking_t *
start(sym_elf_t *e, const char *const *names, size_t n, bool is_read_meanwhile,
      sym_error_t *err)
{
    sym_elf_unpacking_t *u = calloc(1, sizeof(*u));

    if (u == NULL) {
        (void) sym_fail(err, SYM_NOMEM, SYM_UNPACK_NO_MEMORY);
        return NULL;
    }

    if (add_sections(u, e, names, n, is_read_meanwhile, err) != SYM_OK) {
        forget(u);
        free(u);
        return NULL;
    }

    sym_gauge_init(&u->there, u->first != NULL ? 0 : SYM_GAUGE_END);
    sym_gauge_init(&u->others, 0);
    return u;
}


sym_elf_unpacking_t *
sym_elf_unpack_begin(sym_elf_t *e, const char *const *names, size_t n,
                     sym_error_t *err)
{
    return start(e, names, n, true, err);
}


/* Finds the reason of an error, because sym_inflate_flow() does not return
 * it. */
static void
find_reason(packed_t *p)
{
    unpack(p);
    if (p->err.status == SYM_OK) {
        (void) sym_elf_fail(&p->err, SYM_MALFORMED, p->name, p->header_bytes,
                            SYM_UNPACK_DAMAGED);
    }
}


sym_status_t
sym_elf_unpack_end(sym_elf_unpacking_t *u, sym_error_t *err)
{
    sym_error_t why = { 0 };

    if (u == NULL) {
        return SYM_OK;
    }

    if (u->first != NULL && u->first->is_damaged) {
        find_reason(u->first);
    }

    for (size_t i = 0; i < u->n && why.status == SYM_OK; i++) {
        why = u->packed[i].err;
    }

    if (why.status != SYM_OK) {
        forget(u);
        *err = why;
    }

    sym_gauge_free(&u->there);
    sym_gauge_free(&u->others);
    free(u);
    return why.status;
}


sym_status_t
sym_elf_unpack(sym_elf_t *e, const char *const *names, size_t n,
               const sym_thread_pool_t *pool, sym_error_t *err)
{
    sym_elf_unpacking_t *u = start(e, names, n, false, err);

    if (u == NULL) {
        return err->status;
    }

    if (u->n != 0) {
        sym_thread_pool_run(pool, sym_elf_unpack_some, u);
    }

    return sym_elf_unpack_end(u, err);
}
