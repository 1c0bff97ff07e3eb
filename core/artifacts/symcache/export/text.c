#include "artifacts/symcache/export/forms.h"

#include <inttypes.h>

static void
put_row(sym_form_t *form, const char *key, sym_str_t value)
{
    if (value.len != 0) {
        sym_out_printf(form->out, "%s ", key);
        sym_out_visible(form->out, value);
        sym_out_raw(form->out, SYM_STR("\n"));
    }
}


void
sym_text_head(sym_form_t *form)
{
    put_row(form, "name", form->how->key->name);
    put_row(form, "id", form->how->key->id);
    put_row(form, "code_file", sym_form_info(form, SYM_INFO_CODE_FILE));
    put_row(form, "code_id", sym_form_info(form, SYM_INFO_CODE_ID));
    put_row(form, "os", sym_form_info(form, SYM_INFO_OS));
    put_row(form, "arch", sym_form_info(form, SYM_INFO_ARCH));
    put_row(form, "symbols", sym_cstr(sym_quality_name(form->sc->quality)));
}


static void
put_place(sym_form_t *form, uint32_t file, uint32_t line)
{
    sym_str_t name = sym_form_file(form, file);

    sym_out_visible(form->out, name.len != 0 ? name : SYM_STR("??"));
    sym_out_printf(form->out, ":%" PRIu32 "\n", line);
}


static void
put_name(sym_form_t *form, const sym_walk_function_t *f, uint32_t node)
{
    sym_str_t name = sym_form_name(form, f, node);

    sym_out_visible(form->out, name.len != 0 ? name : SYM_STR("??"));
}


/* Indents by two blanks for each level. */
static void
indent(sym_form_t *form, uint32_t levels)
{
    sym_out_printf(form->out, "%*s", (int) levels * 2, "");
}


/* Writes the calls from below `outer`, which was written, down to `node`. */
static void
put_calls(sym_form_t *form, const sym_walk_function_t *f, uint32_t outer,
          uint32_t node)
{
    uint32_t path[SYM_LEVELS_MAX], n = 0;

    for (; node != outer; node = f->nodes[node].parent) {
        path[n++] = node;
    }

    while (n-- > 0) {
        const sym_walk_node_t *call = &f->nodes[path[n]];

        indent(form, call->depth);
        put_name(form, f, path[n]);
        sym_out_raw(form->out, SYM_STR(" called at "));
        put_place(form, call->call_file, call->call_line);
    }
}


/* Innermost common ancestor of both nodes (possibly one of them). */
static uint32_t
common(const sym_walk_function_t *f, uint32_t a, uint32_t b)
{
    while (a != b) {
        /* a parent precedes its children */
        if (a > b) {
            a = f->nodes[a].parent;
        } else {
            b = f->nodes[b].parent;
        }
    }

    return a;
}


sym_status_t
sym_text_function(sym_form_t *form, const sym_walk_function_t *f,
                  sym_error_t *err)
{
    uint32_t node = 0;

    (void) err;
    sym_out_printf(form->out, "\n%08" PRIx32 " %" PRIx32 " %s", f->addr,
                   f->size, f->is_public ? "(public) " : "");
    put_name(form, f, 0);
    sym_out_raw(form->out, SYM_STR("\n"));

    for (size_t i = 0; i < f->n_segments && !f->is_public; i++) {
        const sym_walk_segment_t *s = &f->segments[i];

        put_calls(form, f, common(f, node, s->node), s->node);
        node = s->node;
        indent(form, f->nodes[node].depth + 1);
        sym_out_printf(form->out, "%08" PRIx32 " %" PRIx64 " ", s->addr,
                       s->end - s->addr);
        put_place(form, s->file, s->line);
    }

    return SYM_OK;
}
