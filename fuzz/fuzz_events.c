/*
 * Any bytes as a post of S3 events.  Keys are such as a
 * source may have, and the counts are consistent; refused input gives no
 * result.  The first byte
 * limits memory.
 */
#include <stdlib.h>

#include "check.h"
#include "sources/events/s3_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_events(const sym_s3_events_t *out, const sym_error_t *err)
{
    if (err->status != SYM_OK) {
        check(err->what != NULL);
        check(out->keys == NULL && out->n_keys == 0 && out->n_records == 0);
        return;
    }

    check(out->n_records <= SYM_S3_EVENTS_MAX);
    check(out->n_ignored <= out->n_records);
    check(out->n_keys >= out->n_records - out->n_ignored);
    check(out->n_keys <= 2 * (out->n_records - out->n_ignored));

    for (size_t i = 0; i < out->n_keys; i++) {
        check(out->keys[i].len != 0 && out->keys[i].len <= SYM_S3_KEY_MAX);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_error_t err = { 0 };
    sym_s3_events_t out;
    sym_arena_t arena;
    char *text;

    if (size == 0) {
        return 0;
    }

    /* a block of its own: a sanitizer sees every byte past it */
    text = malloc(size == 1 ? 1 : size - 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);

    /* '0': no limit of memory */
    sym_arena_init(&arena, (size_t) (data[0] & 3) * 5000);
    check(sym_s3_events_read(&arena, sym_str(text, size - 1), &out, &err)
          == err.status);
    check_events(&out, &err);

    sym_arena_drop(&arena);
    free(text);
    return 0;
}
