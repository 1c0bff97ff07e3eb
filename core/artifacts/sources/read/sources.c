#include "artifacts/sources/read/sources.h"

#include <libdeflate.h>

/* The `size` bytes at ref; NULL: they do not all exist. */
static const uint8_t *
bytes_at(const sym_sources_t *s, uint32_t ref, size_t size)
{
    uint32_t extent = SYM_REF_EXTENT(ref), pos = SYM_REF_POS(ref);
    const uint8_t *data;
    size_t len;

    if (extent >= s->n_extents || s->get(s->ctx, extent, &data, &len) != SYM_OK
        || pos > len || len - pos < size)
    {
        return NULL;
    }

    return data + pos;
}


/* Record number `i` of the table that begins at ref. */
static const uint8_t *
record_at(const sym_sources_t *s, uint32_t ref, uint32_t i, uint32_t size)
{
    return sym_table_ref(ref, i, size, &ref) ? bytes_at(s, ref, size) : NULL;
}


sym_status_t
sym_sources_open(sym_sources_t *s, sym_extent_get_pt get, void *ctx,
                 sym_error_t *err)
{
    const uint8_t *h;

    *s = (sym_sources_t){ .get = get, .ctx = ctx, .n_extents = 1 };
    h = bytes_at(s, 0, SYM_SOURCES_HEADER_BYTES);

    if (h == NULL || sym_get32(h) != SYM_SOURCES_MAGIC) {
        return sym_fail(err, SYM_DAMAGED, "not an artifact of kind sources");
    }

    if (sym_get32(h + 4) != SYM_SOURCES_VERSION) {
        return sym_fail(err, SYM_VERSION, "sources of another version");
    }

    s->n_extents = sym_get32(h + 8);
    s->n_files = sym_get32(h + 12);
    s->n_blocks = sym_get32(h + 16);
    s->files_ref = sym_get32(h + 20);
    s->blocks_ref = sym_get32(h + 24);
    s->n_links = sym_get32(h + 28);
    s->text_bytes = sym_get64(h + 32);
    s->left_out = sym_get64(h + 48);
    s->links_ref = sym_get32(h + 56);

    if (s->n_extents == 0 || s->n_extents > SYM_EXTENTS_LIMIT
        || s->n_files > SYM_SOURCES_FILES_MAX
        || s->n_blocks > SYM_SOURCES_BLOCKS_MAX
        || s->n_links > SYM_SOURCES_LINKS_MAX)
    {
        return sym_fail(err, SYM_DAMAGED, "damaged header of sources");
    }

    return SYM_OK;
}


sym_status_t
sym_sources_file(const sym_sources_t *s, uint32_t number,
                 sym_sources_file_t *file)
{
    const uint8_t *r, *path;
    uint32_t len;

    if (number >= s->n_files) {
        return SYM_NOT_FOUND;
    }

    r = record_at(s, s->files_ref, number, SYM_SOURCES_FILE_BYTES);
    if (r == NULL) {
        return SYM_DAMAGED;
    }

    len = sym_get16(r + 4);
    path = bytes_at(s, sym_get32(r), len);

    *file = (sym_sources_file_t){
        .path = { (const char *) path, len },
        .number = number,
        .is_url = (r[6] & SYM_SOURCES_URL) != 0,
        .first_block = sym_get32(r + 8),
        .n_blocks = sym_get32(r + 12),
        .len = sym_get64(r + 16),
        .lines = sym_get64(r + 24),
    };

    /* all blocks but the last are full */
    if (path == NULL || len == 0 || len > SYM_SOURCES_PATH_MAX
        || file->first_block > s->n_blocks
        || file->n_blocks > s->n_blocks - file->first_block
        || (file->len + SYM_SOURCES_BLOCK_TEXT - 1) / SYM_SOURCES_BLOCK_TEXT
               != file->n_blocks
        || file->len > UINT64_MAX / 2 || file->lines > file->len)
    {
        return SYM_DAMAGED;
    }

    return SYM_OK;
}


sym_status_t
sym_sources_first(const sym_sources_t *s, sym_str_t path, uint32_t *number)
{
    uint32_t low = 0, high = s->n_files;
    sym_sources_file_t file;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        sym_status_t rc = sym_sources_file(s, middle, &file);

        if (rc != SYM_OK) {
            return rc;
        }

        if (sym_sources_compare(path, file.path) <= 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }

    *number = low;
    return SYM_OK;
}


sym_status_t
sym_sources_find(const sym_sources_t *s, sym_str_t path,
                 sym_sources_file_t *file)
{
    uint32_t number;
    sym_status_t rc = sym_sources_first(s, path, &number);

    if (rc != SYM_OK || number == s->n_files) {
        return rc != SYM_OK ? rc : SYM_NOT_FOUND;
    }

    rc = sym_sources_file(s, number, file);
    return rc == SYM_OK && sym_sources_compare(path, file->path) != 0
               ? SYM_NOT_FOUND
               : rc;
}


/* Unpacks to exactly len bytes. */
static sym_status_t
inflate_block(const uint8_t *in, uint32_t packed, char *out, uint32_t len)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    enum libdeflate_result rc;
    size_t taken = 0;

    if (d == NULL) {
        return SYM_NOMEM;
    }

    /* RFC 1951: raw deflate without zlib's header */
    rc =
        libdeflate_deflate_decompress_ex(d, in, packed, out, len, &taken, NULL);
    libdeflate_free_decompressor(d);
    return rc == LIBDEFLATE_SUCCESS && taken == packed ? SYM_OK : SYM_DAMAGED;
}


/* Gets the record of a block of the file, and the number of newlines before the
 * block. */
static sym_status_t
block_record(const sym_sources_t *s, const sym_sources_file_t *file,
             uint32_t number, const uint8_t **r, uint64_t *newlines)
{
    if (number >= file->n_blocks) {
        return SYM_NOT_FOUND;
    }

    *r = record_at(s, s->blocks_ref, file->first_block + number,
                   SYM_SOURCES_BLOCK_BYTES);
    if (*r == NULL) {
        return SYM_DAMAGED;
    }

    *newlines = sym_get64(*r + 8);
    return *newlines <= (uint64_t) number * SYM_SOURCES_BLOCK_TEXT
               ? SYM_OK
               : SYM_DAMAGED;
}


sym_status_t
sym_sources_newlines_before(const sym_sources_t *s,
                            const sym_sources_file_t *file, uint32_t number,
                            uint64_t *newlines)
{
    const uint8_t *r;

    return block_record(s, file, number, &r, newlines);
}


sym_status_t
sym_sources_block(const sym_sources_t *s, const sym_sources_file_t *file,
                  uint32_t number, char out[SYM_SOURCES_BLOCK_TEXT],
                  size_t *len, uint64_t *line)
{
    const uint8_t *r, *data;
    uint32_t packed, text;
    uint64_t before = (uint64_t) number * SYM_SOURCES_BLOCK_TEXT;
    sym_status_t rc = block_record(s, file, number, &r, line);

    if (rc != SYM_OK) {
        return rc;
    }

    packed = sym_get32(r + 4);
    text = number + 1 < file->n_blocks ? SYM_SOURCES_BLOCK_TEXT
                                       : (uint32_t) (file->len - before);
    data = packed <= text ? bytes_at(s, sym_get32(r), packed) : NULL;

    if (data == NULL) {
        return SYM_DAMAGED;
    }

    *len = text;
    if (packed < text) {
        return inflate_block(data, packed, out, text);
    }

    memcpy(out, data, text);
    return SYM_OK;
}


/* --- links --- */

sym_status_t
sym_sources_link(const sym_sources_t *s, uint32_t number,
                 sym_sources_link_t *link)
{
    const uint8_t *r, *pattern, *url;
    uint32_t pattern_len, url_len;

    if (number >= s->n_links) {
        return SYM_NOT_FOUND;
    }

    r = record_at(s, s->links_ref, number, SYM_SOURCES_LINK_BYTES);
    if (r == NULL) {
        return SYM_DAMAGED;
    }

    pattern_len = sym_get16(r + 8);
    url_len = sym_get16(r + 10);
    pattern = bytes_at(s, sym_get32(r), pattern_len);
    url = bytes_at(s, sym_get32(r + 4), url_len);

    if (pattern == NULL || url == NULL || pattern_len > SYM_SOURCES_PATH_MAX
        || url_len > SYM_SOURCES_PATH_MAX)
    {
        return SYM_DAMAGED;
    }

    *link = (sym_sources_link_t){
        .pattern = { (const char *) pattern, pattern_len },
        .url = { (const char *) url, url_len },
        .is_prefix = (r[12] & SYM_SOURCES_PREFIX) != 0,
    };
    return SYM_OK;
}


static int
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}


/* Source Link compares paths case-insensitively. */
static bool
is_match(const sym_sources_link_t *link, sym_str_t path)
{
    if (link->is_prefix ? path.len < link->pattern.len
                        : path.len != link->pattern.len)
    {
        return false;
    }

    for (size_t i = 0; i < link->pattern.len; i++) {
        if (lower(path.data[i]) != lower(link->pattern.data[i])) {
            return false;
        }
    }

    return true;
}


/* The URL, with each `*` replaced by the rest of the path and '\\' by '/'. */
static sym_status_t
expand(const sym_sources_link_t *link, sym_str_t rest,
       char out[SYM_SOURCES_URL_MAX], size_t *len)
{
    *len = 0;

    for (size_t i = 0; i < link->url.len; i++) {
        bool is_star = link->is_prefix && link->url.data[i] == '*';
        sym_str_t more = is_star ? rest : sym_str(link->url.data + i, 1);

        if (more.len > SYM_SOURCES_URL_MAX - *len) {
            return SYM_LIMIT;
        }

        for (size_t k = 0; k < more.len; k++) {
            if (is_star && more.data[k] == '\\') {
                out[(*len)++] = '/';
            } else {
                out[(*len)++] = more.data[k];
            }
        }
    }

    return SYM_OK;
}


sym_status_t
sym_sources_url(const sym_sources_t *s, sym_str_t path,
                char out[SYM_SOURCES_URL_MAX], size_t *len)
{
    for (uint32_t i = 0; i < s->n_links; i++) {
        sym_sources_link_t link;
        sym_status_t rc = sym_sources_link(s, i, &link);

        if (rc != SYM_OK) {
            return rc;
        }

        if (is_match(&link, path)) {
            size_t skip = link.pattern.len;

            return expand(&link, sym_str(path.data + skip, path.len - skip),
                          out, len);
        }
    }

    return SYM_NOT_FOUND;
}


/* --- verification --- */

static sym_status_t
check_text(const sym_sources_t *s, const sym_sources_file_t *file)
{
    char out[SYM_SOURCES_BLOCK_TEXT];
    uint64_t lines = 0, line;
    size_t len;

    for (uint32_t i = 0; i < file->n_blocks; i++) {
        sym_status_t rc = sym_sources_block(s, file, i, out, &len, &line);

        if (rc != SYM_OK) {
            return rc;
        }

        if (line != lines) {
            return SYM_DAMAGED;
        }

        lines += sym_sources_newlines(sym_str(out, len));
    }

    return lines == file->lines ? SYM_OK : SYM_DAMAGED;
}


sym_status_t
sym_sources_check(const sym_sources_t *s, sym_error_t *err)
{
    sym_str_t last = { "", 0 };
    uint64_t blocks = 0, most = 2 * (uint64_t) s->n_blocks;

    for (uint32_t i = 0; i < s->n_files; i++) {
        sym_sources_file_t file;
        sym_status_t rc = sym_sources_file(s, i, &file);

        if (rc == SYM_OK && sym_sources_compare(last, file.path) >= 0) {
            return sym_fail(err, SYM_DAMAGED, "paths of sources out of order");
        }

        /* a text has at most two names, but a hostile artifact may have more */
        blocks += rc == SYM_OK ? file.n_blocks : 0;
        rc = rc != SYM_OK    ? rc
             : blocks > most ? SYM_DAMAGED
                             : check_text(s, &file);

        if (rc != SYM_OK) {
            return sym_fail(err, rc, "damaged text of a source");
        }

        last = file.path;
    }

    for (uint32_t i = 0; i < s->n_links; i++) {
        sym_sources_link_t link;

        if (sym_sources_link(s, i, &link) != SYM_OK) {
            return sym_fail(err, SYM_DAMAGED, "damaged link of sources");
        }
    }

    return SYM_OK;
}
