/*
 * An artifact file of any bytes.  Checksums are set right first, as an attacker
 * would, so that the kinds' own checks are reached.  Every artifact that is put
 * must verify as one of its kind.
 */
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "artifacts/artifact_file.h"
#include "base/little.h"
#include "check.h"
#include "convert.h"
#include "extents.h"
#include "formats/formats.h"

/* docs/formats/artifact.md */
#define LENGTH_AT 8
#define FRAME_BYTES 16
#define EXTENTS_AT 28
#define FIXED_BYTES 52
#define TEXTS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
set_checksum(uint8_t *at, const uint8_t *data, size_t len)
{
    sym_put32(at, libdeflate_crc32(0, data, len));
}


/* Sets the checksums of one artifact. */
static void
set_checksums(uint8_t *data, size_t size)
{
    size_t at = FIXED_BYTES;

    for (int i = 0; i < TEXTS && at + 2 <= size; i++) {
        at += 2 + sym_get16(data + at);
    }

    if (at + 4 > size) {
        return;
    }

    set_checksum(data + at, data, at);
    at += 4;

    while (at + 8 <= size) {
        size_t len = sym_get32(data + at);

        if (len > size - at - 8) {
            return;
        }

        set_checksum(data + at + 4, data + at + 8, len);
        at += 8 + len;
    }
}


/* True: the file has an artifact with many extents, which are not kept. */
static bool
set_all_checksums(uint8_t *data, size_t size)
{
    bool has_many = false;

    while (size >= FIXED_BYTES) {
        uint64_t len = sym_get64(data + LENGTH_AT);

        len = len < FRAME_BYTES || len > size ? size : len;
        has_many |=
            len >= FIXED_BYTES && sym_get32(data + EXTENTS_AT) > EXTENTS_MAX;
        set_checksums(data, (size_t) len);
        data += len;
        size -= (size_t) len;
    }

    return has_many;
}


static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    input_t made = { .n = 0 };
    const sym_extent_source_t extents = { get, &made, 0 };
    sym_extent_source_t all = extents;
    sym_writer_stats_t stats;
    sym_error_t bad = { 0 };
    sym_status_t rc;

    if (*(const bool *) ctx) {
        return SYM_OK;
    }

    rc = output->finish(output->writer, output->info, take_extent, &made,
                        &stats, err);

    all.n = stats.extents;
    check(rc == SYM_OK && stats.extents != 0);
    check(sym_kind_verify(sym_kind_find(output->kind), &all, &bad) == SYM_OK);
    drop_extents(&made);
    return rc;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sym_format_services_t services = { .note = note_nothing };
    uint8_t *copy = malloc(size + 1);
    bool has_many;
    const sym_format_file_t f = { .data = { (const char *) copy, size },
                                  .services = &services,
                                  .put = put,
                                  .ctx = &has_many };
    sym_error_t err = { 0 };

    if (copy == NULL) {
        return 0;
    }

    memcpy(copy, data, size);
    has_many = set_all_checksums(copy, size);
    if (sym_artifact_file_is(copy, size)) {
        (void) sym_format_of(SYM_CONVERSION_artifact)->convert(&f, 0, &err);
    }

    free(copy);
    return 0;
}
