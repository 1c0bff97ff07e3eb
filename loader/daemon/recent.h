/*
 * recent.h - files that have changed a moment ago.
 *
 * The nodes of a fleet learn of a change one after the other.  Until all know it,
 * one of them may still give an artifact of the former file to another, which
 * would keep it.  So for some time, searches for such a file fetch the file
 * itself.  The table is small: of two changes with the same slot, the later one
 * is known.
 */
#ifndef SYMLOADER_DAEMON_RECENT_H
#define SYMLOADER_DAEMON_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#define RECENT_SLOTS 4096
#define RECENT_MS 60000

typedef struct {
    struct {
        uint64_t hash; /* of a path (places_hash()), or of a module's id */
        int64_t until_ms;
    } slots[RECENT_SLOTS];
} recent_t;

static inline void
recent_add(recent_t *r, uint64_t hash, int64_t now)
{
    r->slots[hash % RECENT_SLOTS].hash = hash;
    r->slots[hash % RECENT_SLOTS].until_ms = now + RECENT_MS;
}


static inline bool
recent_has(const recent_t *r, uint64_t hash, int64_t now)
{
    return r->slots[hash % RECENT_SLOTS].hash == hash
           && now < r->slots[hash % RECENT_SLOTS].until_ms;
}

#endif
