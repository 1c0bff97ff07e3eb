/*
 * convert.c - minidumps as a row of the formats.  A dump becomes a crash
 * report, whose stacks symloader walks.
 */
#include "artifacts/crash/write/crash_writer.h"
#include "formats/format.h"
#include "formats/minidump/minidump.h"

/* Limit on the memory for everything that is kept of a dump. */
#define ARENA_BYTES ((size_t) 40 << 20)

static bool
probe(const uint8_t *data, size_t len)
{
    return len >= 4
           && (memcmp(data, "MDMP", 4) == 0 || memcmp(data, "PMDM", 4) == 0);
}


/* A minidump is not a symbol file: `load` skips it in folders. */
static bool
is_wanted(const uint8_t *head, size_t len)
{
    (void) head;
    (void) len;
    return false;
}


sym_status_t
minidump_read(minidump_t *d, sym_str_t data, sym_error_t *err)
{
    sym_status_t rc;

    sym_arena_init(&d->arena, ARENA_BYTES);
    d->crash.requesting = SYM_CRASH_NO_THREAD;

    rc = minidump_open(d, data, err);
    rc = rc != SYM_OK ? rc : minidump_read_system(d, err);
    if (rc != SYM_OK) {
        return rc;
    }

    minidump_read_exception(d);
    minidump_read_reason(d);
    rc = minidump_read_threads(d, err);
    rc = rc != SYM_OK ? rc : minidump_read_modules(d, err);
    return rc != SYM_OK ? rc : minidump_read_notes(d, err);
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
    minidump_t d = { .is_big_endian = false };
    sym_status_t rc = minidump_read(&d, f->data, err);
    sym_module_info_t info = MINIDUMP_INFO(f->data.len);
    const sym_format_output_t output = { .kind = SYM_KIND_CRASH,
                                         .info = &info,
                                         .writer = &d.crash,
                                         .finish = finish };

    (void) which; /* the file has one object */
    rc = rc != SYM_OK ? rc : f->put(f->ctx, &output, err);
    sym_arena_drop(&d.arena);
    return rc;
}


const sym_format_t sym_format_minidump = {
    .title = "minidump",
    .probe = probe,
    .is_wanted = is_wanted,
    .is_report = true,
    .convert = convert,
};
