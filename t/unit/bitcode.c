/*
 * Maps of hidden names: which name replaces a hidden one, and which map a
 * module needs.  The files are those of Sentry's tests, as their authors
 * describe them.
 */
#include "formats/bitcode/symbol_map.h"
#include "formats/bitcode/uuid_map.h"
#include "tap.h"

#define HEAD "BCSymbolMap Version: 2.0"

static const char map_text[] = HEAD "\n-[A b]\r\n\n_c\nd";

static void
test_symbol_map(void)
{
    static const struct {
        const char *name, *want;
    } cases[] = {
        { "__hidden#0_", "-[A b]" }, /* CR goes with LF */
        { "__hidden#1_", "" },
        { "__hidden#2_", "_c" },
        { "__hidden#3_", "d" }, /* no newline at the end */
        { "__hidden#03_", "d" },
        { "__hidden#4_", "__hidden#4_" },
        { "__hidden#18446744073709551616_", "__hidden#18446744073709551616_" },
        { "__hidden#_", "__hidden#_" },
        { "__hidden#1", "__hidden#1" },
        { "__hidden#1x_", "__hidden#1x_" },
        { "__hidden#-1_", "__hidden#-1_" },
        { "_hidden#1_", "_hidden#1_" },
        { "__hidden#", "__hidden#" },
        { "main", "main" },
        { "", "" },
    };
    sym_error_t err = { 0 };
    sym_symbol_map_t map;

    ok(sym_symbol_map_read(&map, sym_str(map_text, sizeof(map_text) - 1), &err)
           == SYM_OK,
       "a map is read");
    ok(map.n == 4, "... its lines");

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sym_str_t got = sym_symbol_map_resolve(&map, sym_cstr(cases[i].name));

        is_str(got, cases[i].want, cases[i].name);
    }

    sym_symbol_map_free(&map);
}


static void
test_empty_map(void)
{
    sym_error_t err = { 0 };
    sym_symbol_map_t map;

    ok(sym_symbol_map_read(&map, SYM_STR(HEAD), &err) == SYM_OK && map.n == 0,
       "a map without names is valid");
    sym_symbol_map_free(&map);
}


/* Limit on a name; longer ones stay hidden. */
static void
test_long_names(void)
{
    static char text[sizeof(HEAD "\n") + SYM_HIDDEN_NAME_MAX + 1];
    const sym_str_t hidden = SYM_STR("__hidden#0_");
    size_t head = sizeof(HEAD "\n") - 1;
    sym_error_t err = { 0 };
    sym_symbol_map_t map;

    memcpy(text, HEAD "\n", head);
    memset(text + head, 'n', SYM_HIDDEN_NAME_MAX + 1);

    for (size_t i = 0; i < 2; i++) {
        size_t len = SYM_HIDDEN_NAME_MAX + i;

        (void) sym_symbol_map_read(&map, sym_str(text, head + len), &err);
        ok(sym_symbol_map_resolve(&map, hidden).len
               == (i == 0 ? len : hidden.len),
           "a name of %zu bytes", len);
        sym_symbol_map_free(&map);
    }
}


#define LIST(inner)                                                            \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"                               \
    "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "                  \
    "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"                    \
    "<plist version=\"1.0\">" inner "</plist>\n"

#define UUID "C8374B6D-6E96-34D8-AE38-EFAA5FEC424F"
#define VALUE "<key>DBGOriginalUUID</key>\n<string>" UUID "</string>"

static void
test_uuid_map(void)
{
    static const char *const lists[] = {
        LIST("<dict>" VALUE "</dict>"),
        LIST("<dict><key>DBGArchitecture</key><string>arm64</string>" VALUE
             "<key>DBGSourcePathRemapping</key><dict><key>DBGOriginalUUID"
             "</key><string>no</string></dict></dict>"),
        LIST("<dict><key>DBG&#79;riginalUUID</key><string>c8374b6d6e9634d8"
             "ae38efaa5fec424f</string></dict><dict><key>DBGOriginalUUID"
             "</key><string>no</string></dict>"),
        LIST("<dict><array><key>DBGOriginalUUID</key></array>" VALUE "</dict>"),
    };
    static const uint8_t want[SYM_UUID_BYTES] = { 0xc8, 0x37, 0x4b, 0x6d,
                                                  0x6e, 0x96, 0x34, 0xd8,
                                                  0xae, 0x38, 0xef, 0xaa,
                                                  0x5f, 0xec, 0x42, 0x4f };

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        uint8_t uuid[SYM_UUID_BYTES] = { 0 };
        sym_error_t err = { 0 };

        ok(sym_uuid_map_read(sym_cstr(lists[i]), uuid, &err) == SYM_OK
               && memcmp(uuid, want, sizeof(want)) == 0,
           "the UUID of list %zu", i);
    }
}


static void
test_limits(void)
{
    static char spaces[SYM_UUID_MAP_BYTES_MAX + 1];
    uint8_t uuid[SYM_UUID_BYTES];
    sym_error_t err = { 0 };

    memset(spaces, ' ', sizeof(spaces));
    ok(sym_uuid_map_read(sym_str(spaces, sizeof(spaces)), uuid, &err)
           == SYM_LIMIT,
       "a large list is refused");
}


int
main(void)
{
    test_symbol_map();
    test_empty_map();
    test_long_names();
    test_uuid_map();
    test_limits();
    return done_testing();
}
