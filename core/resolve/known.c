#include "resolve/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define MODULES 4096

/* scope, name, id, and the file's own name; nearly all fit. */
#define TEXT_MAX 208

typedef struct {
    uint64_t version; /* 0: free */
    uint64_t module_id;
    uint32_t slot;
    uint32_t expires_at;
    uint8_t state;
    uint8_t lens[4];
    char text[TEXT_MAX];
} entry_t;

struct sym_known_s {
    entry_t entries[MODULES];
};

_Static_assert(SYM_SCOPE_MAX <= UINT8_MAX && SYM_NAME_MAX <= UINT8_MAX
                   && SYM_ID_MAX <= UINT8_MAX,
               "lengths fit a byte");


sym_known_t *
sym_known_create(void)
{
    return calloc(1, sizeof(sym_known_t));
}


void
sym_known_free(sym_known_t *known)
{
    free(known);
}


static size_t
place_of(const sym_module_key_t *key)
{
    uint64_t h = sym_hash(0, key->id);

    return (size_t) (sym_hash(sym_hash(h, key->name), key->scope) % MODULES);
}


static bool
takes(const char **p, size_t len, sym_str_t s)
{
    bool is_same = len == s.len && (len == 0 || memcmp(*p, s.data, len) == 0);

    *p += len;
    return is_same;
}


bool
sym_known_find(const sym_known_t *known, uint64_t version,
               const sym_module_key_t *key, sym_known_module_t *module)
{
    const entry_t *e = &known->entries[place_of(key)];
    const char *p = e->text;

    if (e->version == 0 || e->version != version
        || !takes(&p, e->lens[0], key->scope)
        || !takes(&p, e->lens[1], key->name) || !takes(&p, e->lens[2], key->id))
    {
        return false;
    }

    *module = (sym_known_module_t){ .state = (sym_module_state_t) e->state,
                                    .expires_at = e->expires_at,
                                    .module_id = e->module_id,
                                    .slot = e->slot,
                                    .name = sym_str(p, e->lens[3]) };
    return true;
}


void
sym_known_add(sym_known_t *known, uint64_t version, const sym_module_key_t *key,
              const sym_known_module_t *module)
{
    const sym_str_t texts[] = { key->scope, key->name, key->id, module->name };
    entry_t *e = &known->entries[place_of(key)];
    char *p = e->text;

    e->version = 0;

    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
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
    e->slot = module->slot;
    e->state = (uint8_t) module->state;
    e->expires_at = module->expires_at;
    e->version = version;
}
