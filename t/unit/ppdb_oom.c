/*
 * Memory that runs out while a portable PDB is converted: each allocation in turn is
 * the one that fails.
 */
#include "bad_cases.h"
#include "formats/formats.h"
#include "oom.h"

static sym_status_t
take_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
            sym_error_t *err)
{
    (void) number;
    (void) data;
    (void) err;
    *(size_t *) ctx += len;
    return SYM_OK;
}


static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    sym_writer_stats_t stats;

    return output->finish(output->writer, output->info, take_extent, ctx,
                          &stats, err);
}


static void
note(void *ctx, const char *format, ...)
{
    (void) ctx;
    ok(false, "no memory is no fault of the file: %s", format);
}


static sym_status_t
convert(sym_str_t file, size_t *bytes, sym_error_t *err)
{
    const sym_format_services_t services = { .unpacked_max = 1 << 20,
                                             .note = note };
    const sym_format_file_t f = {
        .data = file, .services = &services, .put = put, .ctx = bytes
    };

    *bytes = 0;
    return sym_format_of(SYM_CONVERSION_ppdb)->convert(&f, 0, err);
}


/* With lines, texts and links. */
int
main(void)
{
    sym_str_t file = slurp("fuzz/corpus", "ppdb", "sources");
    sym_status_t rc = SYM_NOMEM;
    unsigned long n;
    size_t bytes = 0;

    if (!ok(file.data != NULL, "there is a file")) {
        return done_testing();
    }

    for (n = 0; rc != SYM_OK && n < 300; n++) {
        sym_error_t err = { 0 };

        allocations_left = n;
        rc = convert(file, &bytes, &err);
        allocations_left = (unsigned long) -1;
        if (rc != SYM_OK) {
            is_status(rc, SYM_NOMEM, &err, "out of memory");
        }
    }

    ok(rc == SYM_OK && bytes != 0, "with enough memory it is converted");
    ok(n > 10, "some allocations were made to fail");
    free((void *) (uintptr_t) file.data);
    return done_testing();
}
