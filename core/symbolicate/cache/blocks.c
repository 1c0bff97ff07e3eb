#include "symbolicate/cache/blocks.h"

#include <stdlib.h>
#include <string.h>

#define WAYS 4
#define SETS (SYM_BLOCK_CACHE_BYTES / SYM_BLOCK_CACHE_BLOCK / WAYS)

typedef struct {
    uint64_t artifact; /* 0: free */
    uint64_t used;
    uint32_t number, len;
    char *bytes;
} block_t;

struct sym_block_cache_s {
    block_t blocks[SETS][WAYS];
    uint64_t uses;
};


sym_block_cache_t *
sym_block_cache_create(void)
{
    return calloc(1, sizeof(sym_block_cache_t));
}


void
sym_block_cache_free(sym_block_cache_t *cache)
{
    for (size_t i = 0; cache != NULL && i < SETS; i++) {
        for (size_t k = 0; k < WAYS; k++) {
            free(cache->blocks[i][k].bytes);
        }
    }

    free(cache);
}


static block_t *
set_of(sym_block_cache_t *cache, uint64_t artifact, uint32_t number)
{
    uint64_t hash = (artifact * 31 + number) * UINT64_C(0x9e3779b97f4a7c15);

    return cache->blocks[(hash >> 32) % SETS];
}


bool
sym_block_cache_find(sym_block_cache_t *cache, uint64_t artifact,
                     uint32_t number, sym_str_t *bytes)
{
    block_t *set = set_of(cache, artifact, number);

    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].artifact == artifact && set[i].number == number) {
            set[i].used = ++cache->uses;
            *bytes = sym_str(set[i].bytes, set[i].len);
            return true;
        }
    }

    return false;
}


void
sym_block_cache_put(sym_block_cache_t *cache, uint64_t artifact,
                    uint32_t number, sym_str_t bytes)
{
    block_t *set = set_of(cache, artifact, number), *b = set;

    for (size_t i = 1; i < WAYS; i++) {
        b = set[i].used < b->used ? &set[i] : b;
    }

    if (b->bytes == NULL) {
        b->bytes = malloc(SYM_BLOCK_CACHE_BLOCK);
    }

    if (b->bytes == NULL || bytes.len > SYM_BLOCK_CACHE_BLOCK) {
        return;
    }

    if (bytes.len != 0) {
        memcpy(b->bytes, bytes.data, bytes.len);
    }
    *b = (block_t){ .artifact = artifact,
                    .used = ++cache->uses,
                    .number = number,
                    .len = (uint32_t) bytes.len,
                    .bytes = b->bytes };
}
