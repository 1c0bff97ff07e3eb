/*
 * unit_lines.c - the line table of the current unit: its files, and the row of
 * an address.
 */
#include "formats/dwarf/grow.h"
#include "formats/dwarf/constants.h"
#include "formats/dwarf/walker.h"

/* Forgets the files, because another unit has another directory. */
static sym_status_t
reset_files(sym_dw_walker_t *w)
{
    size_t n = w->lines.n_files + 1; /* before DWARF 5 files count from 1 */

    if (w->file_ids_size < n
        && !sym_dw_grow((void **) &w->file_ids, &w->file_ids_size, n - 1,
                        sizeof(*w->file_ids)))
    {
        return sym_dw_out_of_memory(w);
    }

    for (size_t i = 0; i < n; i++) {
        w->file_ids[i] = SYM_DW_UNSEEN;
    }

    w->n_file_ids = n;
    return SYM_OK;
}


static void
clear_lines(sym_dw_walker_t *w)
{
    w->lines_at = SYM_DW_NO_LINES;
    w->lines.n_sequences = w->lines.rows.n = w->lines.statements.n = 0;
    w->lines.n_files = w->lines.n_dirs = 0;
    w->lines.end_file = SYM_DW_NO_FILE;
}


static sym_status_t
read_lines(sym_dw_walker_t *w)
{
    const sym_dw_open_t *whole = sym_dw_whole(w);
    sym_error_t bad = { 0 };

    if (!whole->has_lines) {
        clear_lines(w);
        return SYM_OK;
    }

    /* use by one more unit costs about as much as reading the table */
    if (whole->stmt_list == w->lines_at) {
        return sym_dw_spend(&w->x, w->lines.bytes, w->err);
    }

    if (sym_dw_spend(&w->x, 0, w->err) != SYM_OK) {
        clear_lines(w);
        return w->err->status;
    }

    (void) sym_dw_lines_read(&w->lines, w->in, whole->stmt_list, &bad);
    if (bad.status == SYM_NOMEM) {
        clear_lines(w);
        return sym_dw_out_of_memory(w);
    }

    /* a broken line program does not break the unit: the rows before the error
     * are kept */
    w->lines_at = whole->stmt_list;
    w->stats->rows += w->lines.rows.n;
    return sym_dw_spend(&w->x, w->lines.bytes, w->err);
}


/* Type units and partial units (3.1.1.2, 3.1.4) use a line table only for its
 * files. */
bool
sym_dw_unit_lines_own(const sym_dw_walker_t *w)
{
    const sym_dw_open_t *whole = sym_dw_whole(w);
    uint8_t kind = whole->unit->kind;

    return (kind == DW_UT_compile || kind == DW_UT_skeleton)
           && !whole->is_partial;
}


sym_status_t
sym_dw_unit_lines_begin(sym_dw_walker_t *w)
{
    w->place = (sym_dw_line_place_t){ 0 };

    if (w->n_pieces == 0 && !sym_dw_unit_lines_own(w)) {
        clear_lines(w);
        return SYM_OK;
    }

    if (read_lines(w) != SYM_OK || reset_files(w) != SYM_OK) {
        return w->err->status;
    }

    w->stats->units_no_lines += w->n_pieces != 0 && w->lines.n_sequences == 0;
    return SYM_OK;
}


sym_status_t
sym_dw_unit_lines_file(sym_dw_walker_t *w, uint64_t file, uint32_t *id)
{
    if (file >= w->n_file_ids) {
        *id = SYM_NO_STRING;
        return SYM_OK;
    }

    *id = w->file_ids[file];
    if (*id != SYM_DW_UNSEEN) {
        return SYM_OK;
    }

    *id = SYM_NO_STRING;
    if (sym_dw_file_path(&w->lines, file, sym_dw_whole(w)->comp_dir, &w->path))
    {
        sym_error_t err = { 0 };
        sym_str_t path = sym_str((const char *) w->path.data, w->path.len);
        sym_status_t rc = sym_dw_name_text(&w->names, path, false, id, &err);

        if (rc != SYM_OK) {
            return sym_dw_fatal(w, rc);
        }
    } else if (w->path.failed) {
        return sym_dw_out_of_memory(w);
    }

    w->file_ids[file] = *id;
    return SYM_OK;
}


/* The first sequence that ends above addr. */
static size_t
sequence_at(const sym_dw_lines_t *l, uint64_t addr)
{
    size_t low = 0, high = l->n_sequences;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->sequences[middle].high <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}


size_t
sym_dw_row_at(const sym_dw_rows_t *rows, size_t low, size_t high, uint64_t addr)
{
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (rows->items[middle].addr <= addr) {
            low = middle;
        } else {
            high = middle;
        }
    }

    return low;
}


static void
set_place(sym_dw_walker_t *w, size_t sequence, size_t row)
{
    const sym_dw_sequence_t *s = &w->lines.sequences[sequence];
    const sym_dw_row_t *rows = w->lines.rows.items;
    uint64_t until = row + 1 < s->end ? rows[row + 1].addr : s->high;

    w->place = (sym_dw_line_place_t){
        .sequence = sequence,
        .row = row,
        .from = rows[row].addr,
        .until = until < s->high ? until : s->high,
        .found = &rows[row],
    };
}


void
sym_dw_unit_lines_seek(sym_dw_walker_t *w, uint64_t addr)
{
    const sym_dw_lines_t *l = &w->lines;
    sym_dw_line_place_t *p = &w->place;
    size_t at;

    if (addr >= p->from && addr < p->until) {
        return;
    }

    if (p->found != NULL && addr == p->until
        && p->row + 1 < l->sequences[p->sequence].end)
    {
        set_place(w, p->sequence, p->row + 1);
        if (addr < p->until) {
            return;
        }
    }

    at = sequence_at(l, addr);
    if (at == l->n_sequences) {
        *p = (sym_dw_line_place_t){ .from = addr, .until = UINT64_MAX };
    } else if (l->sequences[at].low > addr) {
        *p = (sym_dw_line_place_t){ .from = addr,
                                    .until = l->sequences[at].low };
    } else {
        set_place(w, at,
                  sym_dw_row_at(&l->rows, l->sequences[at].first,
                                l->sequences[at].end, addr));
    }
}
