/*
 * A file of any format of the table: probed, its objects listed, each
 * converted.  The readers must find the output of our writers sound.  The first
 * byte is the size of the pieces in which a streamed format gets the file.
 */
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "check.h"
#include "convert.h"
#include "extents.h"
#include "formats/formats.h"

/* Limit of unpacked bytes of a small file. */
#define UNPACKED_MAX 200000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    const uint8_t *data; /* not given yet */
    size_t left, piece;
} feed_t;


static sym_status_t
next(void *ctx, sym_str_t *data, sym_error_t *err)
{
    feed_t *feed = ctx;
    size_t len = feed->left < feed->piece ? feed->left : feed->piece;

    (void) err;
    *data = sym_str((const char *) feed->data, len);
    feed->data += len;
    feed->left -= len;
    return SYM_OK;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sym_format_services_t services = { .unpacked_max =
                                                        UNPACKED_MAX,
                                                    .companion = no_companion,
                                                    .note = note_nothing };
    sym_format_object_t objects[SYM_FORMAT_OBJECTS_MAX];
    sym_error_t err = { 0 };
    const sym_format_t *format;
    sym_format_file_t f;
    feed_t feed;
    size_t n = 1;
    uint8_t *copy;

    if (size < 2) {
        return 0;
    }

    /* a block of its own: a sanitizer sees every byte past it */
    copy = malloc(size - 1);
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, data + 1, size - 1);

    feed = (feed_t){ copy, size - 1, (size_t) 1 + data[0] };
    format = sym_format_of(sym_format_find(copy, size - 1));

    if (format != NULL) {
        f = (sym_format_file_t){ .data = { (const char *) copy, size - 1 },
                                 .services = &services,
                                 .kinds = UINT_MAX, /* unwind rules, too */
                                 .next = next,
                                 .put = put_sound,
                                 .ctx = &feed };
        if (format->is_streamed) {
            (void) next(&feed, &f.data, &err);
        }

        if (format->objects == NULL
            || format->objects(&f, objects, &n, &err) == SYM_OK) {
            check(n <= SYM_FORMAT_OBJECTS_MAX);
            for (size_t i = 0; i < n; i++) {
                err = (sym_error_t){ 0 };
                (void) format->convert(&f, i, &err);
            }
        }
    }

    free(copy);
    return 0;
}
