/*
 * One object, many spellings: a request with any of them must reach the same
 * record, and an invalid id must be refused and not mistaken for another.
 *
 * Ids are those of files in Sentry's test symbols and of the documentation of
 * its `debugid`; their spellings are the paths of symbol servers.
 */
#include "object/object_id.h"
#include "tap.h"

#define NONE NULL /* no such spelling */

typedef bool (*read_debug_pt)(sym_str_t s, sym_debug_id_t *id);
typedef bool (*read_code_pt)(sym_str_t s, sym_code_id_t *id);

typedef struct {
    const char *text;
    const char *canonical; /* Breakpad's spelling; NONE: it is refused */
} reading_t;


static void
read_debug_ids(const char *what, read_debug_pt read, const reading_t *rows,
               size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char out[SYM_ID_TEXT_MAX];
        sym_debug_id_t id = { SYM_DEBUG_ID_UUID, { 1 }, 1 };
        bool is_read = read(sym_cstr(rows[i].text), &id);
        sym_str_t got = sym_str(out, sym_debug_id_write_breakpad(&id, out));
        char name[128];

        (void) snprintf(name, sizeof(name), "%s: '%s'", what, rows[i].text);
        if (rows[i].canonical == NONE) {
            ok(!is_read && got.len == 0, "%s is refused", name);
        } else {
            is_str(got, rows[i].canonical, name);
        }
    }
}

#define READ_DEBUG_IDS(what, read, rows)                                       \
    read_debug_ids(what, read, rows, sizeof(rows) / sizeof((rows)[0]))


static void
test_debug_ids(void)
{
    static const reading_t breakpad[] = {
        { "3249D99D0C4049318610F4E4FB0B69361",
          "3249D99D0C4049318610F4E4FB0B69361" },
        { "3249d99d0c4049318610f4e4fb0b69361",
          "3249D99D0C4049318610F4E4FB0B69361" },
        { "DFB8E43AF2423D73A453AEB6A777EF75a",
          "DFB8E43AF2423D73A453AEB6A777EF75A" },
        { "DFB8E43AF2423D73A453AEB6A777EF75feedface",
          "DFB8E43AF2423D73A453AEB6A777EF75FEEDFACE" },
        { "DFB8E43AF2423D73A453AEB6A777EF750000000a",
          "DFB8E43AF2423D73A453AEB6A777EF75A" },
        { "1D6929B4468B4DB893899A12BD257E1Bffffffff",
          "1D6929B4468B4DB893899A12BD257E1BFFFFFFFF" },
        { "3249D99D1", "3249D99D1" }, /* PDB 2.0 */
        { "3249d99d0000000a", "3249D99DA" },
        { "3249D99D0C4049318610F4E4FB0B6936", NONE }, /* no age */
        { "3249D99D", NONE },
        { "3249D99D0C40493186", NONE },
        { "DFB8E43AF2423D73A453AEB6A777EF75feedface1", NONE },
        { "3249D99D0C4049318610F4E4FB0B693G1", NONE },
        { "3249D99D0C4049318610F4E4FB0B6936-1", NONE },
        { "3249d99d-0c40-4931-8610-f4e4fb0b6936-1", NONE },
        { "", NONE },
    };
    static const reading_t sentry[] = {
        { "3249d99d-0c40-4931-8610-f4e4fb0b6936-1",
          "3249D99D0C4049318610F4E4FB0B69361" },
        { "dfb8e43a-f242-3d73-a453-aeb6a777ef75",
          "DFB8E43AF2423D73A453AEB6A777EF750" },
        { "dfb8e43a-f242-3d73-a453-aeb6a777ef75-a",
          "DFB8E43AF2423D73A453AEB6A777EF75A" },
        { "DFB8E43A-F242-3D73-A453-AEB6A777EF75-FEEDFACE",
          "DFB8E43AF2423D73A453AEB6A777EF75FEEDFACE" },
        { "dfb8e43af2423d73a453aeb6a777ef75",
          "DFB8E43AF2423D73A453AEB6A777EF750" },
        { "dfb8e43af2423d73a453aeb6a777ef75a",
          "DFB8E43AF2423D73A453AEB6A777EF75A" },
        { "3249d99d-1", "3249D99D1" },
        { "dfb8e43a-f242-3d73-a453-aeb6a777ef75a", NONE },
        { "dfb8e43a-f242-3d73-a453-aeb6a777ef75-", NONE },
        { "dfb8e43a-f242-3d73-a453-aeb6a777ef75-123456789", NONE },
        { "dfb8e43a-f2423d73-a453-aeb6a777ef75", NONE },
        { "dfb8e43a-f242-3d73-a453-aeb6a777ef7", NONE },
        { "dfb8e43a-f242-3d73-a453-aeb6a777ef7x", NONE },
        { "bogus", NONE },
        { "", NONE },
    };
    static const reading_t uuid[] = {
        { "67e9247c-814e-392b-a027-dbde6748fcbf",
          "67E9247C814E392BA027DBDE6748FCBF0" },
        { "67E9247C814E392BA027DBDE6748FCBF",
          "67E9247C814E392BA027DBDE6748FCBF0" },
        { "67E9247C814E392BA027DBDE6748FCBF0", NONE },
        { "67e9247c-814e-392b-a027-dbde6748fcbf-1", NONE },
        { "67e9247c814e-392b-a027-dbde6748fcbf", NONE },
        { "67e9", NONE },
    };

    READ_DEBUG_IDS("Breakpad", sym_debug_id_read_breakpad, breakpad);
    READ_DEBUG_IDS("Sentry", sym_debug_id_read_sentry, sentry);
    READ_DEBUG_IDS("UUID", sym_debug_id_read_uuid, uuid);
}


static void
read_code_ids(const char *what, read_code_pt read, const reading_t *rows,
              size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sym_code_id_t id = { .len = 1 };
        bool is_read = read(sym_cstr(rows[i].text), &id);
        char name[256];

        (void) snprintf(name, sizeof(name), "%s: '%s'", what, rows[i].text);
        if (rows[i].canonical == NONE) {
            ok(!is_read && id.len == 0, "%s is refused", name);
        } else {
            is_str(sym_str(id.text, id.len), rows[i].canonical, name);
        }
    }
}

#define READ_CODE_IDS(what, read, rows)                                        \
    read_code_ids(what, read, rows, sizeof(rows) / sizeof((rows)[0]))

#define DIGITS_64                                                              \
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"


static void
test_code_ids(void)
{
    static const reading_t any[] = {
        { "F1C3BCC0279865FE3058404B2831D9E64135386C",
          "f1c3bcc0279865fe3058404b2831d9e64135386c" },
        { "67E9247C-814E-392B-A027-DBDE6748FCBF",
          "67e9247c814e392ba027dbde6748fcbf" },
        { "5AB380779000", "5ab380779000" },
        { "abc", "abc" },
        { DIGITS_64 DIGITS_64, DIGITS_64 DIGITS_64 },
        { DIGITS_64 DIGITS_64 "0", NONE },
        { "0x5AB38077", NONE },
        { "-", NONE },
        { "", NONE },
    };
    static const reading_t build_id[] = {
        { "f1c3bcc0279865fe3058404b2831d9e64135386c",
          "f1c3bcc0279865fe3058404b2831d9e64135386c" },
        { "DEADBEEF", "deadbeef" },
        { "0011223344556677", "0011223344556677" },
        { "f1c3bcc0279865fe3058404b2831d9e64135386", NONE },
        { "f1-c3", NONE },
        { "", NONE },
    };
    static const reading_t pe[] = {
        { "5AB380779000", "5ab380779000" },
        { "69FE3F7D37000", "69fe3f7d37000" },
        { "590285E9e0000", "590285e9e0000" },
        { "590285E9fffffffff", NONE },
        { "590285E9", NONE },
    };

    READ_CODE_IDS("code id", sym_code_id_read, any);
    READ_CODE_IDS("build id", sym_code_id_read_build_id, build_id);
    READ_CODE_IDS("PE", sym_code_id_read_pe, pe);
}


static void
test_writing(void)
{
    static const struct {
        const char *sentry, *symstore, *dotnet;
    } rows[] = {
        { "3249d99d-0c40-4931-8610-f4e4fb0b6936-1",
          "3249D99D0C4049318610F4E4FB0B69361",
          "3249D99D0C4049318610F4E4FB0B6936ffffffff" },
        { "2556f151-5a40-3847-be6c-e2c1b5be4df8",
          "2556F1515A403847BE6CE2C1B5BE4DF80",
          "2556F1515A403847BE6CE2C1B5BE4DF8ffffffff" },
        { "dfb8e43a-f242-3d73-a453-aeb6a777ef75-feedface",
          "DFB8E43AF2423D73A453AEB6A777EF75feedface",
          "DFB8E43AF2423D73A453AEB6A777EF75ffffffff" },
        { "3249d99d-1", "3249D99D1", "3249D99Dffffffff" },
    };
    char out[SYM_ID_TEXT_MAX];
    sym_debug_id_t id;
    sym_code_id_t code;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void) sym_debug_id_read_sentry(sym_cstr(rows[i].sentry), &id);
        is_str(sym_str(out, sym_debug_id_write_sentry(&id, out)),
               rows[i].sentry, "Sentry's, read and written");
        is_str(
            sym_str(out, sym_debug_id_write_symstore(&id, SYM_OBJECT_PE, out)),
            rows[i].symstore, "a PDB's in a symbol server");
        is_str(sym_str(out, sym_debug_id_write_symstore(
                                &id, SYM_OBJECT_PE_DOTNET, out)),
               rows[i].dotnet, "a portable PDB's");
    }

    (void) sym_code_id_read_pe(SYM_STR("69fe3f7d37000"), &code);
    is_str(sym_str(out, sym_code_id_write_pe(&code, out)), "69FE3F7D37000",
           "a PE file's in a symbol server");
    (void) sym_code_id_read_pe(SYM_STR("590285E9E0000"), &code);
    is_str(sym_str(out, sym_code_id_write_pe(&code, out)), "590285E9e0000",
           "its size is in lower case");
    (void) sym_code_id_read(SYM_STR("5902"), &code);
    is_u64(sym_code_id_write_pe(&code, out), 0, "other formats have none");
}


static void
test_build_ids(void)
{
    static const uint8_t build_id[] = { 0xf1, 0xc3, 0xbc, 0xc0, 0x27,
                                        0x98, 0x65, 0xfe, 0x30, 0x58,
                                        0x40, 0x4b, 0x28, 0x31, 0xd9,
                                        0xe6, 0x41, 0x35, 0x38, 0x6c };
    char out[SYM_ID_TEXT_MAX];
    sym_debug_id_t id;

    sym_debug_id_of_build_id(build_id, sizeof(build_id), false, &id);
    is_str(sym_str(out, sym_debug_id_write_sentry(&id, out)),
           "c0bcc3f1-9827-fe65-3058-404b2831d9e6", "of a little endian file");
    sym_debug_id_of_build_id(build_id, sizeof(build_id), true, &id);
    is_str(sym_str(out, sym_debug_id_write_sentry(&id, out)),
           "f1c3bcc0-2798-65fe-3058-404b2831d9e6", "of a big endian one");
    sym_debug_id_of_build_id(build_id, 8, false, &id);
    is_str(sym_str(out, sym_debug_id_write_sentry(&id, out)),
           "c0bcc3f1-9827-fe65-0000-000000000000", "of 8 bytes");
}


static void
test_mozilla(void)
{
    static const struct {
        const char *id;
        bool is_code_id;
    } rows[] = {
        { "3249D99D0C4049318610F4E4FB0B69361", false },
        { "f1c3bcc0279865fe3058404b2831d9e64135386c", true },
        { "67E9247C814E392BA027DBDE6748FCBF", true },
        { "0011223344556677", true },
        { "DFB8E43AF2423D73A453AEB6A777EF7510", false }, /* an age of 16 */
        { "3249D99D1", false },
        { DIGITS_64, true },
        { DIGITS_64 "0", false },
    };

    static const struct {
        const char *name, *id, *code_id;
    } modules[] = {
        { "a.so", "F1C3BCC0279865FE", "f1c3bcc0279865fe" },
        { "a.dll", "590285E9E0000", "590285e9e0000" },
        { "a.PDB", "590285E9E0000", "" }, /* PDB 2.0 */
        { "a.pdb", "F1C3BCC0279865FE", "f1c3bcc0279865fe" },
        { "a.dll", "590285E9", "" },
        { "a.dll", "3249D99D0C4049318610F4E4FB0B69361", "" },
    };
    sym_code_id_t code_id;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        is_u64(sym_mozilla_is_code_id(sym_cstr(rows[i].id)), rows[i].is_code_id,
               rows[i].id);
    }

    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        bool is_read = sym_mozilla_code_id(sym_cstr(modules[i].name),
                                           sym_cstr(modules[i].id), &code_id);

        is_str(sym_str(code_id.text, code_id.len), modules[i].code_id,
               modules[i].name);
        ok(is_read == (code_id.len != 0), "... said so");
    }
}


static void
test_types(void)
{
    is_u64(sym_object_type(SYM_STR("pe_dotnet")), SYM_OBJECT_PE_DOTNET, ".NET");
    is_u64(sym_object_type(SYM_STR("ELF")), SYM_OBJECT_UNKNOWN, "unknown");
}


int
main(void)
{
    test_debug_ids();
    test_code_ids();
    test_writing();
    test_build_ids();
    test_mozilla();
    test_types();
    return done_testing();
}
