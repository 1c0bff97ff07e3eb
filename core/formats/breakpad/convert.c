/*
 * convert.c - Breakpad's text as a row of the formats.
 */
#include "formats/breakpad/breakpad.h"
#include "formats/symcache.h"

static bool
probe(const uint8_t *data, size_t len)
{
    return sym_str_starts(sym_str((const char *) data, len),
                          SYM_STR("MODULE "));
}


static sym_status_t
feed(sym_breakpad_t *b, const sym_format_file_t *f, sym_error_t *err)
{
    sym_str_t piece = f->data;
    sym_status_t rc = SYM_OK;

    while (rc == SYM_OK && piece.len > 0) {
        rc = sym_breakpad_feed(b, piece.data, piece.len);

        if (rc == SYM_OK) {
            rc = f->next(f->ctx, &piece, err);
        }
    }

    return rc == SYM_OK ? sym_breakpad_end(b) : rc;
}


/* Dumpers end every line, and write symbols for every module.  A file without
 * symbols, or without an end of its last line, is probably truncated. */
static void
warn(const sym_breakpad_stats_t *stats, bool is_symcache,
     const sym_format_services_t *services)
{
    if (stats->is_cut) {
        services->note(services->ctx,
                       "truncated: its last line has no newline");
    }

    if (is_symcache && stats->functions == 0 && stats->publics == 0) {
        services->note(services->ctx,
                       "no symbols: it has neither FUNC nor PUBLIC records");
    }
}


static sym_status_t
read_and_put(sym_breakpad_t *b, const sym_format_file_t *f, sym_writer_t *w,
             sym_error_t *err)
{
    const sym_breakpad_module_t *module;
    const sym_breakpad_stats_t *stats = sym_breakpad_stats(b);
    sym_module_info_t info;
    sym_status_t rc = feed(b, f, err);

    if (rc != SYM_OK) {
        return rc;
    }

    warn(stats, sym_format_wants(f, SYM_KIND_SYMCACHE), f->services);
    module = sym_breakpad_module(b);
    info = (sym_module_info_t){
        .debug_id = module->debug_id,
        .debug_file = module->debug_file,
        .code_id = module->code_id,
        .code_file = module->code_file,
        .arch = module->arch,
        .os = module->os,
        .source_bytes = stats->bytes,
        .flags =
            sym_feature_flags(stats->functions != 0, stats->publics != 0,
                              stats->stack_cfi != 0 || stats->stack_win != 0),
    };
    return sym_format_put_symcache(f, w, sym_breakpad_cfi(b), &info,
                                   stats->is_cut, err);
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    sym_writer_t *w = sym_format_writer(f, err);
    sym_breakpad_t *b = w != NULL ? sym_breakpad_create(w, err) : NULL;
    sym_status_t rc;

    if (b != NULL) {
        sym_breakpad_want(b, sym_format_wants(f, SYM_KIND_SYMCACHE),
                          sym_format_wants(f, SYM_KIND_CFI));
    }

    rc =
        b != NULL ? read_and_put(b, f, w, err) : sym_fail(err, SYM_NOMEM, NULL);

    (void) which; /* the file has one object */
    sym_breakpad_free(b);
    sym_writer_free(w);
    return rc;
}


const sym_format_t sym_format_breakpad = {
    .title = "Breakpad's .sym",
    .probe = probe,
    .is_streamed = true,
    .convert = convert,
};
