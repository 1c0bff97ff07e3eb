/*
 * sources_tools.c - kind `sources` in commands: the paths of an object's
 * sources, and the text of one source.
 */
#include "artifacts/export/tools.h"
#include "artifacts/sources/read/sources.h"

static void
put_path(sym_out_t *out, const sym_sources_file_t *file, bool is_json)
{
    bool first = true;

    if (!is_json) {
        sym_out_visible(out, file->path);
        sym_out_raw(out, SYM_STR("\n"));
        return;
    }

    sym_out_raw(out, SYM_STR("{"));
    sym_out_key_string(out, file->is_url ? "url" : "path", file->path, &first);
    sym_out_key_dec(out, "bytes", file->len, &first);
    sym_out_key_dec(out, "lines", file->lines, &first);
    sym_out_raw(out, SYM_STR("}\n"));
}


static sym_status_t
put_paths(sym_out_t *out, const sym_sources_t *s, bool is_json)
{
    sym_status_t rc = SYM_OK;

    for (uint32_t i = 0; i < s->n_files && rc == SYM_OK && !out->failed; i++) {
        sym_sources_file_t file;

        rc = sym_sources_file(s, i, &file);

        if (rc == SYM_OK) {
            put_path(out, &file, is_json);
        }
    }

    return rc;
}


/* A rule of Source Link: a path or a folder, and the URL of its text. */
static void
put_link(sym_out_t *out, const sym_sources_link_t *link, bool is_json)
{
    bool first = true;

    if (!is_json) {
        sym_out_visible(out, link->pattern);
        sym_out_raw(out, link->is_prefix ? SYM_STR("* -> ") : SYM_STR(" -> "));
        sym_out_visible(out, link->url);
        sym_out_raw(out, SYM_STR("\n"));
        return;
    }

    sym_out_raw(out, SYM_STR("{"));
    sym_out_key_string(out, link->is_prefix ? "paths_below" : "path",
                       link->pattern, &first);
    sym_out_key_string(out, "link", link->url, &first);
    sym_out_raw(out, SYM_STR("}\n"));
}


static sym_status_t
put_links(sym_out_t *out, const sym_sources_t *s, bool is_json)
{
    sym_status_t rc = SYM_OK;

    for (uint32_t i = 0; i < s->n_links && rc == SYM_OK && !out->failed; i++) {
        sym_sources_link_t link;

        rc = sym_sources_link(s, i, &link);

        if (rc == SYM_OK) {
            put_link(out, &link, is_json);
        }
    }

    return rc;
}


static sym_status_t
put_text(sym_out_t *out, const sym_sources_t *s, const sym_sources_file_t *file)
{
    sym_status_t rc = SYM_OK;

    for (uint32_t i = 0; i < file->n_blocks && rc == SYM_OK && !out->failed;
         i++) {
        char text[SYM_SOURCES_BLOCK_TEXT];
        uint64_t line;
        size_t len = 0;

        rc = sym_sources_block(s, file, i, text, &len, &line);
        sym_out_raw(out, sym_str(text, rc == SYM_OK ? len : 0));
    }

    return rc;
}


/* The URL of the text, if it is known. */
static sym_status_t
remark_url(const sym_sources_t *s, const sym_dump_t *how, sym_str_t path)
{
    char url[SYM_SOURCES_URL_MAX];
    size_t len;
    sym_status_t rc = sym_sources_url(s, path, url, &len);

    if (rc == SYM_OK) {
        how->remark(how->ctx, "its text lies at", sym_str(url, len));
    }

    return rc == SYM_OK || rc == SYM_LIMIT ? SYM_NOT_FOUND : rc;
}


static sym_status_t
end(sym_status_t rc, sym_error_t *err)
{
    return rc == SYM_NOT_FOUND ? sym_fail(err, rc, "no source has this path")
           : rc != SYM_OK      ? sym_fail(err, rc, "the sources are damaged")
                               : rc;
}


static const char *const formats[] = { "text", "json", NULL };

static sym_status_t
dump(const sym_extent_source_t *extents, const sym_dump_t *how, unsigned format,
     sym_out_t *out, sym_error_t *err)
{
    sym_sources_t s;
    sym_status_t rc = sym_sources_open(&s, extents->get, extents->ctx, err);

    (void) how;

    if (rc != SYM_OK) {
        return rc;
    }

    rc = put_paths(out, &s, format == 1);
    return end(rc == SYM_OK ? put_links(out, &s, format == 1) : rc, err);
}


static sym_status_t
dump_text(const sym_extent_source_t *extents, const sym_dump_t *how,
          sym_str_t path, sym_out_t *out, sym_error_t *err)
{
    sym_sources_file_t file;
    sym_sources_t s;
    sym_status_t rc = sym_sources_open(&s, extents->get, extents->ctx, err);

    if (rc != SYM_OK) {
        return rc;
    }

    rc = sym_sources_find(&s, path, &file);
    return end(rc == SYM_OK          ? put_text(out, &s, &file)
               : rc == SYM_NOT_FOUND ? remark_url(&s, how, path)
                                     : rc,
               err);
}


const sym_kind_tools_t sym_sources_tools = {
    .kind = SYM_KIND_SOURCES,
    .formats = formats,
    .dump = dump,
    .dump_text = dump_text,
};
