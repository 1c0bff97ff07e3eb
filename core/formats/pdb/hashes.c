#include "formats/pdb/hashes.h"

/* In each byte, the bit that makes a letter lower case. */
#define SMALL 0x20202020u


uint32_t
sym_pdb_hash(sym_str_t name)
{
    const char *p = name.data;
    uint32_t hash = 0;

    for (; name.len >= 4; name.len -= 4, p += 4) {
        hash ^= sym_le32(p);
    }

    if (name.len >= 2) {
        hash ^= sym_le16(p);
        name.len -= 2;
        p += 2;
    }

    if (name.len != 0) {
        hash ^= (uint8_t) *p;
    }

    hash |= SMALL;
    hash ^= hash >> 11;
    return hash ^ hash >> 16;
}


bool
sym_pdb_next_hashed(const sym_pdb_records_t *records, const uint32_t hashes[2],
                    uint32_t *i)
{
    const uint32_t n = (uint32_t) (records->hashes.len / 4);
    const uint32_t a = n != 0 ? hashes[0] % records->buckets : 0;
    const uint32_t b = n != 0 ? hashes[1] % records->buckets : 0;

    for (; *i < n; (*i)++) {
        const uint32_t hash = sym_pdb_hash_at(records, *i);

        if (hash == a || hash == b) {
            return true;
        }
    }

    return false;
}
