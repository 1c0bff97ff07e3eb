/*
 * open.c - the file header, and the tables of sections and segments.
 */
#include "formats/elf/file.h"

#include <stdlib.h>

#include "formats/elf/machine.h"
#include "formats/elf/mini.h"

#define MAGIC "\177ELF"
#define IDENT_BYTES 16

/* Offsets of fields that errors refer to. */
#define AT_CLASS 4
#define AT_DATA 5
#define AT_VERSION 6
#define AT_TYPE 16

/* From here on the fields have 16 bits: e_phentsize, e_phnum, e_shentsize,
 * e_shnum, e_shstrndx. */
#define AT_SIZES(is_64bit) ((is_64bit) ? 54 : 42)
#define AT_PHENTSIZE(e) AT_SIZES((e)->info.is_64bit)
#define AT_SHENTSIZE(e) (AT_SIZES((e)->info.is_64bit) + 4)
#define AT_SHSTRNDX(e) (AT_SIZES((e)->info.is_64bit) + 8)

/* "section 0 has the number" */
#define PN_XNUM 0xffff

/* Linked files have some dozens of sections and of segments.  Objects with a
 * section for each function have up to a million. */
#define SECTIONS_MAX ((uint64_t) 1 << 20)
#define SEGMENTS_MAX ((uint64_t) 1 << 16)

#define FILE_HEADER "ELF header"
#define SECTION_HEADER "section header"
#define PROGRAM_HEADER "program header"
#define SECTION_NAMES "section names"

typedef struct {
    uint64_t segments_at, sections_at;
    uint64_t n_segments, n_sections, names; /* names: index of the section of
                                               names */
    uint16_t segment_bytes, section_bytes;
} tables_t;


sym_status_t
sym_elf_fail(sym_error_t *err, sym_status_t status, const char *section,
             uint64_t offset, const char *what)
{
    if (err->status == SYM_OK) {
        err->section = section;
        err->offset = offset;
    }

    return sym_fail(err, status, what);
}


bool
sym_elf_is(const uint8_t *data, size_t len)
{
    return len >= sizeof(MAGIC) - 1
           && memcmp(data, MAGIC, sizeof(MAGIC) - 1) == 0;
}


/* --- the file header --- */

static sym_status_t
read_ident(sym_elf_t *e, sym_error_t *err)
{
    if (!sym_elf_is(e->data, e->len)) {
        return sym_elf_fail(err, SYM_MALFORMED, FILE_HEADER, 0,
                            "not an ELF file");
    }

    if (e->len < IDENT_BYTES) {
        return sym_elf_fail(err, SYM_TRUNCATED, FILE_HEADER, e->len,
                            "the file ends in its header");
    }

    if (e->data[AT_CLASS] != 1 && e->data[AT_CLASS] != 2) {
        return sym_elf_fail(err, SYM_MALFORMED, FILE_HEADER, AT_CLASS,
                            "class is neither 32 nor 64 bits");
    }

    if (e->data[AT_DATA] != 1 && e->data[AT_DATA] != 2) {
        return sym_elf_fail(err, SYM_MALFORMED, FILE_HEADER, AT_DATA,
                            "byte order is neither little nor big endian");
    }

    if (e->data[AT_VERSION] != 1) {
        return sym_elf_fail(err, SYM_UNSUPPORTED, FILE_HEADER, AT_VERSION,
                            "unknown version of ELF");
    }

    e->info.is_64bit = e->data[AT_CLASS] == 2;
    e->info.is_big_endian = e->data[AT_DATA] == 2;
    return SYM_OK;
}


/* Only linked files have addresses that clients can send. */
static sym_status_t
check_type(uint16_t type, bool is_part, sym_error_t *err)
{
    const char *what;

    switch (type) {
    case SYM_ET_EXEC:
    case SYM_ET_DYN:
        return SYM_OK;
    case SYM_ET_REL:
        what = "relocatable file (kernel module, object file, or dwz's): its "
               "addresses are settled when it is loaded or linked";
        break;
    case SYM_ET_CORE:
        what = "core dump: holds no symbols";
        break;
    default:
        what = "neither executable nor shared library";
        break;
    }

    if (is_part && type != SYM_ET_CORE) {
        return SYM_OK;
    }

    return sym_elf_fail(err, SYM_UNSUPPORTED, FILE_HEADER, AT_TYPE, what);
}


/* A cursor over the file from this offset on. */
static sym_cursor_t
cursor_at(const sym_elf_t *e, uint64_t offset, const char *section,
          sym_error_t *err)
{
    sym_str_t all = { (const char *) e->data, e->len };
    sym_cursor_t c = sym_elf_cursor(e, all, section, err);

    (void) sym_take(&c, offset);
    return c;
}


static sym_status_t
read_header(sym_elf_t *e, tables_t *t, sym_error_t *err)
{
    sym_cursor_t c = cursor_at(e, IDENT_BYTES, FILE_HEADER, err);

    e->info.type = sym_u16(&c);
    e->info.machine = sym_u16(&c);
    (void) sym_u32(&c);         /* e_version */
    (void) sym_elf_word(e, &c); /* e_entry */
    t->segments_at = sym_elf_word(e, &c);
    t->sections_at = sym_elf_word(e, &c);
    (void) sym_u32(&c); /* e_flags */
    (void) sym_u16(&c); /* e_ehsize */
    t->segment_bytes = sym_u16(&c);
    t->n_segments = sym_u16(&c);
    t->section_bytes = sym_u16(&c);
    t->n_sections = sym_u16(&c);
    t->names = sym_u16(&c);
    e->info.arch = sym_elf_machine_name(e->info.machine);
    return err->status;
}


/* --- tables --- */

static size_t
section_header_bytes(const sym_elf_t *e)
{
    return e->info.is_64bit ? 64 : 40;
}


static size_t
program_header_bytes(const sym_elf_t *e)
{
    return e->info.is_64bit ? 56 : 32;
}


/* Checks that the file contains n records of `size` bytes, so that no memory is
 * sized by a count alone. */
static sym_status_t
check_table(const sym_elf_t *e, uint64_t at, uint64_t n, size_t size,
            uint64_t max, const char *section, sym_error_t *err)
{
    if (at > e->len) {
        return sym_elf_fail(err, SYM_TRUNCATED, section, at,
                            "table begins past the end of the file");
    }

    if (n > max) {
        return sym_elf_fail(err, SYM_LIMIT, section, at, "too many entries");
    }

    if (n > (e->len - at) / size) {
        return sym_elf_fail(err, SYM_TRUNCATED, section, at,
                            "table runs past the end of the file");
    }

    return SYM_OK;
}


/* name: offset of the section's name in the table of names */
static void
read_section(const sym_elf_t *e, sym_cursor_t *c, sym_elf_section_t *s,
             uint32_t *name, uint32_t *info)
{
    *name = sym_u32(c);
    s->type = sym_u32(c);
    s->flags = sym_elf_word(e, c);
    s->addr = sym_elf_word(e, c);
    s->offset = sym_elf_word(e, c);
    s->size = sym_elf_word(e, c);
    s->link = sym_u32(c);
    *info = sym_u32(c);
    s->align = sym_elf_word(e, c);
    s->entry_size = sym_elf_word(e, c);
}


/* Numbers too large for the file header are in section 0 (System V ABI, chapter
 * 4, "Sections": sh_size, sh_link and sh_info of index 0). */
static sym_status_t
read_large_numbers(const sym_elf_t *e, tables_t *t, sym_error_t *err)
{
    sym_cursor_t c;
    sym_elf_section_t zero = { .type = 0 };
    uint32_t name, info;

    if (check_table(e, t->sections_at, 1, section_header_bytes(e), SECTIONS_MAX,
                    SECTION_HEADER, err)
        != SYM_OK)
    {
        return err->status;
    }

    c = cursor_at(e, t->sections_at, SECTION_HEADER, err);
    read_section(e, &c, &zero, &name, &info);

    if (t->n_sections == 0) {
        t->n_sections = zero.size;
    }
    if (t->names == SYM_SHN_XINDEX) {
        t->names = zero.link;
    }
    if (t->n_segments == PN_XNUM) {
        t->n_segments = info;
    }

    return err->status;
}


/* Copies of one long name must cost no more in total than the file's share. */
#define SECTION_NAME_MAX ((size_t) 32768)

static sym_status_t
name_section(sym_elf_section_t *s, sym_str_t text, uint32_t at,
             sym_error_t *err)
{
    const char *name, *end;
    size_t most;

    if (at >= text.len) {
        return sym_elf_fail(err, SYM_MALFORMED, SECTION_NAMES, at,
                            "name is outside the string table");
    }

    name = text.data + at;
    most = text.len - at;
    most = most < SECTION_NAME_MAX ? most : SECTION_NAME_MAX;
    end = memchr(name, '\0', most);
    if (end == NULL) {
        return sym_elf_fail(err, SYM_MALFORMED, SECTION_NAMES, at,
                            "name does not end");
    }

    s->name = sym_str(name, (size_t) (end - name));
    return SYM_OK;
}


static sym_status_t
name_sections(sym_elf_t *e, const uint32_t *names, uint64_t index,
              sym_error_t *err)
{
    sym_str_t text;

    if (index == 0) {
        return SYM_OK; /* the file has no names */
    }

    if (index >= e->n_sections || e->sections[index].type == SYM_SHT_NOBITS) {
        return sym_elf_fail(err, SYM_MALFORMED, FILE_HEADER, AT_SHSTRNDX(e),
                            "e_shstrndx is not a section with names");
    }

    (void) sym_elf_raw(e, &e->sections[index], SECTION_NAMES, &text, err);

    for (size_t i = 1; i < e->n_sections && err->status == SYM_OK; i++) {
        (void) name_section(&e->sections[i], text, names[i], err);
    }

    return err->status;
}


static sym_status_t
read_sections(sym_elf_t *e, const tables_t *t, sym_error_t *err)
{
    sym_cursor_t c;
    uint32_t *names, info;

    if (t->sections_at == 0 || t->n_sections == 0) {
        return SYM_OK;
    }

    if (check_table(e, t->sections_at, t->n_sections, section_header_bytes(e),
                    SECTIONS_MAX, SECTION_HEADER, err)
        != SYM_OK)
    {
        return err->status;
    }

    e->n_sections = (size_t) t->n_sections;
    e->sections =
        sym_arena_calloc(&e->arena, e->n_sections, sizeof(*e->sections));
    names = sym_arena_calloc(&e->arena, e->n_sections, sizeof(*names));
    if (e->sections == NULL || names == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for the section table");
    }

    c = cursor_at(e, t->sections_at, SECTION_HEADER, err);
    for (size_t i = 0; i < e->n_sections; i++) {
        read_section(e, &c, &e->sections[i], &names[i], &info);
    }

    return name_sections(e, names, t->names, err);
}


static void
read_segment(const sym_elf_t *e, sym_cursor_t *c, sym_elf_segment_t *p)
{
    uint32_t flags = 0;

    p->type = sym_u32(c);
    if (e->info.is_64bit) {
        flags = sym_u32(c);
    }
    p->offset = sym_elf_word(e, c);
    p->addr = sym_elf_word(e, c);
    (void) sym_elf_word(e, c); /* p_paddr */
    p->file_size = sym_elf_word(e, c);
    p->memory_size = sym_elf_word(e, c);
    if (!e->info.is_64bit) {
        flags = sym_u32(c);
    }
    p->is_code = (flags & SYM_PF_X) != 0;
    p->align = sym_elf_word(e, c);
}


static sym_status_t
read_segments(sym_elf_t *e, const tables_t *t, sym_error_t *err)
{
    sym_cursor_t c;

    if (t->segments_at == 0 || t->n_segments == 0) {
        return SYM_OK;
    }

    if (check_table(e, t->segments_at, t->n_segments, program_header_bytes(e),
                    SEGMENTS_MAX, PROGRAM_HEADER, err)
        != SYM_OK)
    {
        return err->status;
    }

    e->n_segments = (size_t) t->n_segments;
    e->segments =
        sym_arena_calloc(&e->arena, e->n_segments, sizeof(*e->segments));
    if (e->segments == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for the program headers");
    }

    c = cursor_at(e, t->segments_at, PROGRAM_HEADER, err);
    for (size_t i = 0; i < e->n_segments; i++) {
        read_segment(e, &c, &e->segments[i]);
    }

    return err->status;
}


static sym_status_t
check_entry_sizes(const sym_elf_t *e, const tables_t *t, sym_error_t *err)
{
    if (t->sections_at != 0 && t->section_bytes != section_header_bytes(e)) {
        return sym_elf_fail(err, SYM_MALFORMED, FILE_HEADER, AT_SHENTSIZE(e),
                            "size of a section header is not its class's");
    }

    if (t->n_segments != 0 && t->segment_bytes != program_header_bytes(e)) {
        return sym_elf_fail(err, SYM_MALFORMED, FILE_HEADER, AT_PHENTSIZE(e),
                            "size of a program header is not its class's");
    }

    return SYM_OK;
}


static sym_status_t
read_tables(sym_elf_t *e, tables_t *t, sym_error_t *err)
{
    if (check_entry_sizes(e, t, err) != SYM_OK) {
        return err->status;
    }

    if (t->sections_at != 0
        && (t->n_sections == 0 || t->names == SYM_SHN_XINDEX
            || t->n_segments == PN_XNUM)
        && read_large_numbers(e, t, err) != SYM_OK)
    {
        return err->status;
    }

    if (read_sections(e, t, err) != SYM_OK) {
        return err->status;
    }

    return read_segments(e, t, err);
}


/* --- the file as a whole --- */

/*
 * The first PT_LOAD, as in Breakpad, Sentry and debuggers, not the lowest.
 * PT_LOADs are sorted (System V ABI, chapter 5), except in vmlinux, where
 * per-CPU data at address 0 follow the kernel.  A PT_LOAD is mapped from its
 * page on.
 */
static uint64_t
image_base(const sym_elf_t *e)
{
    for (size_t i = 0; i < e->n_segments; i++) {
        if (e->segments[i].type == SYM_PT_LOAD) {
            return e->segments[i].addr & ~(uint64_t) 0xfff;
        }
    }

    return 0;
}


static bool
has(const sym_elf_t *e, sym_str_t name)
{
    return sym_elf_find(e, name) != NULL;
}


static void
describe(sym_elf_t *e)
{
    sym_elf_info_t *info = &e->info;

    info->image_base = image_base(e);
    info->has_code = has(e, SYM_STR(".text"));
    info->has_debug_info =
        has(e, SYM_STR(".debug_info")) || has(e, SYM_STR(".zdebug_info"));
    info->has_unwind_info = has(e, SYM_STR(".eh_frame"))
                            || has(e, SYM_STR(".debug_frame"))
                            || has(e, SYM_STR(".zdebug_frame"));

    for (size_t i = 1; i < e->n_sections; i++) {
        const sym_elf_section_t *s = &e->sections[i];

        if (s->size != 0
            && (s->type == SYM_SHT_SYMTAB || s->type == SYM_SHT_DYNSYM)) {
            info->has_symbols = true;
        }
    }
}


sym_elf_t *
sym_elf_open(const uint8_t *data, size_t len, const sym_elf_options_t *options,
             sym_error_t *err)
{
    sym_elf_t *e = calloc(1, sizeof(*e));
    tables_t t = { 0 };

    if (e == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for an ELF reader");
        return NULL;
    }

    e->data = data;
    e->len = len;
    e->unpacked_left = options->unpacked_max;
    sym_arena_init(&e->arena, 0);

    if (read_ident(e, err) != SYM_OK || read_header(e, &t, err) != SYM_OK
        || check_type(e->info.type, options->is_part, err) != SYM_OK
        || read_tables(e, &t, err) != SYM_OK)
    {
        sym_elf_close(e);
        return NULL;
    }

    describe(e);
    return e;
}


void
sym_elf_close(sym_elf_t *e)
{
    if (e == NULL) {
        return;
    }

    sym_elf_close_mini(e);
    sym_arena_drop(&e->arena);
    free(e);
}


const sym_elf_info_t *
sym_elf_info(const sym_elf_t *e)
{
    return &e->info;
}
