/*
 * Two readers of .NET lines.  Input that begins with "BSJB" is a portable PDB
 * and converted; any other is cut into extents (u16 length, then the bytes),
 * opened as an artifact of kind `ppdb`, and all of it is read.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "artifacts/ppdb/read/ppdb.h"
#include "artifacts/sources/read/sources.h"
#include "check.h"
#include "extents.h"
#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


/* --- a portable PDB --- */

/* Our readers must find the output of our writers sound. */
static void
check_made(sym_kind_t kind, input_t *made)
{
    const sym_extent_source_t extents = { get, made, made->n };
    sym_error_t bad = { 0 };

    check(sym_kind_verify(sym_kind_find(kind), &extents, &bad) == SYM_OK);
}


static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    input_t made = { .n = 0 };
    sym_writer_stats_t stats;
    sym_status_t rc = output->finish(output->writer, output->info, take_extent,
                                     &made, &stats, err);

    (void) ctx;

    if (rc == SYM_OK) {
        check_made(output->kind, &made);
    }

    drop_extents(&made);
    return rc;
}


static void
note(void *ctx, const char *format, ...)
{
    (void) ctx;
    (void) format;
}


static void
convert(const uint8_t *data, size_t size)
{
    const sym_format_services_t services = { .unpacked_max = 200000,
                                             .note = note };
    const sym_format_file_t f = { .data = { (const char *) data, size },
                                  .services = &services,
                                  .put = put };
    sym_error_t err = { 0 };

    (void) sym_format_of(SYM_CONVERSION_ppdb)->convert(&f, 0, &err);
}


/* --- an artifact --- */

static void
read_all(input_t *in)
{
    sym_extent_view_t views[EXTENTS_MAX] = { { 0 } };
    sym_error_t err = { 0 };
    sym_ppdb_t p;

    if (sym_ppdb_open(&p, get, in, &err) != SYM_OK) {
        return;
    }

    if (p.in.n <= EXTENTS_MAX) {
        sym_ppdb_remember(&p, views);
    }

    if (sym_ppdb_check(&p, &err) == SYM_OK) {
        check(p.n_points != 0 || p.n_bodies == 0);
    }

    for (uint32_t method = 0; method < 64; method++) {
        for (uint32_t offset = 0; offset < 5000; offset += 1 + offset / 4) {
            sym_ppdb_document_t document;
            sym_ppdb_point_t point;

            if (sym_ppdb_lookup(&p, method, offset, &point) == SYM_OK) {
                check(point.offset <= offset);
                (void) sym_ppdb_document(&p, point.document, &document);
            }
        }
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input_t in;

    if (sym_format_find(data, size) == SYM_CONVERSION_ppdb) {
        convert(data, size);
        return 0;
    }

    in = cut(data, size);
    read_all(&in);
    return 0;
}
