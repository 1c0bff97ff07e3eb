/*
 * open.c - the header and the load commands of one slice.
 */
#include <stdlib.h>

#include "formats/macho/arch.h"
#include "formats/macho/file.h"

/* Limit on load commands.  Linkers write some dozens, and some languages a few
 * more into dSYM files. */
#define SECTIONS_MAX 65536u

#define FILE_HEADER "Mach-O header"
#define LOAD_COMMAND "load command"

#define AT_TYPE 12
#define AT_COMMANDS 16

#define COMMAND_BYTES 8 /* cmd, cmdsize */

#define MH_OBJECT 1
#define MH_CORE 4
#define MH_DYLIB_STUB 9
#define MH_DSYM 10
#define MH_FILESET 12

#define LC_SEGMENT 0x1
#define LC_SYMTAB 0x2
#define LC_SEGMENT_64 0x19
#define LC_UUID 0x1b
#define LC_ENCRYPTION_INFO 0x21
#define LC_FUNCTION_STARTS 0x26
#define LC_ENCRYPTION_INFO_64 0x2c

#define SG_PROTECTED_VERSION_1 0x8

#define SECTION_TYPE 0xff
#define S_ZEROFILL 0x1
#define S_GB_ZEROFILL 0xc
#define S_THREAD_LOCAL_ZEROFILL 0x12
#define S_ATTR_CODE 0x80000400u /* PURE_INSTRUCTIONS, SOME_INSTRUCTIONS */

#define BITCODE 0x4243c0deu         /* "BC", 0xc0de */
#define BITCODE_WRAPPER 0xdec0170bu /* 0x0b17c0de, little endian */

typedef struct {
    sym_str_t name;
    uint64_t addr, size, file_offset, file_size;
    uint32_t n_sections, flags;
} segment_t;


sym_status_t
sym_macho_fail(sym_error_t *err, sym_status_t status, const char *part,
               uint64_t offset, const char *what)
{
    if (err->status == SYM_OK) {
        err->section = part;
        err->offset = offset;
    }

    return sym_fail(err, status, what);
}


sym_cursor_t
sym_macho_cursor(const sym_macho_t *m, uint64_t offset, uint64_t size,
                 const char *part, sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(m->data, (size_t) m->end, part, err);

    c.is_big_endian = m->info.is_big_endian;
    c.pos += m->start;
    (void) sym_take(&c, offset);
    return sym_take(&c, size);
}


sym_macho_section_t *
sym_macho_find(const sym_macho_t *m, sym_str_t name)
{
    for (size_t i = 0; i < m->n_sections; i++) {
        if (sym_str_eq(m->sections[i].name, name)) {
            return &m->sections[i];
        }
    }

    return NULL;
}


/* A name of up to 16 bytes, ended by a NUL if it is shorter. */
static sym_str_t
read_name(sym_cursor_t *c)
{
    sym_str_t s = sym_bytes(c, SYM_MACHO_NAME_BYTES);

    if (s.data != NULL) {
        s.len = strnlen(s.data, s.len);
    }
    return s;
}


static uint64_t
read_word(sym_cursor_t *c, bool is_64bit)
{
    return is_64bit ? sym_u64(c) : sym_u32(c);
}


/* --- the header --- */

static sym_status_t
read_magic(sym_macho_t *m, sym_error_t *err)
{
    sym_cursor_t c = sym_macho_cursor(m, 0, 4, FILE_HEADER, err);
    uint32_t magic;

    c.is_big_endian = true;
    magic = sym_u32(&c);
    if (!sym_ok(&c)) {
        return err->status;
    }

    if (magic == BITCODE || magic == BITCODE_WRAPPER) {
        return sym_macho_fail(err, SYM_UNSUPPORTED, FILE_HEADER, m->start,
                              "bitcode: its addresses are settled when it is "
                              "compiled");
    }

    m->info.is_big_endian = magic == SYM_MH_MAGIC || magic == SYM_MH_MAGIC_64;
    if (!m->info.is_big_endian) {
        magic = __builtin_bswap32(magic);
    }

    if (magic != SYM_MH_MAGIC && magic != SYM_MH_MAGIC_64) {
        return sym_macho_fail(err, SYM_MALFORMED, FILE_HEADER, m->start,
                              "not a Mach-O file");
    }

    m->info.is_64bit = magic == SYM_MH_MAGIC_64;
    return SYM_OK;
}


/* Reads the header after the magic.  *n and *size are the number and size of
   the load commands. */
static sym_status_t
read_header(sym_macho_t *m, uint32_t *n, uint32_t *size, sym_error_t *err)
{
    sym_cursor_t c = sym_macho_cursor(m, 4, 24, FILE_HEADER, err);

    m->info.cpu = sym_u32(&c);
    m->info.cpu_subtype = sym_u32(&c);
    m->info.arch = sym_macho_arch(m->info.cpu, m->info.cpu_subtype);
    m->info.type = sym_u32(&c);
    m->info.is_dsym = m->info.type == MH_DSYM;
    *n = sym_u32(&c);
    *size = sym_u32(&c);

    if (sym_ok(&c) && *n > *size / COMMAND_BYTES) {
        return sym_macho_fail(err, SYM_MALFORMED, FILE_HEADER,
                              m->start + AT_COMMANDS,
                              "more load commands than bytes for them");
    }

    return err->status;
}


/* Only linked files have addresses that clients can send. */
static sym_status_t
check_type(const sym_macho_t *m, sym_error_t *err)
{
    const char *what;

    switch (m->info.type) {
    case MH_OBJECT:
        what = sym_macho_find(m, SYM_STR("__bitcode")) != NULL
                   ? "object file with bitcode: its addresses are settled "
                     "when it is compiled and linked"
                   : "object file: its addresses are settled when it is "
                     "linked";
        break;
    case MH_CORE:
        what = "core dump: holds no symbols";
        break;
    case MH_DYLIB_STUB:
        what = "stub of a library: holds no code";
        break;
    case MH_FILESET:
        what = "set of several kernel extensions";
        break;
    default:
        return SYM_OK;
    }

    return sym_macho_fail(err, SYM_UNSUPPORTED, FILE_HEADER, m->start + AT_TYPE,
                          what);
}


/* --- segments --- */

static segment_t
read_segment(sym_cursor_t *c, bool is_64bit)
{
    segment_t s = { .name = read_name(c) };

    s.addr = read_word(c, is_64bit);
    s.size = read_word(c, is_64bit);
    s.file_offset = read_word(c, is_64bit);
    s.file_size = read_word(c, is_64bit);
    (void) sym_u64(c); /* maxprot, initprot */
    s.n_sections = sym_u32(c);
    s.flags = sym_u32(c);
    return s;
}


/*
 * The offset of a section has 32 bits, but a dSYM may be larger.  Then the
 * upper half of the offset is lost, and is computed from the segment.
 */
static uint64_t
whole_offset(const segment_t *segment, uint64_t addr, uint32_t offset)
{
    uint64_t whole = segment->file_offset + (addr - segment->addr);

    return (uint32_t) whole == offset ? whole : offset;
}


static bool
has_contents(uint32_t flags, uint32_t offset, uint64_t size)
{
    uint32_t type = flags & SECTION_TYPE;

    /* offset 0 means no contents: a dSYM has it in sections whose contents are
       only in the binary */
    return offset != 0 && size != 0 && type != S_ZEROFILL
           && type != S_GB_ZEROFILL && type != S_THREAD_LOCAL_ZEROFILL;
}


static void
read_section(sym_macho_t *m, sym_cursor_t *c, bool is_64bit,
             const segment_t *segment, sym_macho_section_t *s)
{
    uint32_t offset, flags;

    s->at = (uint64_t) (c->pos - c->start);
    s->name = read_name(c);
    s->segment = read_name(c);
    s->addr = read_word(c, is_64bit);
    s->size = read_word(c, is_64bit);
    offset = sym_u32(c);
    (void) sym_u32(c); /* align */
    (void) sym_u64(c); /* relocations */
    flags = sym_u32(c);
    (void) sym_take(c, is_64bit ? 12 : 8); /* reserved */

    s->offset = m->start + whole_offset(segment, s->addr, offset);
    s->is_code = (flags & S_ATTR_CODE) != 0;
    s->has_bytes = has_contents(flags, offset, s->size)
                   && (segment->flags & SG_PROTECTED_VERSION_1) == 0;
}


static void
segment_command(sym_macho_t *m, sym_cursor_t *c, bool is_64bit)
{
    segment_t segment = read_segment(c, is_64bit);

    if (sym_str_eq(segment.name, SYM_STR("__TEXT")) && m->info.image_size == 0)
    {
        m->info.image_base = segment.addr;
        m->info.image_size = segment.size;
    }

    if (segment.flags & SG_PROTECTED_VERSION_1) {
        m->info.is_encrypted = true;
    }

    for (uint32_t i = 0; i < segment.n_sections && sym_ok(c); i++) {
        if (m->n_sections == SECTIONS_MAX) {
            sym_cursor_fail(c, SYM_LIMIT, "too many sections");
            return;
        }

        read_section(m, c, is_64bit, &segment, &m->sections[m->n_sections++]);
    }
}


/* --- other load commands --- */

static void
symtab_command(sym_macho_t *m, sym_cursor_t *c)
{
    m->symbols_at = sym_u32(c);
    m->n_symbols = sym_u32(c);
    m->strings_at = sym_u32(c);
    m->strings_size = sym_u32(c);
    m->info.has_symbols = m->n_symbols != 0;
}


static void
uuid_command(sym_macho_t *m, sym_cursor_t *c)
{
    sym_str_t uuid = sym_bytes(c, sizeof(m->info.uuid));

    if (uuid.data != NULL) {
        memcpy(m->info.uuid, uuid.data, uuid.len);
        m->info.has_uuid = true;
    }
}


static void
encryption_command(sym_macho_t *m, sym_cursor_t *c)
{
    uint32_t offset = sym_u32(c), size = sym_u32(c);

    if (sym_u32(c) != 0) {
        m->encrypted = (sym_macho_run_t){ offset, size };
        m->info.is_encrypted = true;
    }
}


static void
read_command(sym_macho_t *m, uint32_t cmd, sym_cursor_t *c)
{
    switch (cmd) {
    case LC_SEGMENT:
    case LC_SEGMENT_64:
        segment_command(m, c, cmd == LC_SEGMENT_64);
        return;
    case LC_SYMTAB:
        symtab_command(m, c);
        return;
    case LC_UUID:
        uuid_command(m, c);
        return;
    case LC_ENCRYPTION_INFO:
    case LC_ENCRYPTION_INFO_64:
        encryption_command(m, c);
        return;
    case LC_FUNCTION_STARTS:
        m->starts.offset = sym_u32(c);
        m->starts.size = sym_u32(c);
        return;
    default:
        return;
    }
}


static sym_status_t
read_commands(sym_macho_t *m, uint32_t n, uint32_t size, sym_error_t *err)
{
    uint64_t at = m->info.is_64bit ? 32 : 28;
    sym_cursor_t c = sym_macho_cursor(m, at, size, LOAD_COMMAND, err);

    /* the smallest section header takes 68 bytes */
    m->sections = sym_arena_calloc(&m->arena, sym_left(&c) / 68 + 1,
                                   sizeof(*m->sections));
    if (m->sections == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for the table of sections");
    }

    for (uint32_t i = 0; i < n && sym_ok(&c); i++) {
        uint64_t start = (uint64_t) (c.pos - c.start);
        uint32_t cmd = sym_u32(&c), bytes = sym_u32(&c);
        sym_cursor_t body;

        if (sym_ok(&c) && bytes < COMMAND_BYTES) {
            return sym_macho_fail(err, SYM_MALFORMED, LOAD_COMMAND, start + 4,
                                  "a load command shorter than its header");
        }

        body = sym_take(&c, (uint64_t) bytes - COMMAND_BYTES);
        read_command(m, cmd, &body);
    }

    return err->status;
}


/* --- opening --- */

static bool
overlaps(const sym_macho_t *m, const sym_macho_section_t *s)
{
    uint64_t offset = s->offset - m->start;

    return m->encrypted.size != 0
           && offset < m->encrypted.offset + m->encrypted.size
           && m->encrypted.offset < offset + s->size;
}


static bool
has_section(const sym_macho_t *m, sym_str_t name)
{
    const sym_macho_section_t *s = sym_macho_find(m, name);

    return s != NULL && s->has_bytes;
}


static void
look_over(sym_macho_t *m)
{
    for (size_t i = 0; i < m->n_sections; i++) {
        if (overlaps(m, &m->sections[i])) {
            m->sections[i].has_bytes = false;
        }
    }

    m->info.has_code = has_section(m, SYM_STR("__text"));
    m->info.has_debug_info = has_section(m, SYM_STR("__debug_info"))
                             || has_section(m, SYM_STR("__zdebug_info"));
    m->info.has_unwind_info = has_section(m, SYM_STR("__unwind_info"))
                              || has_section(m, SYM_STR("__eh_frame"))
                              || has_section(m, SYM_STR("__debug_frame"));
}


static sym_status_t
read_all(sym_macho_t *m, const sym_macho_slice_t *slice, size_t len,
         sym_error_t *err)
{
    uint32_t n, size;

    if (slice->offset > len || slice->size > len - slice->offset) {
        return sym_macho_fail(err, SYM_TRUNCATED, "fat header", len,
                              "a slice runs past the end of the file");
    }

    m->start = slice->offset;
    m->end = slice->offset + slice->size;

    if (read_magic(m, err) != SYM_OK || read_header(m, &n, &size, err) != SYM_OK
        || read_commands(m, n, size, err) != SYM_OK
        || check_type(m, err) != SYM_OK)
    {
        return err->status;
    }

    look_over(m);
    return SYM_OK;
}


sym_macho_t *
sym_macho_open(const uint8_t *data, size_t len, const sym_macho_slice_t *slice,
               const sym_macho_options_t *options, sym_error_t *err)
{
    sym_macho_t *m = calloc(1, sizeof(*m));

    if (m == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for a Mach-O file");
        return NULL;
    }

    m->data = data;
    m->unpacked_left = options->unpacked_max;
    sym_arena_init(&m->arena, 0);

    if (read_all(m, slice, len, err) != SYM_OK) {
        sym_macho_close(m);
        return NULL;
    }

    return m;
}


void
sym_macho_close(sym_macho_t *m)
{
    if (m != NULL) {
        sym_arena_drop(&m->arena);
        free(m);
    }
}


const sym_macho_info_t *
sym_macho_info(const sym_macho_t *m)
{
    return &m->info;
}
