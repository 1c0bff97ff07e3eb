/*
 * strings.h - texts of symcaches that a request writes repeatedly.
 *
 * Frames of one request share files, and inlined calls share names.  The second
 * time a text is seen, its escaped form is cached.  Copying it later is cheaper
 * than unpacking it again, above all for paths with backslashes to escape
 * (measured: 3 to 22 % of the time of an answer over real files).  A text seen
 * only once costs one lookup in a table.
 */
#ifndef SYM_SYMBOLICATE_CACHE_STRINGS_H
#define SYM_SYMBOLICATE_CACHE_STRINGS_H

#include "base/arena.h"
#include "json/out.h"
#include "artifacts/symcache/read/reader.h"

typedef struct {
    uint32_t module;
    sym_string_ref_t ref; /* SYM_NO_REF: free */
    const char *text;     /* NULL: seen once */
    uint32_t len;
    uint32_t form; /* form of the text, chosen by the caller */
} sym_string_cache_slot_t;

typedef struct {
    sym_string_cache_slot_t *slots;
    uint32_t mask;
    char *pos, *end; /* free room for texts */
} sym_string_cache_t;

/* Texts are copied in blocks of this size, beyond their end. */
#define SYM_STRING_CACHE_BLOCK 32

/* Creates a cache for about n texts; if there is no memory, it caches
 * nothing. */
void sym_string_cache_init(sym_string_cache_t *cache, sym_arena_t *arena,
                           uint64_t n);

static inline sym_string_cache_slot_t *
sym_string_cache_slot(const sym_string_cache_t *cache, uint32_t module,
                      sym_string_ref_t ref)
{
    uint64_t h = ((uint64_t) module << 32 | ref) * 0x9e3779b97f4a7c15u;

    return &cache->slots[(uint32_t) (h >> 32) & cache->mask];
}


/* Records that the text was seen; returns true if it should be cached. */
static inline bool
sym_string_cache_meet(sym_string_cache_slot_t *slot, uint32_t module,
                      sym_string_ref_t ref, uint32_t form)
{
    if (slot->module == module && slot->ref == ref && slot->form == form) {
        return true;
    }

    *slot =
        (sym_string_cache_slot_t){ .module = module, .ref = ref, .form = form };
    return false;
}


/* Caches the text if there is room for it. */
void sym_string_cache_keep(sym_string_cache_t *cache,
                           sym_string_cache_slot_t *slot, const char *text,
                           size_t len);

/* Writes a cached text. */
static inline void
sym_string_cache_write(const sym_string_cache_slot_t *slot, sym_out_t *out)
{
    if (!sym_out_room(out, slot->len + SYM_STRING_CACHE_BLOCK)) {
        return;
    }

    for (size_t done = 0; done < slot->len; done += SYM_STRING_CACHE_BLOCK) {
        memcpy(out->pos + done, slot->text + done, SYM_STRING_CACHE_BLOCK);
    }
    out->pos += slot->len;
}

#endif
