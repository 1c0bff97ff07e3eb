/*
 * split.c - units whose entries are in a separate file (DWARF 5, 7.3.2; GNU's
 * form for DWARF 4).
 *
 * The skeleton contains the line table, the addresses and the unit's ranges.
 * The split unit contains the entries; their offsets are relative to the
 * skeleton's bases.
 */
#include "formats/dwarf/constants.h"
#include "formats/dwarf/walker.h"

/* Limit on the files that are tried for one unit. */
#define ATTEMPTS_MAX 16

/* The dwo_id of a unit.  False: the unit has none, or an unusable one. */
static bool
read_id(sym_dw_walker_t *w, const sym_dw_unit_t *unit, uint64_t *id)
{
    sym_error_t bad = { 0 };
    sym_dw_open_t u;
    bool is_read;

    *id = unit->dwo_id;
    if (unit->shape.version >= 5) {
        return unit->kind == DW_UT_split_compile;
    }

    if (unit->kind == 0) {
        return false;
    }

    is_read = sym_dw_open(&w->x, &u, &w->split.info, unit, &bad) == SYM_OK
              && sym_dw_has(&u.root, SYM_DW_DWO_ID);
    *id = u.dwo_id;
    sym_dw_close(&u);
    return is_read;
}


static const sym_dw_unit_t *
find_in(sym_dw_walker_t *w, const sym_dw_chunk_t *c, uint64_t id)
{
    for (size_t i = 0; i < c->n_units; i++) {
        uint64_t found;

        if (read_id(w, &c->units[i], &found) && found == id) {
            return &c->units[i];
        }
    }

    return NULL;
}


static const sym_dw_unit_t *
find_unit(sym_dw_walker_t *w, uint64_t id)
{
    const sym_dw_unit_t *unit = NULL;
    const sym_dw_chunk_t *c;

    for (size_t i = 0;
         unit == NULL
         && (c = sym_dw_info_chunk(&w->split.info, i, w->err)) != NULL;
         i++)
    {
        unit = find_in(w, c, id);
    }

    return unit;
}


static void
close_file(sym_dw_walker_t *w)
{
    sym_dw_context_forget(&w->x, &w->split.info);
    sym_dw_names_forget(&w->names);
    sym_dw_info_free(&w->split.info);
    w->in->split_close(w->in->split_ctx, &w->split.file);
}


/* Sets the sections of the opened file. */
static sym_status_t
read_file(sym_dw_walker_t *w)
{
    sym_dw_split_t *s = &w->split;
    const sym_dwarf_sections_t *ours = &w->in->sections;

    s->sections = s->file.sections;
    s->sections.line = ours->line;
    s->sections.line_str = ours->line_str;
    s->sections.addr = ours->addr;
    s->sections.ranges = ours->ranges;

    w->x.budget +=
        SYM_DWARF_REREAD_MAX
        * (uint64_t) (s->sections.info.len + s->sections.abbrev.len
                      + s->sections.rnglists.len + s->sections.str_offsets.len);

    if (sym_dw_info_init(&s->info, &s->sections, NULL, w->in->is_big_endian)
        != SYM_OK)
    {
        return sym_fail(w->err, SYM_NOMEM, "no memory for units");
    }

    return SYM_OK;
}


/* The split unit of the skeleton.  NULL without an error: the file does not
   contain it. */
static const sym_dw_unit_t *
find_file(sym_dw_walker_t *w, sym_dwarf_skeleton_t *wanted)
{
    for (; wanted->attempt < ATTEMPTS_MAX; wanted->attempt++) {
        const sym_dw_unit_t *unit;
        sym_status_t rc =
            w->in->split_open(w->in->split_ctx, wanted, &w->split.file);

        if (rc != SYM_OK) {
            if (rc == SYM_NOMEM) {
                (void) sym_fail(w->err, rc, "no memory for a .dwo file");
            }
            return NULL;
        }

        unit = read_file(w) == SYM_OK ? find_unit(w, wanted->id) : NULL;
        if (unit != NULL) {
            return unit;
        }

        close_file(w);
        if (w->err->status != SYM_OK) {
            return NULL;
        }
        w->stats->split_foreign++;
    }

    return NULL;
}


/* Copies the fields that come from the skeleton. */
static void
inherit(sym_dw_open_t *u, const sym_dw_open_t *skeleton)
{
    u->addr_base = skeleton->addr_base;
    u->low_pc = skeleton->low_pc;

    if (sym_dw_has(&skeleton->root, SYM_DW_RANGES_BASE)) {
        u->ranges_base = skeleton->root.values[SYM_DW_RANGES_BASE].u;
    }
}


sym_status_t
sym_dw_split_enter(sym_dw_walker_t *w)
{
    sym_dwarf_skeleton_t wanted = { .comp_dir = w->u.comp_dir,
                                    .id = w->u.dwo_id };
    const sym_dw_unit_t *unit = NULL;
    sym_error_t bad = { 0 };

    if (!w->u.is_skeleton) {
        return SYM_OK;
    }

    w->stats->split_units++;
    wanted.name = sym_dw_text(&w->x, &w->u, w->u.root.values[SYM_DW_DWO_NAME]);

    if (w->in->split_open != NULL && wanted.name.len != 0) {
        unit = find_file(w, &wanted);
    }

    if (unit == NULL) {
        w->stats->split_missing++;
        return w->err->status;
    }

    w->split.skeleton = w->u;
    w->split.is_open = true;
    w->names.is_passing = true;
    if (sym_dw_open(&w->x, &w->u, &w->split.info, unit, &bad) != SYM_OK) {
        return (*w->err = bad).status;
    }

    inherit(&w->u, &w->split.skeleton);
    return SYM_OK;
}


void
sym_dw_split_leave(sym_dw_walker_t *w)
{
    if (w->split.is_open) {
        w->split.is_open = false;
        w->names.is_passing = false;
        sym_dw_close(&w->split.skeleton);
        close_file(w);
    }
}
