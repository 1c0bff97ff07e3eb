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
write_form(sym_symcache_t *sc, const sym_dump_t *how, unsigned format,
           sym_out_t *out, sym_error_t *err)
{
    sym_form_t *f = calloc(1, sizeof(*f));
    sym_status_t rc;

    if (f == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    f->sc = sc;
    f->how = how;
    f->out = out;
    rc = format == SYMBFILE ? sym_symbfile_export(f, err)
         : format == JSON
             ? each_function(f, sym_json_head, sym_json_function, err)
             : each_function(f, sym_text_head, sym_text_function, err);
    free(f);
    return rc;
}


static sym_status_t
dump(const sym_extent_source_t *extents, const sym_dump_t *how, unsigned format,
     sym_out_t *out, sym_error_t *err)
{
    sym_extent_view_t *views;
    sym_symcache_t sc;
    sym_status_t rc = sym_symcache_open(&sc, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    if (sc.n_extents != extents->n) {
        return sym_fail(err, SYM_DAMAGED, "symcache miscounts its extents");
    }

    views = calloc(extents->n, sizeof(*views));

    if (views == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    sym_symcache_remember(&sc, views);
    rc = format == BREAKPAD ? sym_breakpad_export(&sc, how, out, err)
                            : write_form(&sc, how, format, out, err);
    free(views);
    return rc;
}


const sym_kind_tools_t sym_symcache_tools = {
    .kind = SYM_KIND_SYMCACHE,
    .formats = formats,
    .dump = dump,
    .has_frames = true,
};
