#include <string.h>

#include "converter/members_state.h"
#include "formats/elf/elf.h"
#include "formats/formats.h"
#include "formats/packed/cpio.h"
#include "formats/packed/package.h"
#include "formats/packed/tar.h"
#include "uploads/names.h"

/* Enough bytes to recognize a debug file. */
#define HEAD_BYTES 64

/* Maximum number of files that are sent; a package of all modules of a kernel
 * has 5000. */
#define FILES_MAX 20000

typedef struct {
    upload_t *upload;
    sym_str_t first; /* a piece that was read ahead */
    bool is_cpio;
    unsigned n_sent, n_skipped;
    union {
        sym_tar_t tar;
        sym_cpio_t cpio;
    } archive;
} package_t;

static sym_status_t
next_piece(void *ctx, const char **data, size_t *len, sym_error_t *err)
{
    package_t *p = ctx;
    upload_t *u = p->upload;

    if (p->first.len != 0) {
        *data = p->first.data;
        *len = p->first.len;
        p->first.len = 0;
    } else if (input_next(u->input, data, len, err) != SYM_OK) {
        return err->status;
    }

    if (*len > u->left) {
        return sym_fail(err, SYM_LIMIT,
                        "the package expands to too many bytes");
    }

    u->left -= *len;
    return SYM_OK;
}


static sym_status_t
next_entry(package_t *p, sym_packed_entry_t *e, sym_error_t *err)
{
    return p->is_cpio ? sym_cpio_next(&p->archive.cpio, e, err)
                      : sym_tar_next(&p->archive.tar, e, err);
}


static sym_status_t
read_entry(package_t *p, const char **data, size_t *len, sym_error_t *err)
{
    return sym_pieces_body(
        p->is_cpio ? &p->archive.cpio.in : &p->archive.tar.in, data, len, err);
}


/* Reads at least the bytes that show the type of the file, if it has as many:
 * *head is them, and *rest follows them in the same piece. */
static sym_status_t
read_head(package_t *p, char bytes[HEAD_BYTES], sym_str_t *head,
          sym_str_t *rest, sym_error_t *err)
{
    size_t used = 0;

    *head = sym_str(bytes, 0);
    do {
        if (read_entry(p, &rest->data, &rest->len, err) != SYM_OK) {
            return err->status;
        }

        used = HEAD_BYTES - head->len;
        used = rest->len < used ? rest->len : used;
        if (used != 0) {
            memcpy(bytes + head->len, rest->data, used);
        }
        head->len += used;
    } while (used != 0 && head->len < HEAD_BYTES);

    *rest = sym_str(rest->data + used, rest->len - used);
    return SYM_OK;
}


static sym_status_t
send_file(package_t *p, const sym_packed_entry_t *e, sym_str_t field,
          sym_str_t head, sym_str_t rest, sym_error_t *err)
{
    converter_member_t m = { .is_packed = true };
    sym_status_t rc;

    if (!sym_upload_name_ok(e->name)) {
        return sym_fail(err, SYM_MALFORMED, LEADS_OUT);
    }

    if (++p->n_sent > FILES_MAX) {
        return sym_fail(err, SYM_LIMIT,
                        "the package has more than 20000 debug files");
    }

    rc = members_send_head(e->name, field, &m, err);
    rc = rc == SYM_OK ? members_send_bytes(head.data, head.len, err) : rc;
    rc = rc == SYM_OK ? members_send_bytes(rest.data, rest.len, err) : rc;
    do {
        rc = rc == SYM_OK ? read_entry(p, &rest.data, &rest.len, err) : rc;
        rc = rc == SYM_OK ? members_send_bytes(rest.data, rest.len, err) : rc;
    } while (rc == SYM_OK && rest.len != 0);

    return rc;
}


/* A file of dwz has the type of a relocatable file. */
static bool
is_wanted(const sym_packed_entry_t *e, sym_str_t head)
{
    return sym_format_is_module(head)
           || (sym_package_is_dwz(e->name)
               && sym_elf_is((const uint8_t *) head.data, head.len));
}


/* A link that shares the bytes of another name is an empty file in a cpio. */
static sym_status_t
take_file(package_t *p, const sym_packed_entry_t *e, sym_str_t field,
          sym_error_t *err)
{
    char bytes[HEAD_BYTES];
    sym_str_t head = SYM_STR(""), rest = SYM_STR("");

    if (read_head(p, bytes, &head, &rest, err) != SYM_OK) {
        return err->status;
    }

    if (is_wanted(e, head)) {
        return send_file(p, e, field, head, rest, err);
    }

    p->n_skipped++;
    return SYM_OK;
}


static sym_status_t
start(package_t *p, sym_str_t bytes, sym_error_t *err)
{
    sym_str_t payload = bytes;
    bool is_known;

    p->is_cpio = false;
    if (sym_package_is(bytes)
        && sym_package_payload(bytes, &payload, &p->is_cpio, err) != SYM_OK)
    {
        return err->status;
    }

    if (members_start_stream(p->upload, payload, err) != SYM_OK
        || input_next(p->upload->input, &p->first.data, &p->first.len, err)
               != SYM_OK)
    {
        return err->status;
    }

    is_known = p->is_cpio ? sym_cpio_is(p->first.data, p->first.len)
                          : sym_tar_is(p->first.data, p->first.len);
    if (!is_known) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the package's files are compressed by a method other "
                        "than gzip, xz and zstd");
    }

    if (p->is_cpio) {
        sym_cpio_start(&p->archive.cpio, next_piece, p);
    } else {
        sym_tar_start(&p->archive.tar, next_piece, p);
    }

    return SYM_OK;
}


static sym_status_t
each_file(package_t *p, sym_str_t field, sym_error_t *err)
{
    sym_status_t rc;
    sym_packed_entry_t e;

    while ((rc = next_entry(p, &e, err)) == SYM_OK) {
        if (e.is_file && take_file(p, &e, field, err) != SYM_OK) {
            return err->status;
        }
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


sym_status_t
members_send_package(upload_t *u, sym_str_t field, sym_str_t bytes,
                     sym_error_t *err)
{
    static package_t p; /* large, and there is one upload at a time */
    converter_member_t m = { .length = bytes.len, .is_archive = true };

    p.upload = u;
    p.n_sent = p.n_skipped = 0;

    if (start(&p, bytes, err) == SYM_OK) {
        (void) each_file(&p, field, err);
    }

    input_end(u->input);
    m.n_skipped = p.n_skipped;
    return err->status == SYM_OK
               ? members_send_head(SYM_STR(""), field, &m, err)
               : err->status;
}
