/*
 * symcache_tools.c - kind `symcache` in commands: all functions of a module.
 */
#include <stdlib.h>

#include "artifacts/symcache/export/breakpad.h"
#include "artifacts/symcache/export/forms.h"
#include "artifacts/symcache/export/symbfile.h"
#include "base/language.h"

typedef void (*head_pt)(sym_form_t *f);
typedef sym_status_t (*function_pt)(sym_form_t *f,
                                    const sym_walk_function_t *function,
                                    sym_error_t *err);

/* BREAKPAD and SYMBFILE are written in separate files. */
enum { BREAKPAD, JSON, TEXT, SYMBFILE };

static const char *const formats[] = { "breakpad", "json", "text", "symbfile",
                                       NULL };


static sym_str_t
string(sym_form_t *f, sym_string_ref_t ref)
{
    bool is_plain;

    return ref == SYM_NO_REF
               ? SYM_STR("")
               : sym_str(f->text,
                         sym_symcache_string(f->sc, ref, f->text, &is_plain));
}


sym_str_t
sym_form_info(sym_form_t *f, sym_info_t which)
{
    return sym_str(f->text, sym_symcache_info(f->sc, which, f->text));
}


sym_str_t
sym_form_name(sym_form_t *f, const sym_walk_function_t *function, uint32_t node)
{
    return sym_dump_name(f->how, f->sc, string(f, function->nodes[node].name),
                         node == 0 ? function->lang : SYM_LANG_UNKNOWN);
}


sym_str_t
sym_form_file(sym_form_t *f, uint32_t file)
{
    return string(f, sym_symcache_file(f->sc, file));
}


static sym_status_t
each_function(sym_form_t *f, head_pt head, function_pt put, sym_error_t *err)
{
    sym_walk_t *walk = sym_walk_create(f->sc, err);
    sym_walk_function_t function;
    sym_status_t rc = walk == NULL ? SYM_NOMEM : SYM_OK;

    if (rc == SYM_OK) {
        head(f);
    }

    while (rc == SYM_OK && !f->out->failed) {
        rc = sym_walk_next(walk, &function, err);
        rc = rc != SYM_OK ? rc : put(f, &function, err);
    }

    sym_walk_free(walk);
    sym_calls_free(&f->calls);

    if (rc == SYM_NOT_FOUND && f->sc->damaged != 0) {
        rc = sym_fail(err, SYM_DAMAGED, "the symcache's names are damaged");
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t
read_symcache(sym_form_open_t *o, const sym_extent_source_t *extents,
              sym_error_t *err)
{
    if (sym_symcache_open(&o->sc, extents->get, extents->ctx, err) != SYM_OK) {
        return err->status;
    }

    if (o->sc.n_extents != extents->n) {
        return sym_fail(err, SYM_DAMAGED, "symcache miscounts its extents");
    }

    o->views = calloc(extents->n, sizeof(*o->views));
    o->form = calloc(1, sizeof(*o->form));
    return o->views != NULL && o->form != NULL ? SYM_OK
                                               : sym_fail(err, SYM_NOMEM, NULL);
}


sym_status_t
sym_form_open(sym_form_open_t *o, const sym_extent_source_t *extents,
              const sym_dump_t *how, sym_out_t *out, sym_error_t *err)
{
    *o = (sym_form_open_t){ 0 };

    if (read_symcache(o, extents, err) != SYM_OK) {
        return err->status;
    }

    sym_symcache_remember(&o->sc, o->views);
    o->form->sc = &o->sc;
    o->form->how = how;
    o->form->out = out;
    return SYM_OK;
}


void
sym_form_close(sym_form_open_t *o)
{
    free(o->views);
    free(o->form);
}


static sym_status_t
write_form(sym_form_open_t *o, unsigned format, sym_error_t *err)
{
    sym_form_t *f = o->form;

    switch (format) {
    case BREAKPAD:
        return sym_breakpad_export(&o->sc, f->how, f->out, err);
    case SYMBFILE:
        return sym_symbfile_export(f, err);
    case JSON:
        return each_function(f, sym_json_head, sym_json_function, err);
    default:
        return each_function(f, sym_text_head, sym_text_function, err);
    }
}


static sym_status_t
dump(const sym_extent_source_t *extents, const sym_dump_t *how, unsigned format,
     sym_out_t *out, sym_error_t *err)
{
    sym_form_open_t open;
    sym_status_t rc = sym_form_open(&open, extents, how, out, err);

    rc = rc == SYM_OK ? write_form(&open, format, err) : rc;
    sym_form_close(&open);
    return rc;
}


const sym_kind_tools_t sym_symcache_tools = {
    .kind = SYM_KIND_SYMCACHE,
    .formats = formats,
    .dump = dump,
    .has_frames = true,
};
