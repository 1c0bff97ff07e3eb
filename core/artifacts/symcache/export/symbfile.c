#include "artifacts/symcache/export/symbfile.h"

#include <stdlib.h>

#include "base/protobuf.h"

/* Types of messages. */
enum { RANGE = 2, STRINGS = 4 };

/* Limits of a batch: a string table, and the records that refer to it. */
#define TABLE_BYTES ((size_t) 8 << 20)
#define RECORD_BYTES ((size_t) 16 << 20)

#define SLOTS 262144 /* a power of two, more than twice STRINGS_MAX */
#define STRINGS_MAX 120000

/* A slot that maps a string of the batch to its number.  Names of functions
 * have separate slots, because their language decides how they are
 * demangled. */
typedef struct {
    uint32_t ref;
    uint8_t lang;
    bool is_name;
    bool is_used;
    uint32_t number;
} slot_t;

typedef struct {
    sym_form_t *form;
    sym_error_t *err;
    sym_walk_t *walk;
    sym_walk_function_t function; /* the current function */
    const sym_walk_function_t *f; /* the same */

    bool has_addr;
    uint64_t addr; /* address in the previous record */
    sym_buffer_t strings, records, record, table, column;
    uint32_t n_strings;
    slot_t slots[SLOTS];
} export_t;

/* --- batches --- */

static void
put_all(export_t *e, const sym_buffer_t *b)
{
    sym_out_windows(e->form->out, sym_str((const char *) b->data, b->len));
}


static sym_status_t
end_batch(export_t *e)
{
    e->record.len = 0;
    sym_pb_put_varint(&e->record, e->strings.len);
    sym_pb_put_varint(&e->record, STRINGS);

    if (e->strings.failed || e->records.failed || e->record.failed
        || e->table.failed || e->column.failed)
    {
        return sym_fail(e->err, SYM_NOMEM, "no memory for a symbfile");
    }

    if (e->records.len != 0) {
        put_all(e, &e->record);
        put_all(e, &e->strings);
        put_all(e, &e->records);
    }

    e->strings.len = e->records.len = 0;
    e->n_strings = 0;
    memset(e->slots, 0, sizeof(e->slots));
    return SYM_OK;
}


/* The slot of a string, or the free slot for it. */
static slot_t *
find_slot(export_t *e, uint32_t ref, bool is_name, uint8_t lang)
{
    uint32_t at = ref * 2654435761u + lang;

    for (;; at++) {
        slot_t *slot = &e->slots[at % SLOTS];

        if (!slot->is_used
            || (slot->ref == ref && slot->is_name == is_name
                && slot->lang == lang))
        {
            return slot;
        }
    }
}


static uint32_t
number_of(export_t *e, uint32_t ref, bool is_name, uint8_t lang, sym_str_t text)
{
    slot_t *slot = find_slot(e, ref, is_name, lang);

    if (!slot->is_used) {
        *slot = (slot_t){ ref, lang, is_name, true, e->n_strings++ };
        sym_pb_put_bytes(&e->strings, 1, text);
    }

    return slot->number;
}


static uint32_t
name_number(export_t *e, uint32_t node)
{
    const uint8_t lang = node == 0 ? e->f->lang : SYM_LANG_UNKNOWN;
    const uint32_t ref = e->f->nodes[node].name;
    const slot_t *slot = find_slot(e, ref, true, lang);

    return slot->is_used ? slot->number
                         : number_of(e, ref, true, lang,
                                     sym_form_name(e->form, e->f, node));
}


static uint32_t
file_number(export_t *e, uint32_t file)
{
    const slot_t *slot = find_slot(e, file, false, 0);

    return slot->is_used
               ? slot->number
               : number_of(e, file, false, 0, sym_form_file(e->form, file));
}


/* --- records --- */

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

static void
put_addr(export_t *e, uint32_t addr)
{
    const uint64_t va = e->form->sc->image_base + addr;

    if (e->has_addr) {
        sym_pb_put_number(&e->record, DELTA,
                          sym_pb_unzigzag((int64_t) (va - e->addr)));
    } else {
        sym_pb_put_number(&e->record, ADDR, va);
    }

    e->has_addr = true;
    e->addr = va;
}


static void
put_column(export_t *e, uint32_t number)
{
    sym_pb_put_bytes(&e->table, number,
                     sym_str((const char *) e->column.data, e->column.len));
    e->column.len = 0;
}


/* Writes the lines of the node's own segments among n segments, which are all
 * in one range of the node. */
static void
put_lines(export_t *e, uint32_t node, const sym_walk_segment_t *s, size_t n)
{
    uint32_t addr = s->addr;
    size_t n_lines = 0;

    e->table.len = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i].node == node) {
            sym_pb_put_varint(&e->column, s[i].addr - addr);
            addr = s[i].addr;
            n_lines++;
        }
    }

    if (n_lines == 0) {
        return;
    }

    put_column(e, 1);

    for (size_t i = 0; i < n; i++) {
        if (s[i].node == node) {
            sym_pb_put_varint(&e->column, s[i].line);
        }
    }

    put_column(e, 2);
    sym_pb_put_bytes(&e->record, LINES,
                     sym_str((const char *) e->table.data, e->table.len));
}


/* Writes a range of a node, which consists of n segments.  All of the node's
 * own segments have one file. */
static void
put_range(export_t *e, uint32_t node, uint32_t file,
          const sym_walk_segment_t *s, size_t n)
{
    const sym_walk_node_t *call = &e->f->nodes[node];
    uint64_t size = s[n - 1].end - s->addr;

    size = size <= UINT32_MAX ? size : UINT32_MAX;
    e->record.len = 0;
    put_addr(e, s->addr);
    sym_pb_put_number(&e->record, LENGTH, size);
    sym_pb_put_number(&e->record, FUNC_REF, name_number(e, node));

    if (file != 0) {
        sym_pb_put_number(&e->record, FILE_REF, file_number(e, file));
        put_lines(e, node, s, n);
    }

    if (call->depth != 0) {
        if (call->call_line != 0) {
            sym_pb_put_number(&e->record, CALL_LINE, call->call_line);
        }
        /* without a file readers would assume the caller's file */
        sym_pb_put_number(&e->record, CALL_FILE_REF,
                          file_number(e, call->call_file));
        sym_pb_put_number(&e->record, DEPTH, call->depth);
    }

    sym_pb_put_varint(&e->records, e->record.len);
    sym_pb_put_varint(&e->records, RANGE);
    sym_buffer_put(&e->records, e->record.data, e->record.len);
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


static sym_status_t
make_room(export_t *e)
{
    return e->strings.len > TABLE_BYTES || e->records.len > RECORD_BYTES
                   || e->n_strings > STRINGS_MAX
               ? end_batch(e)
               : SYM_OK;
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

        if (make_room(e) != SYM_OK) {
            return e->err->status;
        }

        put_run(e, node, s + i, len);
        if (put_calls(e, depth + 1, s + i, len) != SYM_OK) {
            return e->err->status;
        }
    }

    return SYM_OK;
}


/* --- all functions --- */

static sym_status_t
put_functions(export_t *e)
{
    sym_status_t rc = SYM_OK;

    e->f = &e->function;
    sym_out_raw(e->form->out, SYM_STR("symbfile\0\1"));

    while (rc == SYM_OK && !e->form->out->failed) {
        rc = sym_walk_next(e->walk, &e->function, e->err);
        rc = rc != SYM_OK ? rc
                          : put_calls(e, 0, e->f->segments, e->f->n_segments);
    }

    if (rc == SYM_NOT_FOUND) {
        rc = e->form->sc->damaged == 0
                 ? SYM_OK
                 : sym_fail(e->err, SYM_DAMAGED,
                            "the symcache's names are damaged");
    }

    return rc == SYM_OK ? end_batch(e) : rc;
}


sym_status_t
sym_symbfile_export(sym_form_t *form, sym_error_t *err)
{
    export_t *e = calloc(1, sizeof(*e));
    sym_status_t rc;

    if (e == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    e->form = form;
    e->err = err;
    e->walk = sym_walk_create(form->sc, err);
    rc = e->walk != NULL ? put_functions(e) : SYM_NOMEM;

    sym_walk_free(e->walk);
    sym_buffer_free(&e->strings);
    sym_buffer_free(&e->records);
    sym_buffer_free(&e->record);
    sym_buffer_free(&e->table);
    sym_buffer_free(&e->column);
    free(e);
    return rc;
}
