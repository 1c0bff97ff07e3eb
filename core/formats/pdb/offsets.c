#include "formats/pdb/offsets.h"

#include "formats/pdb/le.h"

/* The length of a record includes the two bytes of its kind. */
#define LENGTH_BYTES 2

/* Bytes of an entry: index, and offset after the header. */
#define PLACE_BYTES 8

/* Number of parallel walks.  Processors prefetch for about sixteen. */
#define WALKS 8

typedef struct {
    uint32_t at, end; /* bytes */
    uint32_t i, last; /* records */
} walk_t;


/* False: the record extends beyond the end. */
static inline bool
step(const uint8_t *stream, walk_t *w, uint32_t *offsets)
{
    const uint32_t left = w->end - w->at;
    const uint32_t len =
        left >= SYM_PDB_RECORD_BYTES ? sym_le16(stream + w->at) : 0;

    if (len < SYM_PDB_RECORD_BYTES - LENGTH_BYTES || len > left - LENGTH_BYTES)
    {
        return false;
    }

    offsets[w->i++] = w->at;
    w->at += LENGTH_BYTES + len;
    return true;
}


static uint32_t
fewest_left(const walk_t *walks, size_t n)
{
    uint32_t fewest = walks[0].last - walks[0].i;

    for (size_t i = 1; i < n; i++) {
        const uint32_t left = walks[i].last - walks[i].i;

        fewest = left < fewest ? left : fewest;
    }

    return fewest;
}


/* False: a walk did not end at the start of the next one. */
static bool
walk_all(const uint8_t *stream, walk_t *walks, size_t n, uint32_t end,
         uint32_t *offsets)
{
    while (n != 0) {
        for (uint32_t left = fewest_left(walks, n); left > 0; left--) {
            for (size_t i = 0; i < n; i++) {
                if (!step(stream, &walks[i], offsets)) {
                    return false;
                }
            }
        }

        for (size_t i = n; i-- > 0;) {
            const walk_t *w = &walks[i];

            if (w->i == w->last) {
                /* bytes may follow the last record */
                if (w->at != w->end && w->end != end) {
                    return false;
                }
                walks[i] = walks[--n];
            }
        }
    }

    return true;
}


/* False: the positions are unsorted, or too few. */
static bool
begin_walks(walk_t *walks, walk_t all, sym_str_t places, uint32_t first)
{
    const size_t n = places.len / PLACE_BYTES;
    walk_t rest = all;

    if (n < WALKS) {
        return false;
    }

    for (size_t i = 1; i < WALKS; i++) {
        const char *place = places.data + n * i / WALKS * PLACE_BYTES;
        const uint32_t index = sym_le32(place) - first;
        const uint32_t offset = sym_le32(place + 4);

        if (index < rest.i || index > rest.last || offset > all.end - all.at
            || all.at + offset < rest.at)
        {
            return false;
        }

        walks[i - 1] = (walk_t){ rest.at, all.at + offset, rest.i, index };
        rest.at = all.at + offset;
        rest.i = index;
    }

    walks[WALKS - 1] = rest;
    return true;
}


sym_status_t
sym_pdb_find_records(sym_cursor_t *records, sym_str_t places, uint32_t first,
                     uint32_t n, uint32_t *offsets)
{
    const uint8_t *stream = records->start;
    const uint32_t end = (uint32_t) (records->end - stream);
    walk_t walks[WALKS];
    walk_t all = { (uint32_t) (records->pos - stream), end, 0, n };

    if ((begin_walks(walks, all, places, first)
         && walk_all(stream, walks, WALKS, end, offsets))
        || walk_all(stream, &all, 1, end, offsets))
    {
        return SYM_OK;
    }

    records->pos = stream + all.at;
    sym_cursor_fail(records, SYM_MALFORMED, "record runs past the stream");
    return SYM_MALFORMED;
}
