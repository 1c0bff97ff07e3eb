#include "symbolicate/cache/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "object/object_id.h"

/* The cache is set-associative: a key selects a set, and its module may be in
 * any way of the set.  With half as many ways, a fifth of 10,000 modules used
 * in turn would evict each other. */
#define SETS 4096
#define WAYS 8

#define LINE 64 /* cache line; a comparison reads the first two of an entry */

/* Room for name, id, code id and the file's own name; enough for nearly all
 * modules. */
#define TEXT_MAX 195
#define TEXTS 4

typedef struct {
    uint64_t version; /* 0: free */
    uint64_t module_id;
    uint64_t tag;
    uint32_t slot;
    uint32_t since, expires_at;
    uint32_t scopes;
    uint8_t state;
    uint8_t lens[TEXTS];
    char text[TEXT_MAX];
} entry_t;

/* Tags: a different tag rules out a way without reading its entry. */
typedef struct {
    uint32_t tags[WAYS];
} set_t;

struct sym_module_cache_s {
    sym_hash_key_t key;
    set_t sets[SETS];
    uint8_t next[SETS];          /* the way to evict if none is free */
    entry_t entries[WAYS][SETS]; /* the last ways of a set are seldom used */
};

_Static_assert(SYM_NAME_MAX <= UINT8_MAX && SYM_CODE_ID_MAX <= UINT8_MAX,
               "lengths fit a byte");


sym_module_cache_t *
sym_module_cache_create(void)
{
    sym_module_cache_t *cache = calloc(1, sizeof(*cache));

    if (cache != NULL) {
        cache->key = sym_hash_key();
    }

    return cache;
}


void
sym_module_cache_free(sym_module_cache_t *cache)
{
    free(cache);
}


uint64_t
sym_module_cache_hash(const sym_module_cache_t *cache,
                      const sym_module_key_t *key, uint32_t scopes)
{
    sym_hash_state_t s = sym_hash_begin(&cache->key);

    sym_hash_word(&s, scopes);
    sym_hash_add(&s, key->id);
    sym_hash_add(&s, key->name);
    if (key->code_id.len != 0) {
        sym_hash_add(&s, key->code_id);
    }
    return sym_hash_end(s);
}


static bool
takes(const char **p, size_t len, sym_str_t s)
{
    bool is_same = len == s.len && (len == 0 || memcmp(*p, s.data, len) == 0);

    *p += len;
    return is_same;
}


/* Appends the name of the module's code file to the key. */
static bool
is_of(const entry_t *e, const sym_module_key_t *key, uint32_t scopes,
      const char **name)
{
    *name = e->text;
    return e->scopes == scopes && takes(name, e->lens[0], key->name)
           && takes(name, e->lens[1], key->id)
           && takes(name, e->lens[2], key->code_id);
}


void
sym_module_cache_expect(const sym_module_cache_t *cache, uint64_t hash)
{
    __builtin_prefetch(&cache->sets[hash % SETS]);
}


void
sym_module_cache_fetch(const sym_module_cache_t *cache, uint64_t hash)
{
    size_t place = hash % SETS;

    for (unsigned way = 0; way < WAYS; way++) {
        if (cache->sets[place].tags[way] == (uint32_t) (hash >> 32)) {
            const entry_t *e = &cache->entries[way][place];

            __builtin_prefetch(e);
            __builtin_prefetch((const char *) e + LINE);
        }
    }
}


bool
sym_module_cache_find(const sym_module_cache_t *cache, uint64_t version,
                      const sym_module_key_t *key, uint32_t scopes,
                      uint64_t hash, sym_cached_module_t *module)
{
    size_t place = hash % SETS;
    const char *name;

    for (unsigned way = 0; way < WAYS; way++) {
        const entry_t *e = &cache->entries[way][place];

        if (cache->sets[place].tags[way] != (uint32_t) (hash >> 32)
            || e->version == 0 || e->version != version
            || !is_of(e, key, scopes, &name))
        {
            continue;
        }

        *module = (sym_cached_module_t){ .state = (sym_module_state_t) e->state,
                                         .since = e->since,
                                         .expires_at = e->expires_at,
                                         .module_id = e->module_id,
                                         .tag = e->tag,
                                         .slot = e->slot,
                                         .name = sym_str(name, e->lens[3]) };
        return true;
    }

    return false;
}


/* Returns the way for a new module: an outdated one, or the next in turn. */
static unsigned
way_for(sym_module_cache_t *cache, size_t place, uint64_t version)
{
    for (unsigned way = 0; way < WAYS; way++) {
        if (cache->entries[way][place].version != version) {
            return way;
        }
    }

    return cache->next[place]++ % WAYS;
}


void
sym_module_cache_add(sym_module_cache_t *cache, uint64_t version,
                     const sym_module_key_t *key, uint32_t scopes,
                     uint64_t hash, const sym_cached_module_t *module)
{
    const sym_str_t texts[TEXTS] = { key->name, key->id, key->code_id,
                                     module->name };
    size_t place = hash % SETS;
    unsigned way = way_for(cache, place, version);
    entry_t *e = &cache->entries[way][place];
    char *p = e->text;

    e->version = 0;
    cache->sets[place].tags[way] = (uint32_t) (hash >> 32);

    for (unsigned i = 0; i < TEXTS; i++) {
        if (texts[i].len > UINT8_MAX
            || texts[i].len > (size_t) (e->text + TEXT_MAX - p))
        {
            return;
        }

        e->lens[i] = (uint8_t) texts[i].len;
        if (texts[i].len != 0) {
            memcpy(p, texts[i].data, texts[i].len);
        }
        p += texts[i].len;
    }

    e->module_id = module->module_id;
    e->tag = module->tag;
    e->slot = module->slot;
    e->scopes = scopes;
    e->state = (uint8_t) module->state;
    e->since = module->since;
    e->expires_at = module->expires_at;
    e->version = version;
}
