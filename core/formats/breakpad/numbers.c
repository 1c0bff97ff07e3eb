#include "formats/breakpad/numbers.h"

#include <stdlib.h>
#include <string.h>

#define DENSE_MIN 256
#define DENSE_PER_RECORD 4

/* Real numbers need far fewer probes.  The limit keeps hostile ones from
 * costing O(n) each. */
#define PROBES_MAX 1024

void
sym_numbers_free(sym_numbers_t *m)
{
    free(m->dense);
    free(m->slots);
    memset(m, 0, sizeof(*m));
}


/* Stafford's finaliser: every bit of the key affects every bit of the hash. */
static size_t
hash(uint64_t key)
{
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
    key = (key ^ key >> 27) * 0x94d049bb133111ebu;
    return (size_t) (key ^ key >> 31);
}


/* The key's slot, or an empty one for it; NULL after too many probes. */
static sym_number_slot_t *
find_slot(const sym_numbers_t *m, uint64_t key)
{
    size_t mask = m->n_slots - 1, at = hash(key) & mask;

    for (unsigned i = 0; i < PROBES_MAX && i < m->n_slots; i++) {
        sym_number_slot_t *slot = &m->slots[(at + i) & mask];

        if (slot->value == SYM_NO_NUMBER || slot->key == key) {
            return slot;
        }
    }

    return NULL;
}


uint32_t
sym_numbers_get(const sym_numbers_t *m, uint64_t key)
{
    uint32_t value = sym_numbers_dense(m, key);
    const sym_number_slot_t *slot;

    if (value != SYM_NO_NUMBER || m->n_sparse == 0) {
        return value;
    }

    slot = find_slot(m, key);
    return slot != NULL ? slot->value : SYM_NO_NUMBER;
}


static sym_status_t
out_of_memory(sym_error_t *err)
{
    return sym_fail(err, SYM_NOMEM, "no memory for the numbers of records");
}


static sym_status_t
put_dense(sym_numbers_t *m, uint64_t key, uint32_t value, sym_error_t *err)
{
    size_t n = m->n_dense == 0 ? DENSE_MIN : m->n_dense;
    uint32_t *dense;

    while (n <= key) {
        n *= 2; /* at most twice the key, and the caller bounds the key */
    }

    if (n != m->n_dense) {
        dense = realloc(m->dense, n * sizeof(*dense));
        if (dense == NULL) {
            return out_of_memory(err);
        }

        memset(dense + m->n_dense, 0xff, (n - m->n_dense) * sizeof(*dense));
        m->dense = dense;
        m->n_dense = n;
    }

    m->count += m->dense[key] == SYM_NO_NUMBER;
    m->dense[key] = value;
    return SYM_OK;
}


static sym_status_t
grow_slots(sym_numbers_t *m, sym_error_t *err)
{
    sym_numbers_t bigger = *m;

    bigger.n_slots = m->n_slots == 0 ? DENSE_MIN : m->n_slots * 2;
    bigger.slots = malloc(bigger.n_slots * sizeof(*bigger.slots));
    if (bigger.slots == NULL) {
        return out_of_memory(err);
    }
    memset(bigger.slots, 0xff, bigger.n_slots * sizeof(*bigger.slots));

    for (size_t i = 0; i < m->n_slots; i++) {
        sym_number_slot_t *slot;

        if (m->slots[i].value == SYM_NO_NUMBER) {
            continue;
        }

        slot = find_slot(&bigger, m->slots[i].key);
        if (slot == NULL) {
            free(bigger.slots);
            return sym_fail(err, SYM_LIMIT, "record numbers collide");
        }
        *slot = m->slots[i];
    }

    free(m->slots);
    *m = bigger;
    return SYM_OK;
}


static sym_status_t
put_sparse(sym_numbers_t *m, uint64_t key, uint32_t value, sym_error_t *err)
{
    sym_number_slot_t *slot;

    if (2 * (m->n_sparse + 1) > m->n_slots && grow_slots(m, err) != SYM_OK) {
        return err->status;
    }

    slot = find_slot(m, key);
    if (slot == NULL) {
        return sym_fail(err, SYM_LIMIT, "record numbers collide");
    }

    if (slot->value == SYM_NO_NUMBER) {
        m->n_sparse++;
        m->count++;
    }

    *slot = (sym_number_slot_t){ key, value };
    return SYM_OK;
}


sym_status_t
sym_numbers_put(sym_numbers_t *m, uint64_t key, uint32_t value,
                sym_error_t *err)
{
    uint64_t dense_limit = DENSE_MIN + (uint64_t) m->count * DENSE_PER_RECORD;
    const sym_number_slot_t *slot = m->n_sparse != 0 ? find_slot(m, key) : NULL;
    /* a number added below a lower limit stays in its slot */
    bool in_slots = slot != NULL && slot->value != SYM_NO_NUMBER;

    if (!in_slots && (key < m->n_dense || key < dense_limit)) {
        return put_dense(m, key, value, err);
    }

    return put_sparse(m, key, value, err);
}
