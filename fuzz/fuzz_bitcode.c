/*
 * Any bytes as a symbol map and as a map of UUIDs.  A name must lead into the
 * file or stay unchanged.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "formats/bitcode/symbol_map.h"
#include "formats/bitcode/uuid_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
ask(const sym_symbol_map_t *map, uint32_t number)
{
    char text[32];
    sym_str_t name, plain;

    (void) snprintf(text, sizeof(text), SYM_HIDDEN "%u_", number);
    name = sym_cstr(text);
    plain = sym_symbol_map_resolve(map, name);

    if (number >= map->n) {
        check(plain.data == name.data);
    } else if (plain.data != name.data) {
        check(plain.data >= map->text.data
              && plain.len
                     <= (size_t) (map->text.data + map->text.len - plain.data));
        check(memchr(plain.data, '\n', plain.len) == NULL);
        check(sym_utf8_valid(plain));
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_str_t in = sym_str((const char *) data, size);
    uint8_t uuid[SYM_UUID_BYTES];
    sym_error_t err = { 0 }, bad = { 0 };
    sym_symbol_map_t map;

    if (sym_symbol_map_read(&map, in, &err) == SYM_OK) {
        for (uint32_t i = 0; i <= map.n; i++) {
            ask(&map, i);
        }
    } else {
        check(err.what != NULL && map.starts == NULL);
    }
    sym_symbol_map_free(&map);

    check(sym_uuid_map_read(in, uuid, &bad) == SYM_OK || bad.what != NULL);
    return 0;
}
