/*
 * archive.c - zip, cab and tar files that hold one file, by libarchive.
 *
 * They may also contain a dSYM bundle, of which only the Mach-O file is used.
 * They are read from front to end, as from a pipe.  libarchive stops at the end
 * of a zip's directory or a cab's last block, and ignores the rest; this file
 * checks that the archive ends there.  Padding after a tar's end is ignored.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "object/module_key.h"
#include "unpack/libarchive.h"
#include "formats/macho/bundle.h"
#include "formats/macho/macho.h"
#include "unpack/unpack.h"

/* Enough bytes to recognize a Mach-O file. */
#define HEAD_BYTES 64

/* APPNOTE 4.3.16, the record that ends a zip: 22 bytes, of which the last two
 * are the length of the comment after it. */
#define ZIP_END_BYTES 22
#define ZIP_TAIL_BYTES (ZIP_END_BYTES + (size_t) UINT16_MAX)

/* [MS-CAB] 2.1, CFHEADER */
#define CAB_HEADER_BYTES 36
#define CAB_FLAGS_SEVERAL 3 /* one before it, or after it */

/* unpack_archive_prepare() fills this once in a process. */
static libarchive_t lib;
static bool is_prepared, has_lib;

typedef struct {
    source_t *source;
    struct archive *a;
    const unpack_t *kind;
    bool at_end;
    sym_error_t *err;   /* error of the current call, for give_piece() */
    uint64_t cab_bytes; /* size from its header */
    size_t head_len;    /* number of bytes read ahead */
    char head[HEAD_BYTES];
    char name[SYM_NAME_MAX + 1];
    size_t tail_len;
    char tail[ZIP_TAIL_BYTES]; /* the last bytes read of a zip */
} archive_t;


static sym_status_t
fail(archive_t *p, sym_status_t status, const char *what, sym_error_t *err)
{
    return source_fail(p->source, p->kind->section, status, what, err);
}


static uint16_t
u16(const char *p)
{
    return (uint16_t) ((uint8_t) p[0] | (uint8_t) p[1] << 8);
}


static void
keep_tail(archive_t *p, const char *data, size_t len)
{
    size_t kept;

    if (len > ZIP_TAIL_BYTES) {
        data += len - ZIP_TAIL_BYTES;
        len = ZIP_TAIL_BYTES;
    }

    kept = p->tail_len;

    if (kept > ZIP_TAIL_BYTES - len) {
        kept = ZIP_TAIL_BYTES - len;
        memmove(p->tail, p->tail + p->tail_len - kept, kept);
    }

    memcpy(p->tail + kept, data, len);
    p->tail_len = kept + len;
}


/* Returns the rest of the piece, or the next one.  source->offset does not
 * change, because libarchive reports its own position. */
static la_ssize_t
give_piece(struct archive *a, void *ctx, const void **data)
{
    archive_t *p = ctx;
    source_t *s = p->source;
    size_t len;

    if (source_fill(s, 1, p->err) != SYM_OK) {
        lib.archive_set_error(a, EIO, "cannot read");
        return -1;
    }

    len = s->left;
    *data = s->pos;
    s->left = 0;
    p->at_end = len == 0;

    if (p->kind == &unpack_zip) {
        keep_tail(p, s->pos, len);
    }

    return (la_ssize_t) len;
}


/* Translates libarchive's error.  Only its text shows an unknown compression
 * method. */
static sym_status_t
fail_archive(archive_t *p, sym_error_t *err)
{
    const char *text = lib.archive_error_string(p->a);

    if (err->status != SYM_OK) {
        return err->status; /* the file could not be read */
    }

    if (lib.archive_errno(p->a) == ENOMEM) {
        return fail(p, SYM_NOMEM, "no memory for libarchive", err);
    }

    if (text != NULL && strstr(text, "nsupported") != NULL) {
        return fail(p, SYM_UNSUPPORTED, "this compression method", err);
    }

    if (p->at_end) {
        p->source->offset = p->source->read_bytes;
        return fail(p, SYM_TRUNCATED, "the file ends early", err);
    }

    return fail(p, SYM_MALFORMED, "damaged", err);
}


static void
note_offset(archive_t *p)
{
    p->source->offset = (uint64_t) lib.archive_filter_bytes(p->a, -1);
}


/* libarchive would unpack bzip2, LZMA, PPMd and more from a zip.  Symbols do
 * not use these, and each is another parser of hostile bytes. */
static bool
is_known_method(const archive_t *p)
{
    const char *name = lib.archive_format_name(p->a);

    return p->kind != &unpack_zip
           || (name != NULL
               && (strstr(name, "(deflation)") != NULL
                   || strstr(name, "(uncompressed)") != NULL));
}


static sym_status_t
check_entry(archive_t *p, struct archive_entry *entry, sym_error_t *err)
{
    if (lib.archive_entry_is_encrypted(entry)) {
        return fail(p, SYM_UNSUPPORTED, "the file in it is encrypted", err);
    }

    if (lib.archive_entry_filetype(entry) != AE_IFREG) {
        return fail(p, SYM_UNSUPPORTED, "its entry is not a file", err);
    }

    if (!is_known_method(p)) {
        return fail(p, SYM_UNSUPPORTED, "this compression method", err);
    }

    return SYM_OK;
}


/* Whether the file is used; for a bundle, its first bytes decide. */
static sym_status_t
look_at(archive_t *p, struct archive_entry *entry, bool *counts,
        sym_error_t *err)
{
    const char *path = lib.archive_entry_pathname(entry);
    sym_dsym_member_t what =
        path != NULL ? sym_dsym_member(sym_cstr(path)) : SYM_DSYM_NONE;
    la_ssize_t n;

    p->head_len = 0;
    *counts = what == SYM_DSYM_NONE;

    if (what != SYM_DSYM_FILE || check_entry(p, entry, err) != SYM_OK) {
        return err->status;
    }

    n = lib.archive_read_data(p->a, p->head, sizeof(p->head));
    note_offset(p);

    if (n < 0) {
        return fail_archive(p, err);
    }

    p->head_len = (size_t) n;
    *counts = sym_macho_is((const uint8_t *) p->head, p->head_len);
    return SYM_OK;
}


/* Moves to the next file; SYM_NOT_FOUND: the end.  Folders are skipped, and set
 * *folders. */
static sym_status_t
find_file(archive_t *p, struct archive_entry **entry, bool *folders,
          sym_error_t *err)
{
    bool counts;
    int rc;

    do {
        rc = lib.archive_read_next_header(p->a, entry);
        note_offset(p);

        if (rc == ARCHIVE_EOF) {
            return SYM_NOT_FOUND;
        }

        /* Warnings concern names and times, which do not matter here. */
        if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN) {
            return fail_archive(p, err);
        }

        *folders = lib.archive_entry_filetype(*entry) == AE_IFDIR;
        counts = !*folders;

        if (counts && look_at(p, *entry, &counts, err) != SYM_OK) {
            return err->status;
        }
    } while (!counts);

    return SYM_OK;
}


/* In a bundle, the file has the program's name; in a zip, any name. */
static void
keep_name(archive_t *p, struct archive_entry *entry)
{
    const char *path = lib.archive_entry_pathname(entry), *slash;
    size_t len;

    if (path == NULL) {
        return;
    }

    slash = strrchr(path, '/');
    path = slash != NULL ? slash + 1 : path;
    len = strlen(path);

    if (len < sizeof(p->name)) {
        memcpy(p->name, path, len + 1);
    }
}


static sym_status_t
find_first(archive_t *p, sym_error_t *err)
{
    struct archive_entry *entry = NULL;
    bool folders = false;
    sym_status_t rc = find_file(p, &entry, &folders, err);

    if (rc == SYM_NOT_FOUND) {
        return fail(p, SYM_UNSUPPORTED,
                    folders ? "it contains only folders"
                            : "there is no file in it",
                    err);
    }

    if (rc == SYM_OK) {
        keep_name(p, entry);
        rc = check_entry(p, entry, err);
    }

    return rc;
}


/* --- the end of the file --- */

/* The end record must exist, and nothing after its comment. */
static sym_status_t
check_zip_end(archive_t *p, sym_error_t *err)
{
    size_t at =
        p->tail_len < ZIP_END_BYTES ? 0 : p->tail_len - ZIP_END_BYTES + 1;
    size_t end = 0;

    while (at-- > 0 && end != p->tail_len) {
        const char *record = p->tail + at;

        if (memcmp(record, "PK\5\6", 4) == 0) {
            size_t len =
                ZIP_END_BYTES + (size_t) u16(record + ZIP_END_BYTES - 2);

            if (len <= p->tail_len - at) {
                end = at + len;
            }
        }
    }

    p->source->offset = p->source->read_bytes;

    if (end == 0) {
        return fail(p, SYM_TRUNCATED, "the file ends early", err);
    }

    p->source->offset -= p->tail_len - end;
    return end == p->tail_len
               ? SYM_OK
               : fail(p, SYM_MALFORMED, "more bytes after the end", err);
}


static sym_status_t
check_cab_end(archive_t *p, sym_error_t *err)
{
    source_t *s = p->source;

    if (s->read_bytes < p->cab_bytes) {
        s->offset = s->read_bytes;
        return fail(p, SYM_TRUNCATED, "the file ends early", err);
    }

    s->offset = p->cab_bytes;
    return s->read_bytes == p->cab_bytes
               ? SYM_OK
               : fail(p, SYM_MALFORMED, "more bytes after the end", err);
}


static sym_status_t
check_end(archive_t *p, sym_error_t *err)
{
    struct archive_entry *entry;
    bool folders;
    sym_status_t rc = find_file(p, &entry, &folders, err);
    const void *data;

    if (rc == SYM_OK) {
        return fail(p, SYM_UNSUPPORTED, "it contains more than one file", err);
    }

    if (rc != SYM_NOT_FOUND) {
        return rc;
    }

    while (!p->at_end) {
        if (give_piece(p->a, p, &data) < 0) {
            return err->status;
        }
    }

    return p->kind == &unpack_zip   ? check_zip_end(p, err)
           : p->kind == &unpack_cab ? check_cab_end(p, err)
                                    : SYM_OK;
}


/* --- the three functions --- */

static void
close_archive(void *state)
{
    archive_t *p = state;

    if (p->a != NULL) {
        lib.archive_read_free(p->a);
    }

    free(p);
}


/* Checks for errors that libarchive would find late, or describe badly. */
static sym_status_t
check_cab_header(archive_t *p, sym_error_t *err)
{
    const char *h = p->source->pos;
    unsigned files;

    if (p->source->left < CAB_HEADER_BYTES) {
        p->source->offset = p->source->left;
        return fail(p, SYM_TRUNCATED, "the file ends early", err);
    }

    p->cab_bytes = u16(h + 8) | (uint64_t) u16(h + 10) << 16;
    files = u16(h + 28);

    if ((u16(h + 30) & CAB_FLAGS_SEVERAL) != 0) {
        return fail(p, SYM_UNSUPPORTED, "it is one of several cabinets", err);
    }

    if (files != 1) {
        return fail(p, SYM_UNSUPPORTED,
                    files == 0 ? "there is no file in it"
                               : "it contains more than one file",
                    err);
    }

    return SYM_OK;
}


static int
support_format(const archive_t *p)
{
    return p->kind == &unpack_zip
               ? lib.archive_read_support_format_zip_streamable(p->a)
           : p->kind == &unpack_cab ? lib.archive_read_support_format_cab(p->a)
                                    : lib.archive_read_support_format_tar(p->a);
}


static sym_status_t
open_format(archive_t *p, sym_error_t *err)
{
    p->a = lib.archive_read_new();

    if (p->a == NULL || support_format(p) != ARCHIVE_OK) {
        return fail(p, SYM_NOMEM, "no memory for libarchive", err);
    }

    p->err = err;

    if (lib.archive_read_open(p->a, p, NULL, give_piece, NULL) != ARCHIVE_OK) {
        return fail_archive(p, err);
    }

    return find_first(p, err);
}


static void *
open_archive(source_t *s, const unpack_t *kind, sym_error_t *err)
{
    archive_t *p = calloc(1, sizeof(*p));
    sym_status_t rc = SYM_OK;

    if (p == NULL) {
        sym_fail(err, SYM_NOMEM, "no memory for libarchive");
        return NULL;
    }

    p->source = s;
    p->kind = kind;

    if (!is_prepared) {
        rc = fail(p, SYM_AGAIN, "libarchive is not loaded", err);
    } else if (!has_lib) {
        rc = fail(p, SYM_UNSUPPORTED, "libarchive is not installed", err);
    } else if (kind == &unpack_cab) {
        rc = check_cab_header(p, err);
    }

    if (rc == SYM_OK) {
        rc = open_format(p, err);
    }

    if (rc != SYM_OK) {
        close_archive(p);
        return NULL;
    }

    return p;
}


static void *
open_zip(source_t *s, sym_error_t *err)
{
    return open_archive(s, &unpack_zip, err);
}


static void *
open_cab(source_t *s, sym_error_t *err)
{
    return open_archive(s, &unpack_cab, err);
}


static void *
open_tar(source_t *s, sym_error_t *err)
{
    return open_archive(s, &unpack_tar, err);
}


static sym_status_t
next(void *state, char *out, size_t size, size_t *len, sym_error_t *err)
{
    archive_t *p = state;
    size_t ahead = p->head_len;
    la_ssize_t n;

    p->err = err;
    p->head_len = 0;
    memcpy(out, p->head, ahead);
    n = lib.archive_read_data(p->a, out + ahead, size - ahead);
    note_offset(p);

    if (n < 0) {
        return fail_archive(p, err);
    }

    *len = ahead + (size_t) n;
    return *len < size ? check_end(p, err) : SYM_OK;
}


/*
 * libarchive converts names to the locale's character set, and times to local
 * time; the C library reads files for both, at their first use.  With C.UTF-8,
 * libarchive needs no iconv(), which would read more files.  A time zone that
 * is set as a rule is never read again.
 */
void
unpack_archive_prepare(void)
{
    wchar_t wide[2];
    char text[8];

    is_prepared = true;
    has_lib = has_lib || libarchive_load(&lib);

    setlocale(LC_CTYPE, "C.UTF-8");
    setenv("TZ", "UTC0", 1);
    tzset();

    if (mbstowcs(wide, "\xc3\xa4", 2) == 1) {
        (void) wcstombs(text, wide, sizeof(text));
    }
}


static const char *
name(const void *state)
{
    const archive_t *p = state;

    return p->name;
}


const unpack_t unpack_zip = { "zip file", open_zip, next, close_archive, name };
const unpack_t unpack_cab = { "cab file", open_cab, next, close_archive, name };
const unpack_t unpack_tar = { "tar file", open_tar, next, close_archive, name };
