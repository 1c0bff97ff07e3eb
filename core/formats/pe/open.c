/*
 * open.c - the headers and the table of sections.
 */
#include <stdlib.h>

#include "base/hex.h"
#include "formats/pe/arch.h"
#include "formats/pe/file.h"

#define DOS_HEADER "DOS header"
#define FILE_HEADER "PE header"
#define SECTION_TABLE "section table"

#define SIGNATURE_AT 0x3c    /* offset in the DOS header */
#define FILE_HEADER_BYTES 24 /* size with the signature */
#define SECTION_BYTES 40
#define SYMBOL_BYTES 18

#define MAGIC_PE32 0x10b
#define MAGIC_PE32_PLUS 0x20b

#define NAME_BYTES ((size_t) 8)
#define LONG_NAME_BYTES ((size_t) 256) /* files have a few dozen sections */

/* Fields of the headers before the section table. */
typedef struct {
    uint64_t optional_at, sections_at;
    uint16_t n_sections, optional_size;
} layout_t;


sym_status_t
sym_pe_fail(sym_error_t *err, sym_status_t status, const char *part,
            uint64_t offset, const char *what)
{
    if (err->status == SYM_OK) {
        err->section = part;
        err->offset = offset;
    }

    return sym_fail(err, status, what);
}


sym_str_t
sym_pe_raw(const sym_pe_t *pe, uint64_t offset, uint64_t size)
{
    uint64_t left;

    if (offset >= pe->len) {
        return SYM_STR("");
    }

    left = pe->len - offset;
    return sym_str((const char *) pe->data + offset,
                   (size_t) (size < left ? size : left));
}


/* A cursor whose offsets are those in the file. */
static sym_cursor_t
cursor_at(const sym_pe_t *pe, uint64_t offset, const char *part,
          sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(pe->data, pe->len, part, err);

    (void) sym_take(&c, offset);
    return c;
}


static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}


const sym_pe_section_t *
sym_pe_section_at(const sym_pe_t *pe, uint32_t rva)
{
    const sym_pe_section_t *s;
    size_t low = 0, high = pe->n_sections;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (pe->by_rva[middle].key <= rva) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    if (low == 0) {
        return NULL;
    }

    s = &pe->sections[pe->by_rva[low - 1].at];
    return rva - s->rva < s->size ? s : NULL;
}


sym_str_t
sym_pe_at(const sym_pe_t *pe, uint32_t rva)
{
    const sym_pe_section_t *s = sym_pe_section_at(pe, rva);
    uint32_t behind;

    if (s == NULL) {
        return rva < pe->size_of_headers
                   ? sym_pe_raw(pe, rva, pe->size_of_headers - rva)
                   : SYM_STR("");
    }

    behind = rva - s->rva;
    return behind < s->file_size ? sym_pe_raw(pe, (uint64_t) s->offset + behind,
                                              s->file_size - behind)
                                 : SYM_STR("");
}


sym_str_t
sym_pe_directory(const sym_pe_t *pe, unsigned which)
{
    const sym_pe_directory_t *d = &pe->directories[which];
    sym_str_t bytes = d->size != 0 ? sym_pe_at(pe, d->rva) : SYM_STR("");

    bytes.len = (size_t) smaller(bytes.len, d->size);
    return bytes;
}


/* --- headers --- */

bool
sym_pe_is(const uint8_t *data, size_t len)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_cursor(data, len, DOS_HEADER, &err);
    uint32_t at;

    if (len < 2 || data[0] != 'M' || data[1] != 'Z') {
        return false;
    }

    (void) sym_bytes(&c, SIGNATURE_AT);
    at = sym_u32(&c);
    return sym_ok(&c)
           && (at > len || len - at < 4 || memcmp(data + at, "PE\0\0", 4) == 0);
}


static sym_status_t
read_file_header(sym_pe_t *pe, layout_t *l, sym_error_t *err)
{
    sym_cursor_t c = cursor_at(pe, SIGNATURE_AT, DOS_HEADER, err);
    uint32_t at = sym_u32(&c);
    sym_str_t signature;

    c = cursor_at(pe, at, FILE_HEADER, err);
    signature = sym_bytes(&c, 4);
    if (sym_ok(&c) && memcmp(signature.data, "PE\0\0", 4) != 0) {
        return sym_pe_fail(err, SYM_UNSUPPORTED, FILE_HEADER, at,
                           "a program of DOS, or of Windows for 16 bits");
    }

    pe->info.machine = sym_u16(&c);
    pe->info.arch = sym_pe_arch(pe->info.machine);
    l->n_sections = sym_u16(&c);
    pe->info.time_stamp = sym_u32(&c);
    pe->symbols_at = sym_u32(&c);
    pe->n_symbols = sym_u32(&c);
    l->optional_size = sym_u16(&c);
    (void) sym_u16(&c); /* Characteristics */

    l->optional_at = (uint64_t) at + FILE_HEADER_BYTES;
    l->sections_at = l->optional_at + l->optional_size;
    return err->status;
}


/* Reads those fields of the optional header that its size includes. */
static sym_status_t
read_optional_header(sym_pe_t *pe, const layout_t *l, sym_error_t *err)
{
    sym_cursor_t all = cursor_at(pe, l->optional_at, FILE_HEADER, err);
    sym_cursor_t c = sym_take(&all, l->optional_size);
    uint16_t magic = sym_u16(&c);
    uint32_t n;

    if (sym_ok(&c) && magic != MAGIC_PE32 && magic != MAGIC_PE32_PLUS) {
        return sym_pe_fail(err, SYM_UNSUPPORTED, FILE_HEADER, l->optional_at,
                           "not an image: its optional header is of another "
                           "kind");
    }

    pe->info.is_64bit = magic == MAGIC_PE32_PLUS;
    (void) sym_bytes(&c, pe->info.is_64bit ? 22 : 26);
    pe->info.image_base = pe->info.is_64bit ? sym_u64(&c) : sym_u32(&c);
    (void) sym_bytes(&c, 24); /* alignments, versions */
    pe->info.size_of_image = sym_u32(&c);
    pe->size_of_headers = sym_u32(&c);
    (void) sym_bytes(&c, pe->info.is_64bit ? 44 : 28);
    n = sym_u32(&c);

    for (uint32_t i = 0; i < n && i < SYM_PE_DIRECTORIES && sym_left(&c) != 0;
         i++) {
        pe->directories[i].rva = sym_u32(&c);
        pe->directories[i].size = sym_u32(&c);
    }

    return err->status;
}


/* The string table follows the symbol table and begins with its u32 length. */
static void
find_strings(sym_pe_t *pe)
{
    sym_error_t none = { 0 };
    sym_cursor_t c;
    uint64_t at =
        (uint64_t) pe->symbols_at + (uint64_t) pe->n_symbols * SYMBOL_BYTES;

    pe->strings = SYM_STR("");
    if (pe->symbols_at != 0) {
        c = cursor_at(pe, at, "string table", &none);
        pe->strings = sym_pe_raw(pe, at, sym_u32(&c));
    }
}


/* Names of more than 8 bytes, such as ".debug_info", are stored as "/4": at
 * offset 4 of the string table.  GNU's and LLVM's linkers write them in images,
 * too. */
static sym_str_t
section_name(const sym_pe_t *pe, sym_str_t field)
{
    sym_str_t name = sym_str(field.data, strnlen(field.data, field.len));
    uint64_t at;

    if (name.len < 2 || name.data[0] != '/'
        || !sym_dec_read(sym_str(name.data + 1, name.len - 1), &at)
        || at >= pe->strings.len)
    {
        return name;
    }

    name = sym_str(
        pe->strings.data + at,
        (size_t) smaller(pe->strings.len - (size_t) at, LONG_NAME_BYTES));
    return sym_str(name.data, strnlen(name.data, name.len));
}


static void
read_section(sym_pe_t *pe, sym_cursor_t *c, sym_pe_section_t *s)
{
    sym_str_t field = sym_bytes(c, NAME_BYTES);

    s->size = sym_u32(c);
    s->rva = sym_u32(c);
    s->file_size = sym_u32(c);
    s->offset = sym_u32(c);
    (void) sym_bytes(c, 12); /* relocations, line numbers */
    s->flags = sym_u32(c);

    if (sym_ok(c)) {
        s->name = section_name(pe, field);
        s->file_size = s->offset != 0 ? s->file_size : 0;
        if (s->size == 0) {
            s->size = s->file_size; /* old linkers leave the size in memory 0 */
        }
    }
}


static sym_status_t
read_sections(sym_pe_t *pe, const layout_t *l, sym_error_t *err)
{
    sym_cursor_t all = cursor_at(pe, l->sections_at, SECTION_TABLE, err);
    sym_cursor_t c = sym_take(&all, (uint64_t) l->n_sections * SECTION_BYTES);

    if (!sym_ok(&c)) {
        return err->status;
    }

    pe->sections = sym_arena_calloc(&pe->arena, (size_t) l->n_sections + 1,
                                    sizeof(*pe->sections));
    pe->by_rva = sym_arena_calloc(&pe->arena, (size_t) l->n_sections + 1,
                                  sizeof(*pe->by_rva));
    if (pe->sections == NULL || pe->by_rva == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for sections");
    }

    for (uint32_t i = 0; i < l->n_sections; i++) {
        read_section(pe, &c, &pe->sections[i]);
        pe->by_rva[i] = (sym_sort_item_t){ pe->sections[i].rva, i };
    }

    pe->n_sections = l->n_sections;
    return sym_sort(pe->by_rva, pe->n_sections)
               ? err->status
               : sym_fail(err, SYM_NOMEM, "no memory for sections");
}


static void
look_over(sym_pe_t *pe)
{
    pe->info.is_dotnet = pe->directories[SYM_PE_CLR].size != 0;
    pe->info.has_exports = pe->directories[SYM_PE_EXPORTS].size != 0;

    for (size_t i = 0; i < pe->n_sections; i++) {
        const sym_pe_section_t *s = &pe->sections[i];

        pe->info.has_code |= sym_pe_is_code(s) && s->file_size != 0;
        pe->info.has_debug_info |=
            s->file_size != 0
            && (sym_str_eq(s->name, SYM_STR(".debug_info"))
                || sym_str_eq(s->name, SYM_STR(".zdebug_info")));
    }

    /* a debug file contains the directory, but not its target */
    pe->info.has_unwind_info =
        pe->info.has_code && pe->directories[SYM_PE_EXCEPTIONS].size != 0;
}


static sym_status_t
read_all(sym_pe_t *pe, sym_error_t *err)
{
    layout_t l = { 0 };

    if (read_file_header(pe, &l, err) != SYM_OK
        || read_optional_header(pe, &l, err) != SYM_OK)
    {
        return err->status;
    }

    find_strings(pe);
    if (read_sections(pe, &l, err) == SYM_OK) {
        look_over(pe);
    }

    return err->status;
}


sym_pe_t *
sym_pe_open(const uint8_t *data, size_t len, const sym_pe_options_t *options,
            sym_error_t *err)
{
    sym_pe_t *pe = calloc(1, sizeof(*pe));

    if (pe == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for a PE file");
        return NULL;
    }

    pe->data = data;
    pe->len = len;
    pe->unpacked_left = options->unpacked_max;
    sym_arena_init(&pe->arena, 0);

    if (read_all(pe, err) != SYM_OK) {
        sym_pe_close(pe);
        return NULL;
    }

    return pe;
}


void
sym_pe_close(sym_pe_t *pe)
{
    if (pe != NULL) {
        sym_arena_drop(&pe->arena);
        free(pe);
    }
}


const sym_pe_info_t *
sym_pe_info(const sym_pe_t *pe)
{
    return &pe->info;
}
