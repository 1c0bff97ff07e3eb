#include "artifacts/symcache/export/symbfile_out.h"

#include <stdlib.h>

/* The type of a message. */
#define STRINGS 4

/* Sizes of a batch: a string table, and the records that refer to it.  From half
 * of them on it ends with the function, so that records of a function have one
 * table if possible. */
#define TABLE_BYTES ((size_t) 12 << 20)
#define RECORD_BYTES ((size_t) 32 << 20)

#define SLOTS SYM_SYMBFILE_SLOTS
#define STRINGS_MAX 120000

sym_symbfile_out_t *
sym_symbfile_out_create(sym_form_t *form, sym_error_t *err)
{
    sym_symbfile_out_t *o = calloc(1, sizeof(*o));

    if (o == NULL) {
        (void) sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    o->form = form;
    o->err = err;
    sym_out_raw(form->out, SYM_STR("symbfile\0\1"));
    return o;
}


void
sym_symbfile_out_free(sym_symbfile_out_t *o)
{
    if (o == NULL) {
        return;
    }

    sym_buffer_free(&o->strings);
    sym_buffer_free(&o->records);
    sym_buffer_free(&o->record);
    sym_buffer_free(&o->table);
    for (unsigned i = 0; i < SYM_SYMBFILE_COLUMNS; i++) {
        sym_buffer_free(&o->columns[i]);
    }
    free(o);
}


/* --- batches --- */

static void
put_all(sym_symbfile_out_t *o, const sym_buffer_t *b)
{
    sym_out_windows(o->form->out, sym_str((const char *) b->data, b->len));
}


static bool
has_failed(const sym_symbfile_out_t *o)
{
    bool failed = o->strings.failed || o->records.failed || o->record.failed
                  || o->table.failed;

    for (unsigned i = 0; i < SYM_SYMBFILE_COLUMNS; i++) {
        failed |= o->columns[i].failed;
    }

    return failed;
}


sym_status_t
sym_symbfile_out_end(sym_symbfile_out_t *o)
{
    o->record.len = 0;
    sym_pb_put_varint(&o->record, o->strings.len);
    sym_pb_put_varint(&o->record, STRINGS);

    if (has_failed(o)) {
        return sym_fail(o->err, SYM_NOMEM, "no memory for a symbfile");
    }

    if (o->records.len != 0) {
        put_all(o, &o->record);
        put_all(o, &o->strings);
        put_all(o, &o->records);
    }

    o->strings.len = o->records.len = 0;
    o->n_strings = 0;
    o->has_addr = false;
    memset(o->slots, 0, sizeof(o->slots));
    return SYM_OK;
}


static sym_status_t
end_if_over(sym_symbfile_out_t *o, unsigned part)
{
    return o->strings.len > TABLE_BYTES / part
                   || o->records.len > RECORD_BYTES / part
                   || o->n_strings > STRINGS_MAX / part
               ? sym_symbfile_out_end(o)
               : SYM_OK;
}


sym_status_t
sym_symbfile_out_room(sym_symbfile_out_t *o)
{
    return end_if_over(o, 1);
}


/* --- strings --- */

/* The slot of a string, or the free slot for it. */
static sym_symbfile_slot_t *
find_slot(sym_symbfile_out_t *o, uint32_t ref, bool is_name, uint8_t lang)
{
    uint32_t at = ref * 2654435761u + lang;

    for (;; at++) {
        sym_symbfile_slot_t *slot = &o->slots[at % SLOTS];

        if (!slot->is_used
            || (slot->ref == ref && slot->is_name == is_name
                && slot->lang == lang))
        {
            return slot;
        }
    }
}


static uint32_t
number_of(sym_symbfile_out_t *o, uint32_t ref, bool is_name, uint8_t lang,
          sym_str_t text)
{
    sym_symbfile_slot_t *slot = find_slot(o, ref, is_name, lang);

    if (!slot->is_used) {
        *slot =
            (sym_symbfile_slot_t){ ref, lang, is_name, true, o->n_strings++ };
        sym_pb_put_bytes(&o->strings, 1, text);
    }

    return slot->number;
}


uint32_t
sym_symbfile_out_name(sym_symbfile_out_t *o, const sym_walk_function_t *f,
                      uint32_t node)
{
    const uint8_t lang = node == 0 ? f->lang : SYM_LANG_UNKNOWN;
    const uint32_t ref = f->nodes[node].name;
    const sym_symbfile_slot_t *slot = find_slot(o, ref, true, lang);

    return slot->is_used
               ? slot->number
               : number_of(o, ref, true, lang, sym_form_name(o->form, f, node));
}


uint32_t
sym_symbfile_out_file(sym_symbfile_out_t *o, uint32_t file)
{
    const sym_symbfile_slot_t *slot = find_slot(o, file, false, 0);

    return slot->is_used
               ? slot->number
               : number_of(o, file, false, 0, sym_form_file(o->form, file));
}


/* --- records --- */

void
sym_symbfile_out_begin(sym_symbfile_out_t *o, uint32_t addr, uint32_t delta,
                       uint32_t absolute)
{
    const uint64_t va = o->form->sc->image_base + addr;

    o->record.len = 0;

    if (o->has_addr) {
        sym_pb_put_number(&o->record, delta,
                          sym_pb_unzigzag((int64_t) (va - o->addr)));
    } else {
        sym_pb_put_number(&o->record, absolute, va);
    }

    o->has_addr = true;
    o->addr = va;
}


void
sym_symbfile_out_column(sym_buffer_t *to, uint32_t number, sym_buffer_t *column)
{
    sym_pb_put_bytes(to, number,
                     sym_str((const char *) column->data, column->len));
    column->len = 0;
}


void
sym_symbfile_out_record(sym_symbfile_out_t *o, uint32_t type)
{
    sym_pb_put_varint(&o->records, o->record.len);
    sym_pb_put_varint(&o->records, type);
    sym_buffer_put(&o->records, o->record.data, o->record.len);
}


/* --- all functions --- */

sym_status_t
sym_symbfile_out_functions(sym_symbfile_out_t *o, sym_symbfile_put_pt put,
                           void *ctx)
{
    sym_walk_t *walk = sym_walk_create(o->form->sc, o->err);
    sym_status_t rc = walk != NULL ? SYM_OK : SYM_NOMEM;
    sym_walk_function_t f;

    while (rc == SYM_OK && !o->form->out->failed) {
        rc = sym_walk_next(walk, &f, o->err);
        rc = rc != SYM_OK ? rc : end_if_over(o, 2);
        rc = rc != SYM_OK ? rc : put(ctx, &f);
    }

    sym_walk_free(walk);

    if (rc == SYM_NOT_FOUND) {
        rc = o->form->sc->damaged == 0
                 ? SYM_OK
                 : sym_fail(o->err, SYM_DAMAGED,
                            "the symcache's names are damaged");
    }

    return rc == SYM_OK ? sym_symbfile_out_end(o) : rc;
}
