
/*
 * ngx_http_symbolicate_pending_companion.c - a companion file of a module, as
 * the loader names it.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "schedule/ngx_http_symbolicate_pending_companion.h"
#include "schedule/ngx_http_symbolicate_pending_state.h"


/* The module itself, as far as its request tells: its map of lines has a path
 * of the module's own ids. */
static void
ngx_http_symbolicate_pending_whole(ngx_http_symbolicate_pending_t *pending,
    sym_object_ref_t *object)
{
    sym_str_t          code_id, name;
    ngx_uint_t         pdb;
    static sym_str_t   suffix = { ".pdb", 4 };

    if (pending->is.object) {
        *object = *pending->is.object;
        return;
    }

    name = pending->is.key.name;
    pdb = name.len > suffix.len
          && ngx_strncasecmp((u_char *) name.data + name.len - suffix.len,
                             (u_char *) suffix.data, suffix.len) == 0;

    /* with an id of either kind, code id first */
    object->type = pdb ? SYM_OBJECT_PE : SYM_OBJECT_MACHO;

    (void) sym_debug_id_read_breakpad(pending->is.key.id, &object->debug_id);

    code_id = sym_source_code_id(pending->is.id, pending->is.key.code_id);
    (void) sym_code_id_read(code_id, &object->code_id);
}


/* False: the companion's kind, name or id is not one of a path at a source. */
ngx_uint_t
ngx_http_symbolicate_pending_read_also(ngx_http_symbolicate_also_t *also,
    ngx_http_symbolicate_pending_t *pending, sym_rpc_companion_t *want)
{
    sym_str_t  name;

    name = sym_source_name_ok(want->name) ? want->name : pending->is.key.name;

    also->nname = name.len;
    ngx_memcpy(also->name, name.data, name.len);

    also->nid = (u_char *) ngx_hex_dump((u_char *) also->id,
                                        (u_char *) want->id.data, want->id.len)
                - (u_char *) also->id;

    switch (want->kind) {

    case SYM_RPC_SUPPLEMENT:
        also->file = SYM_SOURCE_ELF_DEBUG;
        return sym_mozilla_is_code_id(sym_str(also->id, also->nid));

    case SYM_RPC_UUID_MAP:
        also->file = SYM_SOURCE_UUIDMAP;
        break;

    case SYM_RPC_SYMBOL_MAP:
        also->file = SYM_SOURCE_BCSYMBOLMAP;
        break;

    case SYM_RPC_LINE_MAP:
        also->file = SYM_SOURCE_IL2CPP;
        ngx_http_symbolicate_pending_whole(pending, &also->object);
        return 1;

    default:
        return 0;
    }

    also->object.type = SYM_OBJECT_MACHO;

    return sym_debug_id_read_uuid(sym_str(also->id, also->nid),
                                  &also->object.debug_id);
}


ngx_uint_t
ngx_http_symbolicate_pending_is_same(ngx_http_symbolicate_also_t *a,
    ngx_http_symbolicate_also_t *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }

    return a->file == b->file
           && sym_str_eq(sym_str(a->id, a->nid), sym_str(b->id, b->nid))
           && sym_str_eq(sym_str(a->name, a->nname),
                         sym_str(b->name, b->nname));
}
