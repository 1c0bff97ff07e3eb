/*
 * oom_format.h - memory runs out while a file is converted: each allocation in
 * turn fails.
 */
#ifndef T_UNIT_OOM_FORMAT_H
#define T_UNIT_OOM_FORMAT_H

#include "bad_cases.h"
#include "formats/formats.h"
#include "oom.h"

/* Larger than the number of allocations of any file here. */
#define OOM_MAX 2000


static sym_status_t
oom_take(void *ctx, uint32_t number, const uint8_t *data, size_t len,
         sym_error_t *err)
{
    (void) number;
    (void) data;
    (void) err;
    *(size_t *) ctx += len;
    return SYM_OK;
}


static sym_status_t
oom_put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    sym_writer_stats_t stats;

    return output->finish(output->writer, output->info, oom_take, ctx, &stats,
                          err);
}


static void
oom_note(void *ctx, const char *format, ...)
{
    (void) ctx;
    ok(false, "out of memory is not an error of the file: %s", format);
}


static sym_status_t
oom_companion(void *ctx, const sym_companion_t *want,
              sym_companion_file_t *file)
{
    (void) ctx;
    (void) want;
    (void) file;
    return SYM_NOT_FOUND;
}


/* For a streamed format: the whole file was the first piece. */
static sym_status_t
oom_next(void *ctx, sym_str_t *data, sym_error_t *err)
{
    (void) ctx;
    (void) err;
    *data = SYM_STR("");
    return SYM_OK;
}


static sym_status_t
oom_convert(sym_conversion_format_t format, sym_str_t file, size_t *bytes,
            sym_error_t *err)
{
    const sym_format_services_t services = { .unpacked_max = 1 << 20,
                                             .note = oom_note,
                                             .companion = oom_companion };
    const sym_format_file_t f = { .data = file,
                                  .services = &services,
                                  .next = oom_next,
                                  .put = oom_put,
                                  .ctx = bytes };

    *bytes = 0;
    return sym_format_of(format)->convert(&f, 0, err);
}


/* Converts fuzz/corpus/FOLDER/NAME; at least this many allocations must
 * fail. */
static void
oom_format(sym_conversion_format_t format, const char *folder, const char *name,
           unsigned long least)
{
    sym_str_t file = slurp("fuzz/corpus", folder, name);
    sym_status_t rc = SYM_NOMEM;
    unsigned long n;
    size_t bytes = 0;

    if (!ok(file.data != NULL, "the file exists")) {
        return;
    }

    for (n = 0; rc != SYM_OK && n < OOM_MAX; n++) {
        sym_error_t err = { 0 };

        allocations_left = n;
        rc = oom_convert(format, file, &bytes, &err);
        allocations_left = (unsigned long) -1;
        if (rc != SYM_OK) {
            is_status(rc, SYM_NOMEM, &err, "out of memory");
        }
    }

    ok(rc == SYM_OK && bytes != 0, "%s: with enough memory it is converted",
       name);
    ok(n > least, "%s: %lu allocations were made to fail", name, n - 1);
    free((void *) (uintptr_t) file.data);
}

#endif
