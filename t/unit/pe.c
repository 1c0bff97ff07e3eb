/*
 * The reader of PE files, over files made here; t/pe.t asks it about real ones.
 * What is expected follows from Microsoft's "PE Format" and, of .NET's entries,
 * from the dotnet runtime's PE-COFF.md.
 */
#include <zlib.h>

#include "pe_kit.h"

#define AMD64 0x8664
#define DATA_RVA 0x2000u


/* A debug directory whose entries are at DATA_RVA, and the data behind it. */
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

    memcpy(out, "MPDB", 4);
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
    embedded_is(packed, 6, SYM_MALFORMED, "shorter than its head");

    len = pack(packed, sizeof(ppdb) - 1);
    embedded_is(packed, len, SYM_MALFORMED, "longer than it says");
    len = pack(packed, 0xfffff);
    embedded_is(packed, len, SYM_MALFORMED,
                "a size that so few bytes cannot give");
    len = pack(packed, 1 << 30);
    embedded_is(packed, len, SYM_LIMIT, "a size past the limit");
    packed[0] = 'B';
    embedded_is(packed, len, SYM_MALFORMED, "another signature");
}


int
main(void)
{
    test_ids();
    test_embedded();
    return done_testing();
}
