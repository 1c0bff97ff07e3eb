/*
 * pdb_file_kit.h - PDBs made for tests, record by record.
 *
 * kit_begin() makes streams with two sections (code at 0x1000, data at 0x9000)
 * and the ids of inlined functions "one" (0x1000), "two" (0x1001) and
 * "three" (0x1002); a test adds modules and publics, and kit_file() makes the
 * file.  Layouts: LLVM's docs/PDB, Microsoft's cvinfo.h.
 */
#ifndef SYM_UNIT_PDB_FILE_KIT_H
#define SYM_UNIT_PDB_FILE_KIT_H

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/str.h"

enum {
    KIT_INFO = 1,
    KIT_TPI,
    KIT_DBI,
    KIT_IPI,
    KIT_NAMES,
    KIT_SECTIONS,
    KIT_SYMBOLS,
    KIT_OMAP,
    KIT_LINKED_SECTIONS,
    KIT_SRCSRV,
    KIT_MODULES, /* the first module's */
    KIT_STREAMS = KIT_MODULES + 4
};

/* Names' offsets in the table. */
#define KIT_A_C 1
#define KIT_B_H 5
#define KIT_LIB 9
#define KIT_LONG_H 13

/* File offsets in a module's list. */
#define KIT_FILE_A 0
#define KIT_FILE_B 8

typedef struct {
    sym_buffer_t streams[KIT_STREAMS];
    sym_buffer_t symbols, c13; /* of the module that is being built */
    sym_buffer_t modules;      /* DBI's list */
    unsigned n_modules;
    uint32_t age, feature; /* feature 0: none */
    uint16_t machine;
    bool has_omap, has_srcsrv;
} pdb_kit_t;


static inline void
kit_put(sym_buffer_t *b, uint64_t value, size_t bytes)
{
    uint8_t le[8];

    for (size_t i = 0; i < sizeof(le); i++) {
        le[i] = (uint8_t) (value >> (8 * i));
    }
    sym_buffer_put(b, le, bytes);
}


static inline void
kit_text(sym_buffer_t *b, const char *text)
{
    sym_buffer_put(b, text, strlen(text) + 1);
}


static inline void
kit_align(sym_buffer_t *b)
{
    while (b->len % 4 != 0) {
        kit_put(b, 0, 1);
    }
}


static inline void
kit_set(sym_buffer_t *b, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        b->data[at + i] = (uint8_t) (value >> (8 * i));
    }
}


/* --- records: a length, set at the end, and a kind --- */

static inline size_t
kit_open(sym_buffer_t *b, unsigned kind)
{
    size_t at = b->len;

    kit_put(b, 0, 2);
    kit_put(b, kind, 2);
    return at;
}


static inline void
kit_close(sym_buffer_t *b, size_t at)
{
    kit_align(b);
    kit_set(b, at, b->len - at - 2, 2);
}


static inline void
kit_proc(pdb_kit_t *k, unsigned kind, uint32_t offset, uint32_t size,
         const char *name)
{
    size_t at = kit_open(&k->symbols, kind);

    kit_put(&k->symbols, 0, 8);
    kit_put(&k->symbols, 0, 4);
    kit_put(&k->symbols, size, 4);
    kit_put(&k->symbols, 0, 8);
    kit_put(&k->symbols, 0, 4); /* no type */
    kit_put(&k->symbols, offset, 4);
    kit_put(&k->symbols, 1, 2);
    kit_put(&k->symbols, 0, 1);
    kit_text(&k->symbols, name);
    kit_close(&k->symbols, at);
}


static inline void
kit_end(pdb_kit_t *k, unsigned kind)
{
    kit_close(&k->symbols, kit_open(&k->symbols, kind));
}


static inline void
kit_site(pdb_kit_t *k, unsigned kind, uint32_t id, const char *annotations,
         size_t len)
{
    size_t at = kit_open(&k->symbols, kind);

    kit_put(&k->symbols, 0, 8);
    kit_put(&k->symbols, id, 4);
    if (kind == 0x115d) {
        kit_put(&k->symbols, 7, 4); /* how often it is executed */
    }
    sym_buffer_put(&k->symbols, annotations, len);
    kit_close(&k->symbols, at);
}


static inline void
kit_thunk(pdb_kit_t *k, uint32_t offset, unsigned size, const char *name)
{
    size_t at = kit_open(&k->symbols, 0x1102);

    kit_put(&k->symbols, 0, 8);
    kit_put(&k->symbols, 0, 4);
    kit_put(&k->symbols, offset, 4);
    kit_put(&k->symbols, 1, 2);
    kit_put(&k->symbols, size, 2);
    kit_put(&k->symbols, 0, 1);
    kit_text(&k->symbols, name);
    kit_close(&k->symbols, at);
}


/* A cold part of the procedure at `parent`. */
static inline void
kit_sepcode(pdb_kit_t *k, uint32_t offset, uint32_t size, uint32_t parent)
{
    size_t at = kit_open(&k->symbols, 0x1132);

    kit_put(&k->symbols, 0, 8);
    kit_put(&k->symbols, size, 4);
    kit_put(&k->symbols, 0, 4);
    kit_put(&k->symbols, offset, 4);
    kit_put(&k->symbols, parent, 4);
    kit_put(&k->symbols, 1, 2);
    kit_put(&k->symbols, 1, 2);
    kit_close(&k->symbols, at);
}


static inline void
kit_public(pdb_kit_t *k, unsigned section, uint32_t offset, const char *name)
{
    sym_buffer_t *b = &k->streams[KIT_SYMBOLS];
    size_t at = kit_open(b, 0x110e);

    kit_put(b, 2, 4);
    kit_put(b, offset, 4);
    kit_put(b, section, 2);
    kit_text(b, name);
    kit_close(b, at);
}


/* --- line information --- */

static inline size_t
kit_subsection(pdb_kit_t *k, uint32_t kind)
{
    kit_put(&k->c13, kind, 4);
    kit_put(&k->c13, 0, 4);
    return k->c13.len;
}


static inline void
kit_subsection_end(pdb_kit_t *k, size_t at)
{
    kit_align(&k->c13);
    kit_set(&k->c13, at - 4, k->c13.len - at, 4);
}


/* A subsection of numbers of 32 bits. */
static inline void
kit_words(pdb_kit_t *k, uint32_t kind, const uint32_t *words, size_t n)
{
    size_t at = kit_subsection(k, kind);

    for (size_t i = 0; i < n; i++) {
        kit_put(&k->c13, words[i], 4);
    }
    kit_subsection_end(k, at);
}


#define KIT_WORDS(k, kind, ...)                                                \
    kit_words(k, kind, (const uint32_t[]){ __VA_ARGS__ },                      \
              sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)


/* Lines of a file: n pairs of offset and line. */
static inline void
kit_block(pdb_kit_t *k, uint32_t file, const uint32_t *pairs, uint32_t n)
{
    kit_put(&k->c13, file, 4);
    kit_put(&k->c13, n, 4);
    kit_put(&k->c13, 12 + n * 8, 4);
    for (uint32_t i = 0; i < n; i++) {
        kit_put(&k->c13, pairs[2 * i], 4);
        kit_put(&k->c13, pairs[2 * i + 1] | 0x80000000u, 4);
    }
}


static inline size_t
kit_lines(pdb_kit_t *k, uint32_t offset, uint32_t size)
{
    size_t at = kit_subsection(k, 0xf2);

    kit_put(&k->c13, offset, 4);
    kit_put(&k->c13, 1, 2);
    kit_put(&k->c13, 0, 2);
    kit_put(&k->c13, size, 4);
    return at;
}


static inline void
kit_files(pdb_kit_t *k)
{
    KIT_WORDS(k, 0xf4, KIT_A_C, 0, KIT_B_H, 0);
}


/* Ids 0x1000, ... were declared in b.h, at lines 100, 200, ...; is_ex: each
 * also names another file. */
static inline void
kit_inlinees(pdb_kit_t *k, unsigned n, bool is_ex)
{
    size_t at = kit_subsection(k, 0xf6);

    kit_put(&k->c13, is_ex, 4);
    for (unsigned i = 0; i < n; i++) {
        kit_put(&k->c13, 0x1000 + i, 4);
        kit_put(&k->c13, KIT_FILE_B, 4);
        kit_put(&k->c13, (i + 1) * 100, 4);
        if (is_ex) {
            kit_put(&k->c13, 1, 4);
            kit_put(&k->c13, KIT_FILE_A, 4);
        }
    }
    kit_subsection_end(k, at);
}


/* --- modules and the file --- */

static inline void
kit_module_begin(pdb_kit_t *k)
{
    k->symbols.len = k->c13.len = 0;
    kit_put(&k->symbols, 4, 4);
}


static inline void
kit_module_end(pdb_kit_t *k, const char *name)
{
    const unsigned stream = KIT_MODULES + k->n_modules++;
    sym_buffer_t *b = &k->modules;
    size_t at = b->len;

    sym_buffer_put(&k->streams[stream], k->symbols.data, k->symbols.len);
    sym_buffer_put(&k->streams[stream], k->c13.data, k->c13.len);
    kit_put(&k->streams[stream], 0, 4); /* no global references */

    for (size_t i = 0; i < 64; i += 4) {
        kit_put(b, 0, 4);
    }
    kit_set(b, at + 34, stream, 2);
    kit_set(b, at + 36, k->symbols.len, 4);
    kit_set(b, at + 44, k->c13.len, 4);
    kit_text(b, name);
    kit_text(b, name);
    kit_align(b);
}


static inline void
kit_section(sym_buffer_t *b, uint32_t size, uint32_t addr, uint32_t flags)
{
    kit_put(b, 0, 8);
    kit_put(b, size, 4);
    kit_put(b, addr, 4);
    kit_put(b, 0, 8);
    kit_put(b, 0, 8);
    kit_put(b, 0, 4);
    kit_put(b, flags, 4);
}


/* Types, or the ids of inlined functions. */
static inline void
kit_types(sym_buffer_t *b, unsigned n)
{
    static const char *const names[] = { "one", "two", "three" };
    size_t start;

    kit_put(b, 20040203, 4);
    kit_put(b, 56, 4);
    kit_put(b, 0x1000, 4);
    kit_put(b, 0x1000 + n, 4);
    kit_put(b, 0, 4);
    for (size_t i = 0; i < 36; i += 4) {
        kit_put(b, 0, 4);
    }

    start = b->len;
    for (unsigned i = 0; i < n; i++) {
        size_t at = kit_open(b, 0x1601); /* LF_FUNC_ID */

        kit_put(b, 0, 8);
        kit_text(b, names[i]);
        kit_close(b, at);
    }
    kit_set(b, 16, b->len - start, 4);
}


static inline void
kit_begin(pdb_kit_t *k)
{
    *k = (pdb_kit_t){ .age = 3, .machine = 0x8664 };
    kit_types(&k->streams[KIT_TPI], 0);
    kit_types(&k->streams[KIT_IPI], 3);
    kit_section(&k->streams[KIT_SECTIONS], 0x2000, 0x1000, 0x60000020);
    kit_section(&k->streams[KIT_SECTIONS], 0x1000, 0x9000, 0xc0000040);
    kit_section(&k->streams[KIT_LINKED_SECTIONS], 0x2000, 0x5000, 0x60000020);

    kit_put(&k->streams[KIT_NAMES], 0xeffeeffeu, 4);
    kit_put(&k->streams[KIT_NAMES], 1, 4);
    kit_put(&k->streams[KIT_NAMES], 32, 4);
    sym_buffer_put(&k->streams[KIT_NAMES],
                   "\0a.c\0b.h\0lib\0D:\\s\\x/..\\.\\long.h", 32);
    kit_text(&k->streams[KIT_SRCSRV], "SRCSRV: ini\r\nVERCTRL=Perforce\r\n");
}


static inline void
kit_info(pdb_kit_t *k)
{
    static const char names[] = "/names\0srcsrv";
    sym_buffer_t *b = &k->streams[KIT_INFO];
    const unsigned n = 1 + k->has_srcsrv;

    kit_put(b, 20000404, 4);
    kit_put(b, 0x12345678, 4);
    kit_put(b, 9, 4); /* an age that differs from DBI's */
    for (unsigned i = 0; i < 16; i++) {
        kit_put(b, 0xa0 + i, 1);
    }

    kit_put(b, sizeof(names), 4);
    sym_buffer_put(b, names, sizeof(names));
    kit_put(b, n, 4);
    kit_put(b, 4, 4);
    kit_put(b, 1, 4);
    kit_put(b, (1u << n) - 1, 4);
    kit_put(b, 0, 4);
    kit_put(b, 0, 4);
    kit_put(b, KIT_NAMES, 4);
    if (k->has_srcsrv) {
        kit_put(b, 7, 4);
        kit_put(b, KIT_SRCSRV, 4);
    }
    kit_put(b, 0, 4);
    kit_put(b, 20140508, 4);
    if (k->feature != 0) {
        kit_put(b, k->feature, 4);
    }
}


static inline void
kit_dbi(pdb_kit_t *k)
{
    sym_buffer_t *b = &k->streams[KIT_DBI];

    kit_put(b, UINT32_MAX, 4);
    kit_put(b, 19990903, 4);
    kit_put(b, k->age, 4);
    kit_put(b, 0xffff, 4);
    kit_put(b, 0xffff, 4);
    kit_put(b, KIT_SYMBOLS, 4);
    kit_put(b, k->modules.len, 4);
    kit_put(b, 0, 8);
    kit_put(b, 0, 8);
    kit_put(b, 0, 4);
    kit_put(b, 22, 4); /* numbers of streams */
    kit_put(b, 0, 4);
    kit_put(b, 0, 2);
    kit_put(b, k->machine, 2);
    kit_put(b, 0, 4);
    sym_buffer_put(b, k->modules.data, k->modules.len);

    for (unsigned i = 0; i < 11; i++) {
        kit_put(b,
                i == 5                   ? KIT_SECTIONS
                : i == 4 && k->has_omap  ? KIT_OMAP
                : i == 10 && k->has_omap ? KIT_LINKED_SECTIONS
                                         : 0xffff,
                2);
    }
}


/* Appends bytes as pages; their numbers go to the list.  is_scattered: an
 * unused page is between them. */
static inline void
kit_pages(sym_buffer_t *file, const sym_buffer_t *bytes, uint32_t page_size,
          bool is_scattered, sym_buffer_t *list)
{
    for (size_t done = 0; done < bytes->len; done += page_size) {
        size_t left = bytes->len - done;

        kit_put(list, file->len / page_size, 4);
        sym_buffer_put(file, bytes->data + done,
                       left < page_size ? left : page_size);
        if (is_scattered && left > page_size) {
            kit_put(file, 0xee, 1);
        }
        while (file->len % page_size != 0) {
            kit_put(file, 0xee, 1);
        }
    }
}


/* Makes the file; the kit cannot be used afterwards. */
static inline sym_buffer_t
kit_file(pdb_kit_t *k, uint32_t page_size, bool is_scattered)
{
    sym_buffer_t file = { 0 }, pages = { 0 }, directory = { 0 }, of_it = { 0 };
    sym_buffer_t map = { 0 };

    kit_info(k);
    kit_dbi(k);
    sym_buffer_put(&file, "Microsoft C/C++ MSF 7.00\r\n\x1a\x44S\0\0\0", 32);
    while (file.len < (size_t) 3 * page_size) {
        kit_put(&file, 0, 1);
    }

    kit_put(&directory, KIT_STREAMS, 4);
    for (unsigned i = 0; i < KIT_STREAMS; i++) {
        kit_put(&directory, i == 0 ? UINT32_MAX : k->streams[i].len, 4);
        kit_pages(&file, &k->streams[i], page_size, is_scattered, &pages);
        sym_buffer_free(&k->streams[i]);
    }

    sym_buffer_put(&directory, pages.data, pages.len);
    kit_pages(&file, &directory, page_size, is_scattered, &of_it);
    kit_pages(&file, &of_it, page_size, is_scattered, &map);
    kit_set(&file, 32, page_size, 4);
    kit_set(&file, 36, 1, 4);
    kit_set(&file, 40, file.len / page_size, 4);
    kit_set(&file, 44, directory.len, 4);
    memcpy(file.data + 52, map.data, map.len);

    sym_buffer_free(&pages);
    sym_buffer_free(&directory);
    sym_buffer_free(&of_it);
    sym_buffer_free(&map);
    sym_buffer_free(&k->symbols);
    sym_buffer_free(&k->c13);
    sym_buffer_free(&k->modules);
    return file;
}

#endif
