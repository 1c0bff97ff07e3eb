/*
 * dump_sources.c - `symloader dump --kind=sources`: the paths of an object's
 * sources, or the text of one.
 */

#include "artifacts/sources/read/sources.h"
#include "cli/dump.h"

static void
put_path(output_t *out, const sym_sources_file_t *file, dump_format_t format)
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
        sym_sources_file_t file;

        rc = sym_sources_file(s, i, &file);

        if (rc == SYM_OK) {
            put_path(out, &file, format);
        }
    }

    return rc;
}


/* A rule of Source Link: a path, or a folder, and the URL that has its text. */
static void
put_link(output_t *out, const sym_sources_link_t *link, dump_format_t format)
{
    bool first = true;

    if (format != DUMP_JSON) {
        output_text(out, link->pattern);
        output_printf(out, "%s -> ", link->is_prefix ? "*" : "");
        output_text(out, link->url);
        output_printf(out, "\n");
        return;
    }

    output_printf(out, "{");
    output_key_string(out, link->is_prefix ? "paths_below" : "path",
                      link->pattern, &first);
    output_key_string(out, "link", link->url, &first);
    output_printf(out, "}\n");
}


static sym_status_t
put_links(output_t *out, const sym_sources_t *s, dump_format_t format)
{
    sym_status_t rc = SYM_OK;

    for (uint32_t i = 0; i < s->n_links && rc == SYM_OK && !out->json.failed;
         i++) {
        sym_sources_link_t link;

        rc = sym_sources_link(s, i, &link);

        if (rc == SYM_OK) {
            put_link(out, &link, format);
        }
    }

    return rc;
}


static sym_status_t
put_text(output_t *out, const sym_sources_t *s, const sym_sources_file_t *file)
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


/* No text, but perhaps where it lies. */
static sym_status_t
tell_url(const sym_sources_t *s, sym_str_t path)
{
    char url[SYM_SOURCES_URL_MAX];
    size_t len;
    sym_status_t rc = sym_sources_url(s, path, url, &len);

    if (rc == SYM_OK) {
        complain_about(path.data, "its text lies at %.*s", (int) len, url);
    }

    return rc == SYM_OK || rc == SYM_LIMIT ? SYM_NOT_FOUND : rc;
}


sym_status_t
dump_sources(const sym_extent_source_t *extents, const options_t *options,
             output_t *out, sym_error_t *err)
{
    sym_sources_file_t file;
    sym_sources_t s;
    sym_status_t rc = sym_sources_open(&s, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    if (options->path == NULL) {
        rc = put_paths(out, &s, options->format);
        rc = rc == SYM_OK ? put_links(out, &s, options->format) : rc;
    } else {
        rc = sym_sources_find(&s, sym_cstr(options->path), &file);
        rc = rc == SYM_OK          ? put_text(out, &s, &file)
             : rc == SYM_NOT_FOUND ? tell_url(&s, sym_cstr(options->path))
                                   : rc;
    }

    return rc == SYM_NOT_FOUND ? sym_fail(err, rc, "no source has this path")
           : rc != SYM_OK      ? sym_fail(err, rc, "the sources are damaged")
                               : rc;
}
