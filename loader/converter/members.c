#include "converter/members_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/form.h"
#include "base/multipart.h"
#include "formats/packed/package.h"
#include "formats/packed/tar.h"
#include "formats/sourcebundle/text.h"
#include "formats/sourcebundle/zip.h"
#include "protocol/message.h"
#include "uploads/names.h"

/* Symbols compress to about a tenth.  An archive that expands further, beyond
 * an initial allowance, is a bomb. */
#define RATIO_MAX 100
#define RATIO_FREE_BYTES ((uint64_t) 256 << 20)

/* Maximum number of names: each is compared with all others. */
#define ENTRIES_MAX 10000

/* Limits of a form.  No protocol uses longer fields, or as many. */
#define FIELD_MAX 4096
#define FIELDS_MAX 64

#define PAGE_BYTES ((uint64_t) 65536)

/* Errors of archives. */
#define NOT_ZIP "File is not a zip file"
#define TOO_MANY "the archive has more than 10000 files"

/* The final texts of an error. */
static char reason[CONVERTER_WHAT_MAX];

static sym_status_t
gone(sym_error_t *err)
{
    return sym_fail(err, SYM_IO, "the loader is gone");
}


/* Cuts names that are too long, because they are only shown. */
static uint32_t
put_text(sym_str_t text, char *to, size_t size)
{
    size_t len = text.len < size ? text.len : size;

    if (len != 0) {
        memcpy(to, text.data, len);
    }

    return (uint32_t) len;
}


sym_status_t
members_send_head(sym_str_t name, sym_str_t field, converter_member_t *m,
                  sym_error_t *err)
{
    m->name_len = put_text(name, m->name, sizeof(m->name));
    m->field_len = put_text(field, m->field, sizeof(m->field));
    return converter_send(CONVERTER_FD, CONVERTER_MEMBER, 0, m, sizeof(*m))
               ? SYM_OK
               : gone(err);
}


sym_status_t
members_send_bytes(const char *data, uint64_t len, sym_error_t *err)
{
    while (len != 0) {
        size_t n = len < SYM_EXTENT_MAX ? (size_t) len : SYM_EXTENT_MAX;

        if (!converter_send(CONVERTER_FD, CONVERTER_BYTES, 0, data, n)) {
            return gone(err);
        }
        data += n;
        len -= n;
    }

    return SYM_OK;
}


/* Sends a file that is a range of the upload. */
static sym_status_t
send_range(const upload_t *u, sym_str_t name, sym_str_t field, sym_str_t bytes,
           sym_error_t *err)
{
    converter_member_t m = {
        .offset = bytes.len != 0 ? (uint64_t) (bytes.data - u->whole.data) : 0,
        .length = bytes.len
    };

    return members_send_head(name, field, &m, err);
}


static sym_status_t
send_field(sym_str_t name, sym_str_t value, sym_error_t *err)
{
    converter_member_t m = { .length = value.len,
                             .is_packed = true,
                             .is_field = true };

    return members_send_head(SYM_STR(""), name, &m, err) == SYM_OK
               ? members_send_bytes(value.data, value.len, err)
               : err->status;
}


/* --- zip --- */

__attribute__((format(printf, 3, 4))) static sym_status_t
refuse(sym_error_t *err, sym_status_t status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void) vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    return sym_fail(err, status, reason);
}


/* Whether it is the entry of a folder. */
static bool
is_folder(const sym_zip_entry_t *e)
{
    return e->name.len != 0 && e->name.data[e->name.len - 1] == '/'
           && e->size == 0;
}


static sym_status_t
check_name(const upload_t *u, const sym_zip_entry_t *e, bool *counts,
           sym_error_t *err)
{
    *counts = !is_folder(e);

    if ((u->flags & SYM_RPC_MOZILLA) != 0) {
        sym_mozilla_name_t is = sym_mozilla_name(e->name);

        *counts = *counts && is == SYM_MOZILLA_FILE;
        if (is == SYM_MOZILLA_BANNED) {
            return refuse(err, SYM_MALFORMED,
                          "Content of archive file contains the snippet '%s' "
                          "which is not allowed",
                          SYM_MOZILLA_SNIPPET);
        }
        if (is == SYM_MOZILLA_UNKNOWN) {
            return refuse(
                err, SYM_MALFORMED,
                "Unrecognized file pattern. Should only be "
                "<module>/<hex>/<file> or <name>-symbols.txt and nothing else. "
                "(First unrecognized pattern was '%.*s')",
                (int) (e->name.len < 120 ? e->name.len : 120), e->name.data);
        }
    } else if (*counts && !sym_upload_name_ok(e->name)) {
        return sym_fail(err, SYM_MALFORMED, LEADS_OUT);
    }

    return SYM_OK;
}


/* Reads all names and sizes, before the first file is unpacked. */
static sym_status_t
check_entries(upload_t *u, sym_zip_t *zip, sym_error_t *err)
{
    sym_zip_entry_t e;
    uint64_t total = 0;
    sym_status_t rc = zip->n_entries > ENTRIES_MAX
                          ? sym_fail(err, SYM_LIMIT, TOO_MANY)
                          : sym_zip_check(zip, err);

    while (rc == SYM_OK && (rc = sym_zip_next(zip, &e, err)) == SYM_OK) {
        bool counts;

        rc = check_name(u, &e, &counts, err);
        if (rc != SYM_OK || !counts) {
            continue;
        }
        if (e.is_encrypted) {
            return sym_fail(err, SYM_UNSUPPORTED,
                            "a file in the archive is encrypted");
        }
        if (e.size > u->left - total) {
            return sym_fail(err, SYM_LIMIT,
                            "the archive expands to too many bytes");
        }
        total += e.size;
    }

    sym_zip_rewind(zip);
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t
send_entry(upload_t *u, const sym_zip_t *zip, const sym_zip_entry_t *e,
           sym_str_t field, sym_error_t *err)
{
    converter_member_t m = { .length = e->size, .is_packed = true };
    char *plain = malloc(e->size != 0 ? e->size : 1);
    sym_status_t rc;

    if (plain == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    rc = sym_zip_read(zip, e, plain, err);
    u->left -= e->size;
    if (rc == SYM_OK) {
        rc = members_send_head(e->name, field, &m, err);
    }
    if (rc == SYM_OK) {
        rc = members_send_bytes(plain, e->size, err);
    }

    free(plain);
    return rc;
}


/* Whether there is a later entry with the same name.  As in Tecken, the last
 * one counts if the sizes are equal. */
static sym_status_t
look_for_later(const sym_zip_t *zip, const sym_zip_entry_t *e, bool *is_last,
               sym_error_t *err)
{
    sym_zip_t rest = *zip;
    sym_zip_entry_t other;
    sym_status_t rc;

    *is_last = true;
    while ((rc = sym_zip_next(&rest, &other, err)) == SYM_OK) {
        if (!sym_str_eq(other.name, e->name)) {
            continue;
        }
        if (other.size != e->size) {
            return refuse(err, SYM_MALFORMED,
                          "The zipfile buffer contains two files both called "
                          "%.*s and they have difference sizes (%llu != %llu)",
                          (int) (e->name.len < 120 ? e->name.len : 120),
                          e->name.data, (unsigned long long) other.size,
                          (unsigned long long) e->size);
        }
        *is_last = false;
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t
each_entry(upload_t *u, sym_zip_t *zip, sym_str_t field, bool sends,
           sym_error_t *err)
{
    sym_zip_entry_t e;
    sym_status_t rc = SYM_OK;

    while (rc == SYM_OK && (rc = sym_zip_next(zip, &e, err)) == SYM_OK) {
        bool counts, is_last = true;

        rc = check_name(u, &e, &counts, err);
        if (rc == SYM_OK && counts) {
            rc = look_for_later(zip, &e, &is_last, err);
        }
        if (rc == SYM_OK && counts && is_last && sends) {
            rc = send_entry(u, zip, &e, field, err);
        }
    }

    sym_zip_rewind(zip);
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t
send_zip(upload_t *u, sym_str_t bytes, sym_str_t field, sym_error_t *err)
{
    sym_zip_t zip;

    converter_member_t m = { .length = bytes.len, .is_archive = true };

    if (sym_zip_open(&zip, bytes, err) != SYM_OK
        || members_send_head(SYM_STR(""), field, &m, err) != SYM_OK
        || check_entries(u, &zip, err) != SYM_OK
        || each_entry(u, &zip, field, false, err) != SYM_OK)
    {
        return err->status;
    }

    return each_entry(u, &zip, field, true, err);
}


/* A zip with files, or without any (APPNOTE 4.3). */
static bool
is_zip(sym_str_t bytes)
{
    return sym_str_starts(bytes, SYM_STR("PK\3\4"))
           || sym_str_starts(bytes, SYM_STR("PK\5\6"));
}


/* --- bundles of scripts --- */

/* Maximum number of files in a bundle. */
#define BUNDLE_MAX 19000

typedef struct {
    upload_t *upload;
    bool has_release; /* it was sent */
} bundle_t;

/* The name of a script or map is its URL, and its field is "TYPE/DEBUG-ID". */
static sym_status_t
send_script(void *ctx, const sym_artifact_file_t *file, sym_error_t *err)
{
    bundle_t *b = ctx;
    converter_member_t m = { .length = file->text.len, .is_packed = true };
    char field[SYM_BUNDLE_NAME_MAX];
    sym_str_t name = sym_bundle_name(file->type, &file->debug_id, field);
    sym_str_t url = file->url.len <= sizeof(m.name) ? file->url : SYM_STR("");

    if (file->text.len > b->upload->left) {
        return sym_fail(err, SYM_LIMIT, "the bundle expands to too many bytes");
    }
    b->upload->left -= file->text.len;

    if (!b->has_release
        && (send_field(SYM_STR("release"), file->release, err) != SYM_OK
            || send_field(SYM_STR("dist"), file->dist, err) != SYM_OK))
    {
        return err->status;
    }
    b->has_release = true;

    return members_send_head(url, name.len != 0 ? name : file->type, &m, err)
                   == SYM_OK
               ? members_send_bytes(file->text.data, file->text.len, err)
               : err->status;
}


static sym_status_t
send_bundle(upload_t *u, uint64_t most, sym_error_t *err)
{
    const sym_format_services_t services = { .unpacked_max = most };
    const sym_format_file_t file = { .data = u->whole, .services = &services };
    bundle_t b = { .upload = u };

    return sym_artifact_bundle_each(&file, BUNDLE_MAX, send_script, &b, err);
}


/* --- streams --- */

/* gzip, zlib (RFC 1950, 2.2: the header is a multiple of 31), zstd, xz */
static bool
is_stream(sym_str_t bytes)
{
    const uint8_t *p = (const uint8_t *) bytes.data;

    return sym_str_starts(bytes, SYM_STR("\x1f\x8b"))
           || sym_str_starts(bytes, SYM_STR("\x28\xb5\x2f\xfd"))
           || sym_str_starts(bytes, SYM_STR("\xfd"
                                            "7zXZ"))
           || (bytes.len > 2 && p[0] == 0x78
               && ((unsigned) p[0] << 8 | p[1]) % 31 == 0);
}


/* Begins to unpack a range of the upload. */
sym_status_t
members_start_stream(upload_t *u, sym_str_t bytes, sym_error_t *err)
{
    uint64_t at = u->at + (uint64_t) (bytes.data - u->whole.data);

    if (lseek(u->fd, (off_t) at, SEEK_SET) < 0) {
        return sym_fail(err, SYM_IO, "cannot seek");
    }

    if ((u->flags & SYM_RPC_ARCHIVE) != 0) {
        input_start_tar(u->input, u->fd, bytes.len);
    } else {
        input_start(u->input, u->fd, bytes.len);
    }

    return SYM_OK;
}


/* data: the first piece. */
static sym_status_t
send_pieces(upload_t *u, sym_str_t name, sym_str_t field, const char *data,
            size_t len, sym_error_t *err)
{
    converter_member_t m = { .is_packed = true };
    sym_status_t rc = members_send_head(name, field, &m, err);

    while (rc == SYM_OK && len != 0) {
        if (len > u->left) {
            return sym_fail(err, SYM_LIMIT,
                            "the file expands to too many bytes");
        }
        u->left -= len;
        rc = members_send_bytes(data, len, err);
        rc = rc == SYM_OK ? input_next(u->input, &data, &len, err) : rc;
    }

    return rc;
}


/* --- tar --- */

typedef struct {
    upload_t *upload;
    uint64_t left; /* number of bytes that may still be unpacked */
    sym_tar_t tar;
} tar_files_t;


static sym_status_t
next_piece(void *ctx, const char **data, size_t *len, sym_error_t *err)
{
    tar_files_t *t = ctx;

    if (input_next(t->upload->input, data, len, err) != SYM_OK) {
        return err->status;
    }

    if (*len > t->left) {
        return sym_fail(err, SYM_LIMIT,
                        "the archive expands to too many bytes");
    }

    t->left -= *len;
    return SYM_OK;
}


static sym_status_t
send_tar_file(tar_files_t *t, const sym_packed_entry_t *e, sym_str_t field,
              sym_error_t *err)
{
    converter_member_t m = { .is_packed = true };
    const char *data;
    size_t len;
    sym_status_t rc = members_send_head(e->name, field, &m, err);

    do {
        len = 0;
        rc = rc == SYM_OK ? sym_pieces_body(&t->tar.in, &data, &len, err) : rc;
        rc = rc == SYM_OK ? members_send_bytes(data, len, err) : rc;
    } while (rc == SYM_OK && len != 0);

    return rc;
}


/* Reads the tar once.  Links are skipped: a file has its own entry. */
static sym_status_t
each_tar_file(tar_files_t *t, sym_str_t bytes, sym_str_t field, bool sends,
              sym_error_t *err)
{
    sym_packed_entry_t e;
    sym_status_t rc = members_start_stream(t->upload, bytes, err);
    unsigned n = 0;

    t->left = t->upload->left;
    sym_tar_start(&t->tar, next_piece, t);
    while (rc == SYM_OK && (rc = sym_tar_next(&t->tar, &e, err)) == SYM_OK) {
        if (++n > ENTRIES_MAX) {
            rc = sym_fail(err, SYM_LIMIT, TOO_MANY);
        } else if (e.is_file && !sym_upload_name_ok(e.name)) {
            rc = sym_fail(err, SYM_MALFORMED, LEADS_OUT);
        } else if (e.is_file && sends) {
            rc = send_tar_file(t, &e, field, err);
        }
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* Reads the name of its first file. */
static sym_status_t
is_package(tar_files_t *t, sym_str_t bytes, bool *is, sym_error_t *err)
{
    sym_packed_entry_t e = { .is_file = false };
    sym_status_t rc = members_start_stream(t->upload, bytes, err);

    t->left = t->upload->left;
    sym_tar_start(&t->tar, next_piece, t);
    rc = rc == SYM_OK ? sym_tar_next(&t->tar, &e, err) : rc;
    *is = rc == SYM_OK && e.is_file && sym_package_is_first(e.name);
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* Reads it twice, so that nothing is stored of one that is refused. */
static sym_status_t
send_tar(upload_t *u, sym_str_t field, sym_str_t bytes, sym_error_t *err)
{
    converter_member_t m = { .length = bytes.len, .is_archive = true };
    tar_files_t *t = malloc(sizeof(*t));
    sym_status_t rc;
    bool is;

    if (t == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    t->upload = u;
    rc = is_package(t, bytes, &is, err);
    if (rc == SYM_OK && is) {
        free(t);
        return members_send_package(u, field, bytes, err);
    }

    rc = rc != SYM_OK ? rc : members_send_head(SYM_STR(""), field, &m, err);
    rc = rc == SYM_OK ? each_tar_file(t, bytes, field, false, err) : rc;
    rc = rc == SYM_OK ? each_tar_file(t, bytes, field, true, err) : rc;
    u->left = t->left;
    free(t);
    return rc;
}


/* --- streams and tars --- */

/* Files are stored unpacked, because other programs read them, too. */
static sym_status_t
send_stream(upload_t *u, sym_str_t name, sym_str_t field, sym_str_t bytes,
            sym_error_t *err)
{
    const char *data;
    size_t len;
    sym_status_t rc = members_start_stream(u, bytes, err);

    /* sends nothing until it is known whether the file can be unpacked */
    rc = rc == SYM_OK ? input_next(u->input, &data, &len, err) : rc;
    if (rc == SYM_OK) {
        rc = (u->flags & SYM_RPC_ARCHIVE) != 0 && sym_tar_is(data, len)
                 ? send_tar(u, field, bytes, err)
                 : send_pieces(u, name, field, data, len, err);
    }

    input_end(u->input);
    return rc;
}


/* --- the upload --- */

/* Uses Tecken's texts for files that are not a zip. */
static sym_status_t
check_mozilla(sym_str_t name, sym_str_t bytes, sym_error_t *err)
{
    const char *dot = name.len != 0 ? memrchr(name.data, '.', name.len) : NULL;
    sym_str_t ending = dot != NULL
                           ? sym_str(dot, name.len - (size_t) (dot - name.data))
                           : SYM_STR("");

    if (!sym_str_ends_nocase(name, SYM_STR(".zip"))) {
        return refuse(err, SYM_MALFORMED,
                      "Unrecognized archive file extension \"%.*s\"",
                      (int) (ending.len < 120 ? ending.len : 120), ending.data);
    }

    return is_zip(bytes) ? SYM_OK : sym_fail(err, SYM_MALFORMED, NOT_ZIP);
}


static sym_status_t
send_file(upload_t *u, sym_str_t name, sym_str_t field, sym_str_t bytes,
          sym_error_t *err)
{
    bool is_archive = (u->flags & SYM_RPC_ARCHIVE) != 0;

    return is_archive && is_zip(bytes) ? send_zip(u, bytes, field, err)
           : is_archive && sym_package_is(bytes)
               ? members_send_package(u, field, bytes, err)
           : is_stream(bytes)
                   || (is_archive && sym_tar_is(bytes.data, bytes.len))
               ? send_stream(u, name, field, bytes, err)
               : send_range(u, name, field, bytes, err);
}


/* Sends a part of a file, named by its digest; only the form's field shows
 * whether it is compressed. */
static sym_status_t
send_chunk(upload_t *u, const sym_multipart_part_t *part, sym_error_t *err)
{
    return sym_str_eq(part->name, SYM_STR("file_gzip")) && is_stream(part->body)
               ? send_stream(u, part->filename, part->name, part->body, err)
               : send_range(u, part->filename, part->name, part->body, err);
}


#define NO_FILE "Must be multipart form data with at least one file"

/* Tecken's clients may send the URL of a file instead of the file. */
static bool
is_url(sym_str_t name, sym_str_t value)
{
    return sym_str_eq(name, SYM_STR("url")) && value.len != 0;
}


/* Decodes a name or a value; to has FIELD_MAX bytes. */
static bool
decode(sym_str_t text, char *to, sym_str_t *plain)
{
    size_t at = 0, len = 0;

    while (at < text.len) {
        int byte = sym_form_byte(text, &at);

        if (byte < 0 || len == FIELD_MAX) {
            return false;
        }
        to[len++] = (char) byte;
    }

    *plain = sym_str(to, len);
    return true;
}


/* A form without files (application/x-www-form-urlencoded). */
static sym_status_t
send_fields(sym_str_t form, sym_error_t *err)
{
    char text[2][FIELD_MAX];
    bool has_url = false;

    if (form.len > sizeof(text)) {
        return sym_fail(err, SYM_MALFORMED, NO_FILE);
    }

    while (form.len != 0) {
        sym_str_t value = sym_str_cut(&form, '&'), name;

        name = sym_str_cut(&value, '=');
        if (!decode(name, text[0], &name) || !decode(value, text[1], &value)) {
            return sym_fail(err, SYM_MALFORMED, NO_FILE);
        }
        if (send_field(name, value, err) != SYM_OK) {
            return err->status;
        }
        has_url |= is_url(name, value);
    }

    return has_url ? SYM_OK : sym_fail(err, SYM_MALFORMED, NO_FILE);
}


/* Names are shown, so the whole of them must fit. */
static sym_status_t
check_part(const sym_multipart_part_t *part, unsigned n_fields,
           unsigned n_files, sym_error_t *err)
{
    int shown = part->name.len < 80 ? (int) part->name.len : 80;

    if (part->name.len > CONVERTER_TEXT_MAX) {
        return refuse(err, SYM_LIMIT,
                      "the name of a field has more than %u bytes: %.*s...",
                      CONVERTER_TEXT_MAX, shown, part->name.data);
    }

    if (part->filename.len > CONVERTER_PATH_MAX) {
        return refuse(err, SYM_LIMIT,
                      "the file name of the field %.*s has more than %u bytes",
                      shown, part->name.data, CONVERTER_PATH_MAX);
    }

    if (part->filename.data == NULL && part->body.len > FIELD_MAX) {
        return refuse(err, SYM_LIMIT, "the field %.*s has more than %u bytes",
                      shown, part->name.data, FIELD_MAX);
    }

    if (n_fields > FIELDS_MAX || n_files > ENTRIES_MAX) {
        return refuse(
            err, SYM_LIMIT, "the form has more than %u %s: %.*s is too many",
            n_fields > FIELDS_MAX ? FIELDS_MAX : ENTRIES_MAX,
            n_fields > FIELDS_MAX ? "fields" : "files", shown, part->name.data);
    }

    return SYM_OK;
}


static sym_status_t
send_form(upload_t *u, sym_error_t *err)
{
    const char *end = memchr(u->whole.data, '\r', u->whole.len);
    sym_str_t boundary =
        end != NULL && end - u->whole.data > 2
            ? sym_str(u->whole.data + 2, (size_t) (end - u->whole.data) - 2)
            : sym_str(NULL, 0);
    sym_multipart_part_t part;
    sym_multipart_t parts;
    bool is_mozilla = (u->flags & SYM_RPC_MOZILLA) != 0;
    bool has_file = false, has_url = false;
    unsigned n_fields = 0, n_files = 0;
    sym_status_t rc;

    if (!sym_str_starts(u->whole, SYM_STR("--"))
        || !sym_multipart_begin(&parts, boundary, u->whole))
    {
        return is_mozilla ? send_fields(u->whole, err)
                          : sym_fail(err, SYM_MALFORMED, "the body is no form");
    }

    while ((rc = sym_multipart_next(&parts, &part)) == SYM_OK) {
        n_fields += part.filename.data == NULL;
        n_files += part.filename.data != NULL;
        rc = check_part(&part, n_fields, n_files, err);
        if (rc != SYM_OK) {
            return rc;
        }

        if ((u->flags & SYM_RPC_CHUNKED) != 0) {
            rc = send_chunk(u, &part, err);
        } else if (part.filename.data == NULL) {
            rc = send_field(part.name, part.body, err);
            has_url |= is_url(part.name, part.body);
        } else if (!is_mozilla || !has_file) {
            has_file = true;
            rc = is_mozilla ? check_mozilla(part.name, part.body, err) : SYM_OK;
            rc = rc != SYM_OK
                     ? rc
                     : send_file(u, part.filename, part.name, part.body, err);
        }

        if (rc != SYM_OK) {
            return rc;
        }
    }

    if (rc != SYM_NOT_FOUND) {
        return sym_fail(err, SYM_MALFORMED, parts.what);
    }

    return has_file || has_url || !is_mozilla
               ? SYM_OK
               : sym_fail(err, SYM_MALFORMED, NO_FILE);
}


static uint64_t
most_unpacked(uint64_t packed, uint64_t most)
{
    uint64_t fair = packed > UINT64_MAX / RATIO_MAX / 2
                        ? UINT64_MAX
                        : packed * RATIO_MAX + RATIO_FREE_BYTES;

    return fair < most ? fair : most;
}


sym_status_t
members_send(input_t *input, int fd, const converter_job_t *order,
             uint64_t most, sym_error_t *err)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    size_t skip = (size_t) ((uint64_t) at % PAGE_BYTES), len;
    upload_t u = { .input = input,
                   .fd = fd,
                   .at = (uint64_t) at,
                   .flags = order->upload,
                   .left = most_unpacked(order->length, most) };
    char *map;
    sym_status_t rc;

    if (at < 0 || order->length == 0 || order->length > SIZE_MAX / 2) {
        return sym_fail(err, SYM_MALFORMED, "the upload is empty");
    }

    len = skip + (size_t) order->length;
    map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, at - (off_t) skip);
    if (map == MAP_FAILED) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    u.whole = sym_str(map + skip, (size_t) order->length);
    rc = (u.flags & CONVERTER_MAP) != 0     ? members_send_map(u.whole, err)
         : (u.flags & SYM_RPC_SCRIPTS) != 0 ? send_bundle(&u, most, err)
         : (u.flags & SYM_RPC_FORM) != 0    ? send_form(&u, err)
         : (u.flags & SYM_RPC_MOZILLA) != 0 && !is_zip(u.whole)
             ? sym_fail(err, SYM_MALFORMED, NOT_ZIP)
             : send_file(&u, SYM_STR(""), SYM_STR(""), u.whole, err);
    munmap(map, len);
    return rc;
}
