#include "symbolicate/cache/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

/* Small texts need entries, and so do those seen only once. */
#define BYTES_PER_ENTRY 64

/* A hash has this many possible entries: a cache line. */
#define WAYS 4

#define LINE ((size_t) 64)

typedef struct {
    uint64_t place; /* position among all bytes ever written, + 1; 0: seen, but
                       not cached */
    uint32_t tag;   /* more bits of the hash; 0: free */
    uint32_t len;
} entry_t;

struct sym_answer_cache_s {
    size_t size;
    uint64_t written; /* bytes written in total, including gaps at the ring's
                         end */
    size_t at;        /* position of the next text; its offset in the ring is
                         this modulo the size */
    uint32_t mask;    /* number of sets - 1 */
    entry_t *entries;
    char *ring; /* keys, each followed by its text */
};

_Static_assert(sizeof(entry_t) * WAYS == LINE, "a set is a cache line");
_Static_assert(sizeof(sym_answer_cache_key_t) == 16,
               "no holes: compared as bytes");
_Static_assert(SYM_ANSWER_CACHE_TEXT_MAX + sizeof(sym_answer_cache_key_t)
                   < SYM_ANSWER_CACHE_BYTES_MIN,
               "a text fits");


sym_answer_cache_t *
sym_answer_cache_create(size_t bytes)
{
    sym_answer_cache_t *r = calloc(1, sizeof(*r));
    uint32_t sets = 1;

    if (r == NULL) {
        return NULL;
    }

    r->size =
        bytes < SYM_ANSWER_CACHE_BYTES_MIN ? SYM_ANSWER_CACHE_BYTES_MIN : bytes;
    while (sets < UINT32_MAX / 4
           && (size_t) sets * WAYS * BYTES_PER_ENTRY < r->size)
    {
        sets *= 2;
    }

    r->mask = sets - 1;
    r->entries = sym_pages_alloc((size_t) sets * WAYS * sizeof(entry_t));
    r->ring = sym_pages_alloc(r->size);
    if (r->entries == NULL || r->ring == NULL) {
        sym_answer_cache_free(r);
        return NULL;
    }

    memset(r->entries, 0, (size_t) sets * WAYS * sizeof(entry_t));
    return r;
}


void
sym_answer_cache_free(sym_answer_cache_t *r)
{
    if (r != NULL) {
        free(r->entries);
        free(r->ring);
        free(r);
    }
}


static uint64_t
hash_key(const sym_answer_cache_key_t *key)
{
    /* ids count up from 1, so their upper bits are free for the form */
    uint64_t h =
        (key->module_id ^ (uint64_t) key->form << 40) * 0x9e3779b97f4a7c15u;

    h = (h ^ key->addr ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 32;
}


static entry_t *
set_of(const sym_answer_cache_t *r, uint64_t hash)
{
    return &r->entries[(size_t) ((uint32_t) hash & r->mask) * WAYS];
}


static uint32_t
tag_of(uint64_t hash)
{
    return (uint32_t) (hash >> 32) | 1;
}


static entry_t *
find(entry_t *set, uint32_t tag)
{
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].tag == tag) {
            return &set[i];
        }
    }

    return NULL;
}


static bool
is_there(const sym_answer_cache_t *r, uint64_t place)
{
    return place != 0 && r->written - (place - 1) <= r->size;
}


/* Returns the text at a valid position.  Avoids a division, which would
   dominate the cost. */
static const char *
text_at(const sym_answer_cache_t *r, uint64_t place)
{
    size_t age = (size_t) (r->written - (place - 1));

    return r->ring + (r->at >= age ? r->at - age : r->at + r->size - age);
}


void
sym_answer_cache_expect(const sym_answer_cache_t *r,
                        const sym_answer_cache_key_t *key)
{
    __builtin_prefetch(set_of(r, hash_key(key)));
}


sym_answer_cache_state_t
sym_answer_cache_meet(sym_answer_cache_t *r, const sym_answer_cache_key_t *key,
                      sym_answer_cache_ref_t *ref)
{
    uint64_t hash = hash_key(key);
    entry_t *set = set_of(r, hash), *e = find(set, tag_of(hash));

    if (e != NULL) {
        if (!is_there(r, e->place)) {
            return SYM_ANSWER_CACHE_SEEN;
        }

        *ref = (sym_answer_cache_ref_t){ e->place, e->len };
        __builtin_prefetch(text_at(r, e->place));
        return SYM_ANSWER_CACHE_HIT;
    }

    /* the newest is first; the oldest is evicted */
    memmove(set + 1, set, (WAYS - 1) * sizeof(*set));
    *set = (entry_t){ .tag = tag_of(hash) };
    return SYM_ANSWER_CACHE_MISS;
}


void
sym_answer_cache_keep(sym_answer_cache_t *r, const sym_answer_cache_key_t *key,
                      const char *text, size_t len)
{
    uint64_t hash = hash_key(key);
    entry_t *e = find(set_of(r, hash), tag_of(hash));
    size_t need = sizeof(*key) + len;

    if (len > SYM_ANSWER_CACHE_TEXT_MAX || e == NULL) {
        return;
    }

    /* a text must not wrap around the end of the ring */
    if (r->size - r->at < need) {
        r->written += r->size - r->at;
        r->at = 0;
    }

    memcpy(r->ring + r->at, key, sizeof(*key));
    memcpy(r->ring + r->at + sizeof(*key), text, len);
    e->place = r->written + 1;
    e->len = (uint32_t) len;
    r->written += need;
    r->at = r->at + need == r->size ? 0 : r->at + need;
}


const char *
sym_answer_cache_text(const sym_answer_cache_t *r,
                      const sym_answer_cache_key_t *key,
                      const sym_answer_cache_ref_t *ref)
{
    const char *p;

    if (!is_there(r, ref->place)) {
        return NULL;
    }

    p = text_at(r, ref->place);
    return memcmp(p, key, sizeof(*key)) == 0 ? p + sizeof(*key) : NULL;
}
