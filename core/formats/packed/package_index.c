#include "formats/packed/package_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/digits.h"
#include "base/hex.h"
#include "base/sha1.h"
#include "formats/packed/package_lines.h"
#include "formats/packed/package_xml.h"
#include "formats/packed/tar.h"

/* Alpine's digests: the name of SHA-1, and 20 bytes in base 64. */
#define ALPINE_SHA1 "Q1"
#define ALPINE_BASE64 28

typedef struct {
    sym_pieces_more_pt more;
    void *from;
    sym_str_t first; /* the first piece, until it was read */
    sym_package_sink_pt sink;
    void *ctx;
    sym_package_lines_t lines;
    sym_tar_t tar;
} index_t;


static sym_status_t
next_piece(void *ctx, const char **data, size_t *len, sym_error_t *err)
{
    index_t *x = ctx;

    if (x->first.len == 0) {
        return x->more(x->from, data, len, err);
    }

    *data = x->first.data;
    *len = x->first.len;
    x->first.len = 0;
    return SYM_OK;
}


static void
take_lines(index_t *x, sym_str_t bytes)
{
    while (sym_package_lines_next(&x->lines, &bytes)) {
        x->sink(x->ctx, &x->lines.entry);
    }
}


static void
end_lines(index_t *x)
{
    if (sym_package_lines_end(&x->lines)) {
        x->sink(x->ctx, &x->lines.entry);
    }
}


/* Reads the lists that more() returns the bytes of. */
static sym_status_t
read_lines(index_t *x, sym_package_from_t from, sym_pieces_more_pt more,
           void *ctx, sym_error_t *err)
{
    sym_status_t rc;
    sym_str_t bytes;

    sym_package_lines_start(&x->lines, from);
    while ((rc = more(ctx, &bytes.data, &bytes.len, err)) == SYM_OK
           && bytes.len != 0)
    {
        take_lines(x, bytes);
    }

    if (rc == SYM_OK) {
        end_lines(x);
    }
    return rc;
}


/* Whether a file in a tar has packages.  Alpine's has all of them; Arch has a
 * folder for each, with this file. */
static bool
is_list(const sym_packed_entry_t *e, sym_package_from_t *from)
{
    const sym_str_t desc = SYM_STR("/desc");

    *from = sym_str_eq(e->name, SYM_STR("APKINDEX")) ? SYM_PACKAGE_ALPINE
                                                     : SYM_PACKAGE_ARCH;
    return e->is_file
           && (*from == SYM_PACKAGE_ALPINE
               || (e->name.len > desc.len
                   && memcmp(e->name.data + e->name.len - desc.len, desc.data,
                             desc.len)
                          == 0));
}


static sym_status_t
file_piece(void *ctx, const char **data, size_t *len, sym_error_t *err)
{
    return sym_pieces_body(ctx, data, len, err);
}


static sym_status_t
read_tar(index_t *x, sym_error_t *err)
{
    sym_package_from_t from;
    sym_packed_entry_t e;
    bool has_list = false;
    sym_status_t rc;

    sym_tar_start(&x->tar, next_piece, x);
    while ((rc = sym_tar_next(&x->tar, &e, err)) == SYM_OK) {
        if (is_list(&e, &from)) {
            has_list = true;
            rc = read_lines(x, from, file_piece, &x->tar.in, err);
            if (rc != SYM_OK) {
                return rc;
            }
        }
    }

    if (rc != SYM_NOT_FOUND) {
        return rc;
    }

    return has_list ? SYM_OK
                    : sym_fail(err, SYM_MALFORMED,
                               "the archive is not a list of packages");
}


sym_status_t
sym_package_index_read(sym_pieces_more_pt more, void *from,
                       sym_package_sink_pt sink, void *ctx, sym_error_t *err)
{
    index_t *x = calloc(1, sizeof(*x));
    sym_status_t rc;

    if (x == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for an index");
    }

    x->more = more;
    x->from = from;
    x->sink = sink;
    x->ctx = ctx;
    rc = more(from, &x->first.data, &x->first.len, err);
    if (rc == SYM_OK) {
        rc = sym_tar_is(x->first.data, x->first.len) ? read_tar(x, err)
             : x->first.len != 0 && x->first.data[0] == '<'
                 ? sym_package_xml_read(next_piece, x, sink, ctx, err)
                 : read_lines(x, SYM_PACKAGE_DEBIAN, next_piece, x, err);
    }

    free(x);
    return rc;
}


/* --- entries --- */

void
sym_package_keep(char *to, size_t size, sym_str_t value)
{
    to[0] = '\0';

    if (value.len < size && memchr(value.data, '\0', value.len) == NULL) {
        memcpy(to, value.data, value.len);
        to[value.len] = '\0';
    }
}


static bool
is_visible(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char) *text <= ' ' || *text == 0x7f) {
            return false;
        }
    }

    return true;
}


static bool
stays_below(const char *path)
{
    sym_str_t rest = sym_cstr(path);

    while (rest.data != NULL) {
        if (sym_str_eq(sym_str_cut(&rest, '/'), SYM_STR(".."))) {
            return false;
        }
    }

    return path[0] != '/';
}


static bool
read_alpine(const char *text, sym_package_content_t *content)
{
    char sha1[ALPINE_BASE64];
    size_t len = 0;

    if (strlen(text) != strlen(ALPINE_SHA1) + ALPINE_BASE64
        || memcmp(text, ALPINE_SHA1, strlen(ALPINE_SHA1)) != 0
        || !sym_base64_read(sym_cstr(text + strlen(ALPINE_SHA1)), sha1, &len)
        || len != SYM_SHA1_BYTES)
    {
        return false;
    }

    memcpy(content->digest, sha1, len);
    content->digest_len = SYM_SHA1_BYTES;
    return true;
}


static bool
read_digest(const sym_package_entry_t *e, sym_package_content_t *content)
{
    if (e->from == SYM_PACKAGE_ALPINE) {
        return read_alpine(e->digest, content);
    }

    content->digest_len = SYM_SHA256_LEN;
    return strlen(e->digest) == SYM_SHA256_HEX_LEN
           && sym_digits_read(e->digest, SYM_SHA256_LEN, content->digest);
}


const char *
sym_package_entry_check(const sym_package_entry_t *e,
                        sym_package_content_t *content)
{
    if (e->name[0] == '\0' || !is_visible(e->name)) {
        return "the index has no valid name of the package";
    }

    if (e->path[0] == '\0' || !is_visible(e->path) || !stays_below(e->path)) {
        return "the index has no valid path of the package";
    }

    if (!sym_dec_read(sym_cstr(e->size), &content->size_bytes)) {
        return "the index has no valid size of the package";
    }

    return read_digest(e, content)
               ? NULL
               : "the index has no valid checksum of the package";
}
