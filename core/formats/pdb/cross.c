#include "formats/pdb/cross.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "formats/pdb/le.h"
#include "formats/pdb/lines.h"

/* An index (LLVM: DebugCrossImpSubsection; cvinfo.h, CrossScopeReferences).
 * The highest bit is set. 11 bits select a module from the imports, 20 bits
 * select one of its local ids. */
#define MODULE_SHIFT 20
#define MODULE_MASK 0x7ffu
#define NUMBER_MASK 0xfffffu

/* Imports from one module: name, number of local ids, the ids. */
#define IMPORTS_BYTES 8

/* LocalIdAndGlobalIdPair: local id, index. */
#define EXPORT_BYTES 8

typedef struct {
    bool is_read;
    sym_sort_item_t *items; /* local id -> index, sorted by local id */
    size_t n;
} exports_t;

struct sym_pdb_exports_s {
    pthread_mutex_t lock;
    const sym_pdb_t *pdb;
    exports_t *exports; /* one for each module */
    sym_hash_key_t key;
    sym_sort_item_t *by_name; /* hash -> module, sorted; NULL: not built yet */
};


sym_pdb_exports_t *
sym_pdb_exports_create(const sym_pdb_t *pdb)
{
    sym_pdb_exports_t *e = calloc(1, sizeof(*e));

    if (e == NULL) {
        return NULL;
    }

    e->pdb = pdb;
    e->key = sym_hash_key();
    e->exports = calloc(pdb->n_modules + 1, sizeof(*e->exports));
    if (e->exports == NULL) {
        free(e);
        return NULL;
    }

    (void) pthread_mutex_init(&e->lock, NULL);
    return e;
}


void
sym_pdb_exports_free(sym_pdb_exports_t *e)
{
    if (e == NULL) {
        return;
    }

    for (size_t i = 0; i < e->pdb->n_modules; i++) {
        free(e->exports[i].items);
    }

    (void) pthread_mutex_destroy(&e->lock);
    free(e->exports);
    free(e->by_name);
    free(e);
}


/* --- modules by name --- */

/* Compares two names, ignoring case.  Names are long and share prefixes,
 * because they are paths of one build. */
static uint64_t
hash_name(const sym_hash_key_t *key, sym_str_t name)
{
    sym_hash_state_t state = sym_hash_begin(key);
    char lowered[64];

    for (size_t at = 0, n; at < name.len; at += n) {
        n = name.len - at < sizeof(lowered) ? name.len - at : sizeof(lowered);
        for (size_t i = 0; i < n; i++) {
            lowered[i] = sym_lower(name.data[at + i]);
        }
        sym_hash_add(&state, sym_str(lowered, n));
    }

    return sym_hash_end(state);
}


static bool
is_same_name(sym_str_t a, sym_str_t b)
{
    size_t i = 0;

    while (i < a.len && i < b.len
           && sym_lower(a.data[i]) == sym_lower(b.data[i])) {
        i++;
    }

    return i == a.len && i == b.len;
}


static sym_status_t
sort_modules(sym_pdb_exports_t *e)
{
    const size_t n = e->pdb->n_modules;

    if (e->by_name != NULL) {
        return SYM_OK;
    }

    e->by_name = malloc((n + 1) * sizeof(*e->by_name));
    if (e->by_name == NULL) {
        return SYM_NOMEM;
    }

    for (size_t i = 0; i < n; i++) {
        e->by_name[i] =
            (sym_sort_item_t){ hash_name(&e->key, e->pdb->modules[i].name),
                               (uint32_t) i };
    }

    if (!sym_sort(e->by_name, n)) {
        free(e->by_name);
        e->by_name = NULL;
        return SYM_NOMEM;
    }

    return SYM_OK;
}


/* The first module with this name, whose hash is `hash`.  NULL: there is
 * none. */
static const sym_pdb_module_t *
find_module(const sym_pdb_exports_t *e, sym_str_t name, uint64_t hash)
{
    const size_t n = e->pdb->n_modules;
    size_t i = sym_sort_find(e->by_name, n, hash);

    for (; i < n && e->by_name[i].key == hash; i++) {
        const sym_pdb_module_t *m = &e->pdb->modules[e->by_name[i].at];

        if (is_same_name(m->name, name)) {
            return m;
        }
    }

    return NULL;
}


/* --- exports of one module --- */

static sym_status_t
copy_exports(exports_t *x, sym_str_t bytes)
{
    const size_t n = bytes.len / EXPORT_BYTES;

    x->items = malloc((n + 1) * sizeof(*x->items));
    if (x->items == NULL) {
        return SYM_NOMEM;
    }

    for (size_t i = 0; i < n; i++) {
        const char *at = bytes.data + i * EXPORT_BYTES;

        x->items[i] = (sym_sort_item_t){ sym_le32(at), sym_le32(at + 4) };
    }

    x->n = n;
    return sym_sort(x->items, n) ? SYM_OK : SYM_NOMEM;
}


static sym_status_t
read_exports(const sym_pdb_exports_t *e, const sym_pdb_module_t *m,
             exports_t *x)
{
    sym_buffer_t copy = { 0 };
    sym_error_t ignored = { 0 };
    sym_str_t symbols, c13;
    sym_status_t rc;

    if (x->is_read) {
        return SYM_OK;
    }

    rc = sym_pdb_module_read(e->pdb, m, &copy, &symbols, &c13, &ignored);
    if (rc == SYM_OK) {
        rc = copy_exports(x, sym_pdb_subsection(c13, SYM_PDB_EXPORTS));
    }

    sym_buffer_free(&copy);
    x->is_read = true;
    return rc == SYM_NOMEM ? rc : SYM_OK;
}


static sym_status_t
find_export(sym_pdb_exports_t *e, sym_str_t name, uint64_t hash,
            uint32_t number, uint32_t *found)
{
    const sym_pdb_module_t *m;
    exports_t *x;
    size_t at;

    if (sort_modules(e) != SYM_OK) {
        return SYM_NOMEM;
    }

    m = find_module(e, name, hash);
    if (m == NULL) {
        return SYM_NOT_FOUND;
    }

    x = &e->exports[m - e->pdb->modules];
    if (read_exports(e, m, x) != SYM_OK) {
        return SYM_NOMEM;
    }

    at = sym_sort_find(x->items, x->n, number);
    if (at == x->n || x->items[at].key != number) {
        return SYM_NOT_FOUND;
    }

    *found = x->items[at].at;
    return SYM_OK;
}


/* The local ids imported from module number `which`. */
static sym_str_t
imports_of(sym_str_t imports, uint32_t which, uint32_t *name)
{
    while (imports.len >= IMPORTS_BYTES) {
        const uint64_t bytes = (uint64_t) sym_le32(imports.data + 4) * 4;
        const size_t left = imports.len - IMPORTS_BYTES;
        const size_t n = bytes < left ? (size_t) bytes : left;

        if (which-- == 0) {
            *name = sym_le32(imports.data);
            return sym_str(imports.data + IMPORTS_BYTES, n);
        }

        imports = sym_str(imports.data + IMPORTS_BYTES + n, left - n);
    }

    return SYM_STR("");
}


sym_status_t
sym_pdb_exports_find(sym_pdb_exports_t *e, sym_str_t imports, uint32_t index,
                     uint32_t *found)
{
    const uint32_t at = (index & NUMBER_MASK) * 4;
    uint32_t offset = 0;
    const sym_str_t numbers =
        imports_of(imports, index >> MODULE_SHIFT & MODULE_MASK, &offset);
    sym_str_t name;
    uint64_t hash;
    sym_status_t rc;

    if (numbers.len < 4 || at > numbers.len - 4) {
        return SYM_NOT_FOUND;
    }

    name = sym_pdb_name(e->pdb, offset);
    hash = hash_name(&e->key, name);
    (void) pthread_mutex_lock(&e->lock);
    rc = find_export(e, name, hash, sym_le32(numbers.data + at), found);
    (void) pthread_mutex_unlock(&e->lock);
    return rc;
}
