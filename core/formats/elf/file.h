/*
 * file.h - the internals of an open ELF file; private to core/formats/elf.
 */
#ifndef SYM_FORMATS_ELF_FILE_H
#define SYM_FORMATS_ELF_FILE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "formats/elf/elf.h"

/* Names are those of the specification (System V ABI, chapters 4 and 5).  The C
 * library's elf.h is not used: it does not exist everywhere, and it ignores
 * byte order. */
#define SYM_ET_REL 1
#define SYM_ET_EXEC 2
#define SYM_ET_DYN 3
#define SYM_ET_CORE 4

#define SYM_EM_386 3
#define SYM_EM_MIPS 8
#define SYM_EM_PPC64 21
#define SYM_EM_ARM 40
#define SYM_EM_AARCH64 183
#define SYM_EM_RISCV 243
#define SYM_EM_CSKY 252

#define SYM_SHT_SYMTAB 2
#define SYM_SHT_STRTAB 3
#define SYM_SHT_NOTE 7
#define SYM_SHT_NOBITS 8
#define SYM_SHT_DYNSYM 11
#define SYM_SHT_SYMTAB_SHNDX 18

#define SYM_SHF_ALLOC 0x2
#define SYM_SHF_EXECINSTR 0x4
#define SYM_SHF_COMPRESSED 0x800

#define SYM_SHN_LORESERVE 0xff00
#define SYM_SHN_XINDEX 0xffff

#define SYM_PT_LOAD 1
#define SYM_PT_NOTE 4
#define SYM_PF_X 1

typedef struct {
    sym_str_t name;
    uint32_t type, link;
    uint64_t flags, addr, offset, size, align, entry_size;
    sym_str_t plain; /* data NULL: not requested yet */
} sym_elf_section_t;

typedef struct {
    uint32_t type;
    uint64_t offset, addr, file_size, memory_size, align;
    bool is_code;
} sym_elf_segment_t;

struct sym_elf_s {
    const uint8_t *data;
    size_t len;
    sym_elf_info_t info;
    sym_arena_t arena; /* memory of the tables below and of unpacked sections */
    uint64_t unpacked_left;

    sym_elf_section_t *sections; /* sections[0] is never a section */
    size_t n_sections;
    sym_elf_segment_t *segments;
    size_t n_segments;

    uint8_t *mini_data; /* .gnu_debugdata, unpacked; NULL: not yet */
    sym_elf_t *mini;
};

/* A cursor over bytes of this file, with its byte order. */
static inline sym_cursor_t
sym_elf_cursor(const sym_elf_t *e, sym_str_t bytes, const char *section,
               sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(bytes.data, bytes.len, section, err);

    c.is_big_endian = e->info.is_big_endian;
    return c;
}


/* Reads an address, offset or size, as wide as the file's class. */
static inline uint64_t
sym_elf_word(const sym_elf_t *e, sym_cursor_t *c)
{
    return e->info.is_64bit ? sym_u64(c) : sym_u32(c);
}


static inline bool
sym_elf_has_bytes(const sym_elf_section_t *s)
{
    return s->type != SYM_SHT_NOBITS && s->size != 0;
}


/* Fails with a position in a section, or in the file's headers. */
sym_status_t sym_elf_fail(sym_error_t *err, sym_status_t status,
                          const char *section, uint64_t offset,
                          const char *what);

/* The first section of that name that has contents here, or NULL. */
sym_elf_section_t *sym_elf_find(const sym_elf_t *e, sym_str_t name);

/* The bytes of a section as they are in the file. */
sym_status_t sym_elf_raw(const sym_elf_t *e, const sym_elf_section_t *s,
                         const char *name, sym_str_t *bytes, sym_error_t *err);

/* Like sym_elf_section(), for a section that the caller has found. */
sym_status_t sym_elf_plain(sym_elf_t *e, sym_elf_section_t *s, const char *name,
                           sym_str_t *bytes, sym_error_t *err);

#endif
