/*
 * The reader of PE files, with files made here; t/pe.t reads real ones.
 * Expected results follow from Microsoft's "PE Format" and, for .NET, from the
 * dotnet runtime's PE-COFF.md.
 */
#include <zlib.h>

#include "pe_kit.h"

#define AMD64 0x8664
#define DATA_RVA 0x2000u


/* A debug directory whose entries are at DATA_RVA, followed by the data. */
static void
put_debug(kit_t *k, uint32_t type, uint16_t minor, const void *bytes,
          size_t len)
{
    size_t from = k->len;

    kit_put(k, 0, 4);
    kit_put(k, 0xaadada8f, 4);
    kit_put(k, 0x100, 2);
    kit_put(k, minor, 2);
    kit_put(k, type, 4);
    kit_put(k, len, 4);
    kit_put(k, DATA_RVA + 28, 4);
    kit_put(k, k->len + 4, 4);
    kit_bytes(k, bytes, len);
    kit_section(k, ".rdata", DATA_RVA, from, KIT_DATA);
    kit_directory(k, 6, DATA_RVA, 28);
}


static void
debug_id_is(const kit_t *k, const char *want, const char *pdb_file,
            const char *name)
{
    char text[SYM_ID_TEXT_MAX];
    sym_error_t err;
    sym_debug_id_t id;
    sym_pe_codeview_t cv = { .pdb_file = { "", 0 } };
    uint8_t *copy;
    sym_pe_t *pe = kit_open(k, &copy, &err);

    if (ok(pe != NULL, "%s: opens", name)) {
        sym_pe_debug_id(pe, &id);
        is_str(sym_str(text, sym_debug_id_write_breakpad(&id, text)), want,
               name);
        ok(sym_pe_codeview(pe, &cv) == (*want != '\0'), "... CodeView");
        is_str(cv.pdb_file, pdb_file, "... name of the PDB");
    }

    sym_pe_close(pe);
    free(copy);
}


#define GUID "\xfb\xc5\x35\xf5\xe8\x2a\xb8\x4b\xaa\x20\x6c\x30\xbe\x56\x6c\x5a"

static void
test_ids(void)
{
    static const char rsds[] = "RSDS" GUID "\x01\0\0\0C:\\a b\\c.pdb";
    static const char nb10[] = "NB10\0\0\0\0\x77\x80\xb3\x5a\x02\0\0\0d.pdb";
    char code_id[SYM_ID_TEXT_MAX];
    sym_error_t err;
    uint8_t *copy;
    sym_pe_t *pe;
    kit_t k;

    kit_begin(&k, AMD64, false);
    debug_id_is(&k, "", "", "no debug directory");

    put_debug(&k, 2, 0, rsds, sizeof(rsds));
    debug_id_is(&k, "F535C5FB2AE84BB8AA206C30BE566C5A1", "C:\\a b\\c.pdb",
                "RSDS");

    pe = kit_open(&k, &copy, &err);
    is_str(sym_str(code_id, sym_pe_code_id(pe, code_id)), "5C9E09599000",
           "the code id");
    is_str(sym_cstr(sym_pe_info(pe)->arch), "x86_64", "the processor");
    is_u64(sym_pe_info(pe)->image_base, KIT_BASE, "the image base");
    sym_pe_close(pe);
    free(copy);

    kit_begin(&k, AMD64, false);
    put_debug(&k, 2, 0x504d, rsds, sizeof(rsds) - 1);
    debug_id_is(&k, "F535C5FB2AE84BB8AA206C30BE566C5AAADADA8F",
                "C:\\a b\\c.pdb", "a portable PDB: the time stamp for the age");

    kit_begin(&k, 0x14c, true);
    put_debug(&k, 2, 0, nb10, sizeof(nb10));
    debug_id_is(&k, "5AB380772", "d.pdb", "NB10, 32 bits");

    kit_begin(&k, AMD64, false);
    put_debug(&k, 2, 0, rsds, 23);
    debug_id_is(&k, "", "", "RSDS that ends before its age");
}


/* --- the embedded portable PDB --- */

static const char ppdb[] = "BSJB and what follows follows follows follows";

static size_t
pack(uint8_t out[256], uint32_t size)
{
    z_stream z = { .next_in = (Bytef *) (uintptr_t) ppdb,
                   .avail_in = sizeof(ppdb),
                   .next_out = out + 8,
                   .avail_out = 248 };

    memcpy(out, "MPDB", sizeof("MPDB"));
    for (size_t i = 0; i < 4; i++) {
        out[4 + i] = (uint8_t) (size >> (8 * i));
    }

    if (deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK
        || deflate(&z, Z_FINISH) != Z_STREAM_END)
    {
        abort();
    }

    deflateEnd(&z);
    return 8 + (size_t) (z.next_out - out - 8);
}


static void
embedded_is(uint8_t *packed, size_t len, sym_status_t want, const char *name)
{
    sym_str_t bytes = { 0 };
    sym_error_t err;
    uint8_t *copy;
    sym_pe_t *pe;
    kit_t k;

    kit_begin(&k, AMD64, false);
    if (len != 0) {
        put_debug(&k, 17, 0x100, packed, len);
    }

    pe = kit_open(&k, &copy, &err);
    is_u64(sym_pe_embedded(pe, &bytes, &err), want, name);
    is_u64(sym_pe_embedded(pe, &bytes, &err), want, "... asked twice");
    is_u64(err.status, want == SYM_NOT_FOUND ? SYM_OK : want, "... the error");

    if (want == SYM_OK) {
        ok(sym_str_eq(bytes, sym_str(ppdb, sizeof(ppdb))), "... its bytes");
    }

    sym_pe_close(pe);
    free(copy);
}


static void
test_embedded(void)
{
    uint8_t packed[256];
    size_t len = pack(packed, sizeof(ppdb));

    embedded_is(packed, len, SYM_OK, "an embedded portable PDB");
    embedded_is(packed, 0, SYM_NOT_FOUND, "none");
    embedded_is(packed, len - 3, SYM_TRUNCATED, "a short one");
    embedded_is(packed, 6, SYM_MALFORMED, "shorter than its header");

    len = pack(packed, sizeof(ppdb) - 1);
    embedded_is(packed, len, SYM_MALFORMED, "longer than it says");
    len = pack(packed, 0xfffff);
    embedded_is(packed, len, SYM_MALFORMED,
                "a size that too few bytes cannot give");
    len = pack(packed, 1 << 30);
    embedded_is(packed, len, SYM_LIMIT, "a size over the limit");
    packed[0] = 'B';
    embedded_is(packed, len, SYM_MALFORMED, "another signature");
}


/* --- symbols --- */

#define TEXT_RVA 0x1000u

typedef struct {
    char text[2048];
    size_t len;
} said_t;


static sym_status_t
say(void *ctx, const sym_pe_symbol_t *s, sym_error_t *err)
{
    said_t *said = ctx;

    (void) err;
    said->len += (size_t) snprintf(
        said->text + said->len, sizeof(said->text) - said->len,
        "%x+%x%s %.*s\n", s->rva, s->size, s->is_open ? "?" : "",
        (int) s->name.len, s->name.data);
    return SYM_OK;
}


static void
symbols_are(const kit_t *k, const char *want, const char *name)
{
    said_t said = { .len = 0 };
    sym_error_t err;
    uint8_t *copy;
    sym_pe_t *pe = kit_open(k, &copy, &err);

    ok(pe != NULL && sym_pe_symbols(pe, NULL, say, &said, &err) == SYM_OK,
       "%s: read", name);
    is_str(sym_str(said.text, said.len), want, name);
    sym_pe_close(pe);
    free(copy);
}


typedef struct {
    const char *name; /* NULL: only an ordinal */
    uint32_t rva;
} export_t;


/* An export table in a section of its own; names in the order of exports. */
static void
put_exports(kit_t *k, uint32_t rva, const export_t *exports, size_t n)
{
    size_t from = k->len, names, n_names = 0;
    uint32_t name_rva[16] = { 0 };

    for (size_t i = 0; i < n; i++) {
        if (exports[i].name != NULL) {
            name_rva[i] = rva + (uint32_t) (k->len - from);
            kit_bytes(k, exports[i].name, strlen(exports[i].name) + 1);
            n_names++;
        }
    }

    while (k->len % 4 != 0) {
        kit_put(k, 0, 1);
    }

    kit_directory(k, 0, rva + (uint32_t) (k->len - from), 0x100);
    names = k->len + 40;
    kit_put(k, 0, 16);
    kit_put(k, 7, 4); /* the first ordinal: the third table counts from 0 */
    kit_put(k, n, 4);
    kit_put(k, n_names, 4);
    kit_put(k, rva + (names - from) + 8 * n_names, 4);
    kit_put(k, rva + (names - from), 4);
    kit_put(k, rva + (names - from) + 4 * n_names, 4);

    for (size_t i = 0; i < n; i++) {
        if (exports[i].name != NULL) {
            kit_put(k, name_rva[i], 4);
        }
    }

    for (size_t i = 0; i < n; i++) {
        if (exports[i].name != NULL) {
            kit_put(k, i, 2);
        }
    }

    k->len = names + 8 * n_names;
    for (size_t i = 0; i < n; i++) {
        kit_put(k, exports[i].rva, 4);
    }

    kit_section(k, ".edata", rva, from, KIT_DATA);
}


static void
put_code(kit_t *k, size_t len)
{
    size_t from = k->len;

    for (size_t i = 0; i < len; i++) {
        kit_put(k, 0xcc, 1);
    }

    kit_section(k, ".text", TEXT_RVA, from, KIT_CODE);
}


static void
test_exports(void)
{
    static const export_t exports[] = {
        { "zeta", 0x1080 }, { "alpha", 0x1010 },   { NULL, 0x1040 },
        { "data", 0x2000 }, { "forward", 0x2010 }, { "alias", 0x1010 },
        { "out", 0x8000 },
    };
    size_t code = KIT_HEADERS;
    kit_t k;

    kit_begin(&k, 0x14c, true);
    put_code(&k, 0x100);
    put_exports(&k, 0x2000, exports, 7);
    symbols_are(&k,
                "1010+30? alias\n"
                "1080+80? zeta\n",
                "exports: data and forwarders are no code, ordinals end");

    kit_number(&k, k.directories + 136, 0, 4); /* VirtualSize */
    symbols_are(&k,
                "1010+30? alias\n"
                "1080+80? zeta\n",
                "a section of an old linker, which has only its size in the "
                "file");

    memcpy(k.data + code + 0x10, "\xff\x25\x00\x10\x40\x00", 6);
    memcpy(k.data + code + 0x80, "\xe9\x01\x00\x00\x00", 5);
    symbols_are(&k,
                "1010+6 alias\n"
                "1080+5 zeta\n",
                "thunks are as long as their jump");

    kit_number(&k, k.directories, 0x2fff, 4);
    symbols_are(&k, "", "an export table that is not in the file");
}


/* x64: begin, end, unwind data */
static void
put_x64(kit_t *k, uint32_t begin, uint32_t end, uint32_t unwind)
{
    kit_put(k, begin, 4);
    kit_put(k, end, 4);
    kit_put(k, unwind, 4);
}


static void
put_unwind(kit_t *k, unsigned flags, unsigned n_codes)
{
    kit_put(k, 1 | flags << 3, 1);
    kit_put(k, 0, 1);
    kit_put(k, n_codes, 1);
    kit_put(k, 0, 1);
    for (unsigned i = 0; i < n_codes + n_codes % 2; i++) {
        kit_put(k, 0, 2);
    }
}


static void
test_functions(void)
{
    static const export_t exports[] = { { "f", 0x1010 },
                                        { "leaf", 0x1060 },
                                        { "g", 0x1080 } };
    const uint32_t pdata = 0x3000, xdata = 0x4000;
    size_t from;
    kit_t k;

    kit_begin(&k, AMD64, false);
    put_code(&k, 0x200);
    put_exports(&k, 0x2000, exports, 3);

    from = k.len;
    put_x64(&k, 0x1010, 0x1020, xdata);
    put_x64(&k, 0x1020, 0x1030, xdata + 0x10); /* goes on, chained to f */
    put_x64(&k, 0x1070, 0x1078, xdata);        /* nobody's */
    put_x64(&k, 0x1080, 0x1090, xdata);
    put_x64(&k, 0x1100, 0x1108, xdata + 0x10);       /* f's code, far away */
    put_x64(&k, 0x1110, 0x1118, xdata + 0x30);       /* through another part */
    put_x64(&k, 0x1120, 0x1128, xdata + 0x50);       /* leads round */
    put_x64(&k, 0x1130, 0x1138, 0x7001);             /* a missing entry */
    put_x64(&k, 0x1140, 0x1140, xdata);              /* empty */
    put_x64(&k, 0x1150, 0x1158, pdata + 4 * 12 + 1); /* the entry at 1100 */
    kit_section(&k, ".pdata", pdata, from, KIT_DATA);
    kit_directory(&k, 3, pdata, (uint32_t) (k.len - from));

    from = k.len;
    put_unwind(&k, 1, 2);
    kit_put(&k, 0, 8);
    put_unwind(&k, 4, 3);
    put_x64(&k, 0x1010, 0x1020, xdata);
    kit_put(&k, 0, 8);
    put_unwind(&k, 4, 0);
    put_x64(&k, 0x1100, 0x1108, xdata + 0x10);
    kit_put(&k, 0, 16);
    put_unwind(&k, 4, 0);
    put_x64(&k, 0x1120, 0x1128, xdata + 0x50);
    kit_section(&k, ".xdata", xdata, from, KIT_DATA);

    symbols_are(&k,
                "1010+20 f\n"
                "1060+10? leaf\n"
                "1080+10 g\n"
                "1100+8 f\n"
                "1110+8 f\n"
                "1150+8 f\n",
                "the exception table ends functions; parts have their name");
}


static void
test_arm64(void)
{
    static const export_t exports[] = { { "packed", 0x1010 },
                                        { "full", 0x1040 },
                                        { "import", 0x1080 } };
    static const uint32_t import[] = { 0xb0000010, 0xf9400610, 0xd61f0200 };
    const uint32_t pdata = 0x3000, xdata = 0x4000;
    size_t from, code = KIT_HEADERS;
    kit_t k;

    kit_begin(&k, 0xaa64, false);
    put_code(&k, 0x200);
    put_exports(&k, 0x2000, exports, 3);
    for (size_t i = 0; i < 3; i++) {
        kit_number(&k, code + 0x80 + 4 * i, import[i], 4);
    }

    from = k.len;
    kit_put(&k, 0x1010, 4);
    kit_put(&k, 5 << 2 | 1, 4);
    kit_put(&k, 0x1040, 4);
    kit_put(&k, xdata, 4);
    kit_put(&k, 0x1060, 4);
    kit_put(&k, 0x7000, 4); /* not in the file */
    kit_section(&k, ".pdata", pdata, from, KIT_DATA);
    kit_directory(&k, 3, pdata, (uint32_t) (k.len - from));

    from = k.len;
    kit_put(&k, 6 | 3u << 21, 4);
    kit_section(&k, ".xdata", xdata, from, KIT_DATA);

    symbols_are(&k,
                "1010+14 packed\n"
                "1040+18 full\n"
                "1080+c import\n",
                "arm64: packed, full, a jump to an import");
}


/* --- the COFF symbol table --- */

static void
put_symbol(kit_t *k, const char *name, uint32_t value, uint16_t section,
           uint16_t type, uint8_t storage_class)
{
    char field[8] = { 0 };

    memcpy(field, name, strnlen(name, 8));
    kit_bytes(k, field, 8);
    kit_put(k, value, 4);
    kit_put(k, section, 2);
    kit_put(k, type, 2);
    kit_put(k, storage_class, 1);
    kit_put(k, 0, 1);
}


static void
test_symtab(void)
{
    static const char strings[] = "\x20\0\0\0_ZN4long4nameEv\0.debug_line";
    static const export_t exports[] = { { "exported", 0x1010 },
                                        { "both", 0x1040 } };
    sym_error_t err;
    sym_str_t bytes;
    uint8_t *copy;
    sym_pe_t *pe;
    size_t at;
    kit_t k;

    kit_begin(&k, AMD64, false);
    put_code(&k, 0x200);
    put_exports(&k, 0x2000, exports, 2);
    at = k.len;
    kit_bytes(&k, "LINES and padding", 17);
    kit_section(&k, "/20", 0x5000, at, KIT_DATA);
    kit_number(&k, k.sections - 40 + 8, 5, 4); /* its size in memory */

    kit_number(&k, 0x4c, k.len, 4);
    kit_number(&k, 0x50, 14, 4);
    put_symbol(&k, ".file", 0, 0xfffe, 0, 103);
    put_symbol(&k, ".text", 0, 1, 0, 3);
    k.data[k.len - 1] = 1; /* followed by the section's kind */
    put_symbol(&k, "\x99\x99", 0x99, 1, 0x20, 2);
    put_symbol(&k, "both_coff", 0x40, 1, 0x20, 2); /* cut at 8 */
    put_symbol(&k, "label", 0x40, 1, 0, 2);
    put_symbol(&k, ".text", 0x60, 1, 0, 3); /* of the next object file */
    k.data[k.len - 1] = 1;
    put_symbol(&k, "\x99\x99", 0x98, 1, 0x20, 2);
    put_symbol(&k, "static", 0x80, 1, 0x20, 3);
    put_symbol(&k, "", 0x90, 1, 0x20, 2);
    kit_number(&k, k.len - 14, 4, 4); /* a long name */
    put_symbol(&k, "inside", 0xa0, 1, 0, 6);
    put_symbol(&k, "undef", 0, 0, 0x20, 2);
    put_symbol(&k, "abs", 0x10, 0xffff, 0, 2);
    put_symbol(&k, "data", 0, 2, 0, 2);
    put_symbol(&k, "out", 0x200, 1, 0x20, 2);
    kit_bytes(&k, strings, sizeof(strings) - 1);

    symbols_are(&k,
                "1010+30? exported\n"
                "1040+20? both_cof\n"
                "1080+10? static\n"
                "1090+170? _ZN4long4nameEv\n",
                "the symbol table goes before exports");

    pe = kit_open(&k, &copy, &err);
    is_u64(sym_pe_section(pe, ".debug_line", &bytes, &err), SYM_OK,
           "a section with a long name");
    is_str(bytes, "LINES", "... without its padding");
    is_u64(sym_pe_section(pe, ".debug_info", &bytes, &err), SYM_NOT_FOUND,
           "none of that name");
    sym_pe_close(pe);
    free(copy);
}


int
main(void)
{
    test_exports();
    test_functions();
    test_arm64();
    test_symtab();
    test_ids();
    test_embedded();
    return done_testing();
}
