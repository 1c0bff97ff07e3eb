#include "formats/map.h"

#include "formats/bitcode/symbol_map.h"
#include "formats/bitcode/uuid_map.h"
#include "formats/il2cpp/line_map.h"

static sym_status_t
check_uuids(sym_str_t file, sym_error_t *err)
{
    uint8_t uuid[SYM_UUID_BYTES];

    return sym_uuid_map_read(file, uuid, err);
}


static sym_status_t
check_names(sym_str_t file, sym_error_t *err)
{
    sym_symbol_map_t map;
    sym_status_t rc = sym_symbol_map_read(&map, file, err);

    sym_symbol_map_free(&map);
    return rc;
}


/* No file of the map is in this module. */
static sym_status_t
check_lines(sym_str_t file, sym_error_t *err)
{
    sym_writer_t *w = sym_writer_create(err);
    sym_moves_t moves = { 0 };

    if (w != NULL) {
        (void) sym_il2cpp_read(&moves, w, file, err);
        sym_moves_free(&moves);
        sym_writer_free(w);
    }

    return err->status;
}


sym_status_t
sym_map_check(sym_str_t file, sym_companion_kind_t *kind, sym_error_t *err)
{
    static const struct {
        const char *head;
        sym_companion_kind_t kind;
        sym_status_t (*check)(sym_str_t file, sym_error_t *err);
    } maps[] = {
        { "<?xml", SYM_COMPANION_UUID_MAP, check_uuids },
        { "BCSymbolMap ", SYM_COMPANION_SYMBOL_MAP, check_names },
        { "{", SYM_COMPANION_LINE_MAP, check_lines },
    };

    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        if (sym_str_starts(file, sym_cstr(maps[i].head))) {
            *kind = maps[i].kind;
            return maps[i].check(file, err);
        }
    }

    return SYM_UNSUPPORTED;
}
