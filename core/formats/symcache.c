#include "formats/symcache.h"

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


sym_status_t
sym_format_put_symcache(const sym_format_file_t *f, sym_writer_t *w,
                        const sym_module_info_t *info, bool is_incomplete,
                        sym_error_t *err)
{
    const sym_format_output_t artifact = { .kind = SYM_KIND_SYMCACHE,
                                           .info = info,
                                           .writer = w,
                                           .finish = finish,
                                           .is_incomplete = is_incomplete };

    return f->put(f->ctx, &artifact, err);
}
