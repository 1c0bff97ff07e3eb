#include "cli/dump.h"

#include <inttypes.h>

static void
put_row(dump_t *d, const char *key, sym_str_t value)
{
    if (value.len != 0) {
        output_printf(d->out, "%s ", key);
        output_text(d->out, value);
        output_printf(d->out, "\n");
    }
}


static void
put_head(dump_t *d)
{
    put_row(d, "name", d->key->name);
    put_row(d, "id", d->key->id);
    put_row(d, "code_file", dump_info(d, SYM_INFO_CODE_FILE));
    put_row(d, "code_id", dump_info(d, SYM_INFO_CODE_ID));
    put_row(d, "os", dump_info(d, SYM_INFO_OS));
    put_row(d, "arch", dump_info(d, SYM_INFO_ARCH));
    put_row(d, "symbols", sym_cstr(sym_quality_name(d->cache->quality)));
}


static void
put_place(dump_t *d, uint32_t file, uint32_t line)
{
    sym_str_t name = dump_file(d, file);

    output_text(d->out, name.len != 0 ? name : SYM_STR("??"));
    output_printf(d->out, ":%" PRIu32 "\n", line);
}


static void
put_name(dump_t *d, const sym_walk_function_t *f, uint32_t node)
{
    sym_str_t name = dump_name(d, f, node);

    output_text(d->out, name.len != 0 ? name : SYM_STR("??"));
}


/* Two blanks a level. */
static void
indent(dump_t *d, uint32_t levels)
{
    output_printf(d->out, "%*s", (int) levels * 2, "");
}


/* The calls from `outer` (which stands already) inwards to `node`. */
static void
put_calls(dump_t *d, const sym_walk_function_t *f, uint32_t outer,
          uint32_t node)
{
    uint32_t path[SYM_LEVELS_MAX], n = 0;

    for (; node != outer; node = f->nodes[node].parent) {
        path[n++] = node;
    }

    while (n-- > 0) {
        const sym_walk_node_t *call = &f->nodes[path[n]];

        indent(d, call->depth);
        put_name(d, f, path[n]);
        output_printf(d->out, " called at ");
        put_place(d, call->call_file, call->call_line);
    }
}


/* The innermost that both are in, or are. */
static uint32_t
common(const sym_walk_function_t *f, uint32_t a, uint32_t b)
{
    while (a != b) {
        /* parents come before their children */
        if (a > b) {
            a = f->nodes[a].parent;
        } else {
            b = f->nodes[b].parent;
        }
    }

    return a;
}


static sym_status_t
put_function(dump_t *d, const sym_walk_function_t *f, sym_error_t *err)
{
    uint32_t node = 0;

    (void) err;
    output_printf(d->out, "\n%08" PRIx32 " %" PRIx32 " %s", f->addr, f->size,
                  f->is_public ? "(public) " : "");
    put_name(d, f, 0);
    output_printf(d->out, "\n");

    for (size_t i = 0; i < f->n_segments && !f->is_public; i++) {
        const sym_walk_segment_t *s = &f->segments[i];

        put_calls(d, f, common(f, node, s->node), s->node);
        node = s->node;
        indent(d, f->nodes[node].depth + 1);
        output_printf(d->out, "%08" PRIx32 " %" PRIx64 " ", s->addr,
                      s->end - s->addr);
        put_place(d, s->file, s->line);
    }

    return SYM_OK;
}


const dump_form_t dump_text = { put_head, put_function };
