#include "formats/symcache.h"

#include <stdlib.h>

#include "formats/il2cpp/line_map.h"
#include "object/object_id.h"

/* Limit on the files that are tried as a line map. */
#define MAPS_MAX 8

sym_writer_t *
sym_format_writer(const sym_format_file_t *f, sym_error_t *err)
{
    sym_writer_t *w = sym_writer_create(err);

    if (w != NULL) {
        sym_writer_lend(w, f->services->pool);
    }

    return w;
}


static sym_status_t
finish(void *writer, const sym_module_info_t *info, sym_extent_put_pt put,
       void *ctx, sym_writer_stats_t *stats, sym_error_t *err)
{
    sym_status_t rc = sym_writer_finish(writer, info, put, ctx, stats);

    return rc == SYM_OK ? rc : sym_fail(err, rc, NULL);
}


/* Reads the first file that is a line map.  Fails only when out of memory. */
static sym_status_t
find_moves(const sym_format_services_t *services, sym_companion_t *want,
           sym_writer_t *w, sym_moves_t *moves, bool *is_missing,
           sym_error_t *err)
{
    for (; want->attempt < MAPS_MAX; want->attempt++) {
        sym_companion_file_t file = { 0 };
        sym_error_t bad = { 0 };
        char text[256];
        sym_status_t rc = services->companion(services->ctx, want, &file);

        if (rc != SYM_OK) {
            return rc == SYM_NOMEM ? sym_fail(err, rc, "no memory for a map")
                                   : SYM_OK;
        }

        rc = sym_il2cpp_read(moves, w,
                             sym_str((const char *) file.data, file.len), &bad);
        free(file.data);

        if (rc == SYM_OK || rc == SYM_NOMEM) {
            *is_missing = rc != SYM_OK;
            return rc == SYM_OK ? rc : sym_fail(err, rc, bad.what);
        }

        services->note(services->ctx, "its map of C# lines: %s",
                       sym_error_text(&bad, text, sizeof(text)));
    }

    return SYM_OK;
}


/* IL2CPP's output is shown as the C# from which it was generated. */
static sym_status_t
move_lines(const sym_format_services_t *services, sym_writer_t *w,
           const sym_module_info_t *info, bool *is_missing, sym_error_t *err)
{
    const sym_str_t none = SYM_STR("");
    sym_debug_id_t id;
    sym_moves_t moves = { 0 };
    sym_companion_t want;
    sym_status_t rc;

    *is_missing = false;
    if (!sym_il2cpp_is(w) || !sym_debug_id_read_breakpad(info->debug_id, &id)
        || id.form != SYM_DEBUG_ID_UUID)
    {
        return SYM_OK;
    }

    *is_missing = true;
    (void) sym_companion_set(
        &want, SYM_COMPANION_LINE_MAP, none, none,
        sym_str((const char *) id.signature, SYM_UUID_BYTES));
    rc = find_moves(services, &want, w, &moves, is_missing, err);
    sym_writer_move(w, &moves);

    if (rc == SYM_OK && *is_missing) {
        services->note(services->ctx, "lines are those of generated C++: its "
                                      "map of C# lines is not here");
    }

    return rc;
}


static sym_status_t
finish_cfi(void *writer, const sym_module_info_t *info, sym_extent_put_pt put,
           void *ctx, sym_writer_stats_t *stats, sym_error_t *err)
{
    const sym_str_t path = info->debug_path;
    sym_status_t rc = sym_cfi_finish(
        writer,
        path.len != 0 && path.len <= UINT8_MAX ? path : info->debug_file, put,
        ctx, stats);

    return rc == SYM_OK ? rc : sym_fail(err, rc, NULL);
}


static sym_status_t
put_cfi(const sym_format_file_t *f, sym_cfi_writer_t *w,
        const sym_module_info_t *info, sym_error_t *err)
{
    const sym_format_output_t artifact = {
        .kind = SYM_KIND_CFI, .info = info, .writer = w, .finish = finish_cfi
    };

    return f->put(f->ctx, &artifact, err);
}


sym_status_t
sym_format_put_symcache(const sym_format_file_t *f, sym_writer_t *w,
                        sym_cfi_writer_t *cfi, const sym_module_info_t *info,
                        bool is_incomplete, sym_error_t *err)
{
    const bool has_cfi = cfi != NULL && sym_cfi_writer_ranges(cfi) != 0;
    bool is_missing;
    sym_status_t rc = SYM_OK;

    if (!has_cfi && !sym_format_wants(f, SYM_KIND_SYMCACHE)) {
        return sym_fail(err, SYM_UNSUPPORTED, "no unwind information");
    }

    if (w != NULL && sym_format_wants(f, SYM_KIND_SYMCACHE)) {
        rc = move_lines(f->services, w, info, &is_missing, err);

        const sym_format_output_t artifact = {
            .kind = SYM_KIND_SYMCACHE,
            .has_more = has_cfi,
            .info = info,
            .writer = w,
            .finish = finish,
            .is_incomplete = is_incomplete || is_missing,
            .names = w,
        };

        rc = rc != SYM_OK ? rc : f->put(f->ctx, &artifact, err);
    }

    return rc == SYM_OK && has_cfi ? put_cfi(f, cfi, info, err) : rc;
}


static sym_status_t
put_nothing(void *writer, const sym_module_info_t *info, sym_extent_put_pt put,
            void *ctx, sym_writer_stats_t *stats, sym_error_t *err)
{
    (void) writer;
    (void) info;
    (void) put;
    (void) ctx;
    (void) err;
    *stats = (sym_writer_stats_t){ .extents = 0 };
    return SYM_OK;
}


sym_status_t
sym_format_put_ids(const sym_format_file_t *f, const sym_module_info_t *info,
                   sym_error_t *err)
{
    const sym_format_output_t output = { .kind = SYM_KIND_SYMCACHE,
                                         .info = info,
                                         .finish = put_nothing };

    return f->put(f->ctx, &output, err);
}
