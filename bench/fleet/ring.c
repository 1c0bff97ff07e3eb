#include "ring.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../bench.h"

#define POINTS 160 /* of a server whose weight is 1 */

static int
compare_points(const void *a, const void *b)
{
    const ring_point_t *x = a, *y = b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}


/* The digits after the last colon; "" if there are none. */
static const char *
port_of(const char *server)
{
    const char *colon = strrchr(server, ':');

    return colon != NULL && strspn(colon + 1, "0123456789") == strlen(colon + 1)
               ? colon + 1
               : "";
}


ring_t
ring_create(const char *const *servers, uint32_t n_servers)
{
    ring_t ring = { calloc((size_t) n_servers * POINTS, sizeof(*ring.points)),
                    0 };
    uint32_t kept = 0;

    if (ring.points == NULL) {
        die("no memory", NULL);
    }

    for (uint32_t server = 0; server < n_servers; server++) {
        const char *name = servers[server], *port = port_of(name);
        size_t host_len = strlen(name) - strlen(port) - (*port != '\0');
        uint8_t previous[4] = { 0 };
        uLong base = crc32(0, (const Bytef *) name, (uInt) host_len);

        base = crc32(base, (const Bytef *) "", 1);
        base = crc32(base, (const Bytef *) port, (uInt) strlen(port));

        for (unsigned i = 0; i < POINTS; i++) {
            uint32_t hash = (uint32_t) crc32(base, previous, sizeof(previous));

            ring.points[ring.n++] = (ring_point_t){ hash, server };
            memcpy(previous, &hash, sizeof(previous)); /* little endian, as
                                                          there */
        }
    }

    qsort(ring.points, ring.n, sizeof(*ring.points), compare_points);
    for (uint32_t i = 1; i < ring.n; i++) {
        if (ring.points[kept].hash != ring.points[i].hash) {
            ring.points[++kept] = ring.points[i];
        }
    }

    ring.n = kept + 1;
    return ring;
}


void
ring_free(ring_t *ring)
{
    free(ring->points);
}


uint32_t
ring_find(const ring_t *ring, sym_str_t text, const bool *is_up)
{
    uint32_t hash =
        (uint32_t) crc32(0, (const Bytef *) text.data, (uInt) text.len);
    uint32_t from = 0, to = ring->n;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (ring->points[middle].hash < hash) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }

    while (is_up != NULL && !is_up[ring->points[from % ring->n].server]) {
        from++;
    }

    return ring->points[from % ring->n].server;
}
