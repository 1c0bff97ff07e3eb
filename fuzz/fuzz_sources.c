/*
 * Two readers of source texts.  Input that begins with "SYSB" is a source
 * bundle, converted, and read as one of scripts; any other is cut into extents (u16 length, then the
 * bytes), opened as an artifact, and all of it is read.
 */
#include <stddef.h>
#include <stdint.h>

#include "artifacts/sources/read/sources.h"
#include "check.h"
#include "extents.h"
#include "formats/formats.h"
#include "formats/sourcebundle/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


/* --- a bundle --- */

/* Our reader must find the output of our writer sound. */
static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    input_t made = { .n = 0 };
    sym_writer_stats_t stats;
    sym_error_t bad = { 0 };
    sym_sources_t s;
    sym_status_t rc = output->finish(output->writer, output->info, take_extent,
                                     &made, &stats, err);

    (void) ctx;

    if (rc == SYM_OK) {
        check(sym_sources_open(&s, get, &made, &bad) == SYM_OK);
        check(sym_sources_check(&s, &bad) == SYM_OK);
    }

    drop_extents(&made);
    return rc;
}


static sym_status_t
take(void *ctx, const sym_artifact_file_t *file, sym_error_t *err)
{
    (void) ctx;
    (void) err;
    check(file->text.len != 0
          && (file->url.len != 0 || file->debug_id.form != SYM_DEBUG_ID_NONE));
    for (size_t i = 0; i < file->url.len; i++) {
        check((uint8_t) file->url.data[i] >= ' ');
    }
    return SYM_OK;
}


static void
convert(const uint8_t *data, size_t size)
{
    const sym_format_services_t services = { .unpacked_max = 200000 };
    const sym_format_file_t f = { .data = { (const char *) data, size },
                                  .services = &services,
                                  .put = put };
    sym_error_t err = { 0 };

    (void) sym_format_of(SYM_CONVERSION_sourcebundle)->convert(&f, 0, &err);
    err = (sym_error_t){ 0 };
    (void) sym_artifact_bundle_each(&f, 1000, take, NULL, &err);
}


/* --- an artifact --- */

static void
read_all(input_t *in)
{
    sym_error_t err = { 0 };
    char url[SYM_SOURCES_URL_MAX];
    sym_sources_file_t file;
    sym_sources_t s;
    size_t url_len;

    if (sym_sources_open(&s, get, in, &err) != SYM_OK) {
        return;
    }

    (void) sym_sources_check(&s, &err);
    (void) sym_sources_find(&s, SYM_STR("/src/a.c"), &file);

    if (sym_sources_url(&s, SYM_STR("/src/a.c"), url, &url_len) == SYM_OK) {
        check(url_len <= sizeof(url));
    }

    for (uint32_t i = 0; i < 64; i++) {
        char text[SYM_SOURCES_BLOCK_TEXT];
        uint64_t line;
        size_t len = 0;

        if (sym_sources_file(&s, i, &file) == SYM_OK
            && sym_sources_block(&s, &file, 0, text, &len, &line) == SYM_OK)
        {
            check(len > 0 && len <= sizeof(text));
        }
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input_t in;

    if (sym_format_find(data, size) == SYM_CONVERSION_sourcebundle) {
        convert(data, size);
        return 0;
    }

    in = cut(data, size);
    read_all(&in);
    return 0;
}
