/*
 * Symbols of core/formats/elf from tables made by hand, some of them damaged.
 * Which symbols name code on which machine: t/elf_machines.t.
 */
#include "formats/elf/elf.h"

#include "elf_kit.h"
#include "tap.h"

#define PROGBITS 1
#define SYMTAB 2
#define STRTAB 3
#define DYNSYM 11
#define SHNDX 18
#define FUNC 2
#define EXEC 6 /* SHF_ALLOC, SHF_EXECINSTR */

static const sym_elf_options_t plenty = { .unpacked_max = 1 << 20 };

typedef struct {
    char text[512];
    size_t len;
    unsigned left; /* stop after this many symbols */
} listed_t;


static sym_status_t
list(void *ctx, const sym_elf_symbol_t *s, sym_error_t *err)
{
    listed_t *l = ctx;

    if (l->left-- == 0) {
        return sym_fail(err, SYM_FULL, "enough");
    }

    l->len += (size_t) snprintf(l->text + l->len, sizeof(l->text) - l->len,
                                "%" PRIx64 "+%" PRIx64 ":%.*s ", s->addr,
                                s->size, (int) s->name.len, s->name.data);
    return SYM_OK;
}


typedef struct {
    sym_status_t status;
    listed_t listed;
    sym_elf_symbol_stats_t stats;
    char why[256]; /* why a table was omitted */
} result_t;


static result_t
symbols_of(const kit_section_t *sections, size_t n, bool is_64bit,
           unsigned most)
{
    kit_elf_t f = { is_64bit, false, 3, 62, sections, n, NULL, 0, false };
    kit_bytes_t file = kit_elf(&f);
    result_t r = { .listed.left = most };
    sym_error_t err = { 0 };
    sym_elf_t *e = sym_elf_open(file.data, file.len, &plenty, &err);

    if (ok(e != NULL, "opened")) {
        r.status = sym_elf_symbols(e, list, &r.listed, &r.stats, &err);
        (void) sym_error_text(&r.stats.first_why, r.why, sizeof(r.why));
    }

    sym_elf_close(e);
    free(file.data);
    return r;
}


/* .text with two functions, the second of unknown size. */
static kit_bytes_t
two_symbols(bool is_64bit)
{
    kit_bytes_t b = { NULL, 0, is_64bit, false };

    kit_symbol(&b, 0, 0, 0, 0, 0);
    kit_symbol(&b, 5, FUNC, 1, 0x1020, 0);
    kit_symbol(&b, 1, FUNC, 1, 0x1010, 8);
    return b;
}


static void
test_good(bool is_64bit)
{
    kit_bytes_t table = two_symbols(is_64bit);
    kit_section_t sections[] = {
        { ".text",
          PROGBITS,
          EXEC,
          0x1000,
          { "0123456789abcdef0123456789abcdef"
            "0123456789",
            42 },
          0,
          0 },
        { ".symtab", SYMTAB, 0, 0, kit_view(&table), 0, 3 },
        { ".strtab", STRTAB, 0, 0, { "\0one\0two", 9 }, 0, 0 },
    };
    result_t r = symbols_of(sections, 3, is_64bit, 9);

    is_status(r.status, SYM_OK, NULL, "two symbols");
    is_str(sym_cstr(r.listed.text), "1010+8:one 1020+a:two ", "... sorted");
    ok(r.stats.tables == 1 && r.stats.symbols == 2 && r.stats.bad == 0
           && r.stats.broken == 0,
       "... counted");

    r = symbols_of(sections, 3, is_64bit, 1);
    is_status(r.status, SYM_FULL, NULL, "the callback can stop");
    is_str(sym_cstr(r.listed.text), "1010+8:one ", "... at once");

    r = symbols_of(sections, 1, is_64bit, 9);
    is_status(r.status, SYM_NOT_FOUND, NULL, "no table");

    /* tables that a stripped library keeps */
    sections[1].type = DYNSYM;
    r = symbols_of(sections, 3, is_64bit, 9);
    is_str(sym_cstr(r.listed.text), "1010+8:one 1020+a:two ", ".dynsym alone");
    free(table.data);
}


/* Suffixes added by the linker are removed, those of an assembler are kept. */
static void
test_versions(void)
{
    static const char names[] = "\0one@@V_1.2\0two@V_1\0..@2.loop\0@"
                                "\0main.@\"a b\".f\0f(@as(u8,1)).g"
                                "\0old@libf-1.so.2\0a@\"b\"@@V";
    kit_bytes_t table = { NULL, 0, true, false };
    kit_section_t sections[] = {
        { ".text", PROGBITS, EXEC, 0x1000, { "0123456789abcdefg", 17 }, 0, 0 },
        { ".symtab", SYMTAB, 0, 0, { NULL, 0 }, 0, 3 },
        { ".strtab", STRTAB, 0, 0, { names, sizeof(names) }, 0, 0 },
    };
    result_t r;

    kit_symbol(&table, 0, 0, 0, 0, 0);
    kit_symbol(&table, 1, FUNC, 1, 0x1000, 4);
    kit_symbol(&table, 12, FUNC, 1, 0x1004, 4);
    kit_symbol(&table, 20, FUNC, 1, 0x1008, 4);
    kit_symbol(&table, 30, FUNC, 1, 0x100c, 1);
    kit_symbol(&table, 32, FUNC, 1, 0x100d, 1);
    kit_symbol(&table, 46, FUNC, 1, 0x100e, 1);
    kit_symbol(&table, 61, FUNC, 1, 0x100f, 1);
    kit_symbol(&table, 77, FUNC, 1, 0x1010, 1);
    sections[1].bytes = kit_view(&table);

    r = symbols_of(sections, 3, true, 9);
    is_str(sym_cstr(r.listed.text),
           "1000+4:one 1004+4:two 1008+4:..@2.loop 100c+1:@ "
           "100d+1:main.@\"a b\".f 100e+1:f(@as(u8,1)).g 100f+1:old "
           "1010+1:a@\"b\" ",
           "versions of names");
    free(table.data);
}


/* An additional entry that must be skipped and counted. */
static void
is_bad(uint32_t name, uint16_t section, const char *what)
{
    kit_bytes_t table = two_symbols(true);
    kit_section_t sections[] = {
        { ".text",
          PROGBITS,
          EXEC,
          0x1000,
          { "0123456789abcdef0123456789abcdef"
            "0123456789",
            42 },
          0,
          0 },
        { ".symtab", SYMTAB, 0, 0, { NULL, 0 }, 0, 3 },
        { ".strtab", STRTAB, 0, 0, { "\0one\0two\0cut", 12 }, 0, 0 },
    };
    result_t r;

    kit_symbol(&table, name, FUNC, section, 0x1000, 1);
    sections[1].bytes = kit_view(&table);
    r = symbols_of(sections, 3, true, 9);
    is_str(sym_cstr(r.listed.text), "1010+8:one 1020+a:two ", what);
    is_u64(r.stats.bad, 1, "... is counted");
    free(table.data);
}


static void
test_shndx(void)
{
    kit_bytes_t table = { NULL, 0, true, false };
    kit_bytes_t indexes = { NULL, 0, true, false };
    kit_section_t sections[] = {
        { ".text", PROGBITS, EXEC, 0x1000, { "0123456789", 10 }, 0, 0 },
        { ".symtab", SYMTAB, 0, 0, { NULL, 0 }, 0, 3 },
        { ".strtab", STRTAB, 0, 0, { "\0one\0two", 9 }, 0, 0 },
        { ".symtab_shndx", SHNDX, 0, 0, { NULL, 0 }, 0, 2 },
    };
    result_t r;

    kit_symbol(&table, 1, FUNC, 0xffff, 0x1000, 4);
    kit_symbol(&table, 5, FUNC, 0xffff, 0x1004, 4);
    kit_number(&indexes, 1, 4);
    sections[1].bytes = kit_view(&table);
    sections[3].bytes = kit_view(&indexes);

    /* the second has no index */
    r = symbols_of(sections, 4, true, 9);
    is_str(sym_cstr(r.listed.text), "1000+4:one ", "section numbers beside");
    r = symbols_of(sections, 3, true, 9);
    is_str(sym_cstr(r.listed.text), "", "... without them");
    free(table.data);
    free(indexes.data);
}


/* The table is omitted, and the reason is reported. */
static void
is_broken(const kit_section_t *symtab, const kit_section_t *strtab,
          const char *why)
{
    kit_section_t sections[] = {
        { ".text", PROGBITS, EXEC, 0x1000, { "0123456789", 10 }, 0, 0 },
        *symtab,
        *strtab,
    };
    result_t r = symbols_of(sections, 3, true, 9);

    is_status(r.status, SYM_OK, NULL, "not a failure");
    ok(r.stats.broken == 1 && r.stats.tables == 0, "... left out");
    is_str(sym_cstr(r.why), why, "... with the reason");
}


static void
test_broken(void)
{
    kit_section_t symtab = { ".symtab", SYMTAB, 0, 0, { "x", 1 }, 0, 3 };
    kit_section_t strtab = { ".strtab", STRTAB, 0, 0, { "\0a", 3 }, 0, 0 };

    symtab.link = 0;
    is_broken(&symtab, &strtab,
              "malformed: its string table is missing (.symtab, byte 0)");
    symtab.link = 99;
    is_broken(&symtab, &strtab,
              "malformed: its string table is missing (.symtab, byte 0)");
    symtab.link = 1;
    is_broken(&symtab, &strtab,
              "malformed: its string table is missing (.symtab, byte 0)");
    symtab.link = 3;
    symtab.flags = 0x800;
    is_broken(&symtab, &strtab,
              "truncated: number runs past its container (.symtab, byte 0)");
}


int
main(void)
{
    test_good(true);
    test_good(false);
    test_versions();
    is_bad(99, 1, "a name past the end of the table");
    is_bad(9, 1, "a name that does not end");
    is_bad(1, 77, "a section that does not exist");
    test_shndx();
    test_broken();
    return done_testing();
}
