
/*
 * ngx_http_symbolicate_pending_companion.c - a companion file of a module, as
 * requested by the loader.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "object/ref_key.h"

#include "schedule/ngx_http_symbolicate_pending_companion.h"
#include "schedule/ngx_http_symbolicate_pending_state.h"


/* The module itself, as far as its request describes it: the path of its line
 * map uses the module's own ids, code id first. */
static void
ngx_http_symbolicate_pending_whole(ngx_http_symbolicate_pending_t *pending,
    sym_object_ref_t *ref)
{
    ngx_uint_t  pdb;

    *ref = pending->ref;

    if (ref->is_either) {
        pdb = sym_str_ends_nocase(ref->debug_file, SYM_STR(".pdb"));

        ref->is_either = 0;
        ref->type = pdb ? SYM_OBJECT_PE : SYM_OBJECT_MACHO;
        ref->debug_file = SYM_STR("");
    }
}


/* False: no path at a source can have the companion's kind, name or id. */
ngx_uint_t
ngx_http_symbolicate_pending_read_also(ngx_http_symbolicate_also_t *also,
    ngx_http_symbolicate_pending_t *pending, sym_rpc_companion_t *want)
{
    sym_str_t      name;
    sym_ref_key_t  k;

    name = want->name;

    if (!sym_source_name_ok(name)) {
        name = sym_ref_key(&pending->ref, &k) ? k.key.name : SYM_STR("");
    }

    also->nname = name.len;
    ngx_memcpy(also->name, name.data, name.len);

    also->nid = (u_char *) ngx_hex_dump((u_char *) also->id,
                                        (u_char *) want->id.data, want->id.len)
                - (u_char *) also->id;

    switch (want->kind) {

    case SYM_RPC_SUPPLEMENT:
        also->file = SYM_SOURCE_ELF_DEBUG;
        sym_object_ref_mozilla(&also->ref, sym_str(also->name, also->nname),
                               sym_str(also->id, also->nid));
        return sym_mozilla_is_code_id(sym_str(also->id, also->nid));

    case SYM_RPC_UUID_MAP:
        also->file = SYM_SOURCE_UUIDMAP;
        break;

    case SYM_RPC_SYMBOL_MAP:
        also->file = SYM_SOURCE_BCSYMBOLMAP;
        break;

    case SYM_RPC_LINE_MAP:
        also->file = SYM_SOURCE_IL2CPP;
        ngx_http_symbolicate_pending_whole(pending, &also->ref);
        return 1;

    default:
        return 0;
    }

    also->ref.type = SYM_OBJECT_MACHO;

    return sym_debug_id_read_uuid(sym_str(also->id, also->nid),
                                  &also->ref.debug_id);
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
