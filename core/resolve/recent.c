#include "resolve/recent.h"

#include <stdlib.h>
#include <string.h>

/* One entry for so many bytes of text: what a frame with its file takes. */
#define BYTES_PER_ENTRY 256

/* An entry has one of two places, both in one cache line. */
#define WAYS 2

typedef struct {
    uint64_t place; /* in all that was ever written, + 1; 0: only met */
    uint64_t module_id;
    uint32_t addr;
    uint32_t form;
    uint32_t len;
    uint32_t is_taken;
} entry_t;

struct sym_recent_s {
    size_t size;
    uint64_t written; /* bytes in all, gaps at the ring's end included */
    uint32_t mask;    /* of sets */
    entry_t *entries;
    char *ring;
};

_Static_assert(sizeof(entry_t) * WAYS == 64, "a set is a cache line");
_Static_assert(SYM_RECENT_TEXT_MAX < SYM_RECENT_BYTES_MIN, "a text fits");


sym_recent_t *
sym_recent_create(size_t bytes)
{
    sym_recent_t *r = calloc(1, sizeof(*r));
    uint32_t sets = 1;

    if (r == NULL) {
        return NULL;
    }

    r->size = bytes < SYM_RECENT_BYTES_MIN ? SYM_RECENT_BYTES_MIN : bytes;
    while (sets < UINT32_MAX / 4
           && (size_t) sets * WAYS * BYTES_PER_ENTRY < r->size)
    {
        sets *= 2;
    }

    /* fresh pages are not touched before they are used */
    r->mask = sets - 1;
    r->entries = aligned_alloc(64, (size_t) sets * WAYS * sizeof(entry_t));
    r->ring = malloc(r->size);
    if (r->entries == NULL || r->ring == NULL) {
        sym_recent_free(r);
        return NULL;
    }

    memset(r->entries, 0, (size_t) sets * WAYS * sizeof(entry_t));
    return r;
}


void
sym_recent_free(sym_recent_t *r)
{
    if (r != NULL) {
        free(r->entries);
        free(r->ring);
        free(r);
    }
}


static entry_t *
set_of(const sym_recent_t *r, const sym_recent_key_t *key)
{
    uint64_t h =
        (key->module_id ^ (uint64_t) key->form << 56) * 0x9e3779b97f4a7c15u;

    h = (h ^ key->addr ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
    return &r->entries[(size_t) ((uint32_t) (h >> 32) & r->mask) * WAYS];
}


static bool
is_key(const entry_t *e, const sym_recent_key_t *key)
{
    return e->is_taken && e->addr == key->addr && e->module_id == key->module_id
           && e->form == key->form;
}


static bool
is_there(const sym_recent_t *r, uint64_t place)
{
    return place != 0 && r->written - (place - 1) <= r->size;
}


/* The newest stands first; the other makes room. */
static void
put_first(entry_t *set, entry_t entry)
{
    set[1] = set[0];
    set[0] = entry;
}


sym_recent_state_t
sym_recent_meet(sym_recent_t *r, const sym_recent_key_t *key,
                sym_recent_ref_t *ref)
{
    entry_t *set = set_of(r, key);

    for (unsigned i = 0; i < WAYS; i++) {
        if (is_key(&set[i], key)) {
            *ref = (sym_recent_ref_t){ set[i].place, set[i].len };
            return is_there(r, set[i].place) ? SYM_RECENT_KEPT : SYM_RECENT_MET;
        }
    }

    put_first(set, (entry_t){ .module_id = key->module_id,
                              .addr = key->addr,
                              .form = key->form,
                              .is_taken = true });
    return SYM_RECENT_NEW;
}


void
sym_recent_keep(sym_recent_t *r, const sym_recent_key_t *key, const char *text,
                size_t len)
{
    entry_t *set = set_of(r, key);
    entry_t *e = is_key(&set[0], key) ? &set[0] : &set[1];
    size_t at = (size_t) (r->written % r->size);

    if (len > SYM_RECENT_TEXT_MAX || !is_key(e, key)) {
        return;
    }

    /* a text lies in one piece */
    if (r->size - at < len) {
        r->written += r->size - at;
        at = 0;
    }

    memcpy(r->ring + at, text, len);
    e->place = r->written + 1;
    e->len = (uint32_t) len;
    r->written += len;
}


const char *
sym_recent_text(const sym_recent_t *r, const sym_recent_ref_t *ref)
{
    return is_there(r, ref->place)
               ? r->ring + (size_t) ((ref->place - 1) % r->size)
               : NULL;
}
