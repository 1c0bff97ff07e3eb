#include "artifacts/symcache/export/returnpads.h"

#include <stdlib.h>

#include "artifacts/symcache/export/symbfile_out.h"

#define PAD 3 /* type of the message */

enum { DELTA = 1, FUNC, FILE_REF, LINE, ADDR };

/* The first function of a goroutine returns into this function after its first
 * instruction, although that is no call.  Symbols of Go have the name of a
 * calling convention at their end. */
#define GO_EXIT SYM_STR("runtime.goexit")
#define GO_EXIT_SYMBOL SYM_STR("runtime.goexit.abi0")

typedef struct {
    sym_symbfile_out_t *out;
    const sym_code_t *code;
    uint32_t chain[SYM_INLINE_DEPTH_MAX + 1];
} export_t;

static void
put_frame(export_t *e, const sym_walk_function_t *f, uint32_t node,
          uint32_t file, uint32_t line)
{
    sym_buffer_t *columns = e->out->columns;

    sym_pb_put_varint(&columns[0], sym_symbfile_out_name(e->out, f, node));
    sym_pb_put_varint(&columns[1], sym_symbfile_out_file(e->out, file));
    sym_pb_put_varint(&columns[2], file != 0 ? line : 0);
}


/* Writes the frames of a segment, outermost first, at a call's last byte. */
static sym_status_t
put_pad(export_t *e, const sym_walk_function_t *f, const sym_walk_segment_t *s,
        uint32_t addr)
{
    sym_symbfile_out_t *o = e->out;
    uint32_t n = f->nodes[s->node].depth;

    if (sym_symbfile_out_room(o) != SYM_OK) {
        return o->err->status;
    }

    sym_symbfile_out_begin(o, addr, DELTA, ADDR);
    e->chain[n] = s->node;
    for (uint32_t i = n; i > 0; i--) {
        e->chain[i - 1] = f->nodes[e->chain[i]].parent;
    }

    for (uint32_t i = 0; i < n; i++) {
        const sym_walk_node_t *call = &f->nodes[e->chain[i + 1]];

        put_frame(e, f, e->chain[i], call->call_file, call->call_line);
    }

    put_frame(e, f, s->node, s->file, s->line);
    for (uint32_t i = 0; i < SYM_SYMBFILE_COLUMNS; i++) {
        sym_symbfile_out_column(&o->record, FUNC + i, &o->columns[i]);
    }

    sym_symbfile_out_record(o, PAD);
    return SYM_OK;
}


/* Segments begin with an instruction, so each is read from its start, whatever
 * the bytes before it are. */
static sym_status_t
put_calls(export_t *e, const sym_walk_function_t *f,
          const sym_walk_segment_t *s)
{
    uint64_t at = s->addr;
    sym_code_call_t call;

    while (at < s->end
           && e->code->next_call(e->code->ctx, (uint32_t) at, s->end, &call))
    {
        at = (uint64_t) call.addr + call.size;
        if (put_pad(e, f, s, (uint32_t) at - 1) != SYM_OK) {
            return e->out->err->status;
        }
    }

    return SYM_OK;
}


static bool
is_go_exit(export_t *e, const sym_walk_function_t *f)
{
    sym_str_t name = sym_form_name(e->out->form, f, 0);

    return sym_str_eq(name, GO_EXIT) || sym_str_eq(name, GO_EXIT_SYMBOL);
}


static sym_status_t
put_function(void *ctx, const sym_walk_function_t *f)
{
    export_t *e = ctx;
    const sym_walk_segment_t *first = f->segments;
    sym_status_t rc = SYM_OK;
    uint32_t size;

    if (is_go_exit(e, f)) {
        size = e->code->first_size(e->code->ctx, first->addr, first->end);
        rc = size != 0 ? put_pad(e, f, first, first->addr + size - 1) : SYM_OK;
    }

    for (size_t i = 0; rc == SYM_OK && i < f->n_segments; i++) {
        rc = put_calls(e, f, &f->segments[i]);
    }

    return rc;
}


static sym_status_t
export_pads(sym_form_t *form, const sym_code_t *code, sym_error_t *err)
{
    export_t e = { sym_symbfile_out_create(form, err), code, { 0 } };
    sym_status_t rc = e.out != NULL
                          ? sym_symbfile_out_functions(e.out, put_function, &e)
                          : err->status;

    sym_symbfile_out_free(e.out);
    return rc;
}


sym_status_t
sym_returnpads_export(const sym_extent_source_t *extents, const sym_dump_t *how,
                      const sym_code_t *code, sym_out_t *out, sym_error_t *err)
{
    sym_form_open_t open;
    sym_status_t rc = sym_form_open(&open, extents, how, out, err);

    rc = rc == SYM_OK ? export_pads(open.form, code, err) : rc;
    sym_form_close(&open);
    return rc;
}
