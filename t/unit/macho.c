/*
 * The reader of Mach-O files, with files made here; t/macho.t reads real ones.
 * Expected results follow from Apple's headers and docs/use/atos.md.
 */
#include <zlib.h>

#include "formats/macho/arch.h"
#include "formats/macho/bundle.h"
#include "macho_kit.h"

#define CODE 0x80000400u
#define X86_64 0x01000007u
#define ARM 12u
#define ARM64 0x0100000cu
#define EXECUTE 2
#define DSYM 10

/* Offset of the image in the kit's file. */
#define BASE 0x4000u


/* One file with code, symbols, starts and DWARF, of any width and order. */
static void
make_file(kit_t *k, uint32_t cpu)
{
    static const char names[] = "\0_main\0__ZN1a1bEv\0-[A b:]\0nounder\0_x";
    static const uint8_t starts[] = { 0x80, 0x01, 0x20, 0x20, 0 };
    size_t at, code, info, offs, symtab, fstarts;

    kit_header(k, cpu, 0, EXECUTE);
    at = kit_segment(k, "__PAGEZERO", 0, BASE, 0, 0, 0);
    kit_end(k, at);
    at = kit_segment(k, "__TEXT", BASE, 0x1000, 0, 0x1000, 2);
    code = kit_section(k, "__TEXT", "__text", BASE + 0x80, 0x100, CODE);
    (void) kit_section(k, "__TEXT", "__const", BASE + 0x180, 0x20, 0);
    kit_end(k, at);
    at = kit_segment(k, "__DWARF", 0x9000, 0x1000, 0, 0, 2);
    info = kit_section(k, "__DWARF", "__debug_info", 0x9000, 4, 0x02000000);
    offs = kit_section(k, "__DWARF", "__debug_str_offs", 0x9004, 3, 0);
    kit_end(k, at);
    kit_uuid(k);
    symtab = kit_symtab(k);
    fstarts = kit_command(k, 0x26);
    kit_put(k, 0, 8);
    kit_end(k, fstarts);

    kit_number(k, code, kit_bytes(k, "code", 4), 4);
    kit_number(k, info, kit_bytes(k, "INFO", 4), 4);
    kit_number(k, offs, kit_bytes(k, "OFF", 3), 4);

    kit_number(k, symtab, k->len - k->start, 4);
    kit_number(k, symtab + 4, 11, 4);
    kit_nlist(k, 18, 0x0e, 1, 0, BASE + 0xd0);  /* -[A b:], after a start */
    kit_nlist(k, 1, 0x0f, 1, 0, BASE + 0x80);   /* _main */
    kit_nlist(k, 7, 0x0e, 1, 0, BASE + 0x80);   /* the same, not external */
    kit_nlist(k, 7, 0x0e, 1, 0, BASE + 0x90);   /* __ZN1a1bEv */
    kit_nlist(k, 26, 0x24, 1, 0, BASE + 0x98);  /* N_FUN */
    kit_nlist(k, 26, 0x01, 0, 0, 0);            /* undefined */
    kit_nlist(k, 26, 0x03, 0, 0, BASE + 0x98);  /* absolute */
    kit_nlist(k, 26, 0x0f, 2, 0, BASE + 0x180); /* data */
    kit_nlist(k, 34, 0x0f, 1, 0, BASE);         /* __mh_execute_header */
    kit_nlist(k, 34, 0x0f, 1, 0, 0x100);        /* below the image base */
    kit_nlist(k, 34, 0x0f, 9, 0, BASE + 0x99);  /* no such section */
    kit_number(k, symtab + 8, kit_bytes(k, names, sizeof(names)), 4);
    kit_number(k, symtab + 12, sizeof(names), 4);
    kit_number(k, fstarts + 8, kit_bytes(k, starts, sizeof(starts)), 4);
    kit_number(k, fstarts + 12, sizeof(starts), 4);
}


static void
check_section(sym_macho_t *m, const char *name, const char *want)
{
    sym_error_t err = { 0 };
    sym_str_t bytes = { NULL, 0 };

    is_status(sym_macho_section(m, name, &bytes, &err),
              want != NULL ? SYM_OK : SYM_NOT_FOUND, &err, name);
    if (want != NULL) {
        is_str(bytes, want, "... its bytes");
    } else {
        ok(err.status == SYM_OK, "... is no failure");
    }
}


static void
check_symbol(const sym_macho_symbols_t *s, size_t i, uint64_t addr,
             uint64_t size, const char *name)
{
    if (ok(i < s->n, "there is symbol %zu", i)) {
        is_u64(s->symbols[i].addr, addr, "... its address");
        is_u64(s->symbols[i].size, size, "... its size");
        is_str(s->symbols[i].name, name, "... its name");
    }
}


static void
check_file(const kit_t *k, size_t i, const char *arch)
{
    sym_error_t err = { 0 };
    uint8_t *copy;
    sym_macho_t *m = kit_open(k, i, &copy, &err);
    sym_macho_symbols_t s;
    char id[SYM_ID_MAX];

    if (!is_status(err.status, SYM_OK, &err, arch)) {
        free(copy);
        return;
    }

    is_str(sym_cstr(sym_macho_info(m)->arch), arch, "architecture");
    is_u64(sym_macho_info(m)->image_base, BASE, "image base");
    is_u64(sym_macho_info(m)->image_size, 0x1000, "image size");
    is_str(sym_str(id, sym_macho_debug_id(m, id)),
           "A0A1A2A3A4A5A6A7A8A9AAABACADAEAF0", "debug id");
    is_str(sym_str(id, sym_macho_code_id(m, id)),
           "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf", "code id");
    check_section(m, "__debug_info", "INFO");
    check_section(m, ".debug_info", "INFO");
    check_section(m, ".debug_str_offsets", "OFF");
    check_section(m, ".debug_line", NULL);
    check_section(m, "__const", NULL);

    is_status(sym_macho_symbols(m, &s, &err), SYM_OK, &err, "symbols");
    is_u64(s.n, 3, "... three of them");
    is_u64(s.n_skipped, 1, "... one is outside all sections");
    check_symbol(&s, 0, 0x80, 0x10, "main");
    check_symbol(&s, 1, 0x90, 0x10, "_ZN1a1bEv"); /* to the start at 0xa0 */
    check_symbol(&s, 2, 0xd0, 0xb0, "-[A b:]");   /* to the section's end */
    ok(s.n == 3 && s.symbols[0].is_external && !s.symbols[1].is_external,
       "external, local");

    sym_macho_close(m);
    free(copy);
}


static void
test_thin(void)
{
    for (unsigned i = 0; i < 4; i++) {
        kit_t k = { .is_64bit = (i & 1) != 0, .is_big_endian = (i & 2) != 0 };

        make_file(&k, k.is_64bit ? X86_64 : 7);
        check_file(&k, 0, k.is_64bit ? "x86_64" : "x86");
    }
}


/* Two slices after a fat header; errors count from the start of the file. */
static void
make_fat(kit_t *k, bool is_64bit)
{
    size_t entry = is_64bit ? 32 : 20;

    k->is_64bit = true;
    k->is_big_endian = true;
    kit_u32(k, is_64bit ? 0xcafebabf : 0xcafebabe);
    kit_u32(k, 2);
    k->len = 128;

    for (size_t i = 0; i < 2; i++) {
        uint32_t cpu = i == 0 ? X86_64 : ARM64;
        size_t at = 8 + entry * i;

        k->is_big_endian = false;
        make_file(k, cpu);
        k->is_big_endian = true;
        kit_number(k, at, cpu, 4);
        kit_number(k, at + 4, i == 0 ? 3 : 2, 4);
        kit_number(k, at + 8, k->start, is_64bit ? 8 : 4);
        kit_number(k, at + (is_64bit ? 16 : 12), k->len - k->start,
                   is_64bit ? 8 : 4);
    }
}


static void
test_fat(void)
{
    for (unsigned i = 0; i < 2; i++) {
        kit_t k = { 0 };
        sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX];
        sym_error_t err = { 0 };
        size_t n;

        make_fat(&k, i == 1);
        is_status(sym_macho_slices(k.data, k.len, slices, &n, &err), SYM_OK,
                  &err, "fat");
        is_u64(n, 2, "... two slices");
        is_u64(slices[0].offset, 128, "... the first one's offset");
        is_str(sym_cstr(slices[1].arch), "arm64e", "... the second's name");
        check_file(&k, 0, "x86_64");
        check_file(&k, 1, "arm64");
    }
}


/* <mach-o/fat.h> has the same magic as a Java class file (JVM spec, 4.1). */
static void
test_magic(void)
{
    static const uint8_t java[] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52 };
    static const uint8_t fat[] = { 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 1 };
    static const uint8_t elf[] = "\177ELF\2\1\1";

    ok(sym_macho_is(fat, sizeof(fat)), "a fat file");
    ok(!sym_macho_is(java, sizeof(java)), "a Java class is not Mach-O");
    ok(!sym_macho_is(elf, sizeof(elf)), "ELF is not Mach-O");
    ok(!sym_macho_is(fat, 3), "three bytes are not Mach-O");
    ok(!sym_macho_is(fat, 4), "a fat file has a slice count");
}


/* A dSYM: its code is in another file, and an offset has lost its upper 32
 * bits. */
static void
test_dsym(void)
{
    kit_t k = { .is_64bit = true };
    sym_error_t err = { 0 };
    uint8_t *copy;
    size_t at, far, near;
    sym_macho_t *m;
    sym_str_t bytes;

    kit_header(&k, ARM64, 0, DSYM);
    at = kit_segment(&k, "__TEXT", 0x100000000, 0x4000, 0, 0, 1);
    (void) kit_section(&k, "__TEXT", "__text", 0x100001000, 0x100, CODE);
    kit_end(&k, at);
    at = kit_segment(&k, "__DWARF", 0x200000000, 0x200000000, 0x1000,
                     0x200000000, 2);
    near = kit_section(&k, "__DWARF", "__debug_info", 0x200000000, 4, 0);
    far = kit_section(&k, "__DWARF", "__debug_line", 0x300000000, 4, 0);
    kit_end(&k, at);
    k.len = 0x1000;
    (void) kit_bytes(&k, "INFO", 4);
    kit_number(&k, near, 0x1000, 4);
    kit_number(&k, far, 0x1000, 4); /* of 0x100001000 */

    m = kit_open(&k, 0, &copy, &err);
    if (is_status(err.status, SYM_OK, &err, "dSYM")) {
        ok(sym_macho_info(m)->is_dsym, "... is one");
        ok(!sym_macho_info(m)->has_code, "... has no code");
        ok(sym_macho_info(m)->has_debug_info, "... has DWARF");
        is_u64(sym_macho_debug_id(m, (char[SYM_ID_MAX]){ 0 }), 0, "... no id");
        check_section(m, "__text", NULL);
        check_section(m, ".debug_info", "INFO");
        is_status(sym_macho_section(m, ".debug_line", &bytes, &err),
                  SYM_TRUNCATED, &err, "... a section past 4 GiB is not found");
        sym_macho_close(m);
    }
    free(copy);
}


/* "ZLIB", length, zlib data: the form that Go's linker writes. */
static void
make_packed(kit_t *k, uint64_t claimed)
{
    uint8_t packed[128] = "ZLIB";
    uLongf len = sizeof(packed) - 12;
    size_t at, section;

    for (unsigned i = 0; i < 8; i++) {
        packed[4 + i] = (uint8_t) (claimed >> (56 - 8 * i));
    }
    if (compress(packed + 12, &len, (const Bytef *) "INFO INFO INFO", 14)
        != Z_OK) {
        abort();
    }

    kit_header(k, X86_64, 3, EXECUTE);
    at = kit_segment(k, "__DWARF", 0, 0, 0, 0, 1);
    section = kit_section(k, "__DWARF", "__zdebug_info", 0, len + 12, 0);
    kit_end(k, at);
    kit_number(k, section, kit_bytes(k, packed, len + 12), 4);
}


static void
packed_fails(uint64_t claimed, sym_status_t want, const char *name)
{
    kit_t k = { .is_64bit = true };
    sym_error_t err = { 0 };
    uint8_t *copy;
    sym_macho_t *m;
    sym_str_t bytes;

    make_packed(&k, claimed);
    m = kit_open(&k, 0, &copy, &err);
    is_status(sym_macho_section(m, ".debug_info", &bytes, &err), want, &err,
              name);
    ok(err.offset >= 32 && err.offset <= k.len && err.section != NULL,
       "... says where");
    sym_macho_close(m);
    free(copy);
}


static void
test_packed(void)
{
    kit_t k = { .is_64bit = true };
    sym_error_t err = { 0 };
    uint8_t *copy;
    sym_macho_t *m;

    make_packed(&k, 14);
    m = kit_open(&k, 0, &copy, &err);
    ok(m != NULL && sym_macho_info(m)->has_debug_info, "packed DWARF");
    check_section(m, ".debug_info", "INFO INFO INFO");
    check_section(m, ".debug_info", "INFO INFO INFO");
    sym_macho_close(m);
    free(copy);

    packed_fails(13, SYM_MALFORMED, "more than announced");
    packed_fails(15, SYM_MALFORMED, "less than announced");
    packed_fails(1 << 20, SYM_MALFORMED, "a length that such data cannot have");
    packed_fails((1 << 20) + 1, SYM_LIMIT, "over the limit");
    packed_fails(UINT64_MAX, SYM_LIMIT, "the largest length");
}


/* cryptid says whether the segment is still encrypted. */
static void
encrypted(uint32_t cryptid, const char *want)
{
    kit_t k = { .is_64bit = true };
    sym_error_t err = { 0 };
    uint8_t *copy;
    size_t at, code, frames;
    sym_macho_t *m;

    kit_header(&k, ARM64, 0, EXECUTE);
    at = kit_segment(&k, "__TEXT", 0, 0x1000, 0, 0x1000, 2);
    code = kit_section(&k, "__TEXT", "__text", 0x800, 4, CODE);
    frames = kit_section(&k, "__TEXT", "__eh_frame", 0x804, 4, 0);
    kit_end(&k, at);
    at = kit_command(&k, 0x2c);
    kit_u32(&k, 0x800);
    kit_u32(&k, 4);
    kit_u32(&k, cryptid);
    kit_u32(&k, 0);
    kit_end(&k, at);
    k.len = 0x800;
    kit_number(&k, code, kit_bytes(&k, "code", 4), 4);
    kit_number(&k, frames, kit_bytes(&k, "ehfr", 4), 4);

    m = kit_open(&k, 0, &copy, &err);
    ok(m != NULL && sym_macho_info(m)->is_encrypted == (cryptid != 0),
       "encrypted: %u", cryptid);
    check_section(m, "__text", want);
    check_section(m, "__eh_frame", "ehfr");
    sym_macho_close(m);
    free(copy);
}


/* Thumb code: addresses are even, whatever its marker is. */
static void
test_thumb(void)
{
    static const uint8_t starts[] = { 0x81, 0x01, 0x10, 0 };
    kit_t k = { .is_64bit = false };
    sym_error_t err = { 0 };
    uint8_t *copy;
    size_t at, symtab, fstarts;
    sym_macho_t *m;
    sym_macho_symbols_t s;

    kit_header(&k, ARM, 9, EXECUTE);
    at = kit_segment(&k, "__TEXT", BASE, 0x1000, 0, 0x1000, 1);
    (void) kit_section(&k, "__TEXT", "__text", BASE + 0x80, 0x100, CODE);
    kit_end(&k, at);
    symtab = kit_symtab(&k);
    fstarts = kit_command(&k, 0x26);
    kit_put(&k, 0, 8);
    kit_end(&k, fstarts);
    kit_number(&k, symtab, k.len, 4);
    kit_number(&k, symtab + 4, 1, 4);
    kit_nlist(&k, 1, 0x0f, 1, 8, BASE + 0x81);
    kit_number(&k, symtab + 8, kit_bytes(&k, "\0_f", 4), 4);
    kit_number(&k, symtab + 12, 4, 4);
    kit_number(&k, fstarts + 8, kit_bytes(&k, starts, sizeof(starts)), 4);
    kit_number(&k, fstarts + 12, sizeof(starts), 4);

    m = kit_open(&k, 0, &copy, &err);
    if (is_status(err.status, SYM_OK, &err, "armv7")) {
        is_str(sym_cstr(sym_macho_info(m)->arch), "armv7", "... its name");
        is_status(sym_macho_symbols(m, &s, &err), SYM_OK, &err, "... symbols");
        check_symbol(&s, 0, 0x80, 0x10, "f");
        sym_macho_close(m);
    }
    free(copy);
}


/* Valid files without symbols to look up. */
static void
refused(uint32_t type, const char *section, const char *want)
{
    kit_t k = { .is_64bit = true };
    sym_error_t err = { 0 };
    char text[256];
    uint8_t *copy;
    size_t at;

    kit_header(&k, ARM64, 0, type);
    at = kit_segment(&k, "", 0, 0, 0, 0, 1);
    (void) kit_section(&k, "__LLVM", section, 0, 0, 0);
    kit_end(&k, at);
    ok(kit_open(&k, 0, &copy, &err) == NULL, "type %u", type);
    is_str(sym_cstr(sym_error_text(&err, text, sizeof(text))), want,
           "... says why");
    free(copy);
}


static void
test_refused(void)
{
    static const uint8_t bitcode[] = { 'B', 'C', 0xc0, 0xde, 0, 0, 0, 0 };
    const sym_macho_slice_t slice = { .size = sizeof(bitcode) };
    const sym_macho_options_t options = { 0 };
    sym_error_t err = { 0 };

    refused(1, "__text",
            "unsupported: object file: its addresses are settled when it is "
            "linked (Mach-O header, byte 12)");
    refused(1, "__bitcode",
            "unsupported: object file with bitcode: its addresses are settled "
            "when it is compiled and linked (Mach-O header, byte 12)");
    refused(4, "__text",
            "unsupported: core dump: holds no symbols (Mach-O header, byte "
            "12)");
    ok(sym_macho_open(bitcode, sizeof(bitcode), &slice, &options, &err) == NULL
           && err.status == SYM_UNSUPPORTED,
       "a slice of bitcode");
}


/* Every prefix of a file is refused or read; the sanitizers watch. */
static void
test_cut(void)
{
    kit_t k = { .is_64bit = true };
    size_t full, failed = 0, wrong = 0;

    make_file(&k, X86_64);
    full = k.len;

    for (k.len = 0; k.len < full; k.len++) {
        sym_error_t err = { 0 };
        sym_macho_symbols_t s;
        uint8_t *copy;
        sym_macho_t *m = kit_open(&k, 0, &copy, &err);

        if (m != NULL) {
            (void) sym_macho_symbols(m, &s, &err);
        }
        failed += err.status != SYM_OK;
        wrong += err.status != SYM_OK && err.offset > full;
        sym_macho_close(m);
        free(copy);
    }

    /* the function starts come last, and are optional */
    is_u64(failed, full - 5, "truncated files fail");
    is_u64(wrong, 0, "... and report the byte");
}


/* <mach/machine.h>; the names are Breakpad's. */
static void
test_arch(void)
{
    ok(strcmp(sym_macho_arch(7, 3), "x86") == 0, "x86");
    ok(strcmp(sym_macho_arch(X86_64, 0x80000003), "x86_64") == 0, "LIB64");
    ok(strcmp(sym_macho_arch(X86_64, 8), "x86_64h") == 0, "x86_64h");
    ok(strcmp(sym_macho_arch(ARM, 11), "armv7s") == 0, "armv7s");
    ok(strcmp(sym_macho_arch(ARM64, 0x80000002), "arm64e") == 0, "arm64e");
    ok(strcmp(sym_macho_arch(0x0200000c, 1), "arm64_32v8") == 0, "watch");
    ok(strcmp(sym_macho_arch(99, 0), "unknown") == 0, "unknown");
}


static void
folder_is(const char *path, const char *want)
{
    char out[64];
    size_t len = sym_dsym_folder(sym_cstr(path), out, sizeof(out));

    is_str(sym_str(out, len), want, path);
    ok(len == 0 || out[len] == '\0', "... ends with a NUL");
}


static void
test_bundle(void)
{
    char out[37];

    folder_is("a/b.dSYM", "a/b.dSYM/Contents/Resources/DWARF");
    folder_is("b.app.dSYM//", "b.app.dSYM/Contents/Resources/DWARF");
    folder_is("a/b.dsym.d", "");
    folder_is(".dSYM", "");
    folder_is("a/.dSYM", "");
    folder_is("", "");
    folder_is("a-name-so-long-that-the-buffer-cannot-hold-it.dSYM", "");
    is_u64(sym_dsym_folder(SYM_STR("abc.dSYM"), out, 33), 0, "no room");
    is_u64(sym_dsym_folder(SYM_STR("abc.dSYM"), out, 34), 33, "just room");
    ok(sym_dsym_takes(SYM_STR("crash")), "crash is read");
    ok(!sym_dsym_takes(SYM_STR("._crash")), "._crash is not");
    ok(!sym_dsym_takes(SYM_STR("..")), "nor is ..");
}


/* Paths as zip programs write them. */
static void
test_members(void)
{
    static const struct {
        const char *path;
        sym_dsym_member_t what;
    } rows[] = {
        { "a.dSYM/Contents/Resources/DWARF/a", SYM_DSYM_FILE },
        { "x/a.app.dSYM/Contents/Resources/DWARF/a", SYM_DSYM_FILE },
        { "a.dSYM/Contents/Resources/DWARF/", SYM_DSYM_BESIDES },
        { "a.dSYM/Contents/Resources/DWARF/._a", SYM_DSYM_BESIDES },
        { "a.dSYM/Contents/Resources/DWARF/b/a", SYM_DSYM_BESIDES },
        { "a.dSYM/Contents/Info.plist", SYM_DSYM_BESIDES },
        { "a.dSYM/", SYM_DSYM_BESIDES },
        { "__MACOSX/a.dSYM/Contents/Resources/DWARF/a", SYM_DSYM_BESIDES },
        { "__MACOSX/._a.sym", SYM_DSYM_BESIDES },
        { "._a.dSYM", SYM_DSYM_BESIDES },
        { "./._a.dSYM", SYM_DSYM_BESIDES },
        { "./._/a.sym", SYM_DSYM_NONE },
        { "a.dSYM", SYM_DSYM_NONE },
        { "Contents/Resources/DWARF/a", SYM_DSYM_NONE },
        { "a.sym", SYM_DSYM_NONE },
        { "", SYM_DSYM_NONE },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ok(sym_dsym_member(sym_cstr(rows[i].path)) == rows[i].what, "\"%s\"",
           rows[i].path);
    }
}


int
main(void)
{
    test_thin();
    test_fat();
    test_magic();
    test_dsym();
    test_packed();
    encrypted(0, "code");
    encrypted(1, NULL);
    test_thumb();
    test_refused();
    test_cut();
    test_arch();
    test_bundle();
    test_members();
    return done_testing();
}
