/*
 * convert.h - an input as a file of a format: it is converted, and our readers
 * must find the artifacts of our writers sound.
 */
#ifndef FUZZ_CONVERT_H
#define FUZZ_CONVERT_H

#include "extents.h"
#include "formats/formats.h"

/* sym_format_file_t.put. */
static inline sym_status_t
put_sound(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    input_t made = { .n = 0 };
    sym_writer_stats_t stats;
    sym_error_t bad = { 0 };
    sym_status_t rc = output->finish(output->writer, output->info, take_extent,
                                     &made, &stats, err);

    (void) ctx;

    if (rc == SYM_OK) {
        const sym_extent_source_t extents = { get, &made, made.n };
        const sym_kind_row_t *kind = sym_kind_find(output->kind);

        check(kind != NULL && sym_kind_verify(kind, &extents, &bad) == SYM_OK);
    }

    drop_extents(&made);
    return rc;
}


/* sym_format_services_t.companion. */
static inline sym_status_t
no_companion(void *ctx, const sym_companion_t *wanted,
             sym_companion_file_t *file)
{
    (void) ctx;
    (void) wanted;
    (void) file;
    return SYM_NOT_FOUND;
}


/* sym_format_services_t.note. */
static inline void
note_nothing(void *ctx, const char *format, ...)
{
    (void) ctx;
    (void) format;
}


static inline void
convert(sym_conversion_format_t format, const uint8_t *data, size_t size)
{
    const sym_format_services_t services = { .unpacked_max = 200000,
                                             .companion = no_companion,
                                             .note = note_nothing };
    const sym_format_file_t f = { .data = { (const char *) data, size },
                                  .services = &services,
                                  .put = put_sound };
    sym_error_t err = { 0 };

    (void) sym_format_of(format)->convert(&f, 0, &err);
}

#endif
