#include "formats/sourcebundle/text.h"

#include "artifacts/sources/write/writer.h"

static sym_status_t
finish(void *writer, const sym_module_info_t *info, sym_extent_put_pt put,
       void *ctx, sym_writer_stats_t *stats, sym_error_t *err)
{
    const sym_str_t *text = writer;
    sym_sources_writer_t *w = sym_sources_writer_create(put, ctx, err);
    sym_status_t rc = w == NULL
                          ? err->status
                          : sym_sources_add(w, SYM_STR(SYM_SOURCES_TEXT_NAME),
                                            SYM_STR(""), *text, err);

    (void) info; /* the store's record contains the name */
    rc = rc != SYM_OK ? rc : sym_sources_finish(w, stats, err);
    sym_sources_writer_free(w);
    return rc;
}


sym_status_t
sym_source_text_convert(const sym_format_file_t *f, sym_error_t *err)
{
    sym_str_t text = f->data;
    const sym_module_info_t info = { .debug_id = f->asked_id,
                                     .source_bytes = text.len };
    const sym_format_output_t output = { .kind = SYM_KIND_SOURCES,
                                         .info = &info,
                                         .writer = &text,
                                         .finish = finish };

    if (text.len > SYM_SOURCES_ALONE_MAX) {
        return sym_fail(err, SYM_LIMIT, "the source file is too large");
    }

    return f->put(f->ctx, &output, err);
}
