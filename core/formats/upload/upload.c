/*
 * upload.c - bodies of POST /minidump as a row of the formats: a minidump, and
 * the fields that came with it.
 *
 * If a body is not such an upload, or its dump cannot be read, the report
 * contains the reason, because each request needs an answer.
 */
#include "artifacts/crash/write/crash_writer.h"
#include "base/multipart.h"
#include "formats/format.h"
#include "formats/minidump/minidump.h"

#define FILE_FIELD "upload_file_minidump"

/* Fields that the report keeps. */
static const sym_str_t kept[] = {
    { "sources", 7 },
    { "scraping", 8 },
    { "options", 7 },
    { "platform", 8 },
    { "rewrite_first_module", 20 },
};


/* RFC 2046, 5.1.1: "--", the boundary, the end of the line. */
static bool
probe(const uint8_t *data, size_t len)
{
    sym_str_t text = sym_str((const char *) data, len);
    const char *end = memchr(data, '\n', len);

    return sym_str_starts(text, SYM_STR("--")) && end != NULL
           && end - text.data > 3 && end[-1] == '\r'
           && end - text.data <= SYM_BOUNDARY_MAX + 3;
}


static bool
is_wanted(const uint8_t *head, size_t len)
{
    (void) head;
    (void) len;
    return false;
}


/* The boundary, from the first line; data NULL: it has none. */
static sym_str_t
boundary_of(sym_str_t body)
{
    const char *end = memchr(body.data, '\r', body.len);

    return end != NULL && end - body.data > 2
               ? sym_str(body.data + 2, (size_t) (end - body.data) - 2)
               : sym_str(NULL, 0);
}


static void
take_field(sym_crash_t *crash, const sym_multipart_part_t *part)
{
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        if (!sym_str_eq(part->name, kept[i])) {
            continue;
        }

        if (part->body.len > SYM_CRASH_FIELD_MAX) {
            crash->refusal = SYM_STR("a field is longer than 1 MiB");
        } else if (crash->n_fields < SYM_CRASH_FIELDS_MAX) {
            crash->fields[crash->n_fields++] =
                (sym_crash_field_t){ kept[i], part->body };
        }
    }
}


/* The uploaded file.  data NULL: the body contains none, or is refused. */
static sym_str_t
read_parts(sym_str_t body, sym_crash_t *crash)
{
    sym_str_t file = sym_str(NULL, 0);
    sym_multipart_part_t part;
    sym_multipart_t parts;
    sym_status_t rc;

    if (!sym_multipart_begin(&parts, boundary_of(body), body)) {
        crash->refusal = SYM_STR("the body has no boundary");
        return file;
    }

    while ((rc = sym_multipart_next(&parts, &part)) == SYM_OK) {
        if (sym_str_eq(part.name, SYM_STR(FILE_FIELD))) {
            file = part.body;
        } else {
            take_field(crash, &part);
        }
    }

    if (rc != SYM_NOT_FOUND) {
        crash->refusal = sym_cstr(parts.what);
    } else if (file.data == NULL) {
        crash->refusal = SYM_STR("missing minidump");
    } else if (sym_str_starts(file, SYM_STR("--"))) {
        crash->refusal = SYM_STR("minidump contains multipart form data");
    }

    return crash->refusal.len == 0 ? file : sym_str(NULL, 0);
}


/* Makes positions of stacks relative to the start of the body. */
static void
move_stacks(sym_crash_t *crash, uint64_t by)
{
    for (uint32_t i = 0; i < crash->n_threads; i++) {
        crash->threads[i].stack.at += by;
    }
}


static sym_status_t
finish(void *writer, const sym_module_info_t *info, sym_extent_put_pt put,
       void *ctx, sym_writer_stats_t *stats, sym_error_t *err)
{
    (void) info;
    return sym_crash_write(writer, put, ctx, stats, err);
}


static sym_status_t
convert(const sym_format_file_t *f, size_t which, sym_error_t *err)
{
    sym_crash_field_t fields[SYM_CRASH_FIELDS_MAX];
    sym_crash_t empty = { .fields = fields, .requesting = SYM_CRASH_NO_THREAD };
    sym_str_t file = read_parts(f->data, &empty);
    minidump_t d = { .is_big_endian = false };
    sym_module_info_t info = MINIDUMP_INFO(f->data.len);
    sym_format_output_t output = { .kind = SYM_KIND_CRASH,
                                   .info = &info,
                                   .writer = &empty,
                                   .finish = finish };
    sym_error_t bad = { 0 };
    sym_status_t rc;

    (void) which; /* the file has one object */
    if (file.data != NULL && minidump_read(&d, file, &bad) == SYM_OK) {
        d.crash.fields = empty.fields;
        d.crash.n_fields = empty.n_fields;
        move_stacks(&d.crash, (uint64_t) (file.data - f->data.data));
        output.writer = &d.crash;
    } else if (file.data != NULL) {
        empty.failure =
            sym_cstr(bad.what != NULL ? bad.what : sym_status_name(bad.status));
    }

    rc = f->put(f->ctx, &output, err);
    sym_arena_drop(&d.arena);
    return rc;
}


const sym_format_t sym_format_upload = {
    .title = "crash upload",
    .probe = probe,
    .is_wanted = is_wanted,
    .is_report = true,
    .convert = convert,
};
