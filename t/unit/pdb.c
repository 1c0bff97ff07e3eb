/*
 * The reader of PDBs, with files made here record by record; t/loader_pdb.t
 * reads real ones.  Expected results follow from LLVM's docs/PDB and
 * Microsoft's cvinfo.h.
 */
#include "fake_writer.h"
#include "formats/pdb/read.h"
#include "pdb_file_kit.h"
#include "tap.h"

enum {
    S_END = 0x0006,
    S_LPROC32 = 0x110f,
    S_GPROC32 = 0x1110,
    S_GPROC32_ID = 0x1147,
    S_INLINESITE = 0x114d,
    S_INLINESITE_END = 0x114e,
    S_PROC_ID_END = 0x114f,
    S_INLINESITE2 = 0x115d
};

#define BYTES(text) text, sizeof(text) - 1

#define LINES(k, file, ...)                                                    \
    kit_block(k, file, (const uint32_t[]){ __VA_ARGS__ },                      \
              sizeof((const uint32_t[]){ __VA_ARGS__ }) / 8)


/* Contents of a file, as fake_writer.h records them; free() it. */
static char *
read_file(const sym_buffer_t *file, sym_pdb_stats_t *stats, sym_error_t *err)
{
    sym_writer_t *w = sym_writer_create(err);
    sym_pdb_t pdb;
    char *text = NULL;

    if (sym_pdb_open(&pdb, sym_str((const char *) file->data, file->len), NULL,
                     err)
            == SYM_OK
        && sym_pdb_read(&pdb, w, NULL, stats, err) == SYM_OK)
    {
        text = fake_writer_text(w);
    }

    sym_pdb_close(&pdb);
    sym_writer_free(w);
    return text;
}


static void
is_read(pdb_kit_t *k, const char *want, const char *name)
{
    sym_buffer_t file = kit_file(k, 512, false);
    sym_error_t err = { 0 };
    sym_pdb_stats_t stats = { 0 };
    char *text = read_file(&file, &stats, &err);

    is_status(err.status, SYM_OK, &err, name);
    is_str(sym_cstr(text != NULL ? text : ""), want, name);
    is_u64(stats.broken, 0, "no module is broken");
    free(text);
    sym_buffer_free(&file);
}


/* A procedure with lines of two files that alternate. */
static void
one_procedure(pdb_kit_t *k)
{
    size_t at;

    kit_begin(k);
    kit_module_begin(k);
    kit_proc(k, S_GPROC32, 0x10, 0x40, "ns::f");
    kit_end(k, S_END);
    at = kit_lines(k, 0x10, 0x40);
    LINES(k, KIT_FILE_A, 0, 10, 4, 0xfeefee, 8, 11, 0x20, 12);
    LINES(k, KIT_FILE_B, 0x10, 7, 0x14, 7, 0x18, 0xf00f00);
    kit_subsection_end(k, at);
    kit_files(k);
    kit_module_end(k, "a.obj");
    kit_public(k, 1, 0x10, "?f@ns@@YAXXZ");
    kit_public(k, 1, 0x200, "_g@8");
    kit_public(k, 2, 0x10, "data");
}


static const char one_procedure_text[] = "flat 1010+40 ns::f\n"
                                         "  1010 10 a.c\n"
                                         "  1018 11 a.c\n"
                                         "  1020 7 b.h\n"
                                         "  1030 12 a.c\n"
                                         "public 1010 ?f@ns@@YAXXZ\n"
                                         "public 1200 g\n";


static void
test_containers(void)
{
    for (uint32_t size = 512; size <= 65536; size *= 2) {
        for (int scattered = 0; scattered < 2; scattered++) {
            sym_error_t err = { 0 };
            sym_pdb_stats_t stats;
            sym_buffer_t file;
            pdb_kit_t k;
            char *text;

            one_procedure(&k);
            file = kit_file(&k, size, scattered != 0);
            text = read_file(&file, &stats, &err);
            is_str(sym_cstr(text != NULL ? text : err.what), one_procedure_text,
                   scattered != 0 ? "pages apart" : "consecutive pages");
            free(text);
            sym_buffer_free(&file);
        }
    }
}


static void
test_facts(void)
{
    char id[SYM_ID_TEXT_MAX];
    sym_error_t err = { 0 };
    sym_buffer_t file;
    sym_pdb_t pdb;
    pdb_kit_t k;

    one_procedure(&k);
    k.has_srcsrv = true;
    file = kit_file(&k, 1024, false);
    is_status(sym_pdb_open(&pdb, sym_str((const char *) file.data, file.len),
                           NULL, &err),
              SYM_OK, &err, "opened");
    is_str(sym_str(id, sym_debug_id_write_breakpad(&pdb.id, id)),
           "A3A2A1A0A5A4A7A6A8A9AAABACADAEAF3",
           "the GUID, and the age of the DBI stream");
    ok(strcmp(sym_pdb_arch(&pdb), "x86_64") == 0, "processor");
    is_str(sym_pdb_name(&pdb, KIT_B_H), "b.h", "a text of the names");
    is_u64(sym_pdb_name(&pdb, 1000).len, 0, "... and none after them");
    sym_pdb_close(&pdb);
    sym_buffer_free(&file);
}


/* Nested calls: where the inner one is, the outer one's line is that of the
 * call. */
static void
test_inlines(void)
{
    pdb_kit_t k;
    size_t at;

    kit_begin(&k);
    kit_module_begin(&k);
    kit_proc(&k, S_GPROC32_ID, 0x10, 0x40, "f");
    /* 0x08 at 100; 0x10 at 103; 16 bytes long in all */
    kit_site(&k, S_INLINESITE, 0x1000,
             BYTES("\x03\x08\x06\x06\x03\x08\x04\x08"));
    /* 4 bytes from 0x0c on, in its first line */
    kit_site(&k, S_INLINESITE2, 0x1001, BYTES("\x0c\x04\x0c\x00"));
    kit_end(&k, S_INLINESITE_END);
    kit_end(&k, S_INLINESITE_END);
    /* elsewhere in the same function: 0x20, one line up, until 0x28 */
    kit_site(&k, S_INLINESITE, 0x1000, BYTES("\x0c\x08\x20\x00"));
    kit_end(&k, S_INLINESITE_END);
    kit_site(&k, S_INLINESITE, 0x1002, BYTES("")); /* it has no code */
    kit_end(&k, S_INLINESITE_END);
    kit_end(&k, S_PROC_ID_END);
    at = kit_lines(&k, 0x10, 0x40);
    LINES(&k, KIT_FILE_A, 0, 10, 8, 11, 0x18, 12, 0x30, 13);
    kit_subsection_end(&k, at);
    kit_inlinees(&k, 3, true);
    kit_files(&k);
    kit_module_end(&k, "a.obj");

    is_read(&k,
            "flat 1010+40 f\n"
            "  call 1 in 0 one at 11 a.c\n"
            "  call 2 in 1 two at 100 b.h\n"
            "  call 3 in 0 one at 12 a.c\n"
            "  1010 10 a.c\n"
            "  1018 100 b.h in 1\n"
            "  101c 200 b.h in 2\n"
            "  1020 103 b.h in 1\n"
            "  1028 12 a.c\n"
            "  1030 100 b.h in 3\n"
            "  1038 12 a.c\n"
            "  1040 13 a.c\n",
            "inlined calls");
}


/* All operations: absolute offset, line back, file, size and move, both in one,
 * numbers of two and four bytes; operations on columns have no effect. */
static void
test_annotations(void)
{
    pdb_kit_t k;
    size_t at;

    kit_begin(&k);
    kit_module_begin(&k);
    kit_proc(&k, S_GPROC32, 0, 0x1000, "f");
    kit_site(&k, S_INLINESITE, 0x1000,
             BYTES("\x01\x10"                 /* to 0x10 */
                   "\x06\x03"                 /* a line back: 99 */
                   "\x07\x02\x08\x01"         /* lines, kind */
                   "\x09\x05\x0a\x02\x0d\x09" /* columns */
                   "\x03\x04"                 /* 0x14 at 99 */
                   "\x05\x00"                 /* a.c */
                   "\x0b\x24"                 /* 4 bytes on, a line on: 0x18 */
                   "\x0c\x04\x80\x80"         /* 0x98, 4 bytes */
                   "\x06\xc0\x00\x01\x00"     /* 128 lines on */
                   "\x0c\x02\x08"             /* 0xa0, 2 bytes */
                   "\x00\x03\x10")); /* the end: no annotation follows */
    kit_end(&k, S_INLINESITE_END);
    kit_end(&k, S_END);
    at = kit_lines(&k, 0, 0x1000);
    LINES(&k, KIT_FILE_A, 0, 1);
    kit_subsection_end(&k, at);
    kit_inlinees(&k, 1, false);
    kit_files(&k);
    kit_module_end(&k, "a.obj");

    is_read(&k,
            "flat 1000+1000 f\n"
            "  call 1 in 0 one at 1 a.c\n"
            "  1000 1 a.c\n"
            "  1014 99 b.h in 1\n"
            "  1018 100 a.c in 1\n"
            "  109c 1 a.c\n"
            "  10a0 228 a.c in 1\n"
            "  10a2 1 a.c\n",
            "binary annotations");
}


/* A range ends after its first size, otherwise where the next one begins, even
 * if the offset was set in between; a truncated operand ends the list. */
static void
test_range_sizes(void)
{
    pdb_kit_t k;
    size_t at;

    kit_begin(&k);
    kit_module_begin(&k);
    kit_proc(&k, S_GPROC32, 0, 0x1000, "f");
    kit_site(&k, S_INLINESITE, 0x1000,
             BYTES("\x03\x10"             /* 0x10 at 100 */
                   "\x04\x80\x90"         /* 0x90 bytes: up to 0xa0 */
                   "\x04\x08"             /* 8 bytes are skipped */
                   "\x0b\x23"             /* 0xab at 101 */
                   "\x01\x80\xc0\x06\x02" /* to 0xc0, a line on */
                   "\x03\x10\x04\x04"     /* 0xd0, 4 bytes */
                   "\x03\x80"));          /* cut */
    kit_end(&k, S_INLINESITE_END);
    kit_end(&k, S_END);
    at = kit_lines(&k, 0, 0x1000);
    LINES(&k, KIT_FILE_A, 0, 1);
    kit_subsection_end(&k, at);
    kit_inlinees(&k, 1, false);
    kit_files(&k);
    kit_module_end(&k, "a.obj");

    is_read(&k,
            "flat 1000+1000 f\n"
            "  call 1 in 0 one at 1 a.c\n"
            "  1000 1 a.c\n"
            "  1010 100 b.h in 1\n"
            "  10a0 1 a.c\n"
            "  10ab 101 b.h in 1\n"
            "  10d0 102 b.h in 1\n"
            "  10d4 1 a.c\n",
            "sizes of ranges");
}


/* Cold code has the name of its procedure, but lines and calls of its own. */
static void
test_cold_parts(void)
{
    pdb_kit_t k;
    size_t at;

    kit_begin(&k);
    kit_module_begin(&k);
    kit_proc(&k, S_LPROC32, 0x10, 0x10, "f");
    /* 2 bytes from 4 on; then from 1 on in cold part 1 */
    kit_site(&k, S_INLINESITE, 0x1001,
             BYTES("\x0c\x02\x04\x02\x01\x0c\x03\x01"));
    kit_end(&k, S_INLINESITE_END);
    kit_end(&k, S_END);
    kit_sepcode(&k, 0x100, 0x8, 0x10);
    kit_end(&k, S_END);
    kit_sepcode(&k, 0x200, 0x8, 0x999); /* of no procedure */
    kit_end(&k, S_END);
    kit_thunk(&k, 0x300, 5, "_t");
    kit_end(&k, S_END);
    at = kit_lines(&k, 0x10, 0x10);
    LINES(&k, KIT_FILE_A, 0, 10);
    kit_subsection_end(&k, at);
    at = kit_lines(&k, 0x100, 8);
    LINES(&k, KIT_FILE_A, 0, 20);
    kit_subsection_end(&k, at);
    kit_inlinees(&k, 2, false);
    kit_files(&k);
    kit_module_end(&k, "a.obj");

    is_read(&k,
            "flat 1010+10 f\n"
            "  call 1 in 0 two at 10 a.c\n"
            "  1010 10 a.c\n"
            "  1014 200 b.h in 1\n"
            "  1016 10 a.c\n"
            "flat 1100+8 f\n"
            "  call 1 in 0 two at 20 a.c\n"
            "  1100 20 a.c\n"
            "  1101 200 b.h in 1\n"
            "  1104 20 a.c\n"
            "public 1300+5 t\n",
            "cold parts and thunks");
}


/* Code that was moved: addresses count in the old sections, and each stretch
 * becomes a function at its new address. */
static void
test_omap(void)
{
    static const uint32_t moved[] = { 0x5010, 0x8000, /* stays together */
                                      0x5018, 0x9000, /* goes elsewhere */
                                      0x5020, 0,      /* was removed */
                                      0x5028, 0x8008, 0x5030, 0x7000 };
    pdb_kit_t k;
    size_t at;

    kit_begin(&k);
    k.has_omap = true;
    for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
        kit_put(&k.streams[KIT_OMAP], moved[i], 4);
    }

    kit_module_begin(&k);
    kit_proc(&k, S_GPROC32, 0x10, 0x20, "f");
    kit_site(&k, S_INLINESITE, 0x1000, BYTES("\x0c\x08\x04"));
    kit_end(&k, S_INLINESITE_END);
    kit_end(&k, S_END);
    at = kit_lines(&k, 0x10, 0x20);
    LINES(&k, KIT_FILE_A, 0, 10, 0x1a, 11);
    kit_subsection_end(&k, at);
    kit_inlinees(&k, 1, false);
    kit_files(&k);
    kit_module_end(&k, "a.obj");
    kit_public(&k, 1, 0x30, "moved");
    kit_public(&k, 1, 0x22, "removed");

    is_read(&k,
            "flat 8000+8 f\n"
            "  call 1 in 0 one at 10 a.c\n"
            "  8000 10 a.c\n"
            "  8004 100 b.h in 1\n"
            "flat 9000+8 f\n"
            "  call 1 in 0 one at 10 a.c\n"
            "  9000 100 b.h in 1\n"
            "  9004 10 a.c\n"
            "flat 8008+8 f\n"
            "  8008 10 a.c\n"
            "  800a 11 a.c\n"
            "public 7000 moved\n",
            "moved code");
}


/* With link-time code generation an id may be in another module's list. */
static void
test_other_modules(void)
{
    pdb_kit_t k;

    kit_begin(&k);
    kit_module_begin(&k);
    kit_proc(&k, S_GPROC32, 0, 0x10, "f");
    kit_site(&k, S_INLINESITE, 0x80000001, BYTES("\x0c\x04\x04"));
    kit_end(&k, S_INLINESITE_END);
    kit_end(&k, S_END);
    KIT_WORDS(&k, 0xf6, 0, 0x80000001, KIT_FILE_B, 50);
    KIT_WORDS(&k, 0xf7, KIT_LIB, 2, 0x77, 0x80000123);
    kit_files(&k);
    kit_module_end(&k, "a.obj");

    kit_module_begin(&k);
    KIT_WORDS(&k, 0xf8, 0x80000123, 0x1002, 0x77, 0x1000);
    kit_module_end(&k, "LIB");

    is_read(&k,
            "flat 1000+10 f\n"
            "  call 1 in 0 three at 0 -\n"
            "  1000 0 -\n"
            "  1004 50 b.h in 1\n"
            "  1008 0 -\n",
            "ids of another module");
}


/* Functions folded by the linker each keep their own lines. */
static void
test_folded(void)
{
    pdb_kit_t k;
    size_t at;

    kit_begin(&k);
    kit_module_begin(&k);
    kit_proc(&k, S_GPROC32, 0, 0x10, "f");
    kit_end(&k, S_END);
    kit_proc(&k, S_GPROC32, 0, 0x10, "g");
    kit_end(&k, S_END);
    for (uint32_t line = 1; line < 3; line++) {
        at = kit_lines(&k, 0, 0x10);
        LINES(&k, KIT_FILE_A, 0, line);
        kit_subsection_end(&k, at);
    }
    kit_files(&k);
    kit_module_end(&k, "a.obj");

    is_read(&k,
            "flat 1000+10 f\n"
            "  1000 1 a.c\n"
            "flat 1000+10 g\n"
            "  1000 2 a.c\n",
            "folded functions");
}


static void
is_refused(const sym_buffer_t *file, sym_status_t status, const char *what)
{
    sym_error_t err = { 0 };
    sym_pdb_stats_t stats;
    char *text = read_file(file, &stats, &err);

    is_status(err.status, status, &err, what);
    is_str(sym_cstr(err.what != NULL ? err.what : ""), what, "... for that");
    free(text);
}


static void
test_refused(void)
{
    static const char old[] = "Microsoft C/C++ program database 2.00\r\n\x1aJG";
    sym_buffer_t file = { 0 };
    pdb_kit_t k;

    sym_buffer_put(&file, old, sizeof(old));
    is_refused(&file, SYM_UNSUPPORTED,
               "a PDB of Visual C++ 6 or older (program database 2.00)");
    sym_buffer_free(&file);

    one_procedure(&k);
    k.feature = 0x494e494d;
    file = kit_file(&k, 512, false);
    is_refused(&file, SYM_UNSUPPORTED,
               "made by /DEBUG:FASTLINK: the symbols are in the object files "
               "(mspdbcmf makes a full PDB)");
    sym_buffer_free(&file);
}


/* Lines before the damage are found, in whatever order they are. */
static void
test_broken_lines(void)
{
    pdb_kit_t k;
    sym_buffer_t file;
    sym_error_t err = { 0 };
    sym_pdb_stats_t stats = { 0 };
    char *text;

    kit_begin(&k);
    kit_module_begin(&k);
    for (uint32_t i = 3; i-- > 0;) {
        const size_t at = kit_lines(&k, i * 0x10, 0x10);

        LINES(&k, KIT_FILE_A, 0, 10 + i);
        kit_subsection_end(&k, at);
        kit_proc(&k, S_GPROC32, i * 0x10, 0x10, "f");
        kit_end(&k, S_END);
    }
    kit_files(&k);
    kit_put(&k.c13, 0xf2, 4);
    kit_put(&k.c13, 0x1000, 4); /* more bytes than follow */
    kit_module_end(&k, "a.obj");

    file = kit_file(&k, 512, false);
    text = read_file(&file, &stats, &err);
    is_str(sym_cstr(text != NULL ? text : ""),
           "flat 1020+10 f\n"
           "  1020 12 a.c\n"
           "flat 1010+10 f\n"
           "  1010 11 a.c\n"
           "flat 1000+10 f\n"
           "  1000 10 a.c\n",
           "lines before broken ones");
    is_u64(stats.broken, 1, "... whose module is counted");
    free(text);
    sym_buffer_free(&file);
}


/* Records before the broken one are kept. */
static void
test_broken_module(void)
{
    sym_error_t err = { 0 };
    sym_pdb_stats_t stats;
    sym_buffer_t file;
    pdb_kit_t k;
    char *text;

    kit_begin(&k);
    kit_module_begin(&k);
    kit_proc(&k, S_GPROC32, 0, 0x10, "f");
    kit_put(&k.symbols, 0xfff0, 2); /* longer than the module */
    kit_put(&k.symbols, S_END, 2);
    kit_module_end(&k, "a.obj");
    kit_module_begin(&k);
    kit_proc(&k, S_GPROC32, 0x20, 0x10, "g");
    kit_module_end(&k, "b.obj");

    file = kit_file(&k, 512, false);
    text = read_file(&file, &stats, &err);
    is_str(sym_cstr(text != NULL ? text : ""),
           "flat 1000+10 f\n"
           "  1000 0 -\n"
           "flat 1020+10 g\n"
           "  1020 0 -\n",
           "a broken module");
    is_u64(stats.broken, 1, "... is counted");
    is_str(sym_cstr(stats.first_broken.what),
           "symbol record runs past its module", "... with the reason");
    free(text);
    sym_buffer_free(&file);
}


/* Lines that many procedures walk over without result: they belong to a file
 * that does not exist. */
static void
test_passed_lines(void)
{
    enum { LINES_PASSED = 5000, PROCEDURES = 2000 };
    static uint32_t pairs[2 * LINES_PASSED];
    sym_error_t err = { 0 };
    sym_pdb_stats_t stats;
    sym_buffer_t file;
    pdb_kit_t k;
    size_t at;

    for (uint32_t i = 0; i < LINES_PASSED; i++) {
        pairs[(size_t) 2 * i] = i;
        pairs[(size_t) 2 * i + 1] = 1 + i % 1024;
    }

    kit_begin(&k);
    kit_module_begin(&k);
    for (unsigned i = 0; i < PROCEDURES; i++) {
        kit_proc(&k, S_GPROC32, 0, LINES_PASSED, "f");
        kit_end(&k, S_END);
    }
    at = kit_lines(&k, 0, LINES_PASSED);
    kit_block(&k, 1, pairs, LINES_PASSED);
    kit_subsection_end(&k, at);
    kit_files(&k);
    kit_module_end(&k, "a.obj");

    file = kit_file(&k, 4096, false);
    free(read_file(&file, &stats, &err));
    is_u64(stats.broken, 1, "lines that procedures skip cost work, too");
    is_str(sym_cstr(stats.first_broken.what),
           "a module expands beyond its size limit", "... so much");
    sym_buffer_free(&file);
}


/* Offset in a type stream, after its header. */
#define TYPES_AT 56
#define TYPES_END 12 /* index of the last one, plus 1 */
#define TYPES_BYTES 16

/* Offset in a procedure: its type. */
#define PROC_TYPE 28

static void
put_type(sym_buffer_t *types, unsigned kind, uint32_t a, uint32_t b, uint32_t c)
{
    size_t at = kit_open(types, kind);

    kit_put(types, a, 4);
    kit_put(types, b, 4);
    if (c != 0) {
        kit_put(types, c, 4);
    }
    kit_close(types, at);
}


/* Types that nest too deep for a name, when an earlier part of the file has
 * already given a part of it: the name is the same as if another thread had
 * read that part. */
static void
test_pieces(void)
{
    enum { NESTED = 45, EARLIER = 20, PIECE = 1 << 20 };
    uint32_t functions[NESTED + 1], to = 0x74, type = 0x1000;
    sym_error_t err = { 0 };
    sym_pdb_stats_t stats;
    sym_buffer_t file, *types;
    pdb_kit_t k;
    char *text;

    kit_begin(&k);
    types = &k.streams[KIT_TPI];
    types->len = TYPES_AT;
    for (uint32_t i = 0; i <= NESTED; i++, type += 3) {
        /* an argument, the function that takes it, and a pointer to that */
        put_type(types, 0x1201, 1, to, 0);
        put_type(types, 0x1008, 3, 0x10000, type);
        put_type(types, 0x1002, type + 1, 0x1000c, 0);
        functions[i] = type + 1;
        to = type + 2;
    }
    kit_set(types, TYPES_END, type, 4);
    kit_set(types, TYPES_BYTES, types->len - TYPES_AT, 4);

    for (unsigned i = 0; i < 2; i++) {
        size_t at;

        kit_module_begin(&k);
        at = k.symbols.len;
        kit_proc(&k, S_GPROC32, i * 0x40, 0x10, i == 0 ? "first" : "second");
        kit_set(&k.symbols, at + PROC_TYPE,
                functions[i == 0 ? EARLIER : NESTED], 4);
        kit_end(&k, S_END);
        at = kit_subsection(&k, 0xff);
        for (size_t n = 0; n < PIECE; n++) {
            kit_put(&k.c13, 0, 1);
        }
        kit_subsection_end(&k, at);
        kit_module_end(&k, "a.obj");
    }

    file = kit_file(&k, 4096, false);
    text = read_file(&file, &stats, &err);
    ok(text != NULL && strstr(text, "flat 1000+10 first(void (*)(") != NULL,
       "types that nest");
    ok(text != NULL && strstr(text, "flat 1040+10 second\n") != NULL,
       "... too deep, in another piece");
    free(text);
    sym_buffer_free(&file);
}


static void
test_paths(void)
{
    pdb_kit_t k;
    size_t at;

    kit_begin(&k);
    kit_module_begin(&k);
    kit_proc(&k, S_GPROC32, 0, 0x10, "f");
    kit_end(&k, S_END);
    at = kit_lines(&k, 0, 0x10);
    LINES(&k, KIT_FILE_A, 0, 10);
    kit_subsection_end(&k, at);
    KIT_WORDS(&k, 0xf4, KIT_LONG_H, 0);
    kit_module_end(&k, "a.obj");

    is_read(&k,
            "flat 1000+10 f\n"
            "  1000 10 D:\\s\\long.h\n",
            "a path with redundant parts");
}


/* --- memory of the file --- */

typedef struct {
    const sym_buffer_t *file;
    size_t calls, bytes;
    bool is_inside;
} released_t;


/* Anything read from these bytes afterwards is garbage. */
static void
note_released(void *ctx, sym_str_t bytes)
{
    released_t *r = ctx;
    const size_t at = (size_t) (bytes.data - (const char *) r->file->data);

    r->calls++;
    r->bytes += bytes.len;
    r->is_inside =
        r->is_inside && at <= r->file->len && bytes.len <= r->file->len - at;
    if (r->is_inside) {
        memset(r->file->data + at, 0xff, bytes.len);
    }
}


static void
test_released(bool is_scattered)
{
    enum { LARGE = 100000 };
    pdb_kit_t k;
    sym_buffer_t file;
    released_t r = { .file = &file, .is_inside = true };
    const sym_format_services_t services = { .release = note_released,
                                             .ctx = &r };
    sym_pdb_stats_t stats = { 0 };
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    sym_pdb_t pdb;
    size_t symbols, at;
    char *text;

    one_procedure(&k);
    kit_module_begin(&k);
    kit_proc(&k, S_GPROC32, 0x80, 0x10, "g");
    kit_end(&k, S_END);
    at = kit_subsection(&k, 0xff);
    for (size_t i = 0; i < LARGE; i++) {
        kit_put(&k.c13, 0, 1);
    }
    kit_subsection_end(&k, at);
    kit_module_end(&k, "large.obj");
    kit_public(&k, 1, 0x90, "p");
    symbols = k.streams[KIT_SYMBOLS].len;
    file = kit_file(&k, 4096, is_scattered);

    is_status(sym_pdb_open(&pdb, sym_str((const char *) file.data, file.len),
                           NULL, &err),
              SYM_OK, &err, "a large module");
    is_status(sym_pdb_read(&pdb, w, &services, &stats, &err), SYM_OK, &err,
              "... is read");
    text = fake_writer_text(w);
    ok(strstr(text, "flat 1080+10 g\n") != NULL && strstr(text, "ns::f") != NULL
           && stats.broken == 0,
       "... with all others, from bytes that were not released before");
    ok(r.is_inside && r.bytes >= LARGE + symbols,
       "... which are then released");
    is_u64(r.calls, 2, "... at once, though a gap may lie between pages");

    free(text);
    sym_pdb_close(&pdb);
    sym_writer_free(w);
    sym_buffer_free(&file);
}


int
main(void)
{
    test_containers();
    test_facts();
    test_inlines();
    test_annotations();
    test_range_sizes();
    test_cold_parts();
    test_omap();
    test_other_modules();
    test_folded();
    test_refused();
    test_broken_lines();
    test_broken_module();
    test_passed_lines();
    test_pieces();
    test_paths();
    test_released(false);
    test_released(true);
    return done_testing();
}
