#include "symbolicate/cache/names.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "symbolicate/cache/answers.h"

struct sym_names_s {
    sym_hash_key_t key;
    sym_answer_cache_t
        *cache; /* entry for a name's hash: the name, then the result */
    sym_names_counts_t counts;
    char text[SYM_MANGLED_MAX + SYM_DEMANGLED_MAX];
};


sym_names_t *
sym_names_create(size_t bytes)
{
    sym_names_t *names = calloc(1, sizeof(*names));

    if (names == NULL) {
        return NULL;
    }

    names->key = sym_hash_key();
    names->cache = bytes != 0 ? sym_answer_cache_create(bytes) : NULL;
    if (bytes != 0 && names->cache == NULL) {
        free(names);
        return NULL;
    }

    return names;
}


void
sym_names_free(sym_names_t *names)
{
    if (names != NULL) {
        sym_answer_cache_free(names->cache);
        free(names);
    }
}


sym_names_counts_t
sym_names_counts(const sym_names_t *names)
{
    return names->counts;
}


/* Returns false if the name is not cached, or if the entry has another name. */
static bool
find(const sym_names_t *names, const sym_answer_cache_key_t *key,
     const sym_answer_cache_ref_t *ref, sym_str_t name, sym_str_t *shown)
{
    const char *text = sym_answer_cache_text(names->cache, key, ref);

    if (text == NULL || ref->len < name.len
        || memcmp(text, name.data, name.len) != 0)
    {
        return false;
    }

    *shown = sym_str(text + name.len, ref->len - name.len);
    return true;
}


sym_str_t
sym_names_show(sym_names_t *names, sym_str_t name, uint8_t lang, unsigned style)
{
    sym_answer_cache_key_t key = { 0 };
    sym_answer_cache_ref_t ref = { 0 };
    sym_answer_cache_state_t state = SYM_ANSWER_CACHE_MISS;
    sym_str_t shown;

    /* prefixes of all mangled names; most names in C have none of them */
    if (name.len < 3 || name.len > SYM_MANGLED_MAX
        || (name.data[0] != '_' && name.data[0] != '?'))
    {
        return name;
    }

    if (names->cache != NULL) {
        key = (sym_answer_cache_key_t){ sym_hash(&names->key, name),
                                        (uint32_t) name.len,
                                        (uint32_t) lang << 8 | style };
        state = sym_answer_cache_meet(names->cache, &key, &ref);
    }

    if (state == SYM_ANSWER_CACHE_HIT && find(names, &key, &ref, name, &shown))
    {
        names->counts.copied++;
        return shown.len != 0 ? shown : name;
    }

    names->counts.demangled++;
    names->counts.demangled_bytes += name.len;
    memcpy(names->text, name.data, name.len);
    shown.data = names->text + name.len;
    shown.len = sym_demangle(name, lang, style, names->text + name.len,
                             SYM_DEMANGLED_MAX);

    if (state != SYM_ANSWER_CACHE_MISS
        && name.len + shown.len <= SYM_ANSWER_CACHE_TEXT_MAX)
    {
        sym_answer_cache_keep(names->cache, &key, names->text,
                              name.len + shown.len);
    }
    return shown.len != 0 ? shown : name;
}
