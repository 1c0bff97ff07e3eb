#include "api/file_names.h"

#include <ctype.h>

#include "artifacts/kinds.h"
#include "artifacts/symcache/read/reader.h"
#include "sources/paths/rules.h"

typedef struct {
    sym_snapshot_t *snapshot;
    uint64_t module_id;
} extents_t;

typedef struct {
    sym_snapshot_t *snapshot;
    const sym_file_request_t *request;
    sym_file_names_t *names;
    bool is_found;
} search_t;


static sym_status_t
get_extent(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    const extents_t *e = ctx;

    return sym_snapshot_extent_sound(e->snapshot, e->module_id, number, data,
                                     len);
}


/* Copies a text to *p, and moves it. */
static sym_str_t
keep(char **p, sym_str_t text)
{
    char *start = *p;

    (void) sym_str_append(p, text);
    return sym_str(start, text.len);
}


/* False: the texts are no names. */
static bool
set(sym_file_names_t *names, const sym_file_request_t *request,
    sym_str_t debug_file, sym_str_t code_file, sym_str_t debug_id,
    const sym_code_id_t *code_id)
{
    char *p = names->text;

    if (!sym_source_name_ok(debug_file) || debug_file.len > SYM_NAME_MAX
        || code_file.len > SYM_NAME_MAX || debug_id.len > SYM_ID_TEXT_MAX)
    {
        return false;
    }

    code_id = code_id->len != 0 ? code_id : &request->object.code_id;
    names->debug_file = keep(&p, debug_file);
    names->code_file = keep(&p, code_file);
    names->debug_id = keep(&p, debug_id);
    names->code_id = keep(&p, sym_str(code_id->text, code_id->len));
    for (char *c = p - code_id->len; c < p; c++) {
        *c = (char) toupper((unsigned char) *c);
    }

    return true;
}


/* Other modules may have the same code id, so one of the names must match. */
static void
consider(search_t *s, const sym_object_record_t *record, sym_symcache_t *cache)
{
    sym_str_t wanted = s->request->object.debug_file, debug_file, code_file;
    char debug[SYM_PART_ROOM], code[SYM_PART_ROOM], id[SYM_ID_TEXT_MAX];

    debug_file =
        sym_str(debug, sym_symcache_info(cache, SYM_INFO_DEBUG_FILE, debug));
    code_file =
        sym_str(code, sym_symcache_info(cache, SYM_INFO_CODE_FILE, code));
    debug_file = sym_object_file_name(
        debug_file.len != 0 ? debug_file : record->object.name);
    code_file = sym_object_file_name(code_file);

    if ((sym_str_eq(wanted, debug_file) || sym_str_eq(wanted, code_file))
        && set(s->names, s->request, debug_file, code_file,
               sym_str(id, sym_debug_id_write_breakpad(&record->object.debug_id,
                                                       id)),
               &record->object.code_id))
    {
        s->names->stored_at = record->stored_at;
        s->is_found = true;
    }
}


static sym_status_t
each(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    search_t *s = ctx;
    extents_t extents = { s->snapshot, record->module_id };
    sym_error_t err = { 0 };
    sym_symcache_t cache;

    (void) scope;

    if (record->kind == SYM_KIND_SYMCACHE && record->state == SYM_MODULE_READY
        && sym_kind_reads(record->kind, record->kind_version)
        && record->object.debug_id.form != SYM_DEBUG_ID_NONE
        && (s->names->debug_id.len == 0
            || record->stored_at > s->names->stored_at)
        && sym_symcache_open(&cache, get_extent, &extents, &err) == SYM_OK)
    {
        consider(s, record, &cache);
    }

    return SYM_OK;
}


sym_status_t
sym_file_names_find(sym_snapshot_t *snapshot, sym_str_t scope,
                    const sym_file_request_t *request, sym_file_names_t *names,
                    sym_error_t *err)
{
    search_t s = { .snapshot = snapshot, .request = request, .names = names };
    sym_status_t rc =
        sym_snapshot_matches(snapshot, scope, &request->object, each, &s, err);

    return rc != SYM_OK ? rc : s.is_found ? SYM_OK : SYM_NOT_FOUND;
}


bool
sym_file_names_read(sym_str_t made, const sym_file_request_t *request,
                    sym_file_names_t *names)
{
    static const sym_code_id_t unknown;
    const char *slash =
        made.len != 0 ? memrchr(made.data, '/', made.len) : NULL;
    size_t len = slash != NULL ? (size_t) (slash - made.data) : 0;

    return len != 0
           && set(names, request, sym_object_file_name(sym_str(made.data, len)),
                  request->object.debug_file,
                  sym_str(slash + 1, made.len - len - 1), &unknown);
}
