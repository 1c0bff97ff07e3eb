#include "symbolicate/state.h"

static sym_status_t
get_extent(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    sym_opened_module_t *m = ctx;
    sym_status_t rc = sym_snapshot_extent_sound(
        m->resolver->snapshot, m->module_id, number, data, len);

    if (rc == SYM_DAMAGED && !m->is_unsound) {
        m->is_unsound = true;
        m->resolver->is_unsound = true;
    }

    return rc;
}


/* Without a table, each access to an extent is a lookup in the store: correct,
 * but slow. */
static void
remember(sym_resolver_t *r, sym_opened_module_t *m)
{
    size_t bytes = m->cache.n_extents * sizeof(*m->table);

    if (m->cache.n_extents > m->n_table && bytes <= r->remember_left) {
        m->n_table = m->cache.n_extents;
        m->table = sym_arena_calloc(r->arena, m->n_table, sizeof(*m->table));
        m->n_table = m->table != NULL ? m->n_table : 0;
        r->remember_left -= m->table != NULL ? bytes : 0;
    }

    if (m->table != NULL && m->cache.n_extents <= m->n_table) {
        sym_symcache_remember(&m->cache, m->table);
    }
}


/* Copies the name of the module's file.  Names are short, but a store may
 * contain long ones: the stack has room for the longest fact. */
static sym_status_t
copy_name(sym_resolver_t *r, sym_opened_module_t *m)
{
    char text[SYM_PART_ROOM];
    size_t len = sym_symcache_info(&m->cache, SYM_INFO_CODE_FILE, text);

    m->name = sym_arena_copy(r->arena, sym_str(text, len));
    return m->name.data != NULL ? SYM_OK : SYM_NOMEM;
}


static void
close_cache(sym_resolver_t *r, sym_opened_module_t *m)
{
    r->damaged += m->cache.damaged;
    m->cache = (sym_symcache_t){ 0 };
    m->is_open = false;

    if (m->table != NULL) {
        memset(m->table, 0, m->n_table * sizeof(*m->table));
    }
}


sym_status_t
sym_resolver_open_cache(sym_resolver_t *r, sym_opened_module_t *m,
                        sym_error_t *err)
{
    if (sym_symcache_open(&m->cache, m->get, m->get_ctx, err) != SYM_OK) {
        r->damaged++;
        return SYM_DAMAGED;
    }

    remember(r, m);
    m->is_open = true;
    return SYM_OK;
}


sym_status_t
sym_resolver_choose(sym_resolver_t *r, const sym_lookup_t *of,
                    sym_choice_t *choice, sym_missing_t *missing)
{
    sym_error_t err = { 0 };
    sym_status_t rc = sym_places_choose(r->snapshot, r->scopes, of, r->now_s,
                                        r->arena, choice, &err);

    if (rc != SYM_OK) {
        r->damaged += rc != SYM_NOT_FOUND;
        return rc == SYM_NOT_FOUND ? SYM_NOT_FOUND : SYM_DAMAGED;
    }

    if (choice->state == SYM_MODULE_READY) {
        sym_store_touch(r->store, choice->record.slot, r->now_s);
        missing->is_open = choice->is_open;
    }

    return SYM_OK;
}


sym_status_t
sym_resolver_tell(sym_resolver_t *r, const sym_choice_t *choice,
                  sym_missing_t *missing)
{
    missing->state = choice->state;
    missing->expires_at = choice->until;

    if (choice->state == SYM_MODULE_FAILED
        || choice->state == SYM_MODULE_MALFORMED) {
        missing->reason = sym_arena_copy(r->arena, choice->reason);
        return missing->reason.data != NULL ? SYM_NOT_FOUND : SYM_NOMEM;
    }

    return SYM_NOT_FOUND;
}


/* Whether a cached result is still valid.  If the clock was set back, its age
 * is unknown. */
static bool
is_current(const sym_resolver_t *r, const sym_cached_module_t *cached)
{
    return cached->expires_at == 0
           || (cached->expires_at > r->now_s
               && cached->since <= r->now_s + SYM_CLOCK_SLACK_S);
}


/* Hash of the parts of a reference that select paths in addition to the key; 0:
 * there are none. */
static uint64_t
tag_of(const sym_object_ref_t *ref)
{
    return ref->is_either && ref->sent.len == 0 ? 0 : sym_object_ref_hash(ref);
}


/* Whether the result applies to this reference.  A good module applies to
 * all. */
static bool
is_of(const sym_cached_module_t *cached, const sym_object_ref_t *ref)
{
    return (cached->state == SYM_MODULE_READY && cached->expires_at == 0)
           || cached->tag == tag_of(ref);
}


/* Returns true if the module was already looked up in this version of the
 * store. */
static bool
is_known(sym_resolver_t *r, sym_opened_module_t *m, const sym_module_key_t *key,
         const sym_lookup_t *of, sym_missing_t *missing, sym_status_t *rc)
{
    sym_cached_module_t cached;

    if (r->module_cache == NULL
        || !sym_module_cache_find(r->module_cache, r->version, key,
                                  r->scopes->number, m->hash, &cached)
        || !is_current(r, &cached)
        || sym_snapshot_is_unsound(r->snapshot, cached.module_id)
        || !is_of(&cached, of->ref))
    {
        return false;
    }

    if (cached.state != SYM_MODULE_READY) {
        const sym_choice_t choice = { .state = cached.state,
                                      .until = cached.expires_at };

        *rc = sym_resolver_tell(r, &choice, missing);
        return true;
    }

    sym_store_touch(r->store, cached.slot, r->now_s);
    m->module_id = cached.module_id;
    m->name = sym_arena_copy(r->arena, cached.name);
    *rc = m->name.data != NULL ? SYM_OK : SYM_NOMEM;
    return true;
}


/* Modules that sources may still have are not cached. */
static void
remember_module(sym_resolver_t *r, const sym_opened_module_t *m,
                const sym_module_key_t *key, const sym_object_ref_t *ref,
                const sym_choice_t *choice, sym_str_t name)
{
    bool is_good = choice->state == SYM_MODULE_READY && choice->until == 0;

    if (r->module_cache != NULL && choice->state != SYM_MODULE_FAILED
        && !choice->is_open)
    {
        sym_module_cache_add(
            r->module_cache, r->version, key, r->scopes->number, m->hash,
            &(sym_cached_module_t){ .state = choice->state,
                                    .since = r->now_s,
                                    .expires_at = choice->until,
                                    .module_id = choice->record.module_id,
                                    .tag = is_good ? 0 : tag_of(ref),
                                    .slot = choice->record.slot,
                                    .name = name });
    }
}


/* A symcache points to its module, so it is reopened after modules have
 * moved. */
bool
sym_resolver_reserve(sym_resolver_t *r, uint32_t n_modules)
{
    sym_opened_module_t *grown;

    if (n_modules <= r->n_modules) {
        return true;
    }

    grown = sym_arena_calloc(r->arena, n_modules, 2 * sizeof(*grown));
    if (grown == NULL) {
        return false;
    }

    if (r->n_modules != 0) {
        memcpy(grown, r->modules, r->n_modules * sizeof(*grown));
    }

    for (uint32_t i = 0; i < r->n_modules; i++) {
        close_cache(r, &grown[i]);
        grown[i].get_ctx = &grown[i];
    }

    r->modules = grown;
    r->n_modules = 2 * n_modules;
    return true;
}


void
sym_resolver_expect(sym_resolver_t *r, uint32_t module,
                    const sym_module_key_t *key)
{
    if (r->module_cache != NULL) {
        r->modules[module].hash =
            sym_module_cache_hash(r->module_cache, key, r->scopes->number);
        sym_module_cache_expect(r->module_cache, r->modules[module].hash);
    }
}


void
sym_resolver_fetch(const sym_resolver_t *r, uint32_t module)
{
    if (r->module_cache != NULL) {
        sym_module_cache_fetch(r->module_cache, r->modules[module].hash);
    }
}


static sym_status_t
open_module(sym_resolver_t *r, uint32_t module, const sym_module_key_t *key,
            const sym_lookup_t *of, sym_missing_t *missing)
{
    sym_opened_module_t *m = &r->modules[module];
    sym_choice_t choice;
    sym_error_t err = { 0 };
    sym_status_t rc;

    *missing = (sym_missing_t){ 0 };
    if (r->snapshot == NULL) {
        return SYM_NOT_FOUND;
    }

    m->resolver = r;
    m->get = get_extent;
    m->get_ctx = m;
    if (is_known(r, m, key, of, missing, &rc)) {
        return rc;
    }

    rc = sym_resolver_choose(r, of, &choice, missing);
    if (rc != SYM_OK) {
        return rc;
    }

    if (choice.state != SYM_MODULE_READY) {
        remember_module(r, m, key, of->ref, &choice, SYM_STR(""));
        return sym_resolver_tell(r, &choice, missing);
    }

    m->module_id = choice.record.module_id;
    rc = sym_resolver_open_cache(r, m, &err);
    if (rc == SYM_OK) {
        rc = copy_name(r, m);
    }

    if (rc == SYM_OK && m->cache.damaged == 0) {
        remember_module(r, m, key, of->ref, &choice, m->name);
    }

    return rc;
}


/* Skips a damaged module, because another source may have a good one. */
sym_status_t
sym_resolver_open(sym_resolver_t *r, uint32_t module,
                  const sym_module_key_t *key, const sym_lookup_t *of,
                  sym_missing_t *missing)
{
    sym_opened_module_t *m = &r->modules[module];
    bool was_unsound = r->is_unsound;

    for (uint32_t i = 0; i <= r->scopes->n; i++) {
        sym_status_t rc = open_module(r, module, key, of, missing);

        if (!m->is_unsound) {
            return rc;
        }

        close_cache(r, m);
        m->is_unsound = false;
        r->is_unsound = was_unsound;
    }

    return SYM_DAMAGED;
}


sym_status_t
sym_resolver_attach(sym_resolver_t *r, uint32_t module, uint64_t id,
                    const sym_extent_source_t *extents, sym_error_t *err)
{
    sym_opened_module_t *m = &r->modules[module];
    sym_status_t rc;

    close_cache(r, m);
    m->resolver = r;
    m->get = extents->get;
    m->get_ctx = extents->ctx;
    r->remember_left = SIZE_MAX; /* a command uses few modules */

    if (m->module_id != id) {
        sym_texts_forget(&r->texts);
        m->module_id = id;
    }

    rc = sym_resolver_open_cache(r, m, err);
    if (rc == SYM_OK && m->cache.n_extents != extents->n) {
        close_cache(r, m);
        return sym_fail(err, SYM_DAMAGED, "symcache miscounts its extents");
    }

    return rc;
}


/* The extents of a module are deleted together with its record, and ids are
 * never reused.  So the module still exists if its first extent does. */
static void
resume_module(sym_resolver_t *r, sym_opened_module_t *m)
{
    const uint8_t *data;
    size_t len;

    close_cache(r, m);
    m->is_lost = get_extent(m, 0, &data, &len) != SYM_OK;
}


void
sym_resolver_resume(sym_resolver_t *r, sym_snapshot_t *snapshot)
{
    r->store = sym_snapshot_store(snapshot);
    r->snapshot = snapshot;
    r->answer_cache = NULL;
    r->module_cache = NULL;

    for (uint32_t i = 0; i < r->n_modules; i++) {
        if (r->modules[i].module_id != 0) {
            resume_module(r, &r->modules[i]);
        }
    }
}


bool
sym_resolver_met_unsound(sym_resolver_t *r)
{
    bool is_unsound = r->is_unsound;

    r->is_unsound = false;
    return is_unsound;
}


bool
sym_resolver_is_unsound(const sym_resolver_t *r, uint32_t module)
{
    return r->modules[module].is_unsound;
}


bool
sym_resolver_is_lost(const sym_resolver_t *r, uint32_t module)
{
    return r->modules[module].is_lost;
}


uint64_t
sym_resolver_source_bytes(sym_resolver_t *r, const sym_lookup_t *of)
{
    sym_choice_t choice;
    sym_error_t err = { 0 };

    return sym_places_choose(r->snapshot, r->scopes, of, r->now_s, r->arena,
                             &choice, &err)
                       == SYM_OK
                   && choice.state == SYM_MODULE_READY
               ? choice.record.source_bytes
               : 0;
}


sym_str_t
sym_resolver_name(const sym_resolver_t *r, uint32_t module)
{
    return r->modules[module].name;
}


uint64_t
sym_resolver_image_base(sym_resolver_t *r, uint32_t module)
{
    const sym_symcache_t *cache = sym_resolver_cache(r, module);

    return cache != NULL ? cache->image_base : 0;
}


bool
sym_resolver_offset(sym_resolver_t *r, uint32_t module, uint64_t offset,
                    uint64_t *addr)
{
    sym_symcache_t *cache = sym_resolver_cache(r, module);

    return cache != NULL && sym_symcache_offset(cache, offset, addr);
}


size_t
sym_resolver_info(sym_resolver_t *r, uint32_t module, sym_info_t which,
                  char *out)
{
    sym_symcache_t *cache = sym_resolver_cache(r, module);

    return cache != NULL ? sym_symcache_info(cache, which, out) : 0;
}


size_t
sym_resolver_source_server(sym_resolver_t *r, uint32_t module, char *out)
{
    sym_symcache_t *cache = sym_resolver_cache(r, module);

    return cache != NULL ? sym_symcache_source_server(cache, out) : 0;
}


/* For a symcache that does not contain the features of its file: derives them
 * from the contents. */
static uint32_t
guess_features(const sym_symcache_t *cache)
{
    sym_symcache_counts_t counts;

    sym_symcache_counts(cache, &counts);
    return sym_feature_flags(cache->quality >= SYM_QUALITY_FUNCTIONS,
                             counts.publics != 0, false);
}


uint32_t
sym_resolver_flags(sym_resolver_t *r, uint32_t module)
{
    const sym_symcache_t *cache = sym_resolver_cache(r, module);

    if (cache == NULL) {
        return SYM_FLAG_FEATURES;
    }

    return (cache->flags & SYM_FLAG_FEATURES) != 0
               ? cache->flags
               : cache->flags | guess_features(cache);
}
