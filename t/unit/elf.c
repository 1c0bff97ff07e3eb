/*
 * core/formats/elf with files made by hand, in both classes and byte orders:
 * sections, packed ones, ids, links to other files.  Real files: t/elf_*.t;
 * files that must be refused: t/bad/elf.
 */
#include "formats/elf/elf.h"

#include <zlib.h>
#include <zstd.h>

#include "thread_pool_kit.h"
#include "elf_kit.h"
#include "tap.h"

#define PROGBITS 1
#define NOTE 7
#define NOBITS 8
#define DYN 3
#define LOAD 1
#define PT_NOTE 4
#define X86_64 62
#define COMPRESSED 0x800

static const sym_elf_options_t plenty = { .unpacked_max = 1 << 20 };

typedef struct {
    kit_bytes_t file;
    sym_elf_t *elf;
    sym_error_t err;
} opened_t;


static opened_t
open_file(const kit_elf_t *f, const sym_elf_options_t *options)
{
    opened_t o = { .file = kit_elf(f) };

    o.elf = sym_elf_open(o.file.data, o.file.len, options, &o.err);
    return o;
}


static void
close_file(opened_t *o)
{
    sym_elf_close(o->elf);
    free(o->file.data);
}


static void
is_refused(opened_t *o, const char *want)
{
    char text[256];

    ok(o->elf == NULL, "refused");
    is_str(sym_cstr(sym_error_text(&o->err, text, sizeof(text))), want, want);
    close_file(o);
}


/* An open file of the given form with these sections. */
static opened_t
open_sections(bool is_64bit, bool is_big_endian, const kit_section_t *sections,
              size_t n)
{
    kit_elf_t f = { .is_64bit = is_64bit,
                    .is_big_endian = is_big_endian,
                    .type = DYN,
                    .machine = X86_64,
                    .sections = sections,
                    .n_sections = n };

    return open_file(&f, &plenty);
}


static void
test_form(bool is_64bit, bool is_big_endian)
{
    static const kit_section_t sections[] = {
        { ".text", PROGBITS, 6, 0x401000, { "abcd", 4 }, 0, 0 },
        { ".bss", NOBITS, 3, 0x402000, { NULL, 0 }, 0x7fffffff, 0 },
        { ".debug_line", PROGBITS, 0, 0, { "line", 4 }, 0, 0 },
    };
    static const kit_segment_t segments[] = { { 6, 0x40, 0 },
                                              { LOAD, 0x400234, 0 },
                                              { LOAD, 0, 0 } };
    kit_elf_t f = { is_64bit, is_big_endian, DYN, 40,   sections,
                    3,        segments,      3,   false };
    opened_t o = open_file(&f, &plenty);
    const sym_elf_info_t *info;
    sym_str_t bytes;

    if (!ok(o.elf != NULL, "%d bits, %s endian", is_64bit ? 64 : 32,
            is_big_endian ? "big" : "little"))
    {
        close_file(&o);
        return;
    }

    info = sym_elf_info(o.elf);
    ok(info->is_64bit == is_64bit && info->is_big_endian == is_big_endian,
       "class and byte order");
    is_u64(info->machine, 40, "machine");
    is_str(sym_cstr(info->arch), "arm", "... as Breakpad calls it");
    is_u64(info->image_base, 0x400000, "page of the first PT_LOAD");
    ok(info->has_code && !info->has_debug_info && !info->has_symbols
           && !info->has_unwind_info,
       "its contents");

    is_status(sym_elf_section(o.elf, ".debug_line", &bytes, &o.err), SYM_OK,
              &o.err, ".debug_line");
    is_str(bytes, "line", "... its bytes");
    is_status(sym_elf_section(o.elf, ".bss", &bytes, &o.err), SYM_NOT_FOUND,
              &o.err, "a section without bytes is not found");
    is_status(sym_elf_section(o.elf, ".debug_info", &bytes, &o.err),
              SYM_NOT_FOUND, &o.err, "nor is one that does not exist");
    ok(o.err.status == SYM_OK && bytes.data == NULL, "... no failure");
    close_file(&o);

    f.has_large_numbers = true;
    o = open_file(&f, &plenty);
    ok(o.elf != NULL, "numbers in section 0");
    if (o.elf != NULL) {
        is_status(sym_elf_section(o.elf, ".debug_line", &bytes, &o.err), SYM_OK,
                  &o.err, "... sections");
        is_u64(sym_elf_info(o.elf)->image_base, 0x400000, "... segments");
    }
    close_file(&o);

    /* cut anywhere it is refused, or lacks what was cut; nothing past its
     *     end is read (ASan) */
    f.has_large_numbers = false;
    o = open_file(&f, &plenty);
    for (size_t len = 0; len < o.file.len; len++) {
        uint8_t *cut = malloc(len + (len == 0));
        sym_error_t err = { 0 };
        sym_elf_t *e;

        if (cut == NULL) {
            abort();
        }
        memcpy(cut, o.file.data, len);
        e = sym_elf_open(cut, len, &plenty, &err);
        if (e != NULL) {
            ok(false, "cut after %zu bytes is refused", len);
        }
        sym_elf_close(e);
        free(cut);
    }
    close_file(&o);
}


/* --- packed sections --- */

static char plain[3000];

static void
fill_plain(void)
{
    for (size_t i = 0; i < sizeof(plain); i++) {
        plain[i] = (char) ('a' + (i * i) % 23);
    }
}


static kit_bytes_t
pack_zlib(void)
{
    uLongf len = compressBound(sizeof(plain));
    kit_bytes_t b = { malloc(len), 0, false, false };

    if (b.data == NULL
        || compress(b.data, &len, (const Bytef *) plain, sizeof(plain)) != Z_OK)
    {
        abort();
    }
    b.len = len;
    return b;
}


static kit_bytes_t
pack_zstd(void)
{
    size_t room = ZSTD_compressBound(sizeof(plain));
    kit_bytes_t b = { malloc(room), 0, false, false };

    b.len = ZSTD_compress(b.data, room, plain, sizeof(plain), 3);
    if (ZSTD_isError(b.len)) {
        abort();
    }
    return b;
}


/* Elf32_Chdr or Elf64_Chdr, then the packed bytes. */
static kit_bytes_t
compressed_section(bool is_64bit, bool is_big_endian, uint32_t method,
                   uint64_t size, const kit_bytes_t *packed)
{
    kit_bytes_t b = { NULL, 0, is_64bit, is_big_endian };

    kit_number(&b, method, 4);
    if (is_64bit) {
        kit_number(&b, 0, 4);
    }
    kit_word(&b, size);
    kit_word(&b, 1);
    kit_text(&b, kit_view(packed));
    return b;
}


/* ".zdebug_": ZLIB and eight bytes, big endian in every file. */
static kit_bytes_t
old_section(uint64_t size, const kit_bytes_t *packed)
{
    kit_bytes_t b = { NULL, 0, true, true };

    kit_text(&b, SYM_STR("ZLIB"));
    kit_number(&b, size, 8);
    kit_text(&b, kit_view(packed));
    return b;
}


/* error: the beginning of the message; where zlib notices is zlib's affair. */
static void
is_packed(bool is_64bit, bool is_big_endian, const kit_section_t *section,
          const char *error, const char *name)
{
    opened_t o = open_sections(is_64bit, is_big_endian, section, 1);
    sym_str_t bytes = { NULL, 0 }, again = { NULL, 0 };
    char text[256];

    if (o.elf == NULL) {
        ok(false, "%s: opened", name);
        close_file(&o);
        return;
    }

    (void) sym_elf_section(o.elf, ".debug_str", &bytes, &o.err);

    if (error == NULL) {
        ok(bytes.len == sizeof(plain)
               && memcmp(bytes.data, plain, sizeof(plain)) == 0,
           "%s: unpacked", name);
        (void) sym_elf_section(o.elf, ".debug_str", &again, &o.err);
        ok(again.data == bytes.data, "... once");
    } else {
        (void) sym_error_text(&o.err, text, sizeof(text));
        if (!ok(sym_str_starts(sym_cstr(text), sym_cstr(error)), "%s", name)) {
            printf("#   got '%s', want '%s'\n", text, error);
        }
    }

    close_file(&o);
}


static void
is_unpacked(kit_bytes_t bytes, bool is_64bit, bool is_big_endian,
            const char *section, const char *error, const char *name)
{
    kit_section_t s = { .name = section,
                        .type = PROGBITS,
                        .flags = section[1] == 'z' ? 0 : COMPRESSED,
                        .bytes = kit_view(&bytes) };

    is_packed(is_64bit, is_big_endian, &s, error, name);
    free(bytes.data);
}


#define CHDR(is_64bit, is_big, method, size, packed)                           \
    compressed_section(is_64bit, is_big, method, size, packed), is_64bit,      \
        is_big, ".debug_str"
#define OLD(size, packed) old_section(size, packed), true, false, ".zdebug_str"

static void
test_packed(void)
{
    const size_t n = sizeof(plain);
    kit_bytes_t zlib = pack_zlib(), zstd = pack_zstd(), cut;

    for (unsigned form = 0; form < 4; form++) {
        bool is_64bit = form & 1, is_big = form & 2;

        is_unpacked(CHDR(is_64bit, is_big, 1, n, &zlib), NULL, "zlib");
        is_unpacked(CHDR(is_64bit, is_big, 2, n, &zstd), NULL, "zstd");
    }
    is_unpacked(OLD(n, &zlib), NULL, "old form");

    is_unpacked(CHDR(true, false, 1, n - 1, &zlib),
                "malformed: unpacks to another size than it announces "
                "(.debug_str, byte ",
                "zlib: more than announced");
    is_unpacked(CHDR(true, false, 1, n + 1, &zlib),
                "malformed: unpacks to another size than it announces "
                "(.debug_str, byte ",
                "zlib: less than announced");
    is_unpacked(CHDR(true, false, 2, n - 1, &zstd),
                "malformed: unpacks to another size than it announces "
                "(.debug_str, byte 24)",
                "zstd: more than announced");
    is_unpacked(CHDR(true, false, 2, n + 1, &zstd),
                "malformed: unpacks to another size than it announces "
                "(.debug_str, byte 24)",
                "zstd: less than announced");
    is_unpacked(CHDR(true, false, 3, n, &zlib),
                "unsupported: packed neither with zlib nor with zstd "
                "(.debug_str, byte 0)",
                "another method");
    is_unpacked(CHDR(true, false, 1, (uint64_t) 1 << 60, &zlib),
                "malformed: announces more than zlib could pack (.debug_str, "
                "byte 0)",
                "a size out of this world");
    is_unpacked(CHDR(true, false, 2, (1 << 20) + 1, &zstd),
                "over a limit: unpacked sections are larger than allowed "
                "(.debug_str, byte 0)",
                "a byte over the limit");
    is_unpacked(OLD(UINT64_MAX, &zlib),
                "malformed: announces more than zlib could pack (.debug_str, "
                "byte 0)",
                "old form: a size out of this world");

    cut = zlib;
    cut.len -= 5;
    is_unpacked(CHDR(true, false, 1, n, &cut),
                "truncated: packed bytes end early (.debug_str, byte ",
                "zlib: cut");
    cut = zstd;
    cut.len -= 5;
    is_unpacked(CHDR(true, false, 2, n, &cut),
                "truncated: packed bytes end early (.debug_str, byte 24)",
                "zstd: cut");
    cut = (kit_bytes_t){ .len = 0 };
    is_unpacked(compressed_section(false, false, 1, n, &cut), true, false,
                ".debug_str",
                "truncated: number runs past its container (.debug_str, byte "
                "8)",
                "half a header");

    zlib.data[10] ^= 0xff;
    is_unpacked(CHDR(true, false, 1, n, &zlib),
                "malformed: packed bytes are damaged (.debug_str, byte ",
                "zlib: damaged");
    zstd.data[3] ^= 0xff;
    is_unpacked(CHDR(true, false, 2, n, &zstd),
                "malformed: packed bytes are damaged (.debug_str, byte 24)",
                "zstd: damaged");
    free(zlib.data);
    free(zstd.data);
}


static void
test_old_plain(void)
{
    kit_section_t s = { ".zdebug_str", PROGBITS, 0, 0, { plain, 3000 }, 0, 0 };

    is_packed(true, false, &s, NULL, "an old section without magic is plain");
}


/* --- ids --- */

/* Output of readelf for the section .note.gnu.build-id: sizes, type, "GNU". */
static kit_bytes_t
note(bool is_big_endian, const char *owner, uint32_t type, sym_str_t id)
{
    kit_bytes_t b = { NULL, 0, true, is_big_endian };

    kit_number(&b, strlen(owner) + 1, 4);
    kit_number(&b, id.len, 4);
    kit_number(&b, type, 4);
    kit_text(&b, sym_str(owner, strlen(owner) + 1));
    kit_text(&b, sym_str("\0\0\0", (4 - (strlen(owner) + 1) % 4) % 4));
    kit_text(&b, id);
    return b;
}


static void
is_debug_id(opened_t *o, const char *want, const char *name)
{
    char id[SYM_ELF_DEBUG_ID_LEN] = { 0 };

    if (o->elf == NULL) {
        ok(false, "%s: opened", name);
    } else if (want == NULL) {
        is_status(sym_elf_debug_id(o->elf, id), SYM_NOT_FOUND, &o->err, name);
    } else {
        (void) sym_elf_debug_id(o->elf, id);
        is_str(sym_str(id, sizeof(id)), want, name);
    }

    close_file(o);
}


#define ID_20                                                                  \
    SYM_STR("\x01\x23\x45\x67\x89\xab\xcd\xef\x10\x11\x12\x13\x14\x15\x16\x17" \
            "\xf0\xf1\xf2\xf3")

static void
test_ids(void)
{
    kit_bytes_t little = note(false, "GNU", 3, ID_20);
    kit_bytes_t big = note(true, "GNU", 3, ID_20);
    kit_bytes_t two = note(false, "Xen", 3, SYM_STR("12345678"));
    kit_bytes_t text = { NULL, 0, true, false };
    kit_section_t s = { ".notes", NOTE, 2, 0, kit_view(&little), 0, 0 };
    kit_segment_t p = { PT_NOTE, 0, 1 };
    kit_elf_t f = { true, false, DYN, X86_64, &s, 1, &p, 1, false };
    opened_t o;

    o = open_sections(true, false, &s, 1);
    is_debug_id(&o, "67452301AB89EFCD10111213141516170",
                "little endian: three fields are swapped");

    s.bytes = kit_view(&big);
    o = open_sections(false, true, &s, 1);
    is_debug_id(&o, "0123456789ABCDEF10111213141516170",
                "big endian: as it stands");

    s.bytes = kit_view(&little);
    s.type = PROGBITS;
    o = open_file(&f, &plenty);
    is_debug_id(&o, "67452301AB89EFCD10111213141516170", "from a segment");
    s.type = NOTE;

    kit_text(&two, kit_view(&little));
    s.bytes = kit_view(&two);
    o = open_sections(true, false, &s, 1);
    is_debug_id(&o, "67452301AB89EFCD10111213141516170",
                "another owner's note of type 3 is ignored");

    free(two.data);
    two = note(false, "GNU", 3, SYM_STR("\x01\x02\x03\x04\x05\x06\x07\x08"));
    s.bytes = kit_view(&two);
    o = open_sections(true, false, &s, 1);
    is_debug_id(&o,
                "04030201060508070000000000000000"
                "0",
                "8 bytes are filled with zeros");

    /* sixteen bytes of .text, and its first two again */
    kit_text(&text, ID_20);
    text.len = 18;
    text.data[16] = 0x01;
    text.data[17] = 0xff;
    s = (kit_section_t){ ".text", PROGBITS, 6, 0, kit_view(&text), 0, 0 };
    o = open_sections(true, false, &s, 1);
    is_debug_id(&o, "6745DC00AB89EFCD10111213141516170",
                "no build id: .text, folded");

    s.type = NOBITS;
    s.size = 4096;
    s.bytes.len = 0;
    o = open_sections(true, false, &s, 1);
    is_debug_id(&o, NULL, "neither build id nor .text");

    free(little.data);
    free(big.data);
    free(two.data);
    free(text.data);
}


static void
test_code_id(void)
{
    char out[2 * SYM_BUILD_ID_MAX];
    size_t len = sym_elf_code_id(ID_20, out);

    is_str(sym_str(out, len), "0123456789abcdef1011121314151617f0f1f2f3",
           "code id");
}


/* --- links --- */

typedef sym_status_t (*read_link_pt)(sym_elf_t *e, sym_error_t *err);
static sym_debuglink_t debuglink;
static sym_elf_altlink_t altlink;

static sym_status_t
read_debuglink(sym_elf_t *e, sym_error_t *err)
{
    return sym_elf_debuglink(e, &debuglink, err);
}


static sym_status_t
read_altlink(sym_elf_t *e, sym_error_t *err)
{
    return sym_elf_altlink(e, &altlink, err);
}


/* check: called while the file is open. */
static void
link_gives(read_link_pt read, bool is_big, const char *section, sym_str_t bytes,
           const char *want, void (*check)(void))
{
    kit_section_t s = { section, PROGBITS, 0, 0, bytes, 0, 0 };
    opened_t o = open_sections(true, is_big, &s, 1);
    char text[256];
    sym_status_t rc;

    if (o.elf == NULL) {
        ok(false, "opened");
        close_file(&o);
        return;
    }

    rc = read(o.elf, &o.err);
    is_str(sym_cstr(rc == SYM_NOT_FOUND
                        ? "not found"
                        : sym_error_text(&o.err, text, sizeof(text))),
           want, section);
    if (check != NULL) {
        check();
    }
    close_file(&o);
}


static void
check_debuglink(void)
{
    is_str(debuglink.name, "ab.debug", "... name");
    is_u64(debuglink.crc, 0x01020304, "... CRC");
}


static void
check_altlink(void)
{
    is_str(altlink.name, "../x.alt", "... name");
    is_str(altlink.id, "12345", "... id");
}


static void
test_links(void)
{
    link_gives(read_debuglink, false, ".gnu_debuglink",
               SYM_STR("ab.debug\0\0\0\0\x04\x03\x02\x01"), "ok",
               check_debuglink);
    link_gives(read_debuglink, true, ".gnu_debuglink",
               SYM_STR("ab.debug\0\0\0\0\x01\x02\x03\x04"), "ok",
               check_debuglink);
    link_gives(read_debuglink, false, ".gnu_debuglink",
               SYM_STR("abc\0\x04\x03\x02"),
               "truncated: number runs past its container (.gnu_debuglink, "
               "byte 4)",
               NULL);
    link_gives(read_debuglink, false, ".gnu_debuglink", SYM_STR("abc"),
               "malformed: file name does not end (.gnu_debuglink, byte 0)",
               NULL);
    link_gives(read_debuglink, false, ".gnu_debuglink",
               SYM_STR("\0\0\0\0\x04\x03\x02\x01"),
               "malformed: file name is empty (.gnu_debuglink, byte 0)", NULL);
    link_gives(read_debuglink, false, ".text", SYM_STR("x"), "not found", NULL);

    link_gives(read_altlink, false, ".gnu_debugaltlink",
               SYM_STR("../x.alt\0"
                       "12345"),
               "ok", check_altlink);
    link_gives(read_altlink, false, ".gnu_debugaltlink", SYM_STR("../x.alt\0"),
               "malformed: id is empty, or over 64 bytes (.gnu_debugaltlink, "
               "byte 9)",
               NULL);
    link_gives(read_altlink, true, ".debug_sup",
               SYM_STR("\0\5\0../x.alt\0\5"
                       "12345"),
               "ok", check_altlink);
    link_gives(read_altlink, false, ".debug_sup",
               SYM_STR("\5\0\1\0\5"
                       "12345"),
               "not found", NULL);
    link_gives(read_altlink, false, ".debug_sup",
               SYM_STR("\6\0\0a\0\1"
                       "1"),
               "unsupported: unknown version (.debug_sup, byte 0)", NULL);
    link_gives(read_altlink, false, ".debug_sup",
               SYM_STR("\5\0\0a\0\5"
                       "1"),
               "truncated: bytes run past their container (.debug_sup, byte 6)",
               NULL);
}


/* The check value of CRC-32/ISO-HDLC in the catalogue of CRC algorithms. */
static void
test_crc(void)
{
    const uint8_t *digits = (const uint8_t *) "123456789";

    is_u64(sym_debuglink_crc(0, digits, 9), 0xcbf43926, "CRC-32");
    is_u64(sym_debuglink_crc(sym_debuglink_crc(0, digits, 4), digits + 4, 5),
           0xcbf43926, "... in pieces");
}


/* --- refused --- */

static void
test_types(void)
{
    const sym_elf_options_t part = { .unpacked_max = 1, .is_part = true };
    kit_section_t s = { ".debug_info.dwo", PROGBITS, 0, 0, { "d", 1 }, 0, 0 };
    kit_elf_t f = { true, false, 1, X86_64, &s, 1, NULL, 0, false };
    opened_t o = open_file(&f, &plenty);

    is_refused(
        &o, "unsupported: relocatable file (kernel module, object "
            "file, or dwz's): its addresses are settled when it is loaded or "
            "linked (ELF header, byte 16)");

    o = open_file(&f, &part);
    ok(o.elf != NULL, "as a part of another file it is accepted");
    close_file(&o);

    f.type = 4;
    o = open_file(&f, &part);
    is_refused(&o, "unsupported: core dump: holds no symbols (ELF header, "
                   "byte 16)");

    f.type = 0xfe00;
    o = open_file(&f, &plenty);
    is_refused(&o, "unsupported: neither executable nor shared library (ELF "
                   "header, byte 16)");
}


/* --- several packed sections at once --- */

static void
is_plain(sym_elf_t *elf, const char *name)
{
    sym_error_t err = { 0 };
    sym_str_t bytes;

    ok(sym_elf_section(elf, name, &bytes, &err) == SYM_OK
           && sym_str_eq(bytes, sym_str((const char *) plain, sizeof(plain))),
       "%s, unpacked with others", name);
}


static void
test_batch(void)
{
    const char *const names[] = { ".debug_info", ".debug_line", ".debug_none",
                                  ".debug_str" };
    const size_t n = sizeof(plain);
    thread_pool_t two = { .n = 2 };
    const sym_thread_pool_t pool = { run, &two };
    kit_bytes_t zlib = pack_zlib(), zstd = pack_zstd();
    kit_bytes_t info = compressed_section(true, false, 1, n, &zlib);
    kit_bytes_t str = compressed_section(true, false, 2, n, &zstd);
    kit_section_t s[] = {
        { ".debug_info", PROGBITS, COMPRESSED, .bytes = kit_view(&info) },
        { ".debug_line", PROGBITS, 0, .bytes = { (char *) plain, n } },
        { ".debug_str", PROGBITS, COMPRESSED, .bytes = kit_view(&str) },
    };
    opened_t o = open_sections(true, false, s, 3);

    ok(sym_elf_unpack(o.elf, names, 4, &pool, &o.err) == SYM_OK
           && two.runs == 1,
       "a pool unpacks two of three sections");
    for (size_t i = 0; i < 3; i++) {
        is_plain(o.elf, s[i].name);
    }
    ok(sym_elf_unpack(o.elf, names, 4, &pool, &o.err) == SYM_OK
           && two.runs == 1,
       "... once");
    close_file(&o);

    str.data[24] ^= 0x55; /* after the header: zstd's magic */
    o = open_sections(true, false, s, 3);
    ok(sym_elf_unpack(o.elf, names, 4, NULL, &o.err) == SYM_MALFORMED
           && strcmp(o.err.section, ".debug_str") == 0,
       "one of them is damaged");
    close_file(&o);

    free(info.data);
    free(str.data);
    free(zlib.data);
    free(zstd.data);
}


int
main(void)
{
    fill_plain();
    for (unsigned form = 0; form < 4; form++) {
        test_form(form & 1, form & 2);
    }
    test_packed();
    test_old_plain();
    test_batch();
    test_ids();
    test_code_id();
    test_links();
    test_crc();
    test_types();
    return done_testing();
}
