#include "ledger/write/table.h"

#include <stdlib.h>

#include "base/hash.h"

#define BUCKETS 4096u
#define NONE UINT32_MAX
#define WEEK_S 604800

_Static_assert((BUCKETS & (BUCKETS - 1)) == 0, "a mask");

/* A slot; its texts follow it. */
typedef struct {
    sym_ledger_entry_t e; /* first */
    uint32_t next;        /* next slot of the bucket, or NONE */
    uint32_t bucket, number;
    size_t bytes; /* length of the record */
} slot_t;

struct sym_ledger_s {
    slot_t *slots[SYM_LEDGER_ENTRIES_MAX];
    uint32_t n, n_new;
    uint32_t buckets[BUCKETS];
    sym_hash_key_t key;
    size_t bytes, bytes_max;
    sym_ledger_totals_t totals;
    int64_t rate_s; /* current second */
    unsigned rate;  /* number of modules added in this second */
    bool is_changed;
};

sym_ledger_t *
sym_ledger_create(size_t bytes)
{
    sym_ledger_t *l = calloc(1, sizeof(*l));

    if (l == NULL) {
        return NULL;
    }

    l->key = sym_hash_key();
    l->bytes_max = bytes < SYM_LEDGER_BYTES_MAX ? bytes : SYM_LEDGER_BYTES_MAX;
    memset(l->buckets, 0xff, sizeof(l->buckets));
    return l;
}


void
sym_ledger_free(sym_ledger_t *l)
{
    for (uint32_t i = 0; l != NULL && i < l->n; i++) {
        free(l->slots[i]);
    }

    free(l);
}


/* --- places --- */

static uint32_t
bucket_of(const sym_ledger_t *l, const sym_ledger_entry_t *e)
{
    sym_hash_state_t s = sym_hash_begin(&l->key);

    sym_hash_add(&s, e->key.name);
    sym_hash_add(&s, e->key.id);
    sym_hash_add(&s, e->key.code_id);
    sym_hash_add(&s, e->sources);
    return (uint32_t) (sym_hash_end(s) & (BUCKETS - 1));
}


static bool
is_same(const sym_ledger_entry_t *a, const sym_ledger_entry_t *b)
{
    return a->kind == b->kind && sym_str_eq(a->key.name, b->key.name)
           && sym_str_eq(a->key.id, b->key.id)
           && sym_str_eq(a->key.code_id, b->key.code_id)
           && sym_str_eq(a->sources, b->sources);
}


static slot_t *
find(const sym_ledger_t *l, const sym_ledger_entry_t *e, uint32_t bucket)
{
    uint32_t i = l->buckets[bucket];

    while (i != NONE && !is_same(&l->slots[i]->e, e)) {
        i = l->slots[i]->next;
    }

    return i == NONE ? NULL : l->slots[i];
}


/* Address of a slot's number. */
static uint32_t *
link_of(sym_ledger_t *l, const slot_t *slot)
{
    uint32_t *at = &l->buckets[slot->bucket];

    while (*at != slot->number) {
        at = &l->slots[*at]->next;
    }

    return at;
}


/* Reuses the text in the slot, or stores a new one there. */
static sym_str_t
keep(char **p, sym_str_t text)
{
    sym_str_t kept = sym_str(*p, text.len);

    if (text.len != 0) {
        memcpy(*p, text.data, text.len);
        *p += text.len;
    }

    return kept;
}


static size_t
text_bytes(const sym_ledger_entry_t *e)
{
    return e->key.name.len + e->key.id.len + e->key.code_id.len + e->reason.len
           + e->sources.len + e->from.len;
}


static slot_t *
copy(const sym_ledger_entry_t *e)
{
    slot_t *slot = malloc(sizeof(*slot) + text_bytes(e));
    char *p;

    if (slot == NULL) {
        return NULL;
    }

    p = (char *) (slot + 1);
    *slot = (slot_t){ .e = *e, .bytes = SYM_LEDGER_RECORD_MIN + text_bytes(e) };
    slot->e.key.scope = SYM_STR("");
    slot->e.key.name = keep(&p, e->key.name);
    slot->e.key.id = keep(&p, e->key.id);
    slot->e.key.code_id = keep(&p, e->key.code_id);
    slot->e.reason = keep(&p, e->reason);
    slot->e.sources = keep(&p, e->sources);
    slot->e.from = keep(&p, e->from);
    return slot;
}


static bool
is_new(const slot_t *slot)
{
    return !slot->e.is_known;
}


/* Whether its message to the webhook is still due. */
static bool
is_due(const slot_t *slot)
{
    return slot->e.told == SYM_LEDGER_DUE || slot->e.told == SYM_LEDGER_TELLING;
}


static void
drop(sym_ledger_t *l, slot_t *slot)
{
    slot_t *last = l->slots[l->n - 1];

    *link_of(l, slot) = slot->next;
    l->n_new -= is_new(slot);
    l->bytes -= slot->bytes;
    l->totals.told_dropped += is_due(slot);

    if (last != slot) {
        *link_of(l, last) = slot->number;
        last->number = slot->number;
        l->slots[slot->number] = last;
    }

    l->n--;
    l->is_changed = true;
    free(slot);
}


static void
put(sym_ledger_t *l, slot_t *slot)
{
    slot->number = l->n;
    slot->bucket = bucket_of(l, &slot->e);
    slot->next = l->buckets[slot->bucket];
    l->buckets[slot->bucket] = slot->number;
    l->slots[l->n++] = slot;
    l->n_new += is_new(slot);
    l->bytes += slot->bytes;
    l->is_changed = true;
}


/* Replaces the texts of a slot; false: no memory. */
static bool
replace(sym_ledger_t *l, slot_t **slot, const sym_ledger_entry_t *e)
{
    slot_t *old = *slot, *made = copy(e);

    if (made == NULL) {
        return false;
    }

    made->next = old->next;
    made->bucket = old->bucket;
    made->number = old->number;
    l->slots[old->number] = made;
    l->bytes = l->bytes - old->bytes + made->bytes;
    l->is_changed = true;
    free(old);
    *slot = made;
    return true;
}


/* --- eviction --- */

/* Modules that have arrived and were reported are evicted first. */
static bool
is_done(const slot_t *slot)
{
    return slot->e.came_s != 0 && !is_due(slot);
}


static uint64_t
weight(const slot_t *slot, int64_t now_s)
{
    int64_t weeks = (now_s - slot->e.last_s) / WEEK_S;

    if (is_done(slot) || weeks > 63) {
        return 0;
    }

    return weeks > 0 ? slot->e.requests >> weeks : slot->e.requests;
}


/* Finds a module to evict other than `but`.  NULL: the table takes no new
 * entry. */
static slot_t *
oldest_new(const sym_ledger_t *l, const slot_t *but)
{
    slot_t *found = NULL;

    for (uint32_t i = 0; i < l->n; i++) {
        slot_t *s = l->slots[i];

        if (!is_new(s) || (but != NULL && s == but)) {
            continue;
        }

        if (found == NULL || is_done(s) > is_done(found)
            || (is_done(s) == is_done(found) && s->e.last_s < found->e.last_s))
        {
            found = s;
        }
    }

    return found;
}


static slot_t *
lightest_known(const sym_ledger_t *l, int64_t now_s, const slot_t *but)
{
    slot_t *found = NULL;
    uint64_t least = 0;

    for (uint32_t i = 0; i < l->n; i++) {
        slot_t *s = l->slots[i];
        uint64_t w = weight(s, now_s);

        if (is_new(s) || (but != NULL && s == but)) {
            continue;
        }

        if (found == NULL || w < least
            || (w == least && s->e.last_s < found->e.last_s)) {
            found = s;
            least = w;
        }
    }

    return found;
}


static void
evict(sym_ledger_t *l, slot_t *slot)
{
    l->totals.evicted += slot->e.came_s == 0;
    drop(l, slot);
}


/* Frees room; new modules are evicted first.  `but` stays. */
static void
make_room(sym_ledger_t *l, int64_t now_s, const slot_t *but)
{
    while (l->n > SYM_LEDGER_ENTRIES_MAX || l->bytes > l->bytes_max
           || l->n_new > SYM_LEDGER_NEW_MAX)
    {
        slot_t *slot = oldest_new(l, but);

        slot = slot != NULL ? slot : lightest_known(l, now_s, but);
        if (slot == NULL) {
            return;
        }

        evict(l, slot);
    }
}


/* Handles the second request for a module: it stays if it has more requests
 * than another one. */
static void
promote(sym_ledger_t *l, slot_t *slot, int64_t now_s)
{
    slot_t *other;

    if (l->n - l->n_new >= SYM_LEDGER_KNOWN_MAX) {
        other = lightest_known(l, now_s, slot);
        if (weight(other, now_s) >= weight(slot, now_s)) {
            return;
        }

        other->e.is_known = false;
        l->n_new++;
    }

    slot->e.is_known = true;
    l->n_new--;
}


/* --- notes --- */

/* Whether a new module is admitted.  If it takes the slot or the room of
 * another one, the rate is limited. */
static bool
is_admitted(sym_ledger_t *l, int64_t now_s, size_t bytes)
{
    if (l->n_new < SYM_LEDGER_NEW_MAX && l->n < SYM_LEDGER_ENTRIES_MAX
        && l->bytes + bytes <= l->bytes_max)
    {
        return true;
    }

    if (l->rate_s != now_s) {
        l->rate_s = now_s;
        l->rate = 0;
    }

    return l->rate < SYM_LEDGER_RATE && ++l->rate > 0;
}


/* Adds with saturation. */
static void
add(uint64_t *sum, uint64_t n)
{
    *sum = *sum + n < *sum ? UINT64_MAX : *sum + n;
}


static sym_status_t
add_slot(sym_ledger_t *l, const sym_ledger_entry_t *e, int64_t now_s,
         slot_t **slot)
{
    if (!is_admitted(l, now_s, SYM_LEDGER_RECORD_MIN + text_bytes(e))) {
        add(&l->totals.refused, e->requests);
        l->is_changed = true;
        return SYM_LIMIT;
    }

    /* must be allocated before a slot is taken */
    if (l->n == SYM_LEDGER_ENTRIES_MAX) {
        slot_t *old = oldest_new(l, NULL);

        evict(l, old != NULL ? old : lightest_known(l, now_s, NULL));
    }

    *slot = copy(e);
    if (*slot == NULL) {
        return SYM_NOMEM;
    }

    put(l, *slot);
    make_room(l, now_s, *slot);
    return SYM_OK;
}


static sym_str_t
cut(sym_str_t text, size_t max)
{
    return sym_str(text.data, text.len < max ? text.len : max);
}


/* Keeps only complete lines. */
static sym_str_t
cut_lines(sym_str_t text, size_t max)
{
    size_t len = text.len;

    if (len > max) {
        for (len = max; len > 0 && text.data[len - 1] != '\n'; len--) {
        }
    }

    return sym_str(text.data, len);
}


static bool
is_possible(const sym_ledger_entry_t *e)
{
    char id[SYM_ID_MAX];

    return sym_module_name_ok(e->key.name) && e->key.id.len != 0
           && sym_str_eq(sym_str(id, sym_debug_id_canonical(e->key.id, id)),
                         e->key.id)
           && e->key.code_id.len <= SYM_CODE_ID_MAX
           && sym_kind_find(e->kind) != NULL;
}


static sym_status_t
update(sym_ledger_t *l, slot_t **slot, const sym_ledger_entry_t *note,
       int64_t now_s)
{
    sym_ledger_entry_t e = (*slot)->e;

    add(&e.requests, note->requests);
    add(&e.frames, note->frames);
    e.last_s = now_s;
    e.state = note->state;
    e.reason = note->reason;
    e.type = note->type != SYM_OBJECT_UNKNOWN ? note->type : e.type;
    l->totals.told_dropped += is_due(*slot);
    e.came_s = 0;
    e.from = SYM_STR("");
    e.told = SYM_LEDGER_UNTOLD;

    if (!replace(l, slot, &e)) {
        return SYM_NOMEM;
    }

    if (is_new(*slot)
        && (now_s - e.first_s >= SYM_LEDGER_AGAIN_S || now_s < e.first_s))
    {
        promote(l, *slot, now_s);
    }

    make_room(l, now_s, *slot);
    return SYM_OK;
}


sym_status_t
sym_ledger_note(sym_ledger_t *l, const sym_ledger_entry_t *note, int64_t now_s,
                const sym_ledger_entry_t **entry)
{
    sym_ledger_entry_t e = *note;
    slot_t *slot;
    sym_status_t rc;

    *entry = NULL;
    if (!is_possible(note)) {
        return SYM_MALFORMED;
    }

    e.reason = cut(note->reason, SYM_LEDGER_REASON_MAX);
    e.sources = cut_lines(note->sources, SYM_LEDGER_SOURCES_MAX);
    add(&l->totals.requests, e.requests);
    add(&l->totals.frames, e.frames);

    slot = find(l, &e, bucket_of(l, &e));
    if (slot != NULL) {
        rc = update(l, &slot, &e, now_s);

    } else {
        e.first_s = e.last_s = now_s;
        e.came_s = 0;
        e.from = SYM_STR("");
        e.told = SYM_LEDGER_UNTOLD;
        e.is_known = false;
        rc = add_slot(l, &e, now_s, &slot);
    }

    *entry = rc == SYM_OK ? &slot->e : NULL;
    return rc;
}


/* --- loading --- */

uint32_t
sym_ledger_count(const sym_ledger_t *l)
{
    return l->n;
}


const sym_ledger_entry_t *
sym_ledger_entry(const sym_ledger_t *l, uint32_t n)
{
    return &l->slots[n]->e;
}


uint32_t
sym_ledger_number(const sym_ledger_t *l, const sym_ledger_entry_t *entry)
{
    (void) l;
    return ((const slot_t *) entry)->number;
}


sym_status_t
sym_ledger_come(sym_ledger_t *l, uint32_t n, sym_str_t from, int64_t now_s,
                sym_ledger_told_t told)
{
    slot_t *slot = l->slots[n];
    sym_ledger_entry_t e = slot->e;

    e.came_s = now_s;
    e.from = cut(from, SYM_SCOPE_MAX);
    e.told = told;
    if (!replace(l, &slot, &e)) {
        return SYM_NOMEM;
    }

    add(&l->totals.came, 1);
    make_room(l, now_s, slot);
    return SYM_OK;
}


void
sym_ledger_tell(sym_ledger_t *l, uint32_t n, sym_ledger_told_t told)
{
    l->slots[n]->e.told = told;
    l->is_changed = true;
    add(&l->totals.told, told == SYM_LEDGER_TOLD);
    add(&l->totals.told_dropped, told == SYM_LEDGER_GIVEN_UP);
}


void
sym_ledger_tell_failed(sym_ledger_t *l)
{
    add(&l->totals.told_failed, 1);
    l->is_changed = true;
}


uint32_t
sym_ledger_sweep(sym_ledger_t *l, int64_t now_s)
{
    uint32_t before = l->n;

    for (uint32_t i = l->n; i > 0; i--) {
        slot_t *slot = l->slots[i - 1];

        if (slot->e.came_s != 0 && now_s - slot->e.came_s >= SYM_LEDGER_CAME_S)
        {
            drop(l, slot);
        }
    }

    return before - l->n;
}


const sym_ledger_totals_t *
sym_ledger_totals(const sym_ledger_t *l)
{
    return &l->totals;
}


bool
sym_ledger_is_changed(const sym_ledger_t *l)
{
    return l->is_changed;
}


/* --- the file --- */

static uint8_t *
put_number(uint8_t *p, uint64_t v, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        *p++ = (uint8_t) (v >> (8 * i));
    }

    return p;
}


static uint8_t *
put_text(uint8_t *p, sym_str_t text)
{
    p = put_number(p, text.len, 2);
    if (text.len != 0) {
        memcpy(p, text.data, text.len);
    }

    return p + text.len;
}


static uint8_t *
put_record(uint8_t *p, const sym_ledger_entry_t *e)
{
    sym_ledger_told_t told =
        e->told == SYM_LEDGER_TELLING ? SYM_LEDGER_DUE : e->told;

    p = put_number(p, e->type, 1);
    p = put_number(p, e->kind, 1);
    p = put_number(p, e->state, 1);
    p = put_number(p, (unsigned) told | (e->is_known ? 0x80u : 0), 1);
    p = put_number(p, e->requests, 8);
    p = put_number(p, e->frames, 8);
    p = put_number(p, (uint64_t) e->first_s, 8);
    p = put_number(p, (uint64_t) e->last_s, 8);
    p = put_number(p, (uint64_t) e->came_s, 8);
    p = put_text(p, e->key.name);
    p = put_text(p, e->key.id);
    p = put_text(p, e->key.code_id);
    p = put_text(p, e->reason);
    p = put_text(p, e->sources);
    return put_text(p, e->from);
}


bool
sym_ledger_write(sym_ledger_t *l, int64_t now_s, sym_buffer_t *out)
{
    const sym_ledger_totals_t *t = &l->totals;
    const uint64_t totals[SYM_LEDGER_TOTALS] = {
        t->requests, t->frames, t->refused,     t->evicted,
        t->came,     t->told,   t->told_failed, t->told_dropped
    };
    const sym_str_t magic = SYM_LEDGER_MAGIC;
    uint8_t *p;

    out->len = 0;
    if (!sym_buffer_room(out, SYM_LEDGER_HEAD + l->bytes)) {
        return false;
    }

    memcpy(out->data, magic.data, magic.len);
    p = put_number(out->data + magic.len, SYM_LEDGER_VERSION, 4);
    p = put_number(p, 0, 4);
    p = put_number(p, l->n, 4);
    p = put_number(p, (uint64_t) now_s, 8);
    for (unsigned i = 0; i < SYM_LEDGER_TOTALS; i++) {
        p = put_number(p, totals[i], 8);
    }

    for (uint32_t i = 0; i < l->n; i++) {
        p = put_record(p, &l->slots[i]->e);
    }

    out->len = (size_t) (p - out->data);
    (void) put_number(out->data + magic.len + 4,
                      sym_ledger_crc(out->data, out->len), 4);
    l->is_changed = false;
    return true;
}


sym_status_t
sym_ledger_restore(sym_ledger_t *l, const void *data, size_t len,
                   sym_error_t *err)
{
    sym_ledger_reader_t reader;
    sym_ledger_entry_t e;
    sym_status_t rc = sym_ledger_open(data, len, &reader, err);

    if (rc != SYM_OK) {
        return rc;
    }

    l->totals = reader.totals;
    while ((rc = sym_ledger_next(&reader, &e, err)) == SYM_OK) {
        slot_t *slot = NULL;

        if (find(l, &e, bucket_of(l, &e)) == NULL) {
            slot = copy(&e);
            if (slot == NULL) {
                return sym_fail(err, SYM_NOMEM, NULL);
            }

            put(l, slot);
            make_room(l, reader.written_s, NULL);
        }
    }

    l->is_changed = false;
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}
