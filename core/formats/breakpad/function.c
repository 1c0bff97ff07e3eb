#include "formats/breakpad/function.h"
#include "base/language.h"

#include <stdlib.h>

#define ADDRESSES ((uint64_t) 1 << 32)

/* Placeholder for the file of the function's first line, while that is
   unknown. */
#define OWN_FILE (SYM_NO_STRING - 1)

void
sym_current_init(sym_current_t *c, uint64_t *dropped, sym_error_t *err)
{
    memset(c, 0, sizeof(*c));
    c->dropped = dropped;
    c->err = err;
}


void
sym_current_free(sym_current_t *c)
{
    free(c->lines);
    free(c->inlines);
    sym_current_init(c, c->dropped, c->err);
}


/* Clips [addr, addr + size) at the last address.  False: nothing is left. */
static bool
fit(uint64_t addr, uint64_t *size)
{
    if (*size == 0 || addr >= ADDRESSES) {
        return false;
    }

    if (*size > ADDRESSES - addr) {
        *size = ADDRESSES - addr;
    }

    if (*size > UINT32_MAX) {
        *size = UINT32_MAX;
    }

    return true;
}


static uint32_t
line_number(uint64_t line)
{
    return line <= UINT32_MAX ? (uint32_t) line : 0;
}


bool
sym_current_wants(uint64_t addr, uint64_t size)
{
    return fit(addr, &size);
}


void
sym_current_skip(sym_current_t *c)
{
    c->is_open = true;
    c->is_kept = false;
    c->n_origin_files = 0;
    c->has_own_file = false;
    c->function = (sym_function_t){ .lang = SYM_LANG_UNKNOWN };
}


void
sym_current_open(sym_current_t *c, const sym_symbol_record_t *r, uint32_t name)
{
    uint64_t size = r->size;

    sym_current_skip(c);

    if (fit(r->addr, &size)) {
        c->is_kept = true;
        c->function.addr = (uint32_t) r->addr;
        c->function.size = (uint32_t) size;
        c->function.name = name;
    }
}


static sym_status_t
too_many(sym_current_t *c)
{
    return sym_fail(c->err, SYM_LIMIT, "too many records in a function");
}


/* Doubles the array; NULL when out of memory. */
static void *
grow(sym_current_t *c, void *items, size_t *size, size_t each)
{
    size_t want = *size == 0 ? 256 : *size * 2;
    void *grown = realloc(items, want * each);

    if (grown == NULL) {
        (void) sym_fail(c->err, SYM_NOMEM, "no memory for a function");
        return NULL;
    }

    *size = want;
    return grown;
}


sym_status_t
sym_current_room(sym_current_t *c)
{
    sym_line_t *lines;

    if (c->function.n_lines < c->lines_size) {
        return SYM_OK;
    }

    if (c->function.n_lines >= SYM_FUNCTION_LINES_MAX) {
        return too_many(c);
    }

    lines = grow(c, c->lines, &c->lines_size, sizeof(*lines));
    if (lines == NULL) {
        return c->err->status;
    }

    c->lines = lines;
    return SYM_OK;
}


sym_status_t
sym_current_line(sym_current_t *c, const sym_line_record_t *r, uint32_t file)
{
    uint64_t size = r->size;

    if (!c->is_kept || !fit(r->addr, &size)) {
        ++*c->dropped;
        return SYM_OK;
    }

    if (sym_current_room(c) != SYM_OK) {
        return c->err->status;
    }

    c->lines[c->function.n_lines++] =
        (sym_line_t){ (uint32_t) r->addr, (uint32_t) size, line_number(r->line),
                      file };
    return SYM_OK;
}


/* The caller is the last call that was read one depth above. */
static uint32_t
file_of_caller(const sym_current_t *c, uint64_t depth)
{
    if (depth == 0) {
        return OWN_FILE;
    }

    return depth <= c->n_origin_files ? c->origin_files[depth - 1]
                                      : SYM_NO_STRING;
}


sym_inline_t
sym_current_inline(sym_current_t *c, const sym_inline_record_t *r,
                   const sym_origin_t *origin, uint32_t call_file)
{
    sym_inline_t call = {
        .depth = r->depth < UINT32_MAX ? (uint32_t) r->depth : UINT32_MAX,
        .name = origin->name,
        .call_line = line_number(r->call_line),
        .call_file = call_file,
    };

    if (!r->has_call_file) {
        call.call_file = file_of_caller(c, r->depth);
        c->has_own_file = c->has_own_file || r->depth == 0;
    }

    if (r->depth <= c->n_origin_files && r->depth < SYM_INLINE_DEPTH_MAX) {
        c->origin_files[r->depth] = origin->file;
        c->n_origin_files = (uint32_t) r->depth + 1;
    }

    return call;
}


sym_status_t
sym_current_range(sym_current_t *c, const sym_inline_t *call, uint64_t addr,
                  uint64_t size)
{
    sym_inline_t *in;

    if (!c->is_kept || !fit(addr, &size)) {
        ++*c->dropped;
        return SYM_OK;
    }

    if (c->function.n_inlines == c->inlines_size) {
        if (c->function.n_inlines >= SYM_FUNCTION_INLINES_MAX) {
            return too_many(c);
        }

        in = grow(c, c->inlines, &c->inlines_size, sizeof(*in));
        if (in == NULL) {
            return c->err->status;
        }
        c->inlines = in;
    }

    in = &c->inlines[c->function.n_inlines++];
    *in = *call;
    in->addr = (uint32_t) addr;
    in->size = (uint32_t) size;
    return SYM_OK;
}


static void
name_own_files(sym_current_t *c)
{
    uint32_t file = c->function.n_lines != 0 ? c->lines[0].file : SYM_NO_STRING;

    for (size_t i = 0; i < c->function.n_inlines; i++) {
        if (c->inlines[i].call_file == OWN_FILE) {
            c->inlines[i].call_file = file;
        }
    }
}


sym_status_t
sym_current_close(sym_current_t *c, sym_writer_t *w)
{
    bool is_kept = c->is_open && c->is_kept;

    c->is_open = false;

    if (!is_kept) {
        return SYM_OK;
    }

    if (c->has_own_file) {
        name_own_files(c);
    }

    c->function.lines = c->lines;
    c->function.inlines = c->inlines;
    return sym_writer_function(w, &c->function);
}
