/*
 * fleet - simulates nodes that share a bucket, and prints what they cost.
 *
 *     fleet [--nodes N] [--no-bucket] [--no-peers] [OPTION VALUE]...
 *     fleet --trace ... --servers SERVER...    prints the lookups, too; as many
 *                                       nodes as servers
 *     fleet --ring SERVER... <TEXTS     the server of each line, as nginx
 *                                       chooses it
 *
 * The figures are `name value` lines.  Options have the names of fleet_conf_t's
 * fields (--lookups, --quota, --rate, ...).  One seed gives one answer.
 */
#include <string.h>

#include "../bench.h"
#include "catalogue.h"
#include "fleet.h"
#include "ring.h"

/* S3 Standard, us-east-1, list price of 2026, in dollars.  Transfer in the
 * region is free. */
#define GET_PRICE (0.0004 / 1000)
#define PUT_PRICE (0.005 / 1000)
#define GB_MONTH_PRICE 0.023

#define DAY_S 86400.0
#define MONTH_DAYS 30.0
#define JOINS 4 /* new nodes, one after the other; the mean counts */

static int
print_ring(int n, char **servers)
{
    ring_t ring = ring_create((const char *const *) servers, (uint32_t) n);
    char line[4096];

    while (fgets(line, sizeof(line), stdin) != NULL) {
        sym_str_t text = sym_str(line, strcspn(line, "\n"));

        printf("%s\n", servers[ring_find(&ring, text, NULL)]);
    }

    ring_free(&ring);
    return 0;
}


static bool
set_option(fleet_conf_t *c, const char *name, double value)
{
    const struct {
        const char *name;
        double *real;
        uint32_t *number;
        uint64_t *large;
    } options[] = {
        { "--nodes", .number = &c->nodes },
        { "--modules", .number = &c->modules },
        { "--list", .number = &c->list },
        { "--lookups", .large = &c->lookups },
        { "--quota", .large = &c->quota },
        { "--seed", .large = &c->seed },
        { "--rate", .real = &c->rate },
        { "--zipf", .real = &c->zipf },
        { "--absent", .real = &c->absent },
        { "--absent-s", .real = &c->absent_s },
        { "--builds", .real = &c->builds },
        { "--node-days", .real = &c->node_days },
        { "--fleet-days", .real = &c->fleet_days },
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (strcmp(options[i].name, name) != 0) {
            continue;
        }

        if (options[i].real != NULL) {
            *options[i].real = value;
        } else if (options[i].number != NULL) {
            *options[i].number = (uint32_t) value;
        } else {
            *options[i].large = (uint64_t) value;
        }
        return true;
    }

    return false;
}


static void
print(const char *name, double value)
{
    printf("%-22s %.6g\n", name, value);
}


static void
print_counts(const fleet_conf_t *conf, const fleet_t *fleet,
             const fleet_counts_t *n)
{
    double days = n->seconds / DAY_S;
    double months = days / MONTH_DAYS;
    double gets = (double) n->bucket_gets * GET_PRICE / months;
    double puts = (double) n->bucket_puts * PUT_PRICE / months;
    double bytes = fleet_object_bytes(fleet);
    double storage = bytes / 1e9 * GB_MONTH_PRICE;

    print("nodes", conf->nodes);
    print("seconds", n->seconds);
    print("lookups", (double) n->lookups);
    print("absent_lookups", (double) n->absent_lookups);
    print("hits", (double) n->hits);
    print("replaced_nodes", (double) n->replaced_nodes);
    print("conversions", (double) n->conversions);
    print("conversions_a_day", (double) n->conversions / days);
    print("conversions_a_module",
          n->converted == 0 ? 0
                            : (double) n->conversions / (double) n->converted);
    print("bucket_gets", (double) n->bucket_gets);
    print("bucket_gets_a_second", (double) n->bucket_gets / n->seconds);
    print("bucket_puts", (double) n->bucket_puts);
    print("bucket_puts_a_second", (double) n->bucket_puts / n->seconds);
    print("bucket_bytes_a_second", n->bucket_bytes / n->seconds);
    print("peer_gets", (double) n->peer_gets);
    print("peer_gets_a_second", (double) n->peer_gets / n->seconds);
    print("peer_bytes_a_second", n->peer_bytes / n->seconds);
    print("source_gets", (double) n->source_gets);
    print("source_gets_a_second", (double) n->source_gets / n->seconds);
    print("source_bytes_a_second", n->source_bytes / n->seconds);
    print("objects", (double) fleet_objects(fleet));
    print("object_bytes", bytes);
    print("dollars_gets", gets);
    print("dollars_puts", puts);
    print("dollars_storage", storage);
    print("dollars", gets + puts + storage);
}


static void
print_join(fleet_t *fleet, uint32_t list, double hits, const char *suffix)
{
    fleet_joined_t sum = { 0 };
    char name[64];

    for (unsigned i = 0; i < JOINS; i++) {
        fleet_joined_t joined = fleet_join(fleet, list, hits);

        sum.ready_s += joined.ready_s / JOINS;
        sum.warm_s += joined.warm_s / JOINS;
        sum.first_hits += joined.first_hits / JOINS;
    }

    (void) snprintf(name, sizeof(name), "ready_s%s", suffix);
    print(name, sum.ready_s);
    (void) snprintf(name, sizeof(name), "warm_s%s", suffix);
    print(name, sum.warm_s);
    (void) snprintf(name, sizeof(name), "first_hits%s", suffix);
    print(name, sum.first_hits);
}


int
main(int argc, char **argv)
{
    fleet_conf_t conf = { .nodes = 10,
                          .modules = 10000000,
                          .has_bucket = true,
                          .has_peers = true,
                          .lookups = 10000000,
                          .quota = UINT64_C(50) << 30,
                          .rate = 50,
                          .zipf = 1,
                          .absent = 0.1,
                          .absent_s = 60,
                          .builds = 200000,
                          .node_days = 7,
                          .fleet_days = 30,
                          .list = FLEET_LIST_OF_NODES,
                          .seed = 1 };
    fleet_counts_t counts;
    fleet_t *fleet;
    double hits;

    if (argc > 2 && strcmp(argv[1], "--ring") == 0) {
        return print_ring(argc - 2, argv + 2);
    }

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-bucket") == 0) {
            conf.has_bucket = false;
        } else if (strcmp(argv[i], "--no-peers") == 0) {
            conf.has_peers = false;
        } else if (strcmp(argv[i], "--trace") == 0) {
            conf.traces = true;
        } else if (strcmp(argv[i], "--servers") == 0) {
            conf.servers = (const char *const *) argv + i + 1;
            conf.nodes = (uint32_t) (argc - i - 1);
            break;
        } else if (i + 1 == argc
                   || !set_option(&conf, argv[i], strtod(argv[i + 1], NULL)))
        {
            fprintf(stderr, "fleet: what is %s?\n", argv[i]);
            return 2;
        } else {
            i++;
        }
    }

    if (conf.nodes == 0 || conf.modules == 0 || conf.modules > CATALOGUE_MAX) {
        fprintf(stderr, "fleet: 1 to %u modules, at least one node\n",
                CATALOGUE_MAX);
        return 2;
    }

    fleet = fleet_create(&conf);
    counts = fleet_run(fleet);
    hits = (double) counts.hits
           / (double) (counts.lookups - counts.absent_lookups);
    print_counts(&conf, fleet, &counts);
    print("hit_share", hits);
    print_join(fleet, 0, hits, "_without_list");
    print("list", fleet_list(fleet));
    print_join(fleet, fleet_list(fleet), hits, "");
    fleet_free(fleet);
    return 0;
}
