/*
 * bad_formats.h - files of a format that must be refused when they are converted.
 */
#ifndef T_UNIT_BAD_FORMATS_H
#define T_UNIT_BAD_FORMATS_H

#include "bad_cases.h"
#include "formats/formats.h"

/* Limit on all unpacked parts of a file. */
#define UNPACKED_MAX 200000

/* Format of the cases. */
static sym_conversion_format_t bad_format;


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


static void
note(void *ctx, const char *format, ...)
{
    (void) ctx;
    (void) format;
}


/* For a streamed format: the whole file was the first piece. */
static sym_status_t
next(void *ctx, sym_str_t *data, sym_error_t *err)
{
    (void) ctx;
    (void) err;
    *data = SYM_STR("");
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


__attribute__((unused)) static void
bad_format_case(const char *name, sym_str_t in, sym_str_t want)
{
    const sym_format_services_t services = { .unpacked_max = UNPACKED_MAX,
                                             .note = note };
    const sym_format_file_t f = {
        .data = in, .services = &services, .next = next, .put = put
    };
    sym_conversion_format_t format =
        sym_format_find((const uint8_t *) in.data, in.len);
    sym_error_t err = { 0 };
    char text[256];

    if (format == bad_format) {
        (void) sym_format_of(format)->convert(&f, 0, &err);
    }

    is_str(want, sym_error_text(&err, text, sizeof(text)), name);
}

#endif
