/*
 * dump_sources.c - `symloader dump --kind=sources`: the paths of an object's
 * sources, or the text of one.
 */

#include "artifacts/sources/read/sources.h"
#include "cli/dump.h"

static void
put_path(output_t *out, const sym_source_file_t *file, dump_format_t format)
{
    bool first = true;

    if (format != DUMP_JSON) {
        output_text(out, file->path);
        output_printf(out, "\n");
        return;
    }

    output_printf(out, "{");
    output_key_string(out, file->is_url ? "url" : "path", file->path, &first);
    output_key_dec(out, "bytes", file->len, &first);
    output_key_dec(out, "lines", file->lines, &first);
    output_printf(out, "}\n");
}


static sym_status_t
put_paths(output_t *out, const sym_sources_t *s, dump_format_t format)
{
    sym_status_t rc = SYM_OK;

    for (uint32_t i = 0; i < s->n_files && rc == SYM_OK && !out->json.failed;
         i++) {
        sym_source_file_t file;

        rc = sym_sources_file(s, i, &file);

        if (rc == SYM_OK) {
            put_path(out, &file, format);
        }
    }

    return rc;
}


static sym_status_t
put_text(output_t *out, const sym_sources_t *s, const sym_source_file_t *file)
{
    sym_status_t rc = SYM_OK;

    for (uint32_t i = 0;
         i < file->n_blocks && rc == SYM_OK && !out->json.failed; i++)
    {
        char text[SYM_SOURCES_BLOCK_TEXT];
        uint64_t line;
        size_t len = 0;

        rc = sym_sources_block(s, file, i, text, &len, &line);
        sym_out_raw(&out->json, sym_str(text, rc == SYM_OK ? len : 0));
    }

    return rc;
}


sym_status_t
dump_sources(const sym_extent_source_t *extents, const options_t *options,
             output_t *out, sym_error_t *err)
{
    sym_source_file_t file;
    sym_sources_t s;
    sym_status_t rc = sym_sources_open(&s, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    if (options->path == NULL) {
        rc = put_paths(out, &s, options->format);
    } else {
        rc = sym_sources_find(&s, sym_cstr(options->path), &file);
        rc = rc == SYM_OK ? put_text(out, &s, &file) : rc;
    }

    return rc == SYM_NOT_FOUND ? sym_fail(err, rc, "no source has this path")
           : rc != SYM_OK      ? sym_fail(err, rc, "the sources are damaged")
                               : rc;
}
