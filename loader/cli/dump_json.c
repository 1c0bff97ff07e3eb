#include "cli/dump.h"

static void
put_info(dump_t *d, const char *key, sym_info_t which, bool *first)
{
    sym_str_t value = dump_info(d, which);

    if (value.len != 0) {
        output_key_string(d->out, key, value, first);
    }
}


static void
put_head(dump_t *d)
{
    const char *quality = sym_quality_name(d->cache->quality);
    bool first = true;

    output_printf(d->out, "{");
    output_key_string(d->out, "type", SYM_STR("module"), &first);
    output_key_string(d->out, "name", d->key->name, &first);
    output_key_string(d->out, "id", d->key->id, &first);
    put_info(d, "code_file", SYM_INFO_CODE_FILE, &first);
    put_info(d, "code_id", SYM_INFO_CODE_ID, &first);
    put_info(d, "os", SYM_INFO_OS, &first);
    put_info(d, "arch", SYM_INFO_ARCH, &first);
    output_key_string(d->out, "quality", sym_cstr(quality), &first);
    output_printf(d->out, "}\n");
}


static void
put_hex(dump_t *d, const char *key, uint64_t value, bool *first)
{
    output_key(d->out, key, first);
    sym_out_hex_string(&d->out->json, value);
}


/* A line is written only with its file, and only if it is not 0. */
static void
put_place(dump_t *d, const char *file_key, uint32_t file, const char *line_key,
          uint32_t line, bool *first)
{
    sym_str_t name = dump_file(d, file);

    if (name.len != 0) {
        output_key_string(d->out, file_key, name, first);
    }

    if (name.len != 0 && line != 0) {
        output_key_dec(d->out, line_key, line, first);
    }
}


static void
put_ranges(dump_t *d, uint32_t node)
{
    const sym_call_range_t *r = NULL;

    while ((r = sym_calls_range(&d->calls, node, r)) != NULL) {
        bool first = true;

        output_printf(d->out, "%s{",
                      r == sym_calls_range(&d->calls, node, NULL) ? "" : ", ");
        put_hex(d, "address", r->addr, &first);
        output_key_dec(d->out, "size", r->end - r->addr, &first);
        output_printf(d->out, "}");
    }
}


/* In the order of the nodes, so that their indexes are those of the list. */
static void
put_inlines(dump_t *d, const sym_walk_function_t *f)
{
    for (uint32_t i = 1; i < f->n_nodes; i++) {
        const sym_walk_node_t *n = &f->nodes[i];
        bool first = true;

        output_printf(d->out, i == 1 ? "{" : ", {");
        output_key_string(d->out, "function", dump_name(d, f, i), &first);

        if (n->parent != 0) {
            output_key_dec(d->out, "inlined_into", n->parent - 1, &first);
        }

        put_place(d, "call_file", n->call_file, "call_line", n->call_line,
                  &first);
        output_key(d->out, "ranges", &first);
        output_printf(d->out, "[");
        put_ranges(d, i);
        output_printf(d->out, "]}");
    }
}


static void
put_lines(dump_t *d, const sym_walk_function_t *f)
{
    for (size_t i = 0; i < f->n_segments; i++) {
        const sym_walk_segment_t *s = &f->segments[i];
        bool first = true;

        output_printf(d->out, i == 0 ? "{" : ", {");
        put_hex(d, "address", s->addr, &first);
        output_key_dec(d->out, "size", s->end - s->addr, &first);
        put_place(d, "file", s->file, "line", s->line, &first);

        if (s->node != 0) {
            output_key_dec(d->out, "inline", s->node - 1, &first);
        }

        output_printf(d->out, "}");
    }
}


static sym_status_t
put_function(dump_t *d, const sym_walk_function_t *f, sym_error_t *err)
{
    bool first = true;

    if (sym_calls_fill(&d->calls, f, err) != SYM_OK) {
        return err->status;
    }

    output_printf(d->out, "{");
    output_key_string(d->out, "type",
                      f->is_public ? SYM_STR("public") : SYM_STR("function"),
                      &first);
    put_hex(d, "address", f->addr, &first);

    if (f->size != 0) {
        output_key_dec(d->out, "size", f->size, &first);
    }

    output_key_string(d->out, "function", dump_name(d, f, 0), &first);

    if (!f->is_public) {
        output_key(d->out, "inlines", &first);
        output_printf(d->out, "[");
        put_inlines(d, f);
        output_printf(d->out, "]");
        output_key(d->out, "lines", &first);
        output_printf(d->out, "[");
        put_lines(d, f);
        output_printf(d->out, "]");
    }

    output_printf(d->out, "}\n");
    return SYM_OK;
}


const dump_form_t dump_json = { put_head, put_function };
