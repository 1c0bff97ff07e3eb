#include "fleet.h"

#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "base/hash.h"
#include "cache.h"
#include "catalogue.h"
#include "random.h"
#include "ring.h"
#include "share/ranks.h"
#include "store/env.h"

/* Assumed times, in ms, and bytes in a ms. */
#define BUCKET_MS 30.0
#define BUCKET_RATE 100e3
#define PUT_MS 60.0
#define PEER_MS 2.0
#define SOURCE_MS 100.0
#define SOURCE_RATE 50e3
#define DOWN_MS 120e3 /* from the end of a node to the start of the next */

#define FETCHES 32 /* default of symbolicate_fetch_concurrency */
#define NEVER UINT32_MAX
#define DAY_MS 86400e3
#define WARM 0.95
#define WINDOW_MS 300e3

struct fleet_s {
    fleet_conf_t conf;
    random_t random;
    zipf_t zipf, builds_zipf; /* of requests, and of new builds */
    ring_t ring;
    cache_t *nodes; /* and one that joins */
    bool *is_up;
    double *up_at_ms; /* of nodes that are down */
    uint32_t n_down;
    double now_ms, next_node_ms, next_build_ms;

    uint8_t *builds;        /* by rank: the current one */
    uint32_t *published_ms; /* its object in the bucket; NEVER: none */
    uint64_t *converted;    /* bits: it was converted while lookups are
                               counted */
    uint64_t *keys;         /* hashes of keys of all objects: a table */
    uint64_t key_mask;
    uint64_t objects;
    double object_bytes;
    unsigned absent_places; /* where an absent module is searched */
    uint64_t warm_pages;    /* most that a new node takes from the list */
    fleet_counts_t counts;
};

static void *
reserve(size_t n, size_t size)
{
    void *memory = calloc(n, size);

    if (memory == NULL) {
        die("no memory", NULL);
    }

    return memory;
}


static bool
is_absent(const fleet_t *f, uint32_t rank)
{
    random_t random = { ~(uint64_t) rank };

    return random_unit(&random) < f->conf.absent;
}


/* Two modules never have one key. */
static void
add_hash(fleet_t *f, uint64_t hash)
{
    uint64_t at = hash >> 8 & f->key_mask;

    for (; f->keys[at] != 0; at = (at + 1) & f->key_mask) {
        if (f->keys[at] == hash) {
            die("two modules have one key", NULL);
        }
    }

    f->keys[at] = hash;
}


static void
grow_keys(fleet_t *f)
{
    uint64_t *old = f->keys, n = f->key_mask + 1;

    f->key_mask = 2 * n - 1;
    f->keys = reserve(2 * n, sizeof(*f->keys));
    for (uint64_t i = 0; i < n; i++) {
        if (old[i] != 0) {
            add_hash(f, old[i]);
        }
    }

    free(old);
}


static void
add_key(fleet_t *f, uint32_t id)
{
    static const sym_hash_key_t hash_key = { 1, 2 };
    char text[SYM_SHARE_KEY_MAX];

    if (f->objects > f->key_mask / 4 * 3) {
        grow_keys(f);
    }

    add_hash(f, sym_hash(&hash_key, catalogue_key(id, text, NULL)) | 1);
}


static void
publish(fleet_t *f, uint32_t id, double at_ms)
{
    uint32_t *published = &f->published_ms[catalogue_rank(id)];

    if (*published == NEVER) {
        add_key(f, id);
        f->objects++;
        f->object_bytes += catalogue_packed_bytes(catalogue_class(id));
        *published = (uint32_t) at_ms;
    } else if (at_ms < *published) {
        *published = (uint32_t) at_ms;
    }
}


/* Whether the bucket answers with the artifact. */
static bool
get_object(fleet_t *f, uint32_t id, double now_ms)
{
    f->counts.bucket_gets++;
    if (f->published_ms[catalogue_rank(id)] > now_ms) {
        return false;
    }

    f->counts.bucket_bytes += catalogue_packed_bytes(catalogue_class(id));
    return true;
}


static double
bucket_ms(uint32_t id)
{
    return BUCKET_MS
           + catalogue_packed_bytes(catalogue_class(id)) / BUCKET_RATE;
}


static void
store(cache_t *node, uint32_t id, double ready_ms)
{
    cache_put(node, id, (uint32_t) ready_ms, catalogue_pages(id));
}


/* Returns when the artifact is there. */
static double
convert(fleet_t *f, uint32_t id, double now_ms)
{
    const catalogue_class_t *class = catalogue_class(id);
    uint32_t rank = catalogue_rank(id);
    uint64_t bit = UINT64_C(1) << rank % 64;
    double ready_ms = now_ms + SOURCE_MS + class->source_bytes / SOURCE_RATE
                      + class->convert_s * 1e3;

    f->counts.source_gets++;
    f->counts.source_bytes += class->source_bytes;
    f->counts.conversions++;
    f->counts.converted += (f->converted[rank / 64] & bit) == 0;
    f->converted[rank / 64] |= bit;

    if (f->conf.has_bucket) {
        f->counts.bucket_puts++;
        publish(f, id, ready_ms + PUT_MS);
    }

    return ready_ms;
}


/* The peer of a module; the node itself, if it is that or there are none. */
static uint32_t
owner_of(const fleet_t *f, uint32_t node, uint32_t id)
{
    char text[SYM_SHARE_KEY_MAX];

    return f->conf.has_peers
               ? ring_find(&f->ring, catalogue_peer_uri(id, text), f->is_up)
               : node;
}


/* A node that other nodes ask, or that nobody can help.  Returns when it has the
 * artifact. */
static double
make(fleet_t *f, uint32_t node, uint32_t id, double now_ms)
{
    double ready_ms = convert(f, id, now_ms);

    store(&f->nodes[node], id, ready_ms);
    return ready_ms;
}


static double
ask_peer(fleet_t *f, uint32_t owner, uint32_t id, double now_ms)
{
    cache_slot_t *slot = cache_use(&f->nodes[owner], id);
    double ready_ms;

    f->counts.peer_gets++;
    f->counts.peer_bytes += catalogue_class(id)->artifact_bytes;

    if (slot != NULL) {
        ready_ms = slot->until_ms > now_ms ? slot->until_ms : now_ms;
    } else if (f->conf.has_bucket && get_object(f, id, now_ms)) {
        ready_ms = now_ms + bucket_ms(id);
        store(&f->nodes[owner], id, ready_ms);
    } else {
        ready_ms = make(f, owner, id, now_ms);
    }

    return ready_ms + PEER_MS;
}


static void
fetch(fleet_t *f, uint32_t node, uint32_t id, double now_ms)
{
    uint32_t owner;

    if (f->conf.has_bucket) {
        if (get_object(f, id, now_ms)) {
            store(&f->nodes[node], id, now_ms + bucket_ms(id));
            return;
        }
        now_ms += BUCKET_MS;
    }

    owner = owner_of(f, node, id);
    if (owner == node) {
        (void) make(f, node, id, now_ms);
    } else {
        store(&f->nodes[node], id, ask_peer(f, owner, id, now_ms));
    }
}


/* Records that a node has searched all places in vain. */
static void
store_absent(fleet_t *f, uint32_t node, uint32_t id, double now_ms)
{
    double life = f->conf.absent_s * (0.75 + random_unit(&f->random) / 2);

    cache_put(&f->nodes[node], id, (uint32_t) (now_ms + life * 1e3), 1);
}


static bool
knows_absence(fleet_t *f, uint32_t node, uint32_t id, double now_ms)
{
    cache_slot_t *slot = cache_use(&f->nodes[node], id);

    return slot != NULL && slot->until_ms > now_ms;
}


static void
search_in_vain(fleet_t *f, uint32_t node, uint32_t id, double now_ms)
{
    uint32_t owner = owner_of(f, node, id);
    uint64_t bucket = f->conf.has_bucket ? f->absent_places : 0;

    f->counts.bucket_gets += bucket;
    if (owner != node) {
        f->counts.peer_gets += f->absent_places;
    }

    if (owner == node || !knows_absence(f, owner, id, now_ms)) {
        f->counts.bucket_gets += owner == node ? 0 : bucket;
        f->counts.source_gets += f->absent_places;
        store_absent(f, owner, id, now_ms);
    }

    if (owner != node) {
        store_absent(f, node, id, now_ms);
    }
}


static void
trace(const fleet_t *f, uint32_t node, uint32_t id)
{
    catalogue_texts_t texts;

    catalogue_texts(id, &texts);
    printf("lookup %u %s %s %s\n", (unsigned) node, texts.name, texts.id,
           is_absent(f, catalogue_rank(id)) ? "no" : "yes");
}


static void
look_up(fleet_t *f, uint32_t node, uint32_t rank)
{
    uint32_t id = catalogue_id(rank, f->builds[rank]);

    f->counts.lookups++;
    if (f->conf.traces) {
        trace(f, node, id);
    }

    if (is_absent(f, rank)) {
        f->counts.absent_lookups++;
        if (!knows_absence(f, node, id, f->now_ms)) {
            search_in_vain(f, node, id, f->now_ms);
        }
    } else if (cache_use(&f->nodes[node], id) != NULL) {
        f->counts.hits++;
    } else {
        fetch(f, node, id, f->now_ms);
    }
}


/* Length of the part of the list that a new node takes. */
static uint32_t
taken_part(const fleet_t *f, uint32_t list)
{
    uint64_t pages = 0;
    uint32_t rank = 0;

    while (rank < list && pages < f->warm_pages) {
        pages +=
            is_absent(f, rank) ? 0 : catalogue_pages(catalogue_id(rank, 0));
        rank++;
    }

    return rank;
}


/* A new node takes the modules that the fleet needs most.  Returns the time
 * until it has them. */
static double
take_list(fleet_t *f, uint32_t node, uint32_t list)
{
    double bytes = 0;
    uint32_t n = 0;

    if (!f->conf.has_bucket || list == 0) {
        return 0;
    }

    f->counts.bucket_gets++; /* the list itself */
    for (uint32_t rank = taken_part(f, list); rank-- > 0;) {
        uint32_t id = catalogue_id(rank, f->builds[rank]);

        if (!is_absent(f, rank) && get_object(f, id, f->now_ms)) {
            bytes += catalogue_packed_bytes(catalogue_class(id));
            n++;
            store(&f->nodes[node], id, f->now_ms);
        }
    }

    return BUCKET_MS + n * BUCKET_MS / FETCHES + bytes / BUCKET_RATE;
}


static void
node_dies(fleet_t *f)
{
    uint32_t node = random_below(&f->random, f->conf.nodes);

    f->next_node_ms +=
        random_wait(&f->random, f->conf.nodes / (f->conf.node_days * DAY_MS));

    if (f->is_up[node] && f->n_down + 1 < f->conf.nodes) {
        f->is_up[node] = false;
        f->up_at_ms[node] = f->now_ms + DOWN_MS;
        f->n_down++;
    }
}


static void
nodes_start(fleet_t *f)
{
    for (uint32_t node = 0; node < f->conf.nodes && f->n_down != 0; node++) {
        if (!f->is_up[node] && f->up_at_ms[node] <= f->now_ms) {
            cache_clear(&f->nodes[node]);
            (void) take_list(f, node, f->conf.list);
            f->is_up[node] = true;
            f->n_down--;
            f->counts.replaced_nodes++;
        }
    }
}


static void
new_build(fleet_t *f)
{
    uint32_t rank = zipf_next(&f->builds_zipf, &f->random);

    f->next_build_ms += random_wait(&f->random, f->conf.builds / DAY_MS);
    if (f->builds[rank] != UINT8_MAX) {
        f->builds[rank]++;
        f->published_ms[rank] = NEVER;
        f->converted[rank / 64] &= ~(UINT64_C(1) << rank % 64);
    }
}


static void
step(fleet_t *f)
{
    uint32_t node;

    f->now_ms += random_wait(&f->random, f->conf.nodes * f->conf.rate / 1e3);

    while (f->next_node_ms <= f->now_ms) {
        node_dies(f);
    }
    while (f->next_build_ms <= f->now_ms) {
        new_build(f);
    }
    if (f->n_down != 0) {
        nodes_start(f);
    }

    do {
        node = random_below(&f->random, f->conf.nodes);
    } while (!f->is_up[node]);

    look_up(f, node, zipf_next(&f->zipf, &f->random));
}


/* The bucket as it is after fleet_days: it has a module that was requested since
 * its build is there. */
static void
fill_bucket(fleet_t *f)
{
    const fleet_conf_t *c = &f->conf;
    double rate = c->nodes * c->rate * 86400 / f->zipf.sum; /* a day */
    double builds = c->builds / f->builds_zipf.sum;

    for (uint32_t rank = 0; rank < c->modules; rank++) {
        double days = random_wait(&f->random,
                                  builds * pow(rank + 1.0, -f->builds_zipf.s));
        double requests = rate * pow(rank + 1.0, -c->zipf)
                          * (days < c->fleet_days ? days : c->fleet_days);

        if (random_unit(&f->random) < -expm1(-requests) && !is_absent(f, rank))
        {
            publish(f, catalogue_id(rank, 0), 0);
        }
    }
}


/* The store of a node after its life so far, or as soon as it is full. */
static void
fill_store(fleet_t *f, uint32_t node)
{
    double days = random_wait(&f->random, 1 / f->conf.node_days);
    uint64_t lookups =
        (uint64_t) ((days < f->conf.fleet_days ? days : f->conf.fleet_days)
                    * 86400 * f->conf.rate);

    for (; lookups > 0 && !cache_is_full(&f->nodes[node]); lookups--) {
        uint32_t rank = zipf_next(&f->zipf, &f->random);
        uint32_t id = catalogue_id(rank, 0);

        if (!is_absent(f, rank) && cache_use(&f->nodes[node], id) == NULL) {
            store(&f->nodes[node], id, 0);
            if (f->conf.has_bucket) {
                publish(f, id, 0);
            }
        }
    }
}


/* The ring of all nodes, and one that joins. */
static ring_t
ring_of(const fleet_conf_t *conf)
{
    uint32_t nodes = conf->nodes + 1;
    char(*names)[40] = reserve(nodes, sizeof(*names));
    const char **servers = reserve(nodes, sizeof(*servers));
    ring_t ring;

    for (uint32_t i = 0; i < nodes; i++) {
        (void) snprintf(names[i], sizeof(names[i]), "node%u.internal:8443",
                        (unsigned) i + 1);
        servers[i] = conf->servers != NULL && i < conf->nodes ? conf->servers[i]
                                                              : names[i];
    }

    ring = ring_create(servers, nodes);
    free(servers);
    free(names);
    return ring;
}


fleet_t *
fleet_create(const fleet_conf_t *conf)
{
    fleet_t *f = reserve(1, sizeof(*f));
    char text[SYM_SHARE_KEY_MAX];
    sym_error_t err = { 0 };
    sym_budget_t budget;

    f->conf = *conf;
    f->random.state = conf->seed;
    f->zipf = zipf_create(conf->modules, conf->zipf);
    f->builds_zipf = zipf_create(conf->modules, conf->zipf / 2);
    f->ring = ring_of(conf);
    (void) catalogue_key(0, text, &f->absent_places);

    if (sym_budget("/nonexistent", conf->quota, SYM_LOCK_BYTES(READERS_DEFAULT),
                   &budget, &err)
        != SYM_OK)
    {
        die("quota", &err);
    }

    f->warm_pages = budget.live_pages / 2;
    if (conf->list == FLEET_LIST_OF_NODES) {
        f->conf.list = sym_ranks_for(f->warm_pages * STORE_PAGE);
    }
    if (f->conf.list > conf->modules) {
        f->conf.list = conf->modules;
    }

    f->nodes = reserve(conf->nodes + 1, sizeof(*f->nodes));
    f->is_up = reserve(conf->nodes + 1, sizeof(*f->is_up));
    f->up_at_ms = reserve(conf->nodes, sizeof(*f->up_at_ms));
    f->builds = reserve(conf->modules, sizeof(*f->builds));
    f->converted = reserve(conf->modules / 64 + 1, sizeof(*f->converted));
    f->published_ms = reserve(conf->modules, sizeof(*f->published_ms));
    memset(f->published_ms, 0xff, conf->modules * sizeof(*f->published_ms));

    f->key_mask = 1023;
    f->keys = reserve(f->key_mask + 1, sizeof(*f->keys));

    if (conf->has_bucket) {
        fill_bucket(f);
    }

    for (uint32_t node = 0; node <= conf->nodes; node++) {
        cache_init(&f->nodes[node], budget.live_pages, catalogue_mean_pages());
        if (node < conf->nodes) {
            f->is_up[node] = true;
            fill_store(f, node);
        }
    }

    f->next_node_ms =
        random_wait(&f->random, conf->nodes / (conf->node_days * DAY_MS));
    f->next_build_ms = random_wait(&f->random, conf->builds / DAY_MS);
    return f;
}


void
fleet_free(fleet_t *f)
{
    for (uint32_t node = 0; node <= f->conf.nodes; node++) {
        cache_free(&f->nodes[node]);
    }

    ring_free(&f->ring);
    free(f->nodes);
    free(f->is_up);
    free(f->up_at_ms);
    free(f->builds);
    free(f->converted);
    free(f->published_ms);
    free(f->keys);
    free(f);
}


fleet_counts_t
fleet_run(fleet_t *f)
{
    double from_ms;

    for (uint64_t i = 0; i < f->conf.lookups / 4; i++) {
        step(f);
    }

    from_ms = f->now_ms;
    f->counts = (fleet_counts_t){ 0 };
    memset(f->converted, 0, (f->conf.modules / 64 + 1) * sizeof(*f->converted));

    for (uint64_t i = 0; i < f->conf.lookups; i++) {
        step(f);
    }

    f->counts.seconds = (f->now_ms - from_ms) / 1e3;
    f->conf.traces = false;
    return f->counts;
}


uint64_t
fleet_objects(const fleet_t *f)
{
    return f->objects;
}


double
fleet_object_bytes(const fleet_t *f)
{
    return f->object_bytes;
}


uint32_t
fleet_list(const fleet_t *f)
{
    return f->conf.list;
}


fleet_joined_t
fleet_join(fleet_t *f, uint32_t list, double hits)
{
    const uint32_t node = f->conf.nodes;
    fleet_joined_t joined = { .first_hits = -1 };
    double from_ms = f->now_ms, share;

    cache_clear(&f->nodes[node]);
    f->is_up[node] = true;
    joined.ready_s = take_list(f, node, list) / 1e3;

    do {
        double until_ms = f->now_ms + WINDOW_MS;

        f->counts = (fleet_counts_t){ 0 };
        while (f->now_ms < until_ms) {
            f->now_ms += random_wait(&f->random, f->conf.rate / 1e3);
            look_up(f, node, zipf_next(&f->zipf, &f->random));
        }

        share = (double) f->counts.hits
                / (double) (f->counts.lookups - f->counts.absent_lookups);
        if (joined.first_hits < 0) {
            joined.first_hits = share;
        }
    } while (share < WARM * hits && f->now_ms < from_ms + 30 * DAY_MS);

    joined.warm_s = joined.ready_s + (f->now_ms - from_ms) / 1e3;
    f->is_up[node] = false;
    return joined;
}
