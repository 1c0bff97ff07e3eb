#include "artifacts/script/write/script_writer.h"

#include <stdlib.h>

#include "artifacts/symcache/write/extents.h"
#include "base/buffer.h"

/* Number of integers before a function's parts, and before the text of a
 * part. */
#define NUMBERS_MAX (6 * SYM_LEB_MAX)

typedef struct {
    uint32_t line, column, function;
} bound_t;

struct sym_script_writer_s {
    sym_extents_t extents;
    sym_error_t *err;

    uint32_t *functions; /* refs */
    size_t n_functions, functions_cap;
    bound_t *bounds;
    size_t n_bounds, bounds_cap;
    sym_buffer_t name; /* text under construction */
};


static sym_status_t
no_memory(sym_script_writer_t *w)
{
    return sym_fail(w->err, SYM_NOMEM, NULL);
}


sym_script_writer_t *
sym_script_writer_create(sym_extent_put_pt put, void *ctx, sym_error_t *err)
{
    sym_script_writer_t *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        (void) sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    w->err = err;

    if (sym_extents_begin(&w->extents, put, ctx, SYM_SCRIPT_HEADER_BYTES, err)
        != SYM_OK)
    {
        sym_script_writer_free(w);
        return NULL;
    }

    return w;
}


void
sym_script_writer_free(sym_script_writer_t *w)
{
    if (w == NULL) {
        return;
    }

    sym_extents_free(&w->extents);
    sym_buffer_free(&w->name);
    free(w->functions);
    free(w->bounds);
    free(w);
}


/* --- functions --- */

static sym_status_t
put_bytes(sym_script_writer_t *w, const void *data, size_t len, uint32_t *ref)
{
    uint8_t *room =
        sym_extents_alloc(&w->extents, SYM_LANE_MAIN, len, SYM_PLACE_ANY, ref);

    if (room == NULL) {
        return w->err->status;
    }

    memcpy(room, data, len);
    return SYM_OK;
}


/* The number of parts that fit the limit. */
static uint32_t
count_parts(const sym_script_given_t *f)
{
    size_t bytes = 0;
    uint32_t n = 0;

    while (n < f->n_parts && n < SYM_SCRIPT_PARTS_MAX
           && f->parts[n].text.len <= SYM_SCRIPT_NAME_MAX - bytes)
    {
        bytes += f->parts[n++].text.len;
    }

    return n;
}


static void
put_part(sym_buffer_t *b, const sym_script_part_t *part)
{
    uint8_t numbers[NUMBERS_MAX], *p = numbers;

    p = sym_uleb_write(p, 2 * part->text.len + part->is_identifier);
    if (part->is_identifier) {
        p = sym_uleb_write(p, part->at.line);
        p = sym_uleb_write(p, part->at.column);
    }

    sym_buffer_put(b, numbers, (size_t) (p - numbers));
    sym_buffer_put(b, part->text.data, part->text.len);
}


sym_status_t
sym_script_add_function(sym_script_writer_t *w,
                        const sym_script_given_t *function)
{
    uint8_t numbers[NUMBERS_MAX], *p = numbers;
    uint32_t n = count_parts(function), ref;

    p = sym_uleb_write(p, n);
    p = sym_uleb_write(p, function->last.line);
    p = sym_uleb_write(p, function->last.column);
    p = sym_uleb_write(p, function->has_end);
    if (function->has_end) {
        p = sym_uleb_write(p, function->end.line);
        p = sym_uleb_write(p, function->end.column);
    }

    w->name.len = 0;
    sym_buffer_put(&w->name, numbers, (size_t) (p - numbers));
    for (uint32_t i = 0; i < n; i++) {
        put_part(&w->name, &function->parts[i]);
    }

    if (w->name.failed) {
        return no_memory(w);
    }

    if (put_bytes(w, w->name.data, w->name.len, &ref) != SYM_OK) {
        return w->err->status;
    }

    if (!SYM_ARRAY_ROOM(w->functions, w->n_functions + 1, w->functions_cap)) {
        return no_memory(w);
    }

    w->functions[w->n_functions++] = ref;
    return SYM_OK;
}


sym_status_t
sym_script_add_bound(sym_script_writer_t *w, sym_script_position_t at,
                     uint32_t function)
{
    if (!SYM_ARRAY_ROOM(w->bounds, w->n_bounds + 1, w->bounds_cap)) {
        return no_memory(w);
    }

    w->bounds[w->n_bounds++] = (bound_t){ at.line, at.column, function };
    return SYM_OK;
}


/* --- the end --- */

static sym_status_t
put_record(sym_script_writer_t *w, const uint8_t *record, size_t size, size_t i,
           uint32_t *table)
{
    uint32_t ref;

    if (put_bytes(w, record, size, &ref) != SYM_OK) {
        return w->err->status;
    }

    *table = i == 0 ? ref : *table;
    return SYM_OK;
}


static sym_status_t
put_tables(sym_script_writer_t *w, uint32_t *bounds, uint32_t *functions)
{
    for (size_t i = 0; i < w->n_bounds; i++) {
        uint8_t r[SYM_SCRIPT_BOUND_BYTES];

        sym_put32(r, w->bounds[i].line);
        sym_put32(r + 4, w->bounds[i].column);
        sym_put32(r + 8, w->bounds[i].function + 1);
        if (put_record(w, r, sizeof(r), i, bounds) != SYM_OK) {
            return w->err->status;
        }
    }

    for (size_t i = 0; i < w->n_functions; i++) {
        uint8_t r[SYM_SCRIPT_SCOPE_BYTES];

        sym_put32(r, w->functions[i]);
        if (put_record(w, r, sizeof(r), i, functions) != SYM_OK) {
            return w->err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
put_reference(sym_script_writer_t *w, sym_str_t reference, uint32_t *ref)
{
    uint8_t head[SYM_LEB_MAX];

    w->name.len = 0;
    sym_buffer_put(&w->name, head,
                   (size_t) (sym_uleb_write(head, reference.len) - head));
    sym_buffer_put(&w->name, reference.data, reference.len);

    return w->name.failed ? no_memory(w)
                          : put_bytes(w, w->name.data, w->name.len, ref);
}


sym_status_t
sym_script_finish(sym_script_writer_t *w, sym_str_t reference,
                  const sym_debug_id_t *id, uint32_t flags,
                  sym_writer_stats_t *stats)
{
    uint8_t h[SYM_SCRIPT_HEADER_BYTES] = { 0 };
    uint32_t bounds = 0, functions = 0, where = 0;

    if (reference.data != NULL && reference.len <= SYM_SCRIPT_REFERENCE_MAX
        && put_reference(w, reference, &where) != SYM_OK)
    {
        return w->err->status;
    }

    if (put_tables(w, &bounds, &functions) != SYM_OK
        || sym_extents_flush(&w->extents) != SYM_OK)
    {
        return w->err->status;
    }

    sym_put32(h, SYM_SCRIPT_MAGIC);
    sym_put32(h + 4, SYM_SCRIPT_VERSION);
    sym_put32(h + 8, w->extents.next_number);
    sym_put32(h + 12, (uint32_t) w->n_bounds);
    sym_put32(h + 16, (uint32_t) w->n_functions);
    sym_put32(h + 20, bounds);
    sym_put32(h + 24, functions);
    sym_put32(h + 28, where);
    sym_put32(h + 32, flags | (id != NULL ? SYM_SCRIPT_HAS_ID : 0));
    if (id != NULL) {
        memcpy(h + 36, id->signature, SYM_UUID_BYTES);
    }

    *stats = (sym_writer_stats_t){
        .bytes = sym_extents_bytes(&w->extents),
        .extents = w->extents.next_number,
        .quality = (flags & SYM_SCRIPT_UNPARSED) != 0 ? SYM_SCRIPT_TEXT
                                                      : SYM_SCRIPT_FUNCTIONS,
    };
    return sym_extents_end(&w->extents, h, sizeof(h));
}
