/*
 * Any bytes as a post of S3 events.  The result must be usable for
 * invalidation: each event's module is one that a source may be asked for, and
 * the counts are consistent; refused input gives no result.  The first byte
 * limits memory.
 */
#include <stdlib.h>

#include "check.h"
#include "sources/events/s3_events.h"
#include "sources/paths/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_event(const sym_s3_event_t *e, size_t *others)
{
    char id[SYM_ID_MAX];
    sym_code_id_t code_id;
    size_t len;

    check(e->kind == SYM_S3_CREATED || e->kind == SYM_S3_REMOVED);
    check(e->bucket.data != NULL && e->key.data != NULL);

    if (e->id.len == 0 && e->code_id.len == 0) {
        check(e->name.len == 0);
        ++*others;
        return;
    }

    /* a build id needs no name */
    check(e->name.len == 0 || sym_source_name_ok(e->name));
    len = sym_debug_id_canonical(e->id, id);
    check(sym_str_eq(e->id, sym_str(id, len)));
    check(e->code_id.len == 0
          || (sym_code_id_read(e->code_id, &code_id)
              && sym_str_eq(e->code_id, sym_str(code_id.text, code_id.len))));
}


static void
check_events(const sym_s3_events_t *out, const sym_error_t *err)
{
    size_t others = 0;

    if (err->status != SYM_OK) {
        check(err->what != NULL);
        check(out->events == NULL && out->n_events == 0 && out->n_records == 0);
        return;
    }

    check(out->n_records <= SYM_S3_EVENTS_MAX);
    check(out->n_ignored <= out->n_records);
    check(out->n_events >= out->n_records - out->n_ignored);
    check(out->n_events <= 2 * (out->n_records - out->n_ignored));

    for (size_t i = 0; i < out->n_events; i++) {
        check_event(&out->events[i], &others);
    }
    check(others == out->n_others);
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
