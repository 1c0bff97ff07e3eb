/*
 * native_write.c - what all debug files have in common, into a writer.
 */
#include <inttypes.h>

#include "converter/requests.h"
#include "converter/native_read.h"

/* The largest first: then two threads unpack them best. */
const char *const native_section_names[NATIVE_SECTIONS] = {
    ".debug_info",   ".debug_line",     ".debug_str",
    ".debug_abbrev", ".debug_line_str", ".debug_str_offsets",
    ".debug_addr",   ".debug_ranges",   ".debug_rnglists",
};


sym_status_t
native_sections(sym_status_t (*find)(void *ctx, const char *name,
                                     sym_str_t *bytes, sym_error_t *err),
                void *ctx, sym_dwarf_sections_t *s, sym_error_t *err)
{
    sym_str_t *const wanted[NATIVE_SECTIONS] = {
        &s->info,        &s->line, &s->str,    &s->abbrev,   &s->line_str,
        &s->str_offsets, &s->addr, &s->ranges, &s->rnglists,
    };

    for (size_t i = 0; i < NATIVE_SECTIONS; i++) {
        sym_status_t rc = find(ctx, native_section_names[i], wanted[i], err);

        if (rc == SYM_NOT_FOUND) {
            *wanted[i] = SYM_STR("");
        } else if (rc != SYM_OK) {
            return rc;
        }
    }

    return SYM_OK;
}


sym_status_t
native_write(const native_file_t *f, sym_dwarf_input_t *in,
             native_symbols_t *symbols, bool may_be_empty, sym_error_t *err)
{
    sym_dwarf_stats_t stats = { 0 };
    sym_status_t rc;

    in->symbol = native_symbols_find;
    in->symbol_ctx = symbols;
    in->pool = f->means->pool;
    rc = sym_dwarf_read(in, f->writer, &stats, err);

    if (rc == SYM_OK && stats.split_missing != 0) {
        f->module->is_incomplete = true;
        ask_note("%" PRIu64 " of %" PRIu64
                 " split units have lines only: their "
                 ".dwo files are not here, or of another build",
                 stats.split_missing, stats.split_units);
    }

    rc = rc != SYM_OK ? rc : native_symbols_write(symbols, f->writer, err);

    if (rc != SYM_OK || stats.functions != 0 || symbols->n != 0) {
        return rc;
    }

    if (stats.first_broken.status != SYM_OK) {
        return (*err = stats.first_broken).status;
    }

    return may_be_empty
               ? SYM_OK
               : sym_fail(err, SYM_UNSUPPORTED,
                          "nothing in the file names code: it was stripped");
}
