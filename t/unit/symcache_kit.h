/*
 * symcache_kit.h - modules with invented symbols, put into a store.
 */
#ifndef SYM_UNIT_SYMCACHE_KIT_H
#define SYM_UNIT_SYMCACHE_KIT_H

#include "store_kit.h"
#include "artifacts/symcache/write/writer.h"

static sym_status_t
put_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
           sym_error_t *err)
{
    return sym_ingest_extent(ctx, number, data, len, err);
}


__attribute__((unused)) static uint32_t
intern(sym_writer_t *w, const char *text)
{
    uint32_t id = SYM_NO_STRING;

    (void) sym_writer_string(w, sym_cstr(text), &id);
    return id;
}


static sym_module_key_t
key_of(const char *name, const char *id)
{
    return (sym_module_key_t){ .scope = SYM_STR(""),
                               .name = sym_cstr(name),
                               .id = sym_cstr(id) };
}


__attribute__((unused)) static void
store_module(sym_store_t *store, const char *name, const char *id,
             const char *code_file, uint32_t flags,
             void (*fill)(sym_writer_t *))
{
    sym_module_key_t key = key_of(name, id);
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION,
                                   .quality = SYM_QUALITY_LINES,
                                   /* a different one for most modules */
                                   .source_bytes = 1000 + key.name.len };
    sym_module_info_t info = { .debug_id = key.id,
                               .debug_file = key.name,
                               .code_file = sym_cstr(code_file),
                               .flags = flags };
    sym_error_t err = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    sym_ingest_t *ingest = NULL;

    if (w != NULL
        && sym_ingest_begin_object(store, SYM_KIND_SYMCACHE, &ingest, &err)
               == SYM_OK)
    {
        fill(w);
        (void) sym_writer_finish(w, &info, put_extent, ingest, NULL);
        (void) kit_commit(ingest, &key, &record, &err);
    }

    sym_writer_free(w);
    (void) is_status(err.status, SYM_OK, &err, name);
}

#endif
