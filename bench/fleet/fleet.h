/*
 * fleet.h - a fleet of nodes that share a bucket, simulated lookup by lookup.
 *
 * A lookup is one module of one request.  Each goes to a random node, as behind
 * a balancer, and follows the product: the node's store, the bucket, the peer of
 * the object, the source.  Nodes are replaced by new ones, and builds of modules
 * by new builds.
 */
#ifndef SYM_BENCH_FLEET_FLEET_H
#define SYM_BENCH_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

/* The length that nodes with such a quota give to it. */
#define FLEET_LIST_OF_NODES UINT32_MAX

typedef struct {
    uint32_t nodes, modules;
    bool has_bucket, has_peers;
    uint64_t lookups;  /* to simulate and count; a quarter more come before */
    uint64_t quota;    /* of each store, in bytes */
    double rate;       /* lookups of a node in a second */
    double zipf;       /* exponent of popularity */
    double absent;     /* share of modules that no source has */
    double absent_s;   /* symbolicate_negative_ttl absent= */
    double builds;     /* modules that get a new build in a day; popular ones
                          more often, by half of that exponent */
    double node_days;  /* mean life of a node */
    double fleet_days; /* age of the fleet and its bucket */
    uint32_t list;     /* length of the list for new nodes */
    uint64_t seed;
    const char *const *servers; /* addresses of the nodes; NULL: made up */
    bool traces; /* prints the lookups, as `lookup NODE NAME ID yes|no`: no, if
                    no source has the module */
} fleet_conf_t;

typedef struct {
    double seconds; /* simulated */
    uint64_t lookups, absent_lookups;
    uint64_t hits;        /* in the node's store, or already on the way */
    uint64_t conversions; /* of all nodes */
    uint64_t converted;   /* different modules among them */
    uint64_t bucket_gets, bucket_puts, peer_gets, source_gets;
    double bucket_bytes; /* read */
    double peer_bytes, source_bytes;
    uint64_t replaced_nodes;
} fleet_counts_t;

typedef struct fleet_s fleet_t;

/* Ends the program if there is no memory. */
fleet_t *fleet_create(const fleet_conf_t *conf);
void fleet_free(fleet_t *fleet);

fleet_counts_t fleet_run(fleet_t *fleet);

uint32_t fleet_list(const fleet_t *fleet);

/* Objects in the bucket, and their bytes. */
uint64_t fleet_objects(const fleet_t *fleet);
double fleet_object_bytes(const fleet_t *fleet);

/*
 * A node joins with an empty store.  Returns the seconds until it takes
 * requests, because it fetches the list first, and until it finds 95 % as many
 * modules in its store as `hits` of all lookups.
 */
typedef struct {
    double ready_s, warm_s;
    double first_hits; /* share of the first five minutes */
} fleet_joined_t;

fleet_joined_t fleet_join(fleet_t *fleet, uint32_t list, double hits);

#endif
