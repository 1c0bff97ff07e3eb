/*
 * catalogue.h - the modules that clients ask for: sizes, and the texts that the
 * product makes of them.
 *
 * A module is a number: its rank by popularity, and the build, because new
 * builds replace old ones.  Sizes depend on the rank alone.
 */
#ifndef SYM_BENCH_FLEET_CATALOGUE_H
#define SYM_BENCH_FLEET_CATALOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "share/key.h"

#define CATALOGUE_RANK_BITS 24
#define CATALOGUE_MAX (1u << CATALOGUE_RANK_BITS)

typedef struct {
    const char *name;
    double source_bytes;   /* of the symbol file */
    double artifact_bytes; /* in a store */
    double convert_s;
    double share; /* of all modules */
} catalogue_class_t;

static inline uint32_t
catalogue_rank(uint32_t id)
{
    return id & (CATALOGUE_MAX - 1);
}


static inline uint32_t
catalogue_id(uint32_t rank, uint8_t build)
{
    return rank | (uint32_t) build << CATALOGUE_RANK_BITS;
}


/* A module as clients name it. */
typedef struct {
    char name[32];
    char id[40];
} catalogue_texts_t;

void catalogue_texts(uint32_t id, catalogue_texts_t *texts);

const catalogue_class_t *catalogue_class(uint32_t id);

/* An artifact of the bucket is packed, that of a peer is not. */
double catalogue_packed_bytes(const catalogue_class_t *class);

/* 4 KiB pages of the artifact in a store. */
uint32_t catalogue_pages(uint32_t id);
double catalogue_mean_pages(void);

/* The key in the bucket of the first place where the module's file may be, and
 * the number of its places at the source.  *places may be NULL. */
sym_str_t catalogue_key(uint32_t id, char out[SYM_SHARE_KEY_MAX],
                        unsigned *places);

/* The $uri that nginx hashes to choose a peer. */
sym_str_t catalogue_peer_uri(uint32_t id, char out[SYM_SHARE_KEY_MAX]);

#endif
