#include "artifacts/symcache/export/forms.h"

static void
put_info(sym_form_t *form, const char *key, sym_info_t which, bool *first)
{
    sym_str_t value = sym_form_info(form, which);

    if (value.len != 0) {
        sym_out_key_string(form->out, key, value, first);
    }
}


void
sym_json_head(sym_form_t *form)
{
    const char *quality = sym_quality_name(form->sc->quality);
    bool first = true;

    sym_out_raw(form->out, SYM_STR("{"));
    sym_out_key_string(form->out, "type", SYM_STR("module"), &first);
    sym_out_key_string(form->out, "name", form->how->key->name, &first);
    sym_out_key_string(form->out, "id", form->how->key->id, &first);
    put_info(form, "code_file", SYM_INFO_CODE_FILE, &first);
    put_info(form, "code_id", SYM_INFO_CODE_ID, &first);
    put_info(form, "os", SYM_INFO_OS, &first);
    put_info(form, "arch", SYM_INFO_ARCH, &first);
    sym_out_key_string(form->out, "quality", sym_cstr(quality), &first);
    sym_out_raw(form->out, SYM_STR("}\n"));
}


static void
put_hex(sym_form_t *form, const char *key, uint64_t value, bool *first)
{
    sym_out_key(form->out, key, first);
    sym_out_hex_string(form->out, value);
}


/* Writes a line only with its file, and only if it is not 0. */
static void
put_place(sym_form_t *form, const char *file_key, uint32_t file,
          const char *line_key, uint32_t line, bool *first)
{
    sym_str_t name = sym_form_file(form, file);

    if (name.len != 0) {
        sym_out_key_string(form->out, file_key, name, first);
    }

    if (name.len != 0 && line != 0) {
        sym_out_key_dec(form->out, line_key, line, first);
    }
}


static void
put_ranges(sym_form_t *form, uint32_t node)
{
    const sym_call_range_t *r = NULL;

    while ((r = sym_calls_range(&form->calls, node, r)) != NULL) {
        bool first = true;

        sym_out_printf(form->out, "%s{",
                       r == sym_calls_range(&form->calls, node, NULL) ? ""
                                                                      : ", ");
        put_hex(form, "address", r->addr, &first);
        sym_out_key_dec(form->out, "size", r->end - r->addr, &first);
        sym_out_raw(form->out, SYM_STR("}"));
    }
}


/* Writes nodes in their order, so that their indexes are positions in the
 * list. */
static void
put_inlines(sym_form_t *form, const sym_walk_function_t *f)
{
    for (uint32_t i = 1; i < f->n_nodes; i++) {
        const sym_walk_node_t *n = &f->nodes[i];
        bool first = true;

        sym_out_printf(form->out, i == 1 ? "{" : ", {");
        sym_out_key_string(form->out, "function", sym_form_name(form, f, i),
                           &first);

        if (n->parent != 0) {
            sym_out_key_dec(form->out, "inlined_into", n->parent - 1, &first);
        }

        put_place(form, "call_file", n->call_file, "call_line", n->call_line,
                  &first);
        sym_out_key(form->out, "ranges", &first);
        sym_out_raw(form->out, SYM_STR("["));
        put_ranges(form, i);
        sym_out_raw(form->out, SYM_STR("]}"));
    }
}


static void
put_lines(sym_form_t *form, const sym_walk_function_t *f)
{
    for (size_t i = 0; i < f->n_segments; i++) {
        const sym_walk_segment_t *s = &f->segments[i];
        bool first = true;

        sym_out_printf(form->out, i == 0 ? "{" : ", {");
        put_hex(form, "address", s->addr, &first);
        sym_out_key_dec(form->out, "size", s->end - s->addr, &first);
        put_place(form, "file", s->file, "line", s->line, &first);

        if (s->node != 0) {
            sym_out_key_dec(form->out, "inline", s->node - 1, &first);
        }

        sym_out_raw(form->out, SYM_STR("}"));
    }
}


sym_status_t
sym_json_function(sym_form_t *form, const sym_walk_function_t *f,
                  sym_error_t *err)
{
    bool first = true;

    if (sym_calls_fill(&form->calls, f, err) != SYM_OK) {
        return err->status;
    }

    sym_out_raw(form->out, SYM_STR("{"));
    sym_out_key_string(form->out, "type",
                       f->is_public ? SYM_STR("public") : SYM_STR("function"),
                       &first);
    put_hex(form, "address", f->addr, &first);

    if (f->size != 0) {
        sym_out_key_dec(form->out, "size", f->size, &first);
    }

    sym_out_key_string(form->out, "function", sym_form_name(form, f, 0),
                       &first);

    if (!f->is_public) {
        sym_out_key(form->out, "inlines", &first);
        sym_out_raw(form->out, SYM_STR("["));
        put_inlines(form, f);
        sym_out_raw(form->out, SYM_STR("]"));
        sym_out_key(form->out, "lines", &first);
        sym_out_raw(form->out, SYM_STR("["));
        put_lines(form, f);
        sym_out_raw(form->out, SYM_STR("]"));
    }

    sym_out_raw(form->out, SYM_STR("}\n"));
    return SYM_OK;
}
