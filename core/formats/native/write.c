/*
 * write.c - passes the parts that all debug files have to a writer.
 */
#include <inttypes.h>

#include "formats/native/native.h"

/* The largest section is first, because this balances two threads best. */
const char *const sym_native_section_names[SYM_NATIVE_SECTIONS] = {
    ".debug_info",   ".debug_line",     ".debug_str",
    ".debug_abbrev", ".debug_line_str", ".debug_str_offsets",
    ".debug_addr",   ".debug_ranges",   ".debug_rnglists",
};


sym_status_t
sym_native_sections(sym_status_t (*find)(void *ctx, const char *name,
                                         sym_str_t *bytes, sym_error_t *err),
                    void *ctx, sym_dwarf_sections_t *s, sym_error_t *err)
{
    sym_str_t *const wanted[SYM_NATIVE_SECTIONS] = {
        &s->info,        &s->line, &s->str,    &s->abbrev,   &s->line_str,
        &s->str_offsets, &s->addr, &s->ranges, &s->rnglists,
    };

    for (size_t i = 0; i < SYM_NATIVE_SECTIONS; i++) {
        sym_status_t rc =
            find(ctx, sym_native_section_names[i], wanted[i], err);

        if (rc == SYM_NOT_FOUND) {
            *wanted[i] = SYM_STR("");
        } else if (rc != SYM_OK) {
            return rc;
        }
    }

    return SYM_OK;
}


sym_status_t
sym_native_write(sym_native_t *n, sym_dwarf_input_t *in,
                 sym_native_symbols_t *symbols, bool may_be_empty,
                 sym_error_t *err)
{
    sym_dwarf_stats_t stats = { 0 };
    sym_status_t rc;

    in->symbol = sym_native_symbols_find;
    in->symbol_ctx = symbols;
    in->pool = n->services->pool;
    rc = sym_dwarf_read(in, n->writer, &stats, err);

    if (rc == SYM_OK && stats.split_missing != 0) {
        n->is_incomplete = true;
        n->services->note(n->services->ctx,
                          "%" PRIu64 " of %" PRIu64
                          " split units have lines only: their "
                          ".dwo files are not here, or of another build",
                          stats.split_missing, stats.split_units);
    }

    rc = rc != SYM_OK ? rc : sym_native_symbols_write(symbols, n->writer, err);

    if (rc != SYM_OK || stats.functions != 0 || symbols->n != 0) {
        return rc;
    }

    if (stats.first_broken.status != SYM_OK) {
        return (*err = stats.first_broken).status;
    }

    n->is_bare = !may_be_empty && !n->services->takes_empty;
    return !n->is_bare ? SYM_OK
                       : sym_fail(err, SYM_UNSUPPORTED,
                                  "no symbols: the file was stripped");
}
