/*
 * Source bundles that no tool should write: t/bad/sourcebundle/CASE/input must
 * fail with exactly the text in .../error when it is converted.
 */
#include "bad_cases.h"
#include "formats/formats.h"

/* Of all files in a bundle together. */
#define UNPACKED_MAX 200000

static sym_status_t
take_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
            sym_error_t *err)
{
    (void) ctx;
    (void) number;
    (void) data;
    (void) len;
    (void) err;
    return SYM_OK;
}


static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    sym_writer_stats_t stats;

    (void) ctx;
    return output->finish(output->writer, output->info, take_extent, NULL,
                          &stats, err);
}


static void
test_case(const char *name, sym_str_t in, sym_str_t want)
{
    const sym_format_means_t means = { .unpacked_max = UNPACKED_MAX };
    const sym_format_file_t f = { .data = in, .means = &means, .put = put };
    sym_conversion_format_t format =
        sym_format_find((const uint8_t *) in.data, in.len);
    sym_error_t err = { 0 };
    char text[256];

    if (format == SYM_CONVERSION_sourcebundle) {
        (void) sym_format_of(format)->convert(&f, 0, &err);
    }

    is_str(want, sym_error_text(&err, text, sizeof(text)), name);
}


int
main(void)
{
    bad_cases("t/bad/sourcebundle", 14, test_case);
    return done_testing();
}
