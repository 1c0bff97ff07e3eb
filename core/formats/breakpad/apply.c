#include "formats/breakpad/state.h"

#include <stdlib.h>

#include "base/path.h"

static sym_status_t
refuse(sym_breakpad_t *b, const char *section, sym_str_t line,
       const sym_fields_t *f)
{
    (void) sym_fail(b->err, SYM_MALFORMED, f->what);
    return sym_breakpad_locate(b, section, (size_t) (f->where - line.data));
}


/* --- records outside functions --- */

static bool
keep(sym_breakpad_t *b, sym_str_t *view)
{
    *view = sym_arena_copy(&b->arena, *view);
    return view->data != NULL;
}


static sym_status_t
out_of_memory(sym_breakpad_t *b)
{
    return sym_fail(b->err, SYM_NOMEM, "no memory for the module's names");
}


sym_status_t
sym_apply_module(sym_breakpad_t *b, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, SYM_KEY_MODULE.len);
    sym_module_record_t r = sym_read_module(&f);

    if (!sym_fields_ok(&f)) {
        return refuse(b, "MODULE record", line, &f);
    }

    if (!keep(b, &r.os) || !keep(b, &r.arch) || !keep(b, &r.id)
        || !keep(b, &r.name))
    {
        return out_of_memory(b);
    }

    b->module.os = r.os;
    b->module.arch = r.arch;
    b->module.debug_id = r.id;
    b->module.debug_file = r.name;
    return SYM_OK;
}


/* Only the first CODE_ID before any symbol counts (specs 3.4). */
sym_status_t
sym_apply_info(sym_breakpad_t *b, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, SYM_KEY_INFO.len);
    sym_code_id_record_t r;

    if (b->has_symbols || b->module.code_id.len != 0
        || !sym_read_code_id(&f, &r)) {
        return SYM_OK;
    }

    if (!keep(b, &r.code_id) || !keep(b, &r.code_file)) {
        return out_of_memory(b);
    }

    b->module.code_id = r.code_id;
    b->module.code_file = r.code_file;
    return SYM_OK;
}


sym_status_t
sym_apply_file(sym_breakpad_t *b, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, SYM_KEY_FILE.len);
    sym_file_record_t r = sym_read_file(&f);
    uint32_t id = SYM_NO_STRING;
    sym_status_t rc;
    char *path;

    b->has_symbols = true;

    if (!sym_fields_ok(&f)) {
        b->stats.ignored++;
        return SYM_OK;
    }

    b->stats.files++;

    path = malloc(r.name.len + 1);
    if (path == NULL) {
        return out_of_memory(b);
    }

    r.name.len = sym_clean_path(r.name, path);
    r.name.data = path;

    rc = sym_writer_string(b->writer, r.name, &id);
    free(path);

    return rc == SYM_OK ? sym_numbers_put(&b->files, r.number, id, b->err) : rc;
}


/* Value in the map: 0 for an origin without a file, else its string id plus
   one. */
static sym_status_t
put_origin_file(sym_breakpad_t *b, const sym_origin_record_t *r)
{
    uint32_t id = SYM_NO_STRING;

    if (r->has_file) {
        id = sym_numbers_get(&b->files, r->file);
    } else if (b->origin_files.count == 0) {
        return SYM_OK; /* no record had the form of 2021 */
    }

    return sym_numbers_put(&b->origin_files, r->number,
                           id != SYM_NO_STRING ? id + 1 : 0, b->err);
}


static uint32_t
get_origin_file(const sym_breakpad_t *b, uint64_t number)
{
    uint32_t value = sym_numbers_get(&b->origin_files, number);

    return value != SYM_NO_NUMBER && value != 0 ? value - 1 : SYM_NO_STRING;
}


sym_status_t
sym_apply_origin_record(sym_breakpad_t *b, const sym_origin_record_t *r,
                        uint32_t name_hash)
{
    uint32_t id = SYM_NO_STRING;

    b->stats.inline_origins++;

    if (put_origin_file(b, r) != SYM_OK) {
        return b->err->status;
    }

    if (b->n_pending != 0
        && sym_numbers_get(&b->pending, r->number) == SYM_IS_PENDING)
    {
        b->n_pending--;
        (void) sym_numbers_put(&b->pending, r->number, 0, b->err);
        return sym_writer_define(
            b->writer, sym_numbers_get(&b->origins, r->number), r->name);
    }

    if (sym_writer_expected(b->writer, r->name, name_hash, &id) != SYM_OK) {
        return b->err->status;
    }

    return sym_numbers_put(&b->origins, r->number, id, b->err);
}


sym_status_t
sym_apply_origin(sym_breakpad_t *b, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, SYM_KEY_ORIGIN.len);
    sym_origin_record_t r = sym_read_origin(&f);

    if (!sym_fields_ok(&f)) {
        return refuse(b, "INLINE_ORIGIN record", line, &f);
    }

    return sym_apply_origin_record(b, &r, sym_writer_expect(b->writer, r.name));
}


sym_status_t
sym_apply_public(sym_breakpad_t *b, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, SYM_KEY_PUBLIC.len);
    sym_symbol_record_t r = sym_read_public(&f);
    uint32_t name;

    b->has_symbols = true;

    if (!sym_fields_ok(&f) || r.addr > UINT32_MAX) {
        b->stats.ignored++;
        return SYM_OK;
    }

    b->stats.publics++;

    if (sym_writer_string(b->writer, r.name, &name) != SYM_OK) {
        return b->err->status;
    }

    return sym_writer_public(b->writer, (uint32_t) r.addr, name);
}


/* --- functions --- */

sym_status_t
sym_apply_function_end(sym_breakpad_t *b)
{
    if (sym_current_close(&b->current, b->writer) != SYM_OK
        && b->err->section == NULL)
    {
        b->err->section = "FUNC record";
        b->err->offset = b->func_offset;
        b->err->line = b->func_line;
    }

    return b->err->status;
}


sym_status_t
sym_apply_func(sym_breakpad_t *b, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, SYM_KEY_FUNC.len);
    sym_symbol_record_t r = sym_read_func(&f);
    uint32_t hash = sym_writer_expect(b->writer, r.name), name;

    /* the prefetch of the name overlaps with ending the previous function */
    if (sym_apply_function_end(b) != SYM_OK) {
        return b->err->status;
    }

    if (!sym_fields_ok(&f)) {
        return refuse(b, "FUNC record", line, &f);
    }

    b->has_symbols = true;
    b->stats.functions++;
    b->func_offset = b->line_offset;
    b->func_line = b->stats.lines;

    if (!sym_current_wants(r.addr, r.size)) {
        b->stats.ignored++;
        sym_current_skip(&b->current);
        return SYM_OK;
    }

    if (sym_writer_expected(b->writer, r.name, hash, &name) != SYM_OK) {
        return b->err->status;
    }

    sym_current_open(&b->current, &r, name);
    return SYM_OK;
}


/* An INLINE may precede its INLINE_ORIGIN: then this reserves the name. */
static sym_status_t
reserve_origin(sym_breakpad_t *b, uint64_t number, uint32_t *name)
{
    if (sym_writer_reserve(b->writer, name) != SYM_OK
        || sym_numbers_put(&b->origins, number, *name, b->err) != SYM_OK
        || sym_numbers_put(&b->pending, number, SYM_IS_PENDING, b->err)
               != SYM_OK)
    {
        return b->err->status;
    }

    b->n_pending++;
    return SYM_OK;
}


/* Sets the call of an INLINE record for each of the record's ranges. */
static sym_status_t
begin_call(sym_breakpad_t *b, const sym_inline_record_t *r, sym_inline_t *call)
{
    sym_origin_t origin = { sym_numbers_get(&b->origins, r->origin),
                            SYM_NO_STRING };

    if (origin.name == SYM_NO_NUMBER
        && reserve_origin(b, r->origin, &origin.name) != SYM_OK)
    {
        return b->err->status;
    }

    if (!r->has_call_file) {
        origin.file = get_origin_file(b, r->origin);
    }

    *call = sym_current_inline(&b->current, r, &origin,
                               sym_numbers_get(&b->files, r->call_file));
    return SYM_OK;
}


sym_status_t
sym_apply_fast_inline(sym_breakpad_t *b, const sym_fast_inline_t *in)
{
    const sym_inline_record_t r = { .has_call_file = true,
                                    .depth = in->depth,
                                    .call_line = in->call_line,
                                    .call_file = in->call_file,
                                    .origin = in->origin };
    sym_inline_t call;

    if (begin_call(b, &r, &call) != SYM_OK) {
        return b->err->status;
    }

    for (unsigned i = 0; i < in->n_ranges; i++) {
        if (sym_current_range(&b->current, &call, in->ranges[i].addr,
                              in->ranges[i].size)
            != SYM_OK)
        {
            return sym_breakpad_locate(b, "INLINE record", 0);
        }
    }

    b->stats.inlines++;
    return SYM_OK;
}


sym_status_t
sym_apply_inline(sym_breakpad_t *b, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, SYM_KEY_INLINE.len);
    sym_inline_record_t r = sym_read_inline(&f);
    sym_inline_t call;
    uint64_t addr, size;

    if (sym_fields_ok(&f)) {
        if (begin_call(b, &r, &call) != SYM_OK) {
            return b->err->status;
        }

        while (sym_read_inline_range(&f, &addr, &size)) {
            if (sym_current_range(&b->current, &call, addr, size) != SYM_OK) {
                return sym_breakpad_locate(b, "INLINE record", 0);
            }
        }
    }

    if (!sym_fields_ok(&f)) {
        return refuse(b, "INLINE record", line, &f);
    }

    b->stats.inlines++;
    return SYM_OK;
}


sym_status_t
sym_apply_line(sym_breakpad_t *b, sym_str_t line)
{
    sym_fields_t f = sym_fields(line, 0);
    sym_line_record_t r = sym_read_line(&f);

    if (!sym_fields_ok(&f)) {
        return refuse(b, "line record", line, &f);
    }

    b->stats.line_records++;

    if (sym_current_line(&b->current, &r, sym_numbers_get(&b->files, r.file))
        != SYM_OK)
    {
        return sym_breakpad_locate(b, "line record", 0);
    }

    return SYM_OK;
}
