#include "dwarf/dwarf.h"
#include "dwarf/walker.h"

#include <stdlib.h>

static void
note_broken(sym_dwarf_stats_t *stats, const sym_error_t *bad)
{
    stats->units_broken++;
    if (stats->first_broken.status == SYM_OK) {
        stats->first_broken = *bad;
    }
}


static sym_status_t
walk_all(sym_dw_walker_t *w, const sym_dw_info_t *info, sym_error_t *err)
{
    sym_dwarf_stats_t *stats = w->stats;
    sym_error_t first = stats->first_broken;

    /* of headers only the first reason is known: it is kept if it is first */
    stats->first_broken = (sym_error_t){ 0 };

    for (size_t i = 0; i < info->n_units; i++) {
        sym_error_t bad = { 0 };

        stats->units++;
        if (info->units[i].kind == 0) {
            note_broken(stats, &first);
            continue;
        }

        if (sym_dw_walk(w, &info->units[i], &bad) == SYM_OK) {
            continue;
        }

        if (w->is_fatal || bad.status == SYM_NOMEM) {
            return sym_fail(err, bad.status, bad.what);
        }
        note_broken(stats, &bad);
    }

    return SYM_OK;
}


sym_status_t
sym_dwarf_read(const sym_dwarf_input_t *in, sym_writer_t *writer,
               sym_dwarf_stats_t *stats, sym_error_t *err)
{
    sym_dw_info_t info = { 0 }, alt = { 0 };
    sym_error_t ignored = { 0 };
    sym_dw_walker_t *w = malloc(sizeof(*w));

    *stats = (sym_dwarf_stats_t){ 0 };
    if (w == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for a DWARF reader");
    }

    if (sym_dw_info_read(&info, &in->sections, in->is_big_endian,
                         &stats->first_broken)
            != SYM_OK
        || (in->alt != NULL
            && sym_dw_info_read(&alt, in->alt, in->is_big_endian, &ignored)
                   != SYM_OK))
    {
        (void) sym_fail(err, SYM_NOMEM, "no memory for units");
        goto done;
    }

    sym_dw_walker_init(w, in, &info, in->alt != NULL ? &alt : NULL, writer,
                       stats);
    (void) walk_all(w, &info, err);
    stats->names_missing = w->names.missing;
    sym_dw_walker_free(w);

done:
    sym_dw_info_free(&info);
    sym_dw_info_free(&alt);
    free(w);
    return err->status;
}
