#include "formats/native/splits.h"

#include <stdlib.h>

static void
close_file(const sym_split_format_t *format, sym_split_file_t *f)
{
    if (f->object != NULL) {
        format->close(f->object);
    }

    free(f->file.data);
    *f = (sym_split_file_t){ 0 };
}


/* The sections that are read.  Other sections, and broken ones, stay empty. */
static sym_status_t
read_sections(const sym_split_format_t *format, void *object,
              sym_dwarf_sections_t *s)
{
    const struct {
        const char *name;
        sym_str_t *bytes;
    } wanted[] = {
        { ".debug_info.dwo", &s->info },
        { ".debug_abbrev.dwo", &s->abbrev },
        { ".debug_str.dwo", &s->str },
        { ".debug_str_offsets.dwo", &s->str_offsets },
        { ".debug_rnglists.dwo", &s->rnglists },
    };

    *s = (sym_dwarf_sections_t){ 0 };

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        sym_error_t bad = { 0 };
        sym_status_t rc =
            format->section(object, wanted[i].name, wanted[i].bytes, &bad);

        if (rc == SYM_NOMEM) {
            return rc;
        }

        if (rc != SYM_OK) {
            *wanted[i].bytes = sym_str("", 0);
        }
    }

    return SYM_OK;
}


/* SYM_NOT_FOUND: there is no such file, or it is unusable. */
static sym_status_t
open_file(const sym_native_splits_t *s, const sym_companion_t *want,
          sym_split_file_t *f, sym_dwarf_sections_t *sections)
{
    sym_error_t bad = { 0 };
    sym_status_t rc = s->services->companion(s->services->ctx, want, &f->file);

    if (rc != SYM_OK) {
        return rc;
    }

    f->object = s->format->open(s, &f->file, &bad);
    if (f->object == NULL) {
        rc = bad.status == SYM_NOMEM ? SYM_NOMEM : SYM_NOT_FOUND;
    } else {
        rc = read_sections(s->format, f->object, sections);
    }

    if (rc != SYM_OK) {
        close_file(s->format, f);
    }

    return rc;
}


/* --- functions for core/formats/dwarf --- */

/* Candidate number `attempt` of the .dwo files. */
static sym_status_t
open_dwo(const sym_native_splits_t *s, const sym_dwarf_skeleton_t *skeleton,
         unsigned attempt, sym_dwarf_split_t *split)
{
    sym_split_file_t *f = calloc(1, sizeof(*f));
    sym_companion_t want;
    sym_status_t rc;

    if (f == NULL) {
        return SYM_NOMEM;
    }

    rc = SYM_NOT_FOUND;
    if (sym_companion_set(&want, SYM_COMPANION_DWO, skeleton->name,
                          skeleton->comp_dir, sym_str("", 0)))
    {
        want.attempt = attempt;
        rc = open_file(s, &want, f, &split->sections);
    }

    if (rc != SYM_OK) {
        free(f);
        return rc;
    }

    split->file = f;
    return SYM_OK;
}


static sym_status_t
open_split(void *ctx, const sym_dwarf_skeleton_t *skeleton,
           sym_dwarf_split_t *split)
{
    const sym_native_splits_t *s = ctx;
    bool is_packed =
        s->package.object != NULL
        && sym_dwarf_package_find(&s->sections, s->index, s->is_big_endian,
                                  skeleton->id, &split->sections);

    split->file = NULL;
    if (is_packed && skeleton->attempt == 0) {
        return SYM_OK;
    }

    return open_dwo(s, skeleton, skeleton->attempt - is_packed, split);
}


static void
close_split(void *ctx, sym_dwarf_split_t *split)
{
    const sym_native_splits_t *s = ctx;

    if (split->file != NULL) {
        close_file(s->format, split->file);
        free(split->file);
    }
}


sym_status_t
sym_native_splits_open(sym_native_splits_t *s, const sym_split_format_t *format,
                       sym_dwarf_input_t *in,
                       const sym_format_services_t *services, sym_error_t *err)
{
    const sym_str_t none = { "", 0 };
    sym_error_t bad = { 0 };
    sym_companion_t want;
    sym_status_t rc;

    *s = (sym_native_splits_t){ .format = format,
                                .services = services,
                                .is_big_endian = in->is_big_endian };
    in->split_open = open_split;
    in->split_close = close_split;
    in->split_ctx = s;

    (void) sym_companion_set(&want, SYM_COMPANION_DWP, none, none, none);
    rc = open_file(s, &want, &s->package, &s->sections);
    if (rc == SYM_OK) {
        rc = format->section(s->package.object, ".debug_cu_index", &s->index,
                             &bad);
    }

    if (rc == SYM_NOMEM) {
        return sym_fail(err, rc,
                        "no memory for a package of split units: see "
                        "--convert-memory");
    }

    if (rc != SYM_OK) {
        close_file(format, &s->package);
    }

    return SYM_OK;
}


void
sym_native_splits_close(sym_native_splits_t *s)
{
    close_file(s->format, &s->package);
}
