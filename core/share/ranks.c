#include "share/ranks.h"

#include <stdlib.h>

#include <libdeflate.h>

#include "base/hash.h"

#define MAGIC SYM_STR("SYMRANKS")

/* Length of magic and checksum. */
#define UNCHECKED (8 + 4)

#define ROOM ((size_t) 2 * SYM_RANKS_MAX)
#define SLOTS ((size_t) 4 * SYM_RANKS_MAX)

sym_ranks_t *
sym_ranks_create(int64_t now_s)
{
    sym_ranks_t *ranks = calloc(1, sizeof(*ranks));

    if (ranks != NULL) {
        ranks->faded_s = now_s;
        ranks->at = calloc(ROOM, sizeof(sym_rank_t *));
        ranks->slots = calloc(SLOTS, sizeof(*ranks->slots));
        if (ranks->at == NULL || ranks->slots == NULL) {
            sym_ranks_free(ranks);
            return NULL;
        }
    }

    return ranks;
}


static void
drop_after(sym_ranks_t *ranks, uint32_t n)
{
    while (ranks->n > n) {
        free(ranks->at[--ranks->n]);
    }
}


void
sym_ranks_free(sym_ranks_t *ranks)
{
    if (ranks != NULL) {
        drop_after(ranks, 0);
        free(ranks->at);
        free(ranks->slots);
        free(ranks);
    }
}


/* --- order --- */

static int
compare(const sym_rank_t *a, const sym_rank_t *b)
{
    int order = sym_str_cmp(a->source, b->source);

    if (order == 0) {
        order = (int) a->kind - (int) b->kind;
    }

    return order != 0 ? order : sym_str_cmp(a->ref, b->ref);
}


static int
by_weight(const void *a, const void *b)
{
    const sym_rank_t *x = *(sym_rank_t *const *) a,
                     *y = *(sym_rank_t *const *) b;

    if (x->weight != y->weight) {
        return x->weight < y->weight ? 1 : -1;
    }

    return compare(x, y);
}


static size_t
bytes_of(const sym_rank_t *rank)
{
    return SYM_RANK_HEAD + rank->source.len + rank->ref.len;
}


uint32_t
sym_ranks_for(uint64_t bytes)
{
    /* artifacts are smaller, so that the part is filled */
    uint64_t n = bytes / ((uint64_t) 256 * 1024);

    return n < SYM_RANKS_MIN   ? SYM_RANKS_MIN
           : n > SYM_RANKS_MAX ? SYM_RANKS_MAX
                               : (uint32_t) n;
}


void
sym_ranks_order(sym_ranks_t *ranks, uint32_t max)
{
    size_t bytes = SYM_RANKS_HEAD;
    uint32_t n = 0;

    qsort(ranks->at, ranks->n, sizeof(*ranks->at), by_weight);
    while (n < ranks->n && n < max
           && bytes + bytes_of(ranks->at[n]) <= SYM_RANKS_BYTES_MAX)
    {
        bytes += bytes_of(ranks->at[n++]);
    }

    drop_after(ranks, n);
}


/* --- additions --- */

/* Returns the slot of the artifact, or a free one for it. */
static uint32_t *
slot_of(const sym_ranks_t *ranks, const sym_rank_t *rank)
{
    const sym_hash_key_t key = sym_hash_key();
    sym_hash_state_t hash = sym_hash_begin(&key);
    size_t i;

    sym_hash_add(&hash, rank->source);
    sym_hash_add(&hash, rank->ref);
    sym_hash_word(&hash, rank->kind);
    i = sym_hash_end(hash) % SLOTS;

    while (ranks->slots[i] != 0
           && compare(ranks->at[ranks->slots[i] - 1], rank) != 0)
    {
        i = (i + 1) % SLOTS;
    }

    return &ranks->slots[i];
}


/* Entries were moved or dropped. */
static void
index_again(sym_ranks_t *ranks)
{
    memset(ranks->slots, 0, SLOTS * sizeof(*ranks->slots));
    for (uint32_t i = 0; i < ranks->n; i++) {
        *slot_of(ranks, ranks->at[i]) = i + 1;
    }
}


static sym_rank_t *
copy(const sym_rank_t *rank)
{
    sym_rank_t *made = malloc(sizeof(*made) + rank->source.len + rank->ref.len);
    char *p;

    if (made == NULL) {
        return NULL;
    }

    p = (char *) (made + 1);
    *made = *rank;
    made->source = sym_str_append(&p, rank->source);
    made->ref = sym_str_append(&p, rank->ref);
    return made;
}


static uint32_t
sum(uint32_t a, uint32_t b)
{
    return b < SYM_RANK_WEIGHT_MAX - a ? a + b : SYM_RANK_WEIGHT_MAX;
}


bool
sym_ranks_add(sym_ranks_t *ranks, const sym_rank_t *rank)
{
    sym_rank_t *made;
    uint32_t *slot;

    if (rank->weight == 0 || rank->weight > SYM_RANK_WEIGHT_MAX
        || rank->source.len == 0 || rank->source.len > SYM_RANK_SOURCE_MAX
        || rank->ref.len == 0 || rank->ref.len > SYM_RANK_REF_MAX)
    {
        return false;
    }

    slot = slot_of(ranks, rank);
    if (*slot != 0) {
        made = ranks->at[*slot - 1];
        made->weight = sum(made->weight, rank->weight);
        return true;
    }

    if (ranks->n == ROOM) {
        sym_ranks_order(ranks, SYM_RANKS_MAX);
        index_again(ranks);
        slot = slot_of(ranks, rank);
    }

    made = copy(rank);
    if (made == NULL) {
        return false;
    }

    ranks->at[ranks->n++] = made;
    *slot = ranks->n;
    return true;
}


/* --- time --- */

static uint32_t
faded(uint32_t weight, int64_t steps)
{
    for (; steps > 0 && weight > 0; steps--) {
        weight -= (weight - 1) / SYM_RANKS_PART + 1;
    }

    return weight;
}


void
sym_ranks_fade(sym_ranks_t *ranks, int64_t now_s)
{
    int64_t steps;
    uint32_t n = 0;

    if (ranks->faded_s < 0 || ranks->faded_s > now_s) {
        ranks->faded_s = now_s;
    }

    steps = (now_s - ranks->faded_s) / SYM_RANKS_STEP_S;
    ranks->faded_s += steps * SYM_RANKS_STEP_S;

    for (uint32_t i = 0; i < ranks->n; i++) {
        sym_rank_t *rank = ranks->at[i];

        rank->weight = faded(rank->weight, steps);
        if (rank->weight == 0) {
            free(rank);
        } else {
            ranks->at[n++] = rank;
        }
    }

    ranks->n = n;
    index_again(ranks);
}


/* --- bytes --- */

uint32_t
sym_ranks_crc(const void *data, size_t len)
{
    return libdeflate_crc32(0, (const char *) data + UNCHECKED,
                            len - UNCHECKED);
}


bool
sym_rank_ref_read(sym_str_t bytes, sym_object_ref_t *ref)
{
    sym_ref_key_t key;

    return sym_object_ref_read(bytes, ref)
           && ref->debug_id.form != SYM_DEBUG_ID_NONE && ref->url.len == 0
           && ref->checksum.len == 0 && sym_ref_key(ref, &key)
           && sym_module_name_ok(key.key.name);
}


static sym_status_t
read_one(sym_ranks_t *ranks, sym_cursor_t *c, sym_error_t *err)
{
    sym_object_ref_t ref;
    sym_rank_t rank = { .weight = sym_u32(c), .kind = sym_u8(c) };
    size_t n_source = sym_u8(c), n_ref = sym_u16(c);

    rank.source = sym_bytes(c, n_source);
    rank.ref = sym_bytes(c, n_ref);

    if (!sym_ok(c)) {
        return err->status;
    }

    if (rank.weight == 0 || rank.weight > SYM_RANK_WEIGHT_MAX) {
        return sym_fail(err, SYM_DAMAGED, "no weight of an artifact");
    }

    if (n_source == 0 || n_source > SYM_RANK_SOURCE_MAX) {
        return sym_fail(err, SYM_DAMAGED, "no name of a source");
    }

    if (rank.kind == 0 || rank.kind > SYM_KIND_MAX) {
        return sym_fail(err, SYM_DAMAGED, "no kind of artifact");
    }

    if (n_ref > SYM_RANK_REF_MAX || !sym_rank_ref_read(rank.ref, &ref)) {
        return sym_fail(err, SYM_DAMAGED, "no reference of an object");
    }

    return sym_ranks_add(ranks, &rank) ? SYM_OK
                                       : sym_fail(err, SYM_NOMEM, NULL);
}


sym_status_t
sym_ranks_read(sym_ranks_t *ranks, const void *data, size_t len,
               sym_error_t *err)
{
    sym_cursor_t c = sym_cursor(data, len, "ranks", err);
    uint32_t n;

    if (len < SYM_RANKS_HEAD || !sym_str_eq(sym_bytes(&c, MAGIC.len), MAGIC)) {
        return sym_fail(err, SYM_DAMAGED, "not a list of ranks");
    }

    if (sym_u32(&c) != sym_ranks_crc(data, len)) {
        return sym_fail(err, SYM_DAMAGED, "the checksum is wrong");
    }

    n = sym_u32(&c);
    ranks->faded_s = (int64_t) sym_u64(&c);
    if (n > SYM_RANKS_MAX) {
        return sym_fail(err, SYM_DAMAGED, "too many artifacts");
    }

    for (; n > 0; n--) {
        if (read_one(ranks, &c, err) != SYM_OK) {
            return err->status;
        }
    }

    return sym_left(&c) == 0
               ? SYM_OK
               : sym_fail(err, SYM_DAMAGED, "bytes after the last artifact");
}


static void
put(sym_buffer_t *out, uint64_t value, size_t bytes)
{
    uint8_t le[8];

    for (size_t i = 0; i < bytes; i++) {
        le[i] = (uint8_t) (value >> 8 * i);
    }

    sym_buffer_put(out, le, bytes);
}


void
sym_ranks_write(const sym_ranks_t *ranks, sym_buffer_t *out)
{
    uint32_t crc;

    sym_buffer_put(out, MAGIC.data, MAGIC.len);
    put(out, 0, 4);
    put(out, ranks->n, 4);
    put(out, (uint64_t) ranks->faded_s, 8);

    for (uint32_t i = 0; i < ranks->n; i++) {
        const sym_rank_t *rank = ranks->at[i];

        put(out, rank->weight, 4);
        put(out, rank->kind, 1);
        put(out, rank->source.len, 1);
        put(out, rank->ref.len, 2);
        sym_buffer_put(out, rank->source.data, rank->source.len);
        sym_buffer_put(out, rank->ref.data, rank->ref.len);
    }

    if (!out->failed) {
        crc = sym_ranks_crc(out->data, out->len);
        for (size_t i = 0; i < 4; i++) {
            out->data[MAGIC.len + i] = (uint8_t) (crc >> 8 * i);
        }
    }
}
