#include "store/store_id.h"

#include "base/hex.h"
#include "base/sha256.h"

#define UUID_PREFIX SYM_UUID_BYTES
#define PDB20_BYTES 4

static void
put_age(uint8_t *p, uint32_t age)
{
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t) (age >> (24 - 8 * i));
    }
}


static bool
has_any_age(const sym_store_id_t *id)
{
    static const uint8_t any[4] = { 0xff, 0xff, 0xff, 0xff };

    return memcmp(id->bytes + UUID_PREFIX, any, sizeof(any)) == 0;
}


sym_store_id_t
sym_store_id_debug(const sym_debug_id_t *id)
{
    sym_store_id_t out = { 0 };

    if (id->form == SYM_DEBUG_ID_UUID) {
        out.form = SYM_STORE_ID_UUID;
        memcpy(out.bytes, id->signature, UUID_PREFIX);
        put_age(out.bytes + UUID_PREFIX, id->age);
    } else if (id->form == SYM_DEBUG_ID_PDB20) {
        out.form = SYM_STORE_ID_PDB20;
        memcpy(out.bytes, id->signature, PDB20_BYTES);
        put_age(out.bytes + PDB20_BYTES, id->age);
    }

    return out;
}


sym_store_id_t
sym_store_id_code(const sym_code_id_t *id)
{
    sym_store_id_t out = { 0 };

    if (id->len == 0 || id->len > SYM_CODE_ID_MAX) {
        return out;
    }

    out.form = (uint8_t) (SYM_STORE_ID_CODE + id->len);
    for (unsigned i = 0; i < id->len && i < 2 * SYM_STORE_ID_BYTES; i++) {
        int digit = sym_hex_digit(id->text[i]);

        out.bytes[i / 2] |=
            (uint8_t) ((digit < 0 ? 0 : digit) << (i % 2 == 0 ? 4 : 0));
    }

    return out;
}


sym_store_id_t
sym_store_id_bytes(uint8_t form, const uint8_t bytes[16])
{
    sym_store_id_t out = { .form = form };

    memcpy(out.bytes, bytes, 16);
    return out;
}


unsigned
sym_store_ids_of_ref(const sym_object_ref_t *ref,
                     sym_store_id_t ids[SYM_REF_IDS])
{
    uint8_t digest[SYM_REF_DIGEST_BYTES];
    unsigned n = 0;

    if (ref->has_digest) {
        ids[n++] = sym_store_id_bytes(SYM_STORE_ID_DIGEST, ref->digest);
        return n;
    }

    if (ref->url.len != 0) {
        if (sym_object_ref_digest(ref, digest)) {
            ids[n++] = sym_store_id_bytes(SYM_STORE_ID_DIGEST, digest);
        }
        return n;
    }

    if (ref->debug_id.form != SYM_DEBUG_ID_NONE) {
        ids[n++] = sym_store_id_debug(&ref->debug_id);
    }

    if (ref->code_id.len != 0) {
        ids[n++] = sym_store_id_code(&ref->code_id);
    }

    if (ref->has_file_id) {
        ids[n++] = sym_store_id_bytes(SYM_STORE_ID_FILE, ref->file_id);
    }

    return n;
}


static uint8_t
type_of(const sym_store_id_t *id)
{
    /* an id of a PDB 2.0 is compared with UUIDs: both are debug ids */
    return id->form == SYM_STORE_ID_PDB20 ? SYM_STORE_ID_UUID
           : sym_store_id_is_code(id)     ? SYM_STORE_ID_CODE
                                          : id->form;
}


bool
sym_store_ids_compare(const sym_store_id_t *a, const sym_store_id_t *b)
{
    return type_of(a) == type_of(b);
}


bool
sym_store_id_eq(const sym_store_id_t *a, const sym_store_id_t *b)
{
    if (a->form != b->form) {
        return false;
    }

    if (a->form == SYM_STORE_ID_UUID && (has_any_age(a) || has_any_age(b))) {
        return memcmp(a->bytes, b->bytes, UUID_PREFIX) == 0;
    }

    return memcmp(a->bytes, b->bytes, SYM_STORE_ID_BYTES) == 0;
}


typedef struct {
    bool is_equal, is_other; /* an id is equal; all ids of some type differ */
} compared_t;

static compared_t
compare(const sym_object_ref_t *ref, const sym_store_id_t *ids, unsigned n)
{
    sym_store_id_t own[SYM_REF_IDS];
    unsigned n_own = sym_store_ids_of_ref(ref, own);
    compared_t all = { false, false };

    for (unsigned i = 0; i < n_own; i++) {
        bool is_equal = false, is_other = false;

        for (unsigned k = 0; k < n; k++) {
            if (sym_store_ids_compare(&own[i], &ids[k])) {
                is_equal |= sym_store_id_eq(&own[i], &ids[k]);
                is_other = true;
            }
        }
        all.is_equal |= is_equal;
        all.is_other |= is_other && !is_equal;
    }

    return all;
}


bool
sym_store_ids_match(const sym_object_ref_t *ref, const sym_store_id_t *ids,
                    unsigned n)
{
    compared_t c = compare(ref, ids, n);

    return !c.is_other || (ref->is_either && c.is_equal);
}


bool
sym_store_ids_share(const sym_object_ref_t *ref, const sym_store_id_t *ids,
                    unsigned n)
{
    return compare(ref, ids, n).is_equal;
}
