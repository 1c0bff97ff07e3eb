/*
 * Paths of complete objects, in every layout.  Objects and paths are those of
 * Symbolicator's own tests (symbolicator-sources, paths.rs), of its recorded
 * answers, and of the table in docs/use/sources.md.
 */
#include "artifacts/kinds.h"
#include "object/object_ref.h"
#include "sources/paths/plan.h"
#include "tap.h"

typedef struct {
    sym_object_type_t type;
    const char *code_id, *code_file, *debug_id, *debug_file;
} as_sent_t;

static const as_sent_t pe = {
    SYM_OBJECT_PE, "5ab380779000",
    "C:\\projects\\breakpad-tools\\windows\\Release\\crash.exe",
    "3249d99d-0c40-4931-8610-f4e4fb0b6936-1",
    "C:\\projects\\breakpad-tools\\windows\\Release\\crash.pdb"
};
static const as_sent_t macho = {
    SYM_OBJECT_MACHO, "",
    "/Users/travis/build/getsentry/breakpad-tools/macos/build/./crash",
    "67e9247c-814e-392b-a027-dbde6748fcbf", "crash"
};
static const as_sent_t elf = { SYM_OBJECT_ELF,
                               "dfb85de42daffd09640c8fe377d572de3e168920",
                               "/lib/x86_64-linux-gnu/libm-2.23.so",
                               "e45db8df-af2d-09fd-640c-8fe377d572de",
                               "/lib/x86_64-linux-gnu/libm-2.23.so" };
static const as_sent_t wasm = { SYM_OBJECT_WASM,
                                "67e9247c814e392ba027dbde6748fcbf", "",
                                "67e9247c-814e-392b-a027-dbde6748fcbf",
                                "file://foo.invalid/demo.wasm" };
static const as_sent_t dotnet = {
    SYM_OBJECT_PE_DOTNET, "", "",
    "0c1033f7-8632-492e-91c6-c314b72e1920-e60b819d", "integration.pdb"
};

static sym_object_ref_t
object_of(const as_sent_t *sent)
{
    sym_object_ref_t o = { .type = sent->type,
                           .code_file = sym_cstr(sent->code_file),
                           .debug_file = sym_cstr(sent->debug_file) };

    (void) sym_code_id_read(sym_cstr(sent->code_id), &o.code_id);
    (void) sym_debug_id_read_sentry(sym_cstr(sent->debug_id), &o.debug_id);
    return o;
}


typedef struct {
    const as_sent_t *object;
    const char *layout, *kind;
    sym_source_casing_t casing;
    const char
        *want; /* paths, each followed by a space, in the order of requests */
} places_t;

static void
test_places(const places_t *t, sym_file_order_t order)
{
    sym_object_ref_t o = object_of(t->object);
    sym_source_rules_t rules = { .casing = t->casing };
    unsigned files = sym_source_files_find(sym_cstr(t->kind));
    char got[4096] = "";
    sym_source_plan_t plan;
    sym_arena_t arena;
    size_t len = 0;

    if (files == 0) {
        files = sym_kind_files(sym_str_eq(sym_cstr(t->kind), SYM_STR("sources"))
                                   ? SYM_KIND_SOURCES
                               : sym_str_eq(sym_cstr(t->kind), SYM_STR("ppdb"))
                                   ? SYM_KIND_PPDB
                                   : SYM_KIND_SYMCACHE,
                               o.type);
    }

    sym_arena_init(&arena, 0);
    ok(sym_layout_find(sym_cstr(t->layout), &rules.layout)
           && (rules.files = sym_layout_files(rules.layout)) != 0
           && sym_source_plan(&arena, &o, &rules, files, order, &plan)
                  == SYM_OK,
       "%s, %s", t->layout, t->kind);
    for (unsigned i = 0; i < plan.n; i++) {
        memcpy(got + len, plan.at[i].path.data, plan.at[i].path.len);
        len += plan.at[i].path.len;
        got[len++] = ' ';
    }

    is_str(sym_str(got, len), t->want, "... its paths");
    sym_arena_drop(&arena);
}


#define PDB_PATH "crash.pdb/3249D99D0C4049318610F4E4FB0B69361/"
#define LLDB "67E9/247C/814E/392B/A027/DBDE6748FCBF"
#define ELF_ID "dfb85de42daffd09640c8fe377d572de3e168920"
#define ELF_CUT "df/b85de42daffd09640c8fe377d572de3e168920"
#define ELF_SYM "libm-2.23.so/E45DB8DFAF2D09FD640C8FE377D572DE0/libm-2.23.so"
#define ELF_PDB "libm-2.23.so/E45DB8DFAF2D09FD640C8FE377D572DE0/libm-2.23.s"
#define MACH_ID "67e9247c814e392ba027dbde6748fcbf"
#define MACH_SYM "crash/67E9247C814E392BA027DBDE6748FCBF0/crash"
#define UNIFIED_PE "32/49d99d0c4049318610f4e4fb0b69361/"
#define UNIFIED_MACH "67/e9247c814e392ba027dbde6748fcbf/"

static void
test_files(void)
{
    static const places_t tests[] = {
        { &pe, "native", "pdb", 0,
          PDB_PATH "crash.pdb " PDB_PATH "crash.pd_ " },
        { &pe, "native", "pe", 0,
          "crash.exe/5AB380779000/crash.exe "
          "crash.exe/5AB380779000/crash.ex_ " },
        { &pe, "native", "breakpad", 0, PDB_PATH "crash.sym " },
        { &pe, "native", "sourcebundle", 0, PDB_PATH "crash.src.zip " },
        { &pe, "native", "macho", 0, "" },
        { &pe, "native", "elf_debug", 0, "5a/b380779000.debug " },
        { &macho, "native", "mach_code", 0, LLDB ".app " },
        { &macho, "native", "mach_debug", 0, LLDB " " },
        { &macho, "native", "breakpad", 0, MACH_SYM ".sym " },
        { &macho, "native", "sourcebundle", 0,
          LLDB ".src.zip " MACH_SYM ".src.zip " },
        { &macho, "native", "elf_debug", 0, "" },
        { &wasm, "native", "wasm_debug", 0,
          "67/e9247c814e392ba027dbde6748fcbf.debug " },
        { &wasm, "native", "wasm_code", 0,
          "67/e9247c814e392ba027dbde6748fcbf " },
        { &wasm, "native", "sourcebundle", 0,
          "67/e9247c814e392ba027dbde6748fcbf.src.zip " },
        { &wasm, "native", "breakpad", 0, "" },
        { &elf, "native", "elf_code", 0, ELF_CUT " " },
        { &elf, "native", "elf_debug", 0, ELF_CUT ".debug " },
        { &elf, "native", "breakpad", 0, ELF_SYM ".sym " },
        { &elf, "native", "sourcebundle", 0,
          ELF_CUT ".src.zip " ELF_SYM ".src.zip " },
        { &elf, "native", "uuidmap", 0, "" },

        { &pe, "unified", "pdb", 0,
          UNIFIED_PE "debuginfo " UNIFIED_PE "debuginf_ " },
        { &pe, "unified", "pe", 0,
          UNIFIED_PE "executable " UNIFIED_PE "executabl_ " },
        { &pe, "unified", "breakpad", 0, UNIFIED_PE "breakpad " },
        { &pe, "unified", "sourcebundle", 0, UNIFIED_PE "sourcebundle " },
        { &macho, "unified", "macho", 0,
          UNIFIED_MACH "executable " UNIFIED_MACH "debuginfo " },
        { &macho, "unified", "breakpad", 0, UNIFIED_MACH "breakpad " },
        { &macho, "unified", "uuidmap", 0, UNIFIED_MACH "uuidmap " },
        { &macho, "unified", "bcsymbolmap", 0, UNIFIED_MACH "bcsymbolmap " },
        { &macho, "unified", "il2cpp", 0, UNIFIED_MACH "il2cpp " },
        { &elf, "unified", "il2cpp", 0,
          "df/b85de42daffd09640c8fe377d572de3e168920/il2cpp "
          "e4/5db8dfaf2d09fd640c8fe377d572de/il2cpp " },
        { &wasm, "unified", "wasm", 0,
          UNIFIED_MACH "executable " UNIFIED_MACH "debuginfo " },
        { &wasm, "unified", "sourcebundle", 0, UNIFIED_MACH "sourcebundle " },
        { &elf, "unified", "elf", 0,
          ELF_CUT "/executable " ELF_CUT "/debuginfo " },
        { &elf, "unified", "breakpad", 0, ELF_CUT "/breakpad " },
        { &elf, "unified", "sourcebundle", 0, ELF_CUT "/sourcebundle " },

        { &elf, "debuginfod", "symcache", 0,
          ELF_ID "/executable " ELF_ID "/debuginfo " },
        { &macho, "debuginfod", "symcache", 0, "" },
        { &wasm, "debuginfod", "symcache", 0, "" },

        { &pe, "symstore", "pdb", 0,
          PDB_PATH "crash.pdb " PDB_PATH "crash.pd_ " },
        { &pe, "symstore", "pe", 0,
          "crash.exe/5AB380779000/crash.exe "
          "crash.exe/5AB380779000/crash.ex_ " },
        { &pe, "symstore", "sourcebundle", 0, PDB_PATH "crash.src.zip " },
        { &macho, "symstore", "mach_code", 0,
          "crash/mach-uuid-" MACH_ID "/crash " },
        { &macho, "symstore", "mach_debug", 0,
          "_.dwarf/mach-uuid-sym-" MACH_ID "/_.dwarf " },
        { &macho, "symstore", "sourcebundle", 0, "" },
        { &elf, "symstore", "elf_code", 0,
          "libm-2.23.so/elf-buildid-" ELF_ID "/libm-2.23.so " },
        { &elf, "symstore", "elf_debug", 0,
          "_.debug/elf-buildid-sym-" ELF_ID "/_.debug " },
        { &elf, "symstore", "breakpad", 0, "" },

        { &pe, "symstore_index2", "pdb", 0,
          "cr/" PDB_PATH "crash.pdb cr/" PDB_PATH "crash.pd_ " },
        { &pe, "symstore_index2", "sourcebundle", 0,
          "cr/" PDB_PATH "crash.src.zip " },
        { &macho, "symstore_index2", "mach_code", 0,
          "cr/crash/mach-uuid-" MACH_ID "/crash " },
        { &macho, "symstore_index2", "mach_debug", 0,
          "_/_.dwarf/mach-uuid-sym-" MACH_ID "/_.dwarf " },
        { &elf, "symstore_index2", "elf_code", 0,
          "li/libm-2.23.so/elf-buildid-" ELF_ID "/libm-2.23.so " },
        { &elf, "symstore_index2", "elf_debug", 0,
          "_/_.debug/elf-buildid-sym-" ELF_ID "/_.debug " },

        { &pe, "ssqp", "pdb", 0,
          "crash.pdb/3249d99d0c4049318610f4e4fb0b69361/crash.pdb "
          "crash.pdb/3249d99d0c4049318610f4e4fb0b69361/crash.pd_ " },
        { &pe, "ssqp", "pe", 0,
          "crash.exe/5ab380779000/crash.exe "
          "crash.exe/5ab380779000/crash.ex_ " },
        { &dotnet, "ssqp", "portablepdb", 0,
          "integration.pdb/0c1033f78632492e91c6c314b72e1920FFFFFFFF/"
          "integration.pdb " },

        { &elf, "slashsymbols", "elf_code", 0,
          "libm-2.23.so/DFB85DE42DAFFD09640C8FE377D572DE3E168920/symbols "
          "libm-2.23.so/" ELF_ID "/symbols " },
        { &elf, "slashsymbols", "symcache", 0,
          "libm-2.23.so/DFB85DE42DAFFD09640C8FE377D572DE3E168920/symbols "
          "libm-2.23.so/" ELF_ID "/symbols "
          "libm-2.23.so/DFB85DE42DAFFD09640C8FE377D572DE3E168920/symbol_ "
          "libm-2.23.so/" ELF_ID "/symbol_ " },
        { &macho, "slashsymbols", "symcache", 0, "" },

        { &pe, "native", "pe", SYM_SOURCE_CASING_LOWER,
          "crash.exe/5ab380779000/crash.exe "
          "crash.exe/5ab380779000/crash.ex_ " },
        { &macho, "native", "breakpad", SYM_SOURCE_CASING_UPPER,
          "CRASH/67E9247C814E392BA027DBDE6748FCBF0/CRASH.SYM " },
        { &dotnet, "native", "ppdb", 0,
          "integration.pdb/0C1033F78632492E91C6C314B72E1920ffffffff/"
          "integration.pdb "
          "integration.pdb/0C1033F78632492E91C6C314B72E1920ffffffff/"
          "integration.pd_ " },
        { &dotnet, "native", "sources", 0,
          "integration.pdb/0C1033F78632492E91C6C314B72E1920ffffffff/"
          "integration.src.zip "
          "integration.pdb/0C1033F78632492E91C6C314B72E1920e60b819d/"
          "integration.src.zip "
          "integration.pdb/0C1033F78632492E91C6C314B72E1920ffffffff/"
          "integration.pdb " },

        /* Mozilla's layout uses the only name of the object */
        { &elf, "breakpad", "symcache", 0, ELF_SYM ".sym " },
    };

    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        test_places(&tests[i], SYM_CODE_FILES_FIRST);
    }
}


/* All files of a type, in the order of requests. */
static void
test_order(void)
{
    static const as_sent_t recorded_elf = {
        SYM_OBJECT_ELF, "f1c3bcc0279865fe3058404b2831d9e64135386c",
        "/usr/bin/crash", "c0bcc3f1-9827-fe65-3058-404b2831d9e6", ""
    };
    static const as_sent_t recorded_macho = {
        SYM_OBJECT_MACHO, "", "crash-client",
        "509c0610-9498-36f7-b70b-d88bcf03e540", "crash-client"
    };
    static const as_sent_t only_code_id = {
        SYM_OBJECT_ELF, "f1c3bcc0279865fe3058404b2831d9e64135386c", "", "", ""
    };
    static const as_sent_t no_id = { SYM_OBJECT_ELF, "", "/a", "", "/a" };
    static const as_sent_t bad_names = {
        SYM_OBJECT_PE, "5ab380779000", "C:\\a\nb",
        "3249d99d-0c40-4931-8610-f4e4fb0b6936-1", "/x/.."
    };
    static const places_t tests[] = {
        { &recorded_elf, "native", "symcache", 0,
          "f1/c3bcc0279865fe3058404b2831d9e64135386c "
          "f1/c3bcc0279865fe3058404b2831d9e64135386c.debug " },
        { &recorded_elf, "native", "sources", 0,
          "f1/c3bcc0279865fe3058404b2831d9e64135386c.src.zip " },
        { &pe, "native", "symcache", 0,
          "crash.exe/5AB380779000/crash.exe "
          "crash.exe/5AB380779000/crash.ex_ " PDB_PATH "crash.sym " PDB_PATH
          "crash.pdb " PDB_PATH "crash.pd_ 5a/b380779000.debug " },
        { &recorded_macho, "native", "symcache", 0,
          "509C/0610/9498/36F7/B70B/D88BCF03E540.app "
          "crash-client/509C0610949836F7B70BD88BCF03E5400/crash-client.sym "
          "509C/0610/9498/36F7/B70B/D88BCF03E540 "
          "crash-client/509C0610949836F7B70BD88BCF03E5400/crash-client "
          "crash-client/509C0610949836F7B70BD88BCF03E5400/crash-clien_ " },
        { &only_code_id, "native", "symcache", 0,
          "f1/c3bcc0279865fe3058404b2831d9e64135386c "
          "f1/c3bcc0279865fe3058404b2831d9e64135386c.debug " },
        { &only_code_id, "symstore", "symcache", 0,
          "_.debug/elf-buildid-sym-f1c3bcc0279865fe3058404b2831d9e64135386c/"
          "_.debug " },
        { &no_id, "native", "symcache", 0, "" },
        { &no_id, "unified", "symcache", 0, "" },
        { &bad_names, "native", "symcache", 0, "5a/b380779000.debug " },
    };
    static const places_t quick[] = {
        { &elf, "native", "symcache", 0,
          ELF_SYM ".sym " ELF_SYM " " ELF_PDB "_ " ELF_CUT ".debug " ELF_CUT
                  " " },
        { &macho, "unified", "symcache", 0,
          UNIFIED_MACH
          "breakpad " UNIFIED_MACH "debuginfo "
          "67/e9247c814e392ba027dbde6748fcbf0/debuginfo "
          "67/e9247c814e392ba027dbde6748fcbf0/debuginf_ " UNIFIED_MACH
          "executable " },
    };

    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        test_places(&tests[i], SYM_CODE_FILES_FIRST);
    }

    for (size_t i = 0; i < sizeof(quick) / sizeof(quick[0]); i++) {
        test_places(&quick[i], SYM_DEBUG_FILES_FIRST);
    }
}


static void
test_key(const as_sent_t *sent, const char *name, const char *id)
{
    sym_object_ref_t o = object_of(sent);
    char text[SYM_ID_MAX];
    sym_module_key_t key;

    ok(sym_object_key(&o, text, &key), "an object");
    is_str(key.name, name, "... its name");
    is_str(key.id, id, "... its id");
    is_str(key.code_id, sent->code_id, "... its code id");
}


static void
test_keys(void)
{
    static const as_sent_t only_code_id = {
        SYM_OBJECT_ELF, "f1c3bcc0279865fe3058404b2831d9e64135386c",
        "/usr/bin/crash", "", ""
    };
    static const as_sent_t nameless = { SYM_OBJECT_PE, "5ab380779000", "", "",
                                        "/" };
    static const as_sent_t none = { SYM_OBJECT_PE, "", "/a", "", "/a" };
    sym_object_ref_t o = object_of(&none);
    char text[SYM_ID_MAX];
    sym_module_key_t key;

    test_key(&pe, "crash.pdb", "3249D99D0C4049318610F4E4FB0B69361");
    test_key(&wasm, "demo.wasm", "67E9247C814E392BA027DBDE6748FCBF0");
    test_key(&only_code_id, "crash",
             "F1C3BCC0279865FE3058404B2831D9E64135386C");
    test_key(&nameless, "5AB380779000", "5AB380779000");
    ok(!sym_object_key(&o, text, &key), "no id, no key");

    is_str(sym_object_file_name(SYM_STR("C:\\a/b\\c.dll")), "c.dll",
           "the last component");
    is_str(sym_object_file_name(SYM_STR("/a/b/")), "b", "... of a folder");
    is_str(sym_object_file_name(SYM_STR("//")), "", "... of none");
    is_str(sym_object_file_name(SYM_STR("")), "", "... of nothing");
}


int
main(void)
{
    test_files();
    test_order();
    test_keys();
    return done_testing();
}
