/*
 * The cache of modules while the store does not change: a lookup returns what
 * was stored for that key and version, or nothing; and nearly all of 10,000
 * modules are found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolicate/cache/modules.h"
#include "tap.h"

#define MODULES 10000u

typedef struct {
    char name[24], id[40];
    sym_module_key_t key;
} named_t;

/* The list of sources for which these modules are cached. */
#define LIST 3u

static sym_module_cache_t *cache;
static uint32_t list = LIST;


static void
name_of(uint32_t n, named_t *m)
{
    int name = snprintf(m->name, sizeof(m->name), "module%u.so", n);
    int id = snprintf(m->id, sizeof(m->id), "%032X0", n);

    m->key = (sym_module_key_t){ .scope = SYM_STR(""),
                                 .name = sym_str(m->name, (size_t) name),
                                 .id = sym_str(m->id, (size_t) id) };
}


static void
add(uint64_t version, uint32_t n)
{
    named_t m;

    name_of(n, &m);
    sym_module_cache_add(cache, version, &m.key, LIST,
                         sym_module_cache_hash(cache, &m.key, LIST),
                         &(sym_cached_module_t){ .state = SYM_MODULE_READY,
                                                 .module_id = n,
                                                 .slot = 3 * n,
                                                 .name = m.key.name });
}


static bool
finds(uint64_t version, const sym_module_key_t *key, sym_cached_module_t *found)
{
    uint64_t hash = sym_module_cache_hash(cache, key, list);

    sym_module_cache_expect(cache, hash);
    sym_module_cache_fetch(cache, hash);
    return sym_module_cache_find(cache, version, key, list, hash, found);
}


/* 1: found as stored; 0: not found; -1: another module. */
static int
find(uint64_t version, uint32_t n)
{
    sym_cached_module_t found;
    named_t m;

    name_of(n, &m);
    if (!finds(version, &m.key, &found)) {
        return 0;
    }

    return found.state == SYM_MODULE_READY && found.module_id == n
                   && found.slot == 3 * n && sym_str_eq(found.name, m.key.name)
               ? 1
               : -1;
}


static void
one_module(void)
{
    named_t m, other;
    sym_cached_module_t found;

    ok(find(7, 1) == 0, "nothing is cached");
    add(7, 1);
    ok(find(7, 1) == 1, "what was stored for a module");
    ok(find(8, 1) == 0, "... is void in another version of the store");

    name_of(1, &m);
    other = m;
    other.key.name = SYM_STR("module2.so");
    ok(!finds(7, &other.key, &found), "another name");
    other.key = m.key;
    other.key.code_id = SYM_STR("c0bcc3f19827fe653058404b2831d9e6a1b2c3d40011");
    ok(!finds(7, &other.key, &found), "a code id that was not requested");
    other.key.code_id = SYM_STR("");
    list++;
    ok(!finds(7, &other.key, &found), "another list of sources");
    list = LIST;

    sym_module_cache_add(
        cache, 8, &m.key, LIST, sym_module_cache_hash(cache, &m.key, LIST),
        &(sym_cached_module_t){ .state = SYM_MODULE_ABSENT, .expires_at = 99 });
    ok(finds(8, &m.key, &found) && found.state == SYM_MODULE_ABSENT
           && found.expires_at == 99 && found.name.len == 0,
       "an absent module, and until when");
}


static void
many_modules(void)
{
    unsigned n_found = 0, n_wrong = 0;

    for (uint32_t n = 0; n < MODULES; n++) {
        add(9, n);
    }

    for (uint32_t n = 0; n < MODULES; n++) {
        int result = find(9, n);

        n_found += result > 0;
        n_wrong += result < 0;
    }

    is_u64(n_wrong, 0, "10,000 modules: none is mistaken for another");
    ok(n_found > MODULES / 100 * 99, "... and more than 99 of 100 are found");
}


static void
more_than_fit(void)
{
    unsigned n_found = 0, n_wrong = 0;

    for (uint32_t n = 0; n < 8 * MODULES; n++) {
        add(10, n);
        n_wrong += find(10, n) != 1;
    }
    is_u64(n_wrong, 0, "80,000 modules: each is as it was added");

    for (uint32_t n = 0; n < 8 * MODULES; n++) {
        int result = find(10, n);

        n_found += result > 0;
        n_wrong += result < 0;
    }

    is_u64(n_wrong, 0, "... none is mistaken for another");
    ok(n_found > MODULES, "... and the cache is full");
}


/* A module that does not fit an entry is not kept, nor is the entry's old
 * content. */
static void
long_name(void)
{
    static char text[SYM_NAME_MAX];
    sym_cached_module_t found, told = { .state = SYM_MODULE_READY };
    sym_module_key_t key = { .scope = SYM_STR(""), .id = SYM_STR("ABC0") };

    memset(text, 'x', sizeof(text));
    key.name = sym_str(text, sizeof(text));
    sym_module_cache_add(cache, 11, &key, LIST,
                         sym_module_cache_hash(cache, &key, LIST), &told);
    ok(!finds(11, &key, &found), "a very long name is not kept");
}


int
main(void)
{
    cache = sym_module_cache_create();
    if (cache == NULL) {
        return 1;
    }

    one_module();
    many_modules();
    more_than_fit();
    long_name();
    sym_module_cache_free(cache);
    return done_testing();
}
