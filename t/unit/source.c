/*
 * Paths of a module at a source, in each layout, encoded so that S3 and other
 * servers see one key; names that would leave their folder get none; and an
 * object's key identifies its module.
 *
 * The encoded strings are Python's: urllib.parse.quote(name, safe="-._~").
 */
#include "artifacts/kinds.h"
#include "base/uri.h"
#include "sources/paths/plan.h"
#include "tap.h"

#define ID "44E4EC8C2F41492B9369D6B9A059577C2"
#define ID_LOWER "44e4ec8c2f41492b9369d6b9a059577c2"

static sym_error_t err;
static sym_arena_t arena; /* of the last plan */

/* The paths of a named module. */
static const sym_source_plan_t *
plan_of(const sym_source_rules_t *rules, sym_str_t name, sym_str_t id)
{
    static sym_source_plan_t plan;
    sym_object_ref_t ref;

    sym_arena_drop(&arena);
    sym_arena_init(&arena, 0);
    sym_object_ref_mozilla(&ref, name, id);
    if (sym_source_plan(&arena, &ref, rules, ~0U, SYM_DEBUG_FILES_FIRST, &plan)
        != SYM_OK)
    {
        ok(false, "no memory");
        plan.n = 0;
    }

    return &plan;
}


static const sym_source_plan_t *
breakpad_plan(sym_str_t name, sym_str_t id, sym_source_ids_t ids)
{
    const sym_source_rules_t rules = { .files = 1u << SYM_SOURCE_BREAKPAD,
                                       .ids = ids };

    return plan_of(&rules, name, id);
}


static void
test_path(const char *name, const char *want_path, const char *want_key)
{
    const sym_source_plan_t *plan =
        breakpad_plan(sym_cstr(name), SYM_STR(ID), SYM_SOURCE_IDS_AS_IS);
    char encoded[SYM_SOURCE_ENCODED_MAX];

    if (!ok(plan->n == 1, "one place")) {
        return;
    }

    is_str(sym_source_encode(plan->at[0].path, encoded), want_path, want_path);
    is_str(plan->at[0].path, want_key, "... its key");
}


/* Two paths of Mozilla's store, with every byte that clients have sent. */
static void
test_paths(void)
{
    test_path("wntdll.pdb", "wntdll.pdb/" ID "/wntdll.sym",
              "wntdll.pdb/" ID "/wntdll.sym");
    test_path("libxul.so", "libxul.so/" ID "/libxul.so.sym",
              "libxul.so/" ID "/libxul.so.sym");
    test_path("WNTDLL.PDB", "WNTDLL.PDB/" ID "/WNTDLL.PDB.sym",
              "WNTDLL.PDB/" ID "/WNTDLL.PDB.sym");
    test_path("a.pdb.pdb", "a.pdb.pdb/" ID "/a.pdb.sym",
              "a.pdb.pdb/" ID "/a.pdb.sym");
    test_path(".pdb", ".pdb/" ID "/.sym", ".pdb/" ID "/.sym");
    test_path("pdb", "pdb/" ID "/pdb.sym", "pdb/" ID "/pdb.sym");
    test_path("...", ".../" ID "/....sym", ".../" ID "/....sym");

    test_path("libstdc++.so.6",
              "libstdc%2B%2B.so.6/" ID "/libstdc%2B%2B.so.6.sym",
              "libstdc++.so.6/" ID "/libstdc++.so.6.sym");
    test_path("Google Chrome Framework",
              "Google%20Chrome%20Framework/" ID
              "/Google%20Chrome%20Framework.sym",
              "Google Chrome Framework/" ID "/Google Chrome Framework.sym");
    test_path("a~b@{c}<d>-e_f.pdb",
              "a~b%40%7Bc%7D%3Cd%3E-e_f.pdb/" ID
              "/a~b%40%7Bc%7D%3Cd%3E-e_f.sym",
              "a~b@{c}<d>-e_f.pdb/" ID "/a~b@{c}<d>-e_f.sym");
    test_path("a%2Fb?c#d&e=f;g:h", /* sent by clients of other APIs */
              "a%252Fb%3Fc%23d%26e%3Df%3Bg%3Ah/" ID
              "/a%252Fb%3Fc%23d%26e%3Df%3Bg%3Ah.sym",
              "a%2Fb?c#d&e=f;g:h/" ID "/a%2Fb?c#d&e=f;g:h.sym");
    test_path("\xc3\xa4\xff", "%C3%A4%FF/" ID "/%C3%A4%FF.sym",
              "\xc3\xa4\xff/" ID "/\xc3\xa4\xff.sym");
}


/* S3 signs exactly the path that is sent, for every byte that a name may
 * have. */
static void
test_signed(void)
{
    char name[] = "a?b", with_slash[SYM_SOURCE_ENCODED_MAX + 1] = "/";
    unsigned allowed = 0, different = 0;

    for (unsigned c = 1; c < 256; c++) {
        const sym_source_plan_t *plan;
        sym_str_t path, canonical;

        name[1] = (char) c;
        plan = breakpad_plan(sym_cstr(name), SYM_STR(ID), SYM_SOURCE_IDS_AS_IS);
        if (plan->n == 0) {
            continue;
        }

        allowed++;
        path = sym_source_encode(plan->at[0].path, with_slash + 1);
        different +=
            sym_uri_path_s3(&arena, sym_str(with_slash, path.len + 1),
                            &canonical, &err)
                != SYM_OK
            || !sym_str_eq(canonical, sym_str(with_slash, path.len + 1));
    }

    /* 255 but 31 control characters, DEL, / and \ */
    is_u64(allowed, 221, "bytes that a name may have");
    is_u64(different, 0, "S3's canonical URI of a path is the path");
}


/* The canonical id comes first, then the id as sent. */
static void
test_id(const char *id, sym_source_ids_t ids, const char *canonical,
        const char *sent)
{
    const char *const wants[] = { canonical, sent };
    const sym_source_plan_t *plan =
        breakpad_plan(SYM_STR("a.so"), sym_cstr(id), ids);

    is_u64(plan->n, sent != NULL ? 2 : 1, id);
    for (unsigned i = 0; i < plan->n && i < 2; i++) {
        char full[600];

        (void) snprintf(full, sizeof(full), "a.so/%s/a.so.sym", wants[i]);
        is_str(plan->at[i].path, full, "... in the path");
        ok(plan->at[i].is_sent == (i == 1), "... only as sent");
    }
}


static void
test_ids(void)
{
    static char longest[SYM_SOURCE_ID_MAX + 1], upper[SYM_ID_MAX + 1];

    test_id(ID_LOWER, SYM_SOURCE_IDS_AS_IS, ID, ID_LOWER);
    test_id(ID_LOWER, SYM_SOURCE_IDS_UPPER, ID, NULL);
    test_id(ID, SYM_SOURCE_IDS_UPPER, ID, NULL);
    /* not canonical: an age with leading zeros, none, a PDB 2.0 id */
    test_id("0123456789abcdef0123456789ABCDEF0a", SYM_SOURCE_IDS_AS_IS,
            "0123456789ABCDEF0123456789ABCDEFA",
            "0123456789abcdef0123456789ABCDEF0a");
    test_id("0123456789abcdef0123456789ABCDEF", SYM_SOURCE_IDS_UPPER,
            "0123456789ABCDEF0123456789ABCDEF0",
            "0123456789ABCDEF0123456789ABCDEF");
    test_id("3b7d84101", SYM_SOURCE_IDS_UPPER, "3B7D84101", NULL);

    /* 255 digits; the store accepts 40 */
    memset(longest, 'a', SYM_SOURCE_ID_MAX);
    memset(upper, 'A', SYM_ID_MAX);
    test_id(longest, SYM_SOURCE_IDS_AS_IS, upper, longest);
}


static void
test_refused(const char *what, sym_str_t name, sym_str_t id)
{
    ok(breakpad_plan(name, id, SYM_SOURCE_IDS_AS_IS)->n == 0, "%s", what);
}


static void
test_names_refused(void)
{
    static const struct {
        const char *what;
        sym_str_t name;
    } bad[] = {
        { "no name", { "", 0 } },
        { "the folder itself", { ".", 1 } },
        { "the folder above", { "..", 2 } },
        { "a slash", { "a/b", 3 } },
        { "a slash in front", { "/etc", 4 } },
        { "out with a slash", { "../b", 4 } },
        { "out with a backslash", { "..\\b", 4 } },
        { "a NUL", { "a\0b", 3 } },
        { "a line feed", { "a\nb", 3 } },
        { "a carriage return", { "a\r", 2 } },
        { "the last control character", { "a\x1f", 2 } },
        { "DEL", { "a\x7f", 2 } },
    };
    static char longest[SYM_NAME_MAX + 1];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        test_refused(bad[i].what, bad[i].name, SYM_STR(ID));
        ok(!sym_source_name_ok(bad[i].name), "... not a name");
    }

    memset(longest, '+', sizeof(longest));
    test_refused("a name too long", sym_str(longest, sizeof(longest)),
                 SYM_STR(ID));
}


static void
test_ids_refused(void)
{
    static char longest[SYM_SOURCE_ID_MAX + 1];
    sym_str_t name = SYM_STR("a.so");

    test_refused("no id", name, SYM_STR(""));
    test_refused("a short id", name, SYM_STR("12345678"));
    test_refused("a slash in the id", name,
                 SYM_STR("44E4EC8C2F41492B9369D6B9A059577C/"));
    test_refused("an id that leaves its folder", name,
                 SYM_STR("../../../../../../../../../../../"));

    memset(longest, 'a', sizeof(longest));
    test_refused("an id too long", name, sym_str(longest, sizeof(longest)));
}


/* The longest path of each layout fits its buffer. */
static void
test_bounds(void)
{
    static char name[SYM_NAME_MAX], id[SYM_SOURCE_ID_MAX];
    char encoded[SYM_SOURCE_ENCODED_MAX];
    const sym_source_plan_t *plan;

    memset(name, '+', sizeof(name));
    memset(id, 'a', sizeof(id));
    plan = breakpad_plan(sym_str(name, sizeof(name)), sym_str(id, sizeof(id)),
                         SYM_SOURCE_IDS_UPPER);
    if (ok(plan->n == 2, "two spellings of the longest id")) {
        is_u64(plan->at[1].path.len, 2 * 255 + 255 + 2 + 4, "the longest path");
        is_u64(sym_source_encode(plan->at[1].path, encoded).len,
               2 * 3 * 255 + 255 + 2 + 4, "... encoded");
    }

    for (unsigned layout = 0; layout <= SYM_LAYOUT_SLASHSYMBOLS; layout++) {
        sym_source_rules_t rules = { .layout = (sym_layout_t) layout };
        size_t longest = 0;

        rules.files = sym_layout_files(rules.layout);
        plan = plan_of(&rules, sym_str(name, sizeof(name)), sym_str(id, 128));
        for (unsigned i = 0; i < plan->n; i++) {
            longest =
                plan->at[i].path.len > longest ? plan->at[i].path.len : longest;
        }
        ok(plan->n != 0 && longest < SYM_SOURCE_PATH_MAX, "layout %u", layout);
    }
}


static void
test_layouts(void)
{
    sym_layout_t layout = (sym_layout_t) 77;

    ok(!sym_layout_find(SYM_STR("breakpa"), &layout)
           && !sym_layout_find(SYM_STR(""), &layout)
           && layout == (sym_layout_t) 77,
       "no such layout");
    ok(sym_layout_find(SYM_STR("breakpad"), &layout)
           && layout == SYM_LAYOUT_BREAKPAD,
       "breakpad");
    ok(sym_source_files_find(SYM_STR("sources")) == 0
           && sym_source_files_find(SYM_STR("")) == 0,
       "no such kind");
    ok(sym_source_files_find(SYM_STR("elf"))
           == (sym_source_files_find(SYM_STR("elf_debug"))
               | sym_source_files_find(SYM_STR("elf_code"))),
       "a kind in two parts");
}


/* --- the layouts of Symbolicator's symbol server compatibility page --- */

#define BUILD_ID "f1c3bcc0279865fe3058404b2831d9e64135386c"
#define LONG_TAIL                                                              \
    "c3bcc0279865fe3058404b2831d9e64135386c00112233445566778899aabb"
#define BUILD_ID_UPPER "F1C3BCC0279865FE3058404B2831D9E64135386C"
#define UUID "67E9247C814E392BA027DBDE6748FCBF"
#define UUID_LOWER "67e9247c814e392ba027dbde6748fcbf"
#define LLDB "67E9/247C/814E/392B/A027/DBDE6748FCBF"

#define MAX_FILES SYM_SOURCE_FILES

typedef struct {
    const char *layout, *kinds, *id;
    sym_source_casing_t casing;
    const char *want[MAX_FILES + 1]; /* in the order of requests */
} order_t;

static void
test_plan(const order_t *o, const sym_source_plan_t *plan)
{
    char encoded[SYM_SOURCE_ENCODED_MAX];
    unsigned n = 0;

    for (unsigned i = 0; i < plan->n; i++) {
        is_str(sym_source_encode(plan->at[i].path, encoded),
               n < MAX_FILES && o->want[n] ? o->want[n] : "none", "... a path");
        n++;
    }

    ok(o->want[n] == NULL, "... and no other");
}


static sym_source_rules_t
rules_of(const order_t *o)
{
    sym_source_rules_t rules = { .casing = o->casing };

    ok(sym_layout_find(sym_cstr(o->layout), &rules.layout), "%s", o->layout);
    rules.files =
        sym_layout_files(rules.layout)
        & (o->kinds != NULL
               ? sym_source_files_find(sym_cstr(o->kinds))
               : sym_kind_files(SYM_KIND_SYMCACHE, SYM_OBJECT_UNKNOWN));
    return rules;
}


static void
test_paths_of(const order_t *o, const char *name)
{
    const sym_source_rules_t rules = rules_of(o);

    test_plan(o, plan_of(&rules, sym_cstr(name), sym_cstr(o->id)));
}


/* A PDB and a portable PDB have the same path. */
static void
test_files_of_kinds(void)
{
    sym_source_rules_t rules = { .layout = SYM_LAYOUT_SYMSTORE };

    rules.files = sym_layout_files(rules.layout)
                  & sym_kind_files(SYM_KIND_PPDB, SYM_OBJECT_UNKNOWN);
    ok(plan_of(&rules, SYM_STR("a.pdb"), SYM_STR(UUID_LOWER "1"))->n == 2,
       "lines of .NET: the PDB's path, and that of a cabinet");
}


static void
test_order(const order_t *o)
{
    test_paths_of(o, "Libc++.so");
}


static void
test_orders(void)
{
    static const order_t orders[] = {
        { "native",
          NULL,
          BUILD_ID,
          0,
          { "f1/c3bcc0279865fe3058404b2831d9e64135386c.debug",
            "f1/c3bcc0279865fe3058404b2831d9e64135386c", NULL } },
        { "native",
          NULL,
          BUILD_ID_UPPER,
          0,
          { "f1/c3bcc0279865fe3058404b2831d9e64135386c.debug",
            "f1/c3bcc0279865fe3058404b2831d9e64135386c", NULL } },
        { "native",
          NULL,
          UUID "0",
          0,
          { LLDB, "Libc%2B%2B.so/" UUID "0/Libc%2B%2B.so.sym", LLDB ".app",
            NULL } },
        { "native", "elf", UUID "0", 0, { NULL } },
        { "native", "macho", UUID_LOWER, 0, { LLDB, LLDB ".app", NULL } },
        { "native",
          "elf",
          UUID,
          0,
          { "67/e9247c814e392ba027dbde6748fcbf.debug",
            "67/e9247c814e392ba027dbde6748fcbf", NULL } },
        { "native",
          NULL,
          UUID "1A",
          0,
          { "Libc%2B%2B.so/" UUID "1a/Libc%2B%2B.so.sym", NULL } },
        { "native",
          "elf",
          "0123456789ABCDEF",
          0,
          { "01/23456789abcdef.debug", "01/23456789abcdef", NULL } },
        { "native", /* the code id of a PE file */
          NULL,
          "0123456789ABCDE",
          0,
          { "Libc%2B%2B.so/0123456789abcde/Libc%2B%2B.so",
            "Libc%2B%2B.so/0123456789abcde/Libc%2B%2B.s_", NULL } },

        { "debuginfod",
          NULL,
          BUILD_ID_UPPER,
          0,
          { BUILD_ID "/debuginfo", BUILD_ID "/executable", NULL } },
        { "debuginfod", NULL, UUID "0", 0, { NULL } },

        { "symstore",
          NULL,
          BUILD_ID,
          0,
          { "_.debug/elf-buildid-sym-" BUILD_ID "/_.debug",
            "Libc%2B%2B.so/elf-buildid-" BUILD_ID "/Libc%2B%2B.so", NULL } },
        { "symstore",
          NULL,
          UUID "0",
          0,
          { "_.dwarf/mach-uuid-sym-" UUID_LOWER "/_.dwarf",
            "Libc%2B%2B.so/mach-uuid-" UUID_LOWER "/Libc%2B%2B.so", NULL } },
        { "ssqp",
          NULL,
          BUILD_ID,
          0,
          { "_.debug/elf-buildid-sym-" BUILD_ID "/_.debug",
            "libc%2B%2B.so/elf-buildid-" BUILD_ID "/libc%2B%2B.so", NULL } },

        { "unified",
          NULL,
          BUILD_ID_UPPER,
          0,
          { "f1/c3bcc0279865fe3058404b2831d9e64135386c/debuginfo",
            "f1/c3bcc0279865fe3058404b2831d9e64135386c/breakpad",
            "f1/c3bcc0279865fe3058404b2831d9e64135386c/executable", NULL } },
        { "unified",
          NULL,
          UUID "0",
          0,
          { "67/e9247c814e392ba027dbde6748fcbf/debuginfo",
            "67/e9247c814e392ba027dbde6748fcbf/breakpad",
            "67/e9247c814e392ba027dbde6748fcbf/executable", NULL } },
        { "unified",
          NULL,
          UUID "2",
          0,
          { "67/e9247c814e392ba027dbde6748fcbf2/breakpad", NULL } },

        { "slashsymbols",
          NULL,
          BUILD_ID,
          0,
          { "Libc%2B%2B.so/" BUILD_ID_UPPER "/symbols",
            "Libc%2B%2B.so/" BUILD_ID "/symbols", NULL } },

        { "native",
          "elf",
          BUILD_ID,
          SYM_SOURCE_CASING_UPPER,
          { "F1/C3BCC0279865FE3058404B2831D9E64135386C.DEBUG",
            "F1/C3BCC0279865FE3058404B2831D9E64135386C", NULL } },
        { "native",
          "breakpad",
          UUID "0",
          SYM_SOURCE_CASING_LOWER,
          { "libc%2B%2B.so/" UUID_LOWER "0/libc%2B%2B.so.sym", NULL } },
        /* source bundles */
        { "native",
          "sourcebundle",
          BUILD_ID,
          0,
          { "f1/c3bcc0279865fe3058404b2831d9e64135386c.src.zip", NULL } },
        { "native",
          "sourcebundle",
          UUID "0",
          0,
          { LLDB ".src.zip", "Libc%2B%2B.so/" UUID "0/Libc%2B%2B.so.src.zip",
            NULL } },
        { "native",
          "sourcebundle",
          UUID "1A",
          0,
          { "Libc%2B%2B.so/" UUID "1a/Libc%2B%2B.so.src.zip", NULL } },
        { "unified",
          "sourcebundle",
          BUILD_ID_UPPER,
          0,
          { "f1/c3bcc0279865fe3058404b2831d9e64135386c/sourcebundle", NULL } },
        { "unified",
          "sourcebundle",
          UUID "0",
          0,
          { "67/e9247c814e392ba027dbde6748fcbf/sourcebundle", NULL } },
        { "unified",
          "sourcebundle",
          UUID "2",
          0,
          { "67/e9247c814e392ba027dbde6748fcbf2/sourcebundle", NULL } },
        { "debuginfod", "sourcebundle", BUILD_ID, 0, { NULL } },
        { "breakpad", "sourcebundle", UUID "0", 0, { NULL } },
        { "breakpad",
          NULL,
          UUID "0",
          SYM_SOURCE_CASING_LOWER,
          { "libc%2B%2B.so/" UUID_LOWER "0/libc%2B%2B.so.sym", NULL } },
        { "slashsymbols",
          NULL,
          BUILD_ID,
          SYM_SOURCE_CASING_LOWER,
          { "libc%2B%2B.so/" BUILD_ID "/symbols", NULL } },
    };

    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        test_order(&orders[i]);
    }
}


/* --- PE, PDB, WebAssembly --- */

#define GUID "3249D99D0C4049318610F4E4FB0B6936"
#define GUID_LOWER "3249d99d0c4049318610f4e4fb0b6936"
#define BID_TAIL "49d99d0c4049318610f4e4fb0b6936a"
#define PE_ID "590285E9e0000"
#define PE_ID_LOWER "590285e9e0000"

typedef struct {
    const char *name;
    order_t order;
} named_t;

static void
test_windows(void)
{
    static const named_t modules[] = {
        /* by debug id: only a file of that name has a PDB */
        { "Xul.pdb",
          { "symstore",
            NULL,
            GUID "A",
            0,
            { "Xul.pdb/" GUID "a/Xul.pdb", "Xul.pdb/" GUID "a/Xul.pd_",
              NULL } } },
        { "XUL.PDB",
          { "symstore_index2",
            NULL,
            GUID_LOWER "0a",
            0,
            { "XU/XUL.PDB/" GUID "a/XUL.PDB", "XU/XUL.PDB/" GUID "a/XUL.PD_",
              NULL } } },
        { "x.pdb",
          { "symstore_index2",
            NULL,
            GUID "A",
            0,
            { "x/x.pdb/" GUID "a/x.pdb", "x/x.pdb/" GUID "a/x.pd_", NULL } } },
        { "Xul.pdb",
          { "ssqp",
            NULL,
            GUID "A",
            0,
            { "xul.pdb/" GUID_LOWER "A/xul.pdb",
              "xul.pdb/" GUID_LOWER "A/xul.pd_", NULL } } },
        { "Xul.pdb",
          { "ssqp",
            "sourcebundle",
            GUID "A",
            0,
            { "xul.pdb/" GUID_LOWER "A/xul.src.zip", NULL } } },
        { "Xul.pdb",
          { "symstore",
            "sourcebundle",
            GUID "A",
            0,
            { "Xul.pdb/" GUID "a/Xul.src.zip", NULL } } },
        { "Xul.pdb",
          { "native",
            NULL,
            GUID "A",
            0,
            { "Xul.pdb/" GUID "a/Xul.sym", "Xul.pdb/" GUID "a/Xul.pdb",
              "Xul.pdb/" GUID "a/Xul.pd_", NULL } } },
        { "Xul.pdb",
          { "native",
            "pdb",
            GUID "A",
            SYM_SOURCE_CASING_UPPER,
            { "XUL.PDB/" GUID "A/XUL.PDB", "XUL.PDB/" GUID "A/XUL.PD_",
              NULL } } },
        { "Xul.pdb",
          { "native",
            "portablepdb",
            GUID "A",
            0,
            { "Xul.pdb/" GUID "a/Xul.pdb", NULL } } },
        { "Xul.pdb",
          { "unified",
            NULL,
            GUID "A",
            0,
            { "32/" BID_TAIL "/breakpad", "32/" BID_TAIL "/debuginfo",
              "32/" BID_TAIL "/debuginf_", "32/" BID_TAIL "/executable",
              "32/" BID_TAIL "/executabl_", NULL } } },
        { "xul.pdb",
          { "breakpad",
            NULL,
            GUID "A",
            0,
            { "xul.pdb/" GUID "A/xul.sym", NULL } } },
        { "xul.pdb", { "debuginfod", NULL, GUID "A", 0, { NULL } } },
        { "xul.pdb", { "slashsymbols", NULL, GUID "A", 0, { NULL } } },
        { "libxul.so", { "symstore", NULL, GUID "A", 0, { NULL } } },
        { "pdb", { "symstore", NULL, GUID "A", 0, { NULL } } },
        { "old.pdb", /* PDB 2.0 */
          { "symstore",
            NULL,
            "3B7D84101",
            0,
            { "old.pdb/3B7D84101/old.pdb", "old.pdb/3B7D84101/old.pd_",
              NULL } } },

        { "old.pdb",
          { "native",
            NULL,
            "3B7D84101",
            0,
            { "old.pdb/3B7D84101/old.pdb", "old.pdb/3B7D84101/old.pd_",
              NULL } } },

        /* by code id, which looks like the debug id of a PDB 2.0 file */
        { "CrashWith.exe",
          { "symstore",
            NULL,
            PE_ID_LOWER,
            0,
            { "CrashWith.exe/" PE_ID "/CrashWith.exe",
              "CrashWith.exe/" PE_ID "/CrashWith.ex_", NULL } } },
        { "CrashWith.exe",
          { "symstore_index2",
            NULL,
            "590285E9E0000",
            0,
            { "Cr/CrashWith.exe/" PE_ID "/CrashWith.exe",
              "Cr/CrashWith.exe/" PE_ID "/CrashWith.ex_", NULL } } },
        { "CrashWith.exe",
          { "ssqp",
            NULL,
            "590285E9E0000",
            0,
            { "crashwith.exe/" PE_ID_LOWER "/crashwith.exe",
              "crashwith.exe/" PE_ID_LOWER "/crashwith.ex_", NULL } } },
        { "CrashWith.exe",
          { "native",
            NULL,
            "590285E9E0000",
            0,
            { "CrashWith.exe/" PE_ID "/CrashWith.exe",
              "CrashWith.exe/" PE_ID "/CrashWith.ex_", NULL } } },
        { "CrashWith.exe",
          { "slashsymbols",
            NULL,
            PE_ID,
            0,
            { "CrashWith.exe/590285E9E0000/symbols",
              "CrashWith.exe/590285E9E0000/symbol_",
              "CrashWith.exe/" PE_ID_LOWER "/symbols",
              "CrashWith.exe/" PE_ID_LOWER "/symbol_", NULL } } },

        /* names in other scripts: the last character is replaced, and index2
         * uses complete characters for its folder */
        { "\xc3\xa4.pdb",
          { "symstore_index2",
            "pdb",
            GUID "A",
            0,
            { "%C3%A4/%C3%A4.pdb/" GUID "a/%C3%A4.pdb",
              "%C3%A4/%C3%A4.pdb/" GUID "a/%C3%A4.pd_", NULL } } },
        { "a\xc3\xa4.pdb",
          { "symstore_index2",
            "pdb",
            GUID "A",
            0,
            { "a%C3%A4.pdb/" GUID "a/a%C3%A4.pdb",
              "a%C3%A4.pdb/" GUID "a/a%C3%A4.pd_", NULL } } },
        { "a.\xe6\xbc\xa2",
          { "symstore",
            "pe",
            PE_ID,
            0,
            { "a.%E6%BC%A2/" PE_ID "/a.%E6%BC%A2", "a.%E6%BC%A2/" PE_ID "/a._",
              NULL } } },

        /* the build id of WebAssembly is usually its debug id as well */
        { "demo.wasm",
          { "native",
            "wasm",
            UUID "0",
            0,
            { "67/e9247c814e392ba027dbde6748fcbf.debug",
              "67/e9247c814e392ba027dbde6748fcbf", NULL } } },
        { "demo",
          { "native",
            "wasm",
            UUID,
            0,
            { "67/e9247c814e392ba027dbde6748fcbf.debug",
              "67/e9247c814e392ba027dbde6748fcbf", NULL } } },
        { "demo", { "native", "wasm", UUID "0", 0, { NULL } } },
        { "demo.wasm",
          { "unified",
            "wasm",
            UUID "0",
            0,
            { "67/e9247c814e392ba027dbde6748fcbf/debuginfo",
              "67/e9247c814e392ba027dbde6748fcbf/executable", NULL } } },
    };

    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        test_paths_of(&modules[i].order, modules[i].name);
    }
}


/* An object is found by the id of any of its files. */


/* --- the layout site --- */

static void
test_site_path(const char *url, sym_text_role_t role, const char *want)
{
    const sym_source_rules_t rules = { .layout = SYM_LAYOUT_SITE,
                                       .files =
                                           sym_layout_files(SYM_LAYOUT_SITE) };
    const sym_object_ref_t ref = { .url = sym_cstr(url), .role = role };
    sym_source_plan_t plan;

    ok(sym_source_plan(&arena, &ref, &rules, 0, SYM_DEBUG_FILES_FIRST, &plan)
               == SYM_OK
           && plan.n == (want != NULL)
           && (want == NULL || sym_str_eq(plan.at[0].path, sym_cstr(want))),
       "%s: %s", url, want != NULL ? want : "no place");
}


static void
test_site(void)
{
    static const char *const none[] = { "~/",        "~",       "/a.js",
                                        "~//a.js",   "~/a//b",  "~/a/",
                                        "~/../a",    "~/a/..",  "~/./a",
                                        "~/%2e%2e/", "~/a%2Fb", "~/%00",
                                        "~/a%0ab",   "~/a\\b" };
    const sym_object_ref_t object = { .debug_id = { .form =
                                                        SYM_DEBUG_ID_UUID } };
    const sym_source_rules_t rules = { .layout = SYM_LAYOUT_SITE,
                                       .files = ~0U };
    sym_source_plan_t plan;
    char longest[2000] = "~/a/";

    test_site_path("~/static/a.min.js", SYM_TEXT_SCRIPT, "static/a.min.js");
    test_site_path("~/my%20app%2B.js.map#x", SYM_TEXT_SOURCEMAP,
                   "my app+.js.map");
    test_site_path("~/src/%zz%4", SYM_TEXT_SOURCE, "src/%zz%4");
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        test_site_path(none[i], SYM_TEXT_SCRIPT, NULL);
    }

    for (size_t i = 4; i < 1000; i++) {
        longest[i] = i % 200 == 0 ? '/' : 'a';
    }
    test_site_path(longest, SYM_TEXT_SCRIPT, NULL);

    ok(sym_source_plan(&arena, &object, &rules, ~0U, SYM_DEBUG_FILES_FIRST,
                       &plan)
               == SYM_OK
           && plan.n == 0,
       "nothing else is there");
}


/* --- source files of debuginfod --- */

/* url: as a client's path becomes one; want: after the build id. */
static void
test_source_path(const char *url, const char *want)
{
    const sym_source_rules_t rules = { .layout = SYM_LAYOUT_DEBUGINFOD,
                                       .files = sym_layout_files(
                                           SYM_LAYOUT_DEBUGINFOD) };
    sym_object_ref_t ref = { .type = SYM_OBJECT_ELF, .url = sym_cstr(url) };
    sym_source_plan_t plan;
    char path[1024];

    (void) snprintf(path, sizeof(path), BUILD_ID "%s", want);
    ok(sym_code_id_read_build_id(SYM_STR(BUILD_ID), &ref.code_id)
           && sym_source_plan(&arena, &ref, &rules, ~0U, SYM_DEBUG_FILES_FIRST,
                              &plan)
                  == SYM_OK
           && plan.n == (want[0] != '\0')
           && (plan.n == 0 || sym_str_eq(plan.at[0].path, sym_cstr(path))),
       "%s: %s", url, want);
}


static void
test_sources(void)
{
    static const char *const none[] = { "~/",     "~",       "~//a",
                                        "~/../a", "~/a/..",  "~/a%2fb",
                                        "~/a\\b", "~/a%0ab", "http://a/b" };
    sym_object_ref_t ref = { .url = SYM_STR("~/a/b.c") };
    char longest[2000] = "~/";

    test_source_path("~/usr/src/a b+%25.c", "/source/usr/src/a b+%.c");
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        test_source_path(none[i], "");
    }

    memset(longest + 2, 'a', 900);
    test_source_path(longest, "");

    ok(!sym_layout_takes(SYM_LAYOUT_DEBUGINFOD, &ref),
       "without a build id a server is not asked");
    ok(sym_layout_takes(SYM_LAYOUT_SITE, &ref), "... but a site is");
    (void) sym_code_id_read_build_id(SYM_STR(BUILD_ID), &ref.code_id);
    ok(!sym_layout_takes(SYM_LAYOUT_SITE, &ref), "with one a site is not");
}


int
main(void)
{
    test_paths();
    test_signed();
    test_ids();
    test_names_refused();
    test_ids_refused();
    test_bounds();
    test_layouts();
    test_orders();
    test_files_of_kinds();
    test_windows();
    test_site();
    test_sources();
    sym_arena_drop(&arena);
    return done_testing();
}
