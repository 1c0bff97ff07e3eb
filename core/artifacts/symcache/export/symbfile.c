#include "artifacts/symcache/export/symbfile.h"

#include <stdlib.h>

#include "artifacts/symcache/export/symbfile_out.h"

#define RANGE 2 /* type of the message */

typedef struct {
    sym_symbfile_out_t *out;
    const sym_walk_function_t *f; /* the current function */
} export_t;

/* Writes the members of a message that describe a range. */
enum {
    DELTA = 1,
    LENGTH,
    CALL_LINE = 5,
    DEPTH = 7,
    LINES,
    FUNC_REF,
    FILE_REF,
    CALL_FILE_REF,
    ADDR
};

/* Writes the lines of the node's own segments among n segments, which are all
 * in one range of the node. */
static void
put_lines(export_t *e, uint32_t node, const sym_walk_segment_t *s, size_t n)
{
    sym_buffer_t *table = &e->out->table, *column = &e->out->columns[0];
    uint32_t addr = s->addr;
    size_t n_lines = 0;

    table->len = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i].node == node) {
            sym_pb_put_varint(column, s[i].addr - addr);
            addr = s[i].addr;
            n_lines++;
        }
    }

    if (n_lines == 0) {
        return;
    }

    sym_symbfile_out_column(table, 1, column);

    for (size_t i = 0; i < n; i++) {
        if (s[i].node == node) {
            sym_pb_put_varint(column, s[i].line);
        }
    }

    sym_symbfile_out_column(table, 2, column);
    sym_symbfile_out_column(&e->out->record, LINES, table);
}


/* Writes a range of a node, which consists of n segments.  All of the node's
 * own segments have one file. */
static void
put_range(export_t *e, uint32_t node, uint32_t file,
          const sym_walk_segment_t *s, size_t n)
{
    const sym_walk_node_t *call = &e->f->nodes[node];
    uint64_t size = s[n - 1].end - s->addr;
    sym_symbfile_out_t *o = e->out;
    sym_buffer_t *record = &o->record;

    size = size <= UINT32_MAX ? size : UINT32_MAX;
    sym_symbfile_out_begin(o, s->addr, DELTA, ADDR);
    sym_pb_put_number(record, LENGTH, size);
    sym_pb_put_number(record, FUNC_REF, sym_symbfile_out_name(o, e->f, node));

    if (file != 0) {
        sym_pb_put_number(record, FILE_REF, sym_symbfile_out_file(o, file));
        put_lines(e, node, s, n);
    }

    if (call->depth != 0) {
        if (call->call_line != 0) {
            sym_pb_put_number(record, CALL_LINE, call->call_line);
        }
        /* without a file readers would assume the caller's file */
        sym_pb_put_number(record, CALL_FILE_REF,
                          sym_symbfile_out_file(o, call->call_file));
        sym_pb_put_number(record, DEPTH, call->depth);
    }

    sym_symbfile_out_record(o, RANGE);
}


/* The node's ancestor at this depth; UINT32_MAX: the node is less deep. */
static uint32_t
ancestor(const sym_walk_function_t *f, uint32_t node, uint32_t depth)
{
    if (f->nodes[node].depth < depth) {
        return UINT32_MAX;
    }

    while (f->nodes[node].depth > depth) {
        node = f->nodes[node].parent;
    }

    return node;
}


/* Number of adjacent segments, from the first on, in the same call. */
static size_t
run_of(const sym_walk_function_t *f, const sym_walk_segment_t *s, size_t n,
       uint32_t depth)
{
    const uint32_t node = ancestor(f, s->node, depth);
    size_t i = 1;

    while (i < n && s[i].addr == s[i - 1].end
           && ancestor(f, s[i].node, depth) == node)
    {
        i++;
    }

    return i;
}


/* Writes one record for each file of the node's own segments. */
static void
put_run(export_t *e, uint32_t node, const sym_walk_segment_t *s, size_t n)
{
    size_t begin = 0;
    bool has_file = false;
    uint32_t file = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i].node != node) {
            continue;
        }

        if (has_file && s[i].file != file) {
            put_range(e, node, file, s + begin, i - begin);
            begin = i;
        }

        has_file = true;
        file = s[i].file;
    }

    put_range(e, node, file, s + begin, n - begin);
}


/* Writes the calls of a depth in n segments, and the calls inside each. */
static sym_status_t
put_calls(export_t *e, uint32_t depth, const sym_walk_segment_t *s, size_t n)
{
    for (size_t i = 0, len; i < n; i += len) {
        const uint32_t node = ancestor(e->f, s[i].node, depth);

        len = run_of(e->f, s + i, n - i, depth);

        if (node == UINT32_MAX) {
            continue;
        }

        if (sym_symbfile_out_room(e->out) != SYM_OK) {
            return e->out->err->status;
        }

        put_run(e, node, s + i, len);
        if (put_calls(e, depth + 1, s + i, len) != SYM_OK) {
            return e->out->err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
put_function(void *ctx, const sym_walk_function_t *f)
{
    export_t *e = ctx;

    e->f = f;
    return put_calls(e, 0, f->segments, f->n_segments);
}


sym_status_t
sym_symbfile_export(sym_form_t *form, sym_error_t *err)
{
    export_t e = { .out = sym_symbfile_out_create(form, err) };
    sym_status_t rc = e.out != NULL
                          ? sym_symbfile_out_functions(e.out, put_function, &e)
                          : err->status;

    sym_symbfile_out_free(e.out);
    return rc;
}
