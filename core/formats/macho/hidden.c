#include "formats/macho/hidden.h"

#include <stdlib.h>

#include "formats/bitcode/uuid_map.h"
#include "formats/macho/file.h"
#include "formats/native/choose.h"

typedef struct {
    const sym_format_services_t *services;
    uint8_t uuid[SYM_UUID_BYTES]; /* UUID of the developer's build */
    sym_symbol_map_t *map;
} choice_t;


static bool
has_hidden(sym_str_t bytes)
{
    return bytes.len != 0
           && memmem(bytes.data, bytes.len, SYM_HIDDEN, sizeof(SYM_HIDDEN) - 1)
                  != NULL;
}


static bool
has_hidden_names(sym_macho_t *m)
{
    sym_error_t bad = { 0 };
    sym_cursor_t c = sym_macho_cursor(m, m->strings_at, m->strings_size,
                                      "string table", &bad);
    sym_str_t bytes;

    if (has_hidden(sym_str((const char *) c.pos, (size_t) (c.end - c.pos)))) {
        return true;
    }

    return sym_macho_section(m, ".debug_str", &bytes, &bad) == SYM_OK
           && has_hidden(bytes);
}


/* Returns SYM_NOT_FOUND, with a note, if the map cannot be read.  The module is
   then made without it. */
static sym_status_t
judge(const choice_t *choice, const char *what, const sym_error_t *bad,
      sym_error_t *err)
{
    char text[256];

    if (bad->status == SYM_OK || bad->status == SYM_NOMEM) {
        return bad->status == SYM_OK ? SYM_OK
                                     : sym_fail(err, SYM_NOMEM, bad->what);
    }

    choice->services->note(choice->services->ctx, "%s: %s", what,
                           sym_error_text(bad, text, sizeof(text)));
    return SYM_NOT_FOUND;
}


static sym_status_t
take_uuid_map(void *ctx, const sym_companion_file_t *file, sym_error_t *err)
{
    choice_t *choice = ctx;
    sym_error_t bad = { 0 };

    (void) sym_uuid_map_read(sym_str((const char *) file->data, file->len),
                             choice->uuid, &bad);
    return judge(choice, "its map of UUIDs", &bad, err);
}


static sym_status_t
take_symbol_map(void *ctx, const sym_companion_file_t *file, sym_error_t *err)
{
    choice_t *choice = ctx;
    sym_error_t bad = { 0 };

    (void) sym_symbol_map_read(
        choice->map, sym_str((const char *) file->data, file->len), &bad);
    return judge(choice, "its symbol map", &bad, err);
}


/* Requests a file of that kind and UUID; sets file->data if one is accepted. */
static sym_status_t
choose(choice_t *choice, sym_companion_kind_t kind,
       const uint8_t uuid[SYM_UUID_BYTES], sym_native_candidate_pt take,
       sym_companion_file_t *file, sym_error_t *err)
{
    const sym_str_t none = SYM_STR("");
    sym_companion_t want;

    (void) sym_companion_set(&want, kind, none, none,
                             sym_str((const char *) uuid, SYM_UUID_BYTES));
    return sym_native_choose(&want, choice->services, take, choice, file, err);
}


sym_status_t
sym_macho_hidden_open(sym_macho_t *m, const sym_format_services_t *services,
                      sym_macho_hidden_t *h, sym_error_t *err)
{
    choice_t choice = { .services = services, .map = &h->map };
    sym_companion_file_t list = { 0 };
    sym_status_t rc;

    *h = (sym_macho_hidden_t){ 0 };
    if (!sym_macho_info(m)->has_uuid || !has_hidden_names(m)) {
        return SYM_OK;
    }

    rc = choose(&choice, SYM_COMPANION_UUID_MAP, sym_macho_info(m)->uuid,
                take_uuid_map, &list, err);
    if (rc == SYM_OK && list.data != NULL) {
        rc = choose(&choice, SYM_COMPANION_SYMBOL_MAP, choice.uuid,
                    take_symbol_map, &h->file, err);
    }

    if (rc == SYM_OK && h->file.data == NULL) {
        h->is_missing = true;
        services->note(services->ctx, "names are hidden: its %s is not here",
                       list.data != NULL ? "symbol map (BCSymbolMap)"
                                         : "map of UUIDs");
    }

    free(list.data);
    return rc;
}


void
sym_macho_hidden_close(sym_macho_hidden_t *h)
{
    sym_symbol_map_free(&h->map);
    free(h->file.data);
    *h = (sym_macho_hidden_t){ 0 };
}


sym_str_t
sym_macho_hidden_resolve(const void *ctx, sym_str_t text)
{
    const sym_macho_hidden_t *h = ctx;

    return sym_symbol_map_resolve(&h->map, text);
}


sym_str_t
sym_macho_hidden_symbol(const sym_macho_hidden_t *h, sym_str_t name)
{
    sym_str_t plain = sym_symbol_map_resolve(&h->map, name);

    return plain.data != name.data && plain.len > 1 && plain.data[0] == '_'
               ? sym_str(plain.data + 1, plain.len - 1)
               : plain;
}
