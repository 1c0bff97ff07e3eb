#include "driver/conversion_check.h"

#include <stdio.h>
#include <string.h>

/* Adds text from a symbol file to a reason. */
static void
shown(sym_str_t text, char out[64])
{
    size_t len = text.len < 63 ? text.len : 63, i;

    for (i = 0; i < len; i++) {
        char c = text.data[i];

        if (c < ' ' || c > '~') {
            c = '?';
        }

        out[i] = c;
    }

    out[len] = '\0';
}


sym_status_t
conversion_check_id(conversion_t *c, const pool_module_t *module,
                    sym_error_t *err)
{
    char text[64];

    if (store_upload_is_module(&c->upload, module)) {
        return SYM_OK;
    }

    shown(module->id, text);
    snprintf(c->reason, sizeof(c->reason),
             "wrong module: its id is %s, requested was %.*s", text,
             (int) c->upload.key.id.len, c->upload.key.id.data);
    return sym_fail(err, SYM_MALFORMED, "another module");
}


void
conversion_lacks_kind(sym_kind_t wanted, sym_kind_t other,
                      char reason[CONVERSION_REASON_MAX])
{
    snprintf(reason, CONVERSION_REASON_MAX,
             "unsupported: there is no artifact of kind %s in it, but one of "
             "kind %s",
             sym_kind_name(wanted), sym_kind_name(other));
}


sym_status_t
conversion_check_kind(conversion_t *c, const pool_module_t *module,
                      sym_error_t *err)
{
    sym_kind_t kind = c->kind != SYM_KIND_ALL ? c->kind : SYM_KIND_SYMCACHE;

    if (module->kind == SYM_KIND_CRASH && c->symcache == NULL) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "a crash report is not stored; `symloader walk` reads "
                        "it");
    }

    if (module->kind == kind || c->symcache == NULL) {
        return SYM_OK;
    }

    conversion_lacks_kind(kind, module->kind, c->reason);
    return sym_fail(err, SYM_UNSUPPORTED, "another kind of artifact");
}


static void
add_id(conversion_t *c, sym_store_id_t id)
{
    for (unsigned i = 0; i < c->n_ids; i++) {
        if (sym_store_id_eq(&c->ids[i], &id)) {
            return;
        }
    }

    if (c->n_ids < SYM_PATH_IDS_MAX && id.form != 0) {
        c->ids[c->n_ids++] = id;
    }
}


void
conversion_note_id(conversion_t *c, sym_str_t id)
{
    char canonical[SYM_ID_MAX];
    sym_str_t text = { canonical, sym_debug_id_canonical(id, canonical) };
    sym_debug_id_t debug_id;

    if (sym_debug_id_read_breakpad(text, &debug_id)) {
        add_id(c, sym_store_id_debug(&debug_id));
    }
}


void
conversion_note_ids(conversion_t *c, const pool_module_t *module)
{
    sym_code_id_t code_id;

    conversion_note_id(c, module->id);
    if (sym_code_id_read(module->code_id, &code_id)) {
        add_id(c, sym_store_id_code(&code_id));
    }
}
