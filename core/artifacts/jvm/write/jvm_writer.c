/*
 * jvm_writer.c - collects the classes and members of a mapping, and writes
 * them.
 *
 * It has more than 800 lines because its sets, its tables and its output are
 * the state of one writer, which no other file needs.
 */
#include "artifacts/jvm/write/jvm_writer.h"

#include <stdlib.h>

#include "artifacts/symcache/write/extents.h"
#include "base/buffer.h"
#include "base/hash.h"

#define FIRST_SLOTS 1024 /* a power of two */

/* Longest member: form, original, range, lines, notes.  That is one byte and
 * six uleb of 32 bits. */
#define MEMBER_BYTES_MAX 31

/* --- sets of keys, which are numbered in order of appearance --- */

#define KEY_WORDS 3

typedef struct {
    uint32_t words[KEY_WORDS];
} set_key_t;

typedef struct {
    set_key_t *keys;
    size_t n, cap;
    uint32_t *slots; /* number + 1; 0: free */
    size_t n_slots;
} set_t;

typedef struct {
    const char *data;
    uint32_t len, ref, hash;
} text_t;

typedef struct {
    uint32_t file; /* ref; 0: not yet written */
    bool is_synthesized;
} owner_t;

typedef struct {
    bool is_synthesized, is_outline;
} original_t;

typedef struct {
    uint32_t first, last; /* members */
    uint32_t n;
} method_t;

typedef struct {
    uint32_t original, start, end, first, last;
    uint32_t next;  /* next member of the same method */
    uint32_t notes; /* number + 1; 0: none */
    bool is_foreign, has_range, by_parameters;
    uint8_t n_lines;
} member_t;

typedef struct {
    uint32_t first_pair, n_pairs, first_rule, n_rules;
} notes_t;

typedef struct {
    uint32_t thrown; /* ref */
    uint32_t removed;
} rule_t;

struct sym_jvm_writer_s {
    sym_extents_t extents;
    sym_error_t *err;
    sym_hash_key_t key;

    text_t *texts;
    size_t n_texts, texts_cap;
    uint32_t *slots;
    size_t n_slots;

    set_t class_names, owner_names; /* texts */
    set_t original_keys;            /* owner, name, parameters */
    set_t method_keys;              /* class, name */
    set_t unique_keys;              /* method, name, parameters */

    uint32_t *classes; /* owners of the originals */
    owner_t *owners;
    original_t *originals;
    method_t *methods;
    uint32_t *uniques; /* section in which each key appeared last */
    size_t classes_cap, owners_cap, originals_cap, methods_cap, uniques_cap;

    member_t *members;
    size_t n_members, members_cap;
    notes_t *notes;
    size_t n_notes, notes_cap;
    sym_jvm_pair_t *pairs;
    size_t n_pairs, pairs_cap;
    rule_t *rules;
    size_t n_rules, rules_cap;

    uint32_t class; /* the current section */
    uint32_t method;
    uint32_t section; /* number of calls of sym_jvm_begin_class() */
    uint64_t n_lines;
};

static sym_status_t
no_memory(sym_jvm_writer_t *w)
{
    return sym_fail(w->err, SYM_NOMEM, NULL);
}


static uint64_t
hash_key(const sym_jvm_writer_t *w, const set_key_t *key)
{
    sym_hash_state_t s = sym_hash_begin(&w->key);

    sym_hash_word(&s, key->words[0] | (uint64_t) key->words[1] << 32);
    sym_hash_word(&s, key->words[2]);
    return sym_hash_end(s);
}


static uint32_t *
find_slot(const sym_jvm_writer_t *w, const set_t *set, const set_key_t *key)
{
    size_t at = (size_t) hash_key(w, key) & (set->n_slots - 1);

    while (set->slots[at] != 0
           && memcmp(&set->keys[set->slots[at] - 1], key, sizeof(*key)) != 0)
    {
        at = (at + 1) & (set->n_slots - 1);
    }

    return &set->slots[at];
}


static bool
grow_set(const sym_jvm_writer_t *w, set_t *set)
{
    set_t grown = *set;

    grown.n_slots = set->n_slots != 0 ? 2 * set->n_slots : FIRST_SLOTS;
    grown.slots = calloc(grown.n_slots, sizeof(*grown.slots));

    if (grown.slots == NULL) {
        return false;
    }

    for (size_t i = 0; i < set->n; i++) {
        *find_slot(w, &grown, &set->keys[i]) = (uint32_t) i + 1;
    }

    free(set->slots);
    *set = grown;
    return true;
}


/* Finds the number of a key, or adds the key: then *number is set->n - 1. */
static sym_status_t
add_key(sym_jvm_writer_t *w, set_t *set, const set_key_t *key, size_t most,
        uint32_t *number)
{
    uint32_t *slot;

    if (2 * set->n >= set->n_slots && !grow_set(w, set)) {
        return no_memory(w);
    }

    slot = find_slot(w, set, key);
    if (*slot != 0) {
        *number = *slot - 1;
        return SYM_OK;
    }

    if (set->n >= most) {
        return sym_fail(w->err, SYM_LIMIT, "too many names in the mapping");
    }

    if (!SYM_ARRAY_ROOM(set->keys, set->n + 1, set->cap)) {
        return no_memory(w);
    }

    *number = (uint32_t) set->n;
    set->keys[set->n++] = *key;
    *slot = *number + 1;
    return SYM_OK;
}


static void
free_set(set_t *set)
{
    free(set->keys);
    free(set->slots);
}


/* --- texts --- */

static uint32_t *
find_text(uint32_t *slots, size_t n_slots, const text_t *texts, sym_str_t text,
          uint32_t hash)
{
    size_t at = hash & (n_slots - 1);

    while (slots[at] != 0) {
        const text_t *t = &texts[slots[at] - 1];

        if (t->hash == hash && sym_str_eq(sym_str(t->data, t->len), text)) {
            break;
        }

        at = (at + 1) & (n_slots - 1);
    }

    return &slots[at];
}


static bool
grow_texts(sym_jvm_writer_t *w)
{
    size_t n_slots = w->n_slots != 0 ? 2 * w->n_slots : FIRST_SLOTS;
    uint32_t *slots = calloc(n_slots, sizeof(*slots));

    if (slots == NULL) {
        return false;
    }

    for (size_t i = 0; i < w->n_texts; i++) {
        size_t at = w->texts[i].hash & (n_slots - 1);

        while (slots[at] != 0) {
            at = (at + 1) & (n_slots - 1);
        }

        slots[at] = (uint32_t) i + 1;
    }

    free(w->slots);
    w->slots = slots;
    w->n_slots = n_slots;
    return true;
}


static sym_status_t
write_text(sym_jvm_writer_t *w, sym_str_t text, uint32_t *ref)
{
    uint8_t head[SYM_LEB_MAX];
    size_t len = (size_t) (sym_uleb_write(head, text.len) - head);
    uint8_t *room;

    if (text.len > SYM_JVM_TEXT_MAX) {
        return sym_fail(w->err, SYM_LIMIT, "a name is too long");
    }

    room = sym_extents_alloc(&w->extents, SYM_LANE_MAIN, len + text.len,
                             SYM_PLACE_ANY, ref);
    if (room == NULL) {
        return w->err->status;
    }

    memcpy(room, head, len);
    if (text.len != 0) {
        memcpy(room + len, text.data, text.len);
    }

    return SYM_OK;
}


/* Finds the number of a text, or writes the text. */
static sym_status_t
add_text(sym_jvm_writer_t *w, sym_str_t text, uint32_t *number)
{
    uint32_t hash = (uint32_t) sym_hash(&w->key, text), *slot;
    text_t *t;

    if (2 * w->n_texts >= w->n_slots && !grow_texts(w)) {
        return no_memory(w);
    }

    slot = find_text(w->slots, w->n_slots, w->texts, text, hash);
    if (*slot != 0) {
        *number = *slot - 1;
        return SYM_OK;
    }

    if (!SYM_ARRAY_ROOM(w->texts, w->n_texts + 1, w->texts_cap)) {
        return no_memory(w);
    }

    t = &w->texts[w->n_texts];
    *t =
        (text_t){ .data = text.data, .len = (uint32_t) text.len, .hash = hash };
    if (write_text(w, text, &t->ref) != SYM_OK) {
        return w->err->status;
    }

    *number = (uint32_t) w->n_texts++;
    *slot = *number + 1;
    return SYM_OK;
}


static sym_str_t
text_of(const sym_jvm_writer_t *w, uint32_t number)
{
    return sym_str(w->texts[number].data, w->texts[number].len);
}


/* --- classes and members --- */

sym_jvm_writer_t *
sym_jvm_writer_create(sym_extent_put_pt put, void *ctx, sym_error_t *err)
{
    sym_jvm_writer_t *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        (void) sym_fail(err, SYM_NOMEM, NULL);
        return NULL;
    }

    w->err = err;
    w->key = sym_hash_key();

    if (sym_extents_begin(&w->extents, put, ctx, SYM_JVM_HEADER_BYTES, err)
        != SYM_OK)
    {
        sym_jvm_writer_free(w);
        return NULL;
    }

    return w;
}


void
sym_jvm_writer_free(sym_jvm_writer_t *w)
{
    if (w == NULL) {
        return;
    }

    sym_extents_free(&w->extents);
    free_set(&w->class_names);
    free_set(&w->owner_names);
    free_set(&w->original_keys);
    free_set(&w->method_keys);
    free_set(&w->unique_keys);
    free(w->texts);
    free(w->slots);
    free(w->classes);
    free(w->owners);
    free(w->originals);
    free(w->methods);
    free(w->uniques);
    free(w->members);
    free(w->notes);
    free(w->pairs);
    free(w->rules);
    free(w);
}


/* Gets the number of an original class. */
static sym_status_t
add_owner(sym_jvm_writer_t *w, sym_str_t name, uint32_t *number)
{
    size_t before = w->owner_names.n;
    set_key_t key = { { 0 } };

    if (add_text(w, name, &key.words[0]) != SYM_OK
        || add_key(w, &w->owner_names, &key, SYM_JVM_ORIGINALS_MAX, number)
               != SYM_OK)
    {
        return w->err->status;
    }

    if (!SYM_ARRAY_ROOM(w->owners, w->owner_names.n, w->owners_cap)) {
        return no_memory(w);
    }

    if (w->owner_names.n != before) {
        w->owners[*number] = (owner_t){ .file = 0 };
    }

    return SYM_OK;
}


sym_status_t
sym_jvm_begin_class(sym_jvm_writer_t *w, sym_str_t name, sym_str_t original)
{
    set_key_t key = { { 0 } };
    uint32_t owner;

    if (add_text(w, name, &key.words[0]) != SYM_OK
        || add_key(w, &w->class_names, &key, SYM_JVM_CLASSES_MAX, &w->class)
               != SYM_OK
        || add_owner(w, original, &owner) != SYM_OK)
    {
        return w->err->status;
    }

    if (!SYM_ARRAY_ROOM(w->classes, w->class_names.n, w->classes_cap)) {
        return no_memory(w);
    }

    w->section++;
    w->classes[w->class] = owner;
    w->owners[owner] = (owner_t){ .file = 0 };
    return SYM_OK;
}


sym_status_t
sym_jvm_set_file(sym_jvm_writer_t *w, sym_str_t file)
{
    uint32_t number;

    if (add_text(w, file, &number) == SYM_OK) {
        w->owners[w->classes[w->class]].file = w->texts[number].ref;
    }

    return w->err->status;
}


void
sym_jvm_set_class_synthesized(sym_jvm_writer_t *w)
{
    w->owners[w->classes[w->class]].is_synthesized = true;
}


static sym_status_t
add_original(sym_jvm_writer_t *w, const sym_jvm_given_t *given,
             uint32_t *number)
{
    set_key_t key;
    size_t before = w->original_keys.n;

    key.words[0] = w->classes[w->class];

    if ((given->owner.data != NULL
         && add_owner(w, given->owner, &key.words[0]) != SYM_OK)
        || add_text(w, given->original, &key.words[1]) != SYM_OK
        || add_text(w, given->parameters, &key.words[2]) != SYM_OK
        || add_key(w, &w->original_keys, &key, SYM_JVM_ORIGINALS_MAX, number)
               != SYM_OK)
    {
        return w->err->status;
    }

    if (!SYM_ARRAY_ROOM(w->originals, w->original_keys.n, w->originals_cap)) {
        return no_memory(w);
    }

    if (w->original_keys.n != before) {
        w->originals[*number] = (original_t){ false, false };
    }

    return SYM_OK;
}


/* Adds the member to its method, as the last one. */
static sym_status_t
link_member(sym_jvm_writer_t *w, sym_str_t name, uint32_t member)
{
    set_key_t key = { { w->class, 0, 0 } };
    size_t before = w->method_keys.n;
    method_t *m;

    if (add_text(w, name, &key.words[1]) != SYM_OK
        || add_key(w, &w->method_keys, &key, SYM_JVM_METHODS_MAX, &w->method)
               != SYM_OK)
    {
        return w->err->status;
    }

    if (!SYM_ARRAY_ROOM(w->methods, w->method_keys.n, w->methods_cap)) {
        return no_memory(w);
    }

    m = &w->methods[w->method];

    if (w->method_keys.n != before) {
        *m = (method_t){ .first = member };
    } else {
        w->members[m->last].next = member;
    }

    m->last = member;
    m->n++;
    return SYM_OK;
}


sym_status_t
sym_jvm_add_member(sym_jvm_writer_t *w, const sym_jvm_given_t *given)
{
    uint32_t number = (uint32_t) w->n_members;
    member_t m = { .start = given->start,
                   .end = given->end,
                   .first = given->first,
                   .last = given->last,
                   .is_foreign = given->owner.data != NULL,
                   .has_range = given->has_range,
                   .n_lines = (uint8_t) given->n_lines };

    if (w->n_members >= UINT32_MAX / 2) {
        return sym_fail(w->err, SYM_LIMIT, "too many lines in the mapping");
    }

    if (!SYM_ARRAY_ROOM(w->members, w->n_members + 1, w->members_cap)) {
        return no_memory(w);
    }

    if (add_original(w, given, &m.original) == SYM_OK
        && link_member(w, given->name, number) == SYM_OK)
    {
        w->members[w->n_members++] = m;
        w->n_lines += m.n_lines != 0;
    }

    return w->err->status;
}


static member_t *
last_member(sym_jvm_writer_t *w)
{
    return &w->members[w->n_members - 1];
}


void
sym_jvm_set_synthesized(sym_jvm_writer_t *w)
{
    w->originals[last_member(w)->original].is_synthesized = true;
}


void
sym_jvm_set_outline(sym_jvm_writer_t *w)
{
    w->originals[last_member(w)->original].is_outline = true;
}


sym_status_t
sym_jvm_find_by_parameters(sym_jvm_writer_t *w)
{
    member_t *m = last_member(w);
    const set_key_t *original = &w->original_keys.keys[m->original];
    set_key_t key = { { w->method, original->words[1], original->words[2] } };
    size_t before = w->unique_keys.n;
    uint32_t number;

    if (add_key(w, &w->unique_keys, &key, UINT32_MAX / 2, &number) != SYM_OK) {
        return w->err->status;
    }

    if (!SYM_ARRAY_ROOM(w->uniques, w->unique_keys.n, w->uniques_cap)) {
        return no_memory(w);
    }

    m->by_parameters =
        w->unique_keys.n != before || w->uniques[number] != w->section;
    w->uniques[number] = w->section;
    return SYM_OK;
}


/* Gets the notes of the last member.  NULL: out of memory. */
static notes_t *
notes_of_last(sym_jvm_writer_t *w)
{
    member_t *m = last_member(w);

    if (m->notes != 0) {
        return &w->notes[m->notes - 1];
    }

    if (!SYM_ARRAY_ROOM(w->notes, w->n_notes + 1, w->notes_cap)) {
        (void) no_memory(w);
        return NULL;
    }

    w->notes[w->n_notes] = (notes_t){ .n_pairs = 0 };
    m->notes = (uint32_t) ++w->n_notes;
    return &w->notes[w->n_notes - 1];
}


sym_status_t
sym_jvm_set_positions(sym_jvm_writer_t *w, const sym_jvm_pair_t *pairs,
                      size_t n)
{
    notes_t *notes = notes_of_last(w);

    if (notes == NULL
        || !SYM_ARRAY_ROOM(w->pairs, w->n_pairs + n, w->pairs_cap)) {
        return no_memory(w);
    }

    notes->first_pair = (uint32_t) w->n_pairs;
    notes->n_pairs = (uint32_t) n;
    memcpy(w->pairs + w->n_pairs, pairs, n * sizeof(*pairs));
    w->n_pairs += n;
    return SYM_OK;
}


sym_status_t
sym_jvm_add_rule(sym_jvm_writer_t *w, sym_str_t thrown, uint32_t removed)
{
    notes_t *notes = notes_of_last(w);
    uint32_t number;

    if (notes == NULL
        || !SYM_ARRAY_ROOM(w->rules, w->n_rules + 1, w->rules_cap)) {
        return no_memory(w);
    }

    if (add_text(w, thrown, &number) != SYM_OK) {
        return w->err->status;
    }

    if (notes->n_rules++ == 0) {
        notes->first_rule = (uint32_t) w->n_rules;
    }

    w->rules[w->n_rules++] = (rule_t){ w->texts[number].ref, removed };
    return SYM_OK;
}


/* --- methods --- */

static sym_status_t
put_notes(sym_jvm_writer_t *w, const notes_t *notes, uint32_t *ref)
{
    sym_buffer_t b = { 0 };
    uint8_t number[2 * SYM_LEB_MAX], *room = NULL;

    sym_buffer_put(&b, number,
                   (size_t) (sym_uleb_write(number, notes->n_pairs) - number));

    for (uint32_t i = 0; i < notes->n_pairs; i++) {
        const sym_jvm_pair_t *pair = &w->pairs[notes->first_pair + i];

        sym_buffer_put(
            &b, number,
            (size_t) (sym_uleb_write(sym_uleb_write(number, pair->from),
                                     pair->to)
                      - number));
    }

    sym_buffer_put(&b, number,
                   (size_t) (sym_uleb_write(number, notes->n_rules) - number));

    for (uint32_t i = 0; i < notes->n_rules; i++) {
        const rule_t *rule = &w->rules[notes->first_rule + i];

        sym_buffer_put(
            &b, number,
            (size_t) (sym_uleb_write(sym_uleb_write(number, rule->thrown),
                                     rule->removed)
                      - number));
    }

    if (b.failed) {
        (void) no_memory(w);
    } else if (b.len > SYM_EXTENT_MAX) {
        (void) sym_fail(w->err, SYM_LIMIT, "a line has too many notes");
    } else {
        room = sym_extents_alloc(&w->extents, SYM_LANE_MAIN, b.len,
                                 SYM_PLACE_ANY, ref);
    }

    if (room != NULL) {
        memcpy(room, b.data, b.len);
    }

    sym_buffer_free(&b);
    return w->err->status;
}


/* Range of the previous members of a piece. */
typedef struct {
    bool has_range;
    uint32_t start, end;
} range_t;

static uint32_t
zigzag(uint32_t step)
{
    return step << 1 ^ (step >> 31 != 0 ? UINT32_MAX : 0);
}


static uint8_t *
put_member(const member_t *m, uint32_t notes, range_t *range, uint8_t *p)
{
    uint32_t kept = m->has_range == range->has_range && m->start == range->start
                            && m->end == range->end
                        ? SYM_JVM_RANGE_SAME
                    : m->has_range ? SYM_JVM_RANGE_NEW
                                   : SYM_JVM_RANGE_NONE;
    uint32_t lines = m->n_lines == 0   ? SYM_JVM_LINES_NONE
                     : m->n_lines == 1 ? SYM_JVM_LINES_FIRST
                     : m->has_range && m->first == m->start && m->last == m->end
                         ? SYM_JVM_LINES_RANGE
                         : SYM_JVM_LINES_BOTH;

    *p++ =
        (uint8_t) ((m->is_foreign ? SYM_JVM_FOREIGN : 0)
                   | kept << SYM_JVM_RANGE_SHIFT | lines << SYM_JVM_LINES_SHIFT
                   | (m->by_parameters ? SYM_JVM_BY_PARAMETERS : 0)
                   | (notes != 0 ? SYM_JVM_HAS_NOTES : 0));
    p = sym_uleb_write(p, m->original);

    if (kept == SYM_JVM_RANGE_NEW) {
        p = sym_uleb_write(p, zigzag(m->start - range->end));
        p = sym_uleb_write(p, m->end - m->start);
    }

    if (lines == SYM_JVM_LINES_FIRST || lines == SYM_JVM_LINES_BOTH) {
        p = sym_uleb_write(p, m->first);
    }

    if (lines == SYM_JVM_LINES_BOTH) {
        p = sym_uleb_write(p, m->last - m->first);
    }

    *range = (range_t){ m->has_range, m->start, m->end };
    return notes != 0 ? sym_uleb_write(p, notes) : p;
}


/* The piece of a method that is being written. low, high: bounds of its
 * members' lines. */
typedef struct {
    uint8_t data[SYM_JVM_PIECE_MEMBERS * MEMBER_BYTES_MAX];
    size_t len;
    uint32_t low, high;
} piece_t;

static sym_status_t
make_piece(sym_jvm_writer_t *w, uint32_t *member, uint32_t n, uint8_t *flags,
           piece_t *piece)
{
    range_t range = { false, 0, 0 };
    uint8_t *p = piece->data;

    piece->low = UINT32_MAX;
    piece->high = 0;

    for (uint32_t i = 0; i < n; i++) {
        const member_t *m = &w->members[*member];
        bool is_base = !m->has_range || m->end == 0;
        uint32_t notes = 0, start = is_base ? 0 : m->start,
                 end = is_base ? UINT32_MAX : m->end;

        if (m->notes != 0
            && put_notes(w, &w->notes[m->notes - 1], &notes) != SYM_OK) {
            return w->err->status;
        }

        *flags |= is_base ? 0 : SYM_JVM_HAS_LINES;
        *flags |= m->notes != 0 && w->notes[m->notes - 1].n_rules != 0
                      ? SYM_JVM_HAS_RULES
                      : 0;
        piece->low = start < piece->low ? start : piece->low;
        piece->high = end > piece->high ? end : piece->high;
        p = put_member(m, notes, &range, p);
        *member = m->next;
    }

    piece->len = (size_t) (p - piece->data);
    return SYM_OK;
}


/* Writes the pieces of a method that has several, and returns their list.  A
   single piece is returned without being written. */
static sym_status_t
put_pieces(sym_jvm_writer_t *w, const method_t *m, uint8_t *flags,
           piece_t *piece, sym_buffer_t *list)
{
    uint32_t member = m->first;

    for (uint32_t left = m->n; left > 0;) {
        uint32_t n =
            left < SYM_JVM_PIECE_MEMBERS ? left : SYM_JVM_PIECE_MEMBERS;
        uint8_t entry[SYM_JVM_PIECE_BYTES], *room;
        uint32_t ref;

        if (make_piece(w, &member, n, flags, piece) != SYM_OK) {
            return w->err->status;
        }

        left -= n;
        if (m->n <= SYM_JVM_PIECE_MEMBERS) {
            return SYM_OK;
        }

        room = sym_extents_alloc(&w->extents, SYM_LANE_MAIN, piece->len,
                                 SYM_PLACE_ANY, &ref);
        if (room == NULL) {
            return w->err->status;
        }

        memcpy(room, piece->data, piece->len);
        sym_put32(entry, ref);
        sym_put32(entry + 4, piece->low);
        sym_put32(entry + 8, piece->high);
        sym_buffer_put(list, entry, sizeof(entry));
    }

    return SYM_OK;
}


static sym_status_t
put_method(sym_jvm_writer_t *w, const method_t *m, piece_t *piece,
           uint32_t *ref)
{
    uint8_t head[1 + SYM_LEB_MAX] = { 0 }, *room = NULL;
    size_t len = (size_t) (sym_uleb_write(head + 1, m->n) - head);
    const member_t *first = &w->members[m->first];
    sym_buffer_t list = { 0 };
    sym_str_t body;

    head[0] = w->originals[first->original].is_outline ? SYM_JVM_IS_OUTLINE : 0;
    (void) put_pieces(w, m, &head[0], piece, &list);

    body = m->n <= SYM_JVM_PIECE_MEMBERS
               ? sym_str((const char *) piece->data, piece->len)
               : sym_str((const char *) list.data, list.len);

    if (list.failed) {
        (void) no_memory(w);
    } else if (w->err->status == SYM_OK && len + body.len > SYM_EXTENT_MAX) {
        (void) sym_fail(w->err, SYM_LIMIT, "a method has too many lines");
    }

    if (w->err->status == SYM_OK) {
        room = sym_extents_alloc(&w->extents, SYM_LANE_MAIN, len + body.len,
                                 SYM_PLACE_ANY, ref);
    }

    if (room != NULL) {
        memcpy(room, head, len);
        memcpy(room + len, body.data, body.len);
    }

    sym_buffer_free(&list);
    return w->err->status;
}


/* --- the end --- */

/* A class or method that is being sorted. */
typedef struct {
    sym_str_t name;
    uint32_t hash; /* hash of a class; 0 for a method */
    uint32_t number;
    uint32_t ref; /* ref of a method that was written */
} item_t;

static int
compare(const void *a, const void *b)
{
    const item_t *x = a, *y = b;

    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : sym_str_cmp(x->name, y->name);
}


/* Classes and methods, sorted; methods class by class. */
typedef struct {
    item_t *classes, *methods;
    uint32_t *starts; /* starts by class, in the order of the mapping, and
                         the end */
    piece_t *piece;
} order_t;

static void
free_order(order_t *o)
{
    free(o->classes);
    free(o->methods);
    free(o->starts);
    free(o->piece);
}


static void
order_classes(const sym_jvm_writer_t *w, order_t *o)
{
    size_t n = w->class_names.n;

    for (uint32_t i = 0; i < n; i++) {
        sym_str_t name = text_of(w, w->class_names.keys[i].words[0]);

        o->classes[i] = (item_t){ name, sym_jvm_hash(name), i, 0 };
    }

    if (n != 0) {
        qsort(o->classes, n, sizeof(*o->classes), compare);
    }
}


static void
order_methods(const sym_jvm_writer_t *w, order_t *o)
{
    size_t n = w->method_keys.n, n_classes = w->class_names.n;

    /* counts are stored two places later, so that they become starts */
    for (size_t i = 0; i < n; i++) {
        o->starts[w->method_keys.keys[i].words[0] + 2]++;
    }

    for (size_t i = 2; i < n_classes + 2; i++) {
        o->starts[i] += o->starts[i - 1];
    }

    for (uint32_t i = 0; i < n; i++) {
        const set_key_t *key = &w->method_keys.keys[i];

        o->methods[o->starts[key->words[0] + 1]++] =
            (item_t){ text_of(w, key->words[1]), 0, i, 0 };
    }

    for (size_t i = 0; i < n_classes; i++) {
        if (o->starts[i + 1] != o->starts[i]) {
            qsort(o->methods + o->starts[i], o->starts[i + 1] - o->starts[i],
                  sizeof(*o->methods), compare);
        }
    }
}


static sym_status_t
put_methods(sym_jvm_writer_t *w, order_t *o)
{
    for (size_t i = 0; i < w->method_keys.n; i++) {
        item_t *item = &o->methods[i];

        if (put_method(w, &w->methods[item->number], o->piece, &item->ref)
            != SYM_OK) {
            break;
        }
    }

    return w->err->status;
}


/* Room for the next record of a table.  NULL: failed.  *table: ref of the first
 * record. */
static uint8_t *
next_record(sym_jvm_writer_t *w, size_t size, uint32_t *table)
{
    uint32_t ref = 0;
    uint8_t *r = sym_extents_alloc(&w->extents, SYM_LANE_MAIN, size,
                                   SYM_PLACE_ANY, &ref);

    *table = *table == 0 ? ref : *table;
    return r;
}


static sym_status_t
put_class_table(sym_jvm_writer_t *w, const order_t *o, uint32_t *table)
{
    uint32_t first = 0;

    for (size_t i = 0; i < w->class_names.n; i++) {
        const item_t *item = &o->classes[i];
        uint32_t n = o->starts[item->number + 1] - o->starts[item->number];
        uint8_t *r = next_record(w, SYM_JVM_CLASS_BYTES, table);

        if (r == NULL) {
            break;
        }

        sym_put32(r, item->hash);
        sym_put32(r + 4,
                  w->texts[w->class_names.keys[item->number].words[0]].ref);
        sym_put32(r + 8, w->classes[item->number]);
        sym_put32(r + 12, first);
        sym_put32(r + 16, n);
        first += n;
    }

    return w->err->status;
}


/* Writes the methods in the order of the classes. */
static sym_status_t
put_method_table(sym_jvm_writer_t *w, const order_t *o, uint32_t *table)
{
    for (size_t i = 0; i < w->class_names.n; i++) {
        uint32_t class = o->classes[i].number;

        for (uint32_t k = o->starts[class]; k < o->starts[class + 1]; k++) {
            const item_t *item = &o->methods[k];
            uint8_t *r = next_record(w, SYM_JVM_METHOD_BYTES, table);

            if (r == NULL) {
                return w->err->status;
            }

            sym_put32(r,
                      w->texts[w->method_keys.keys[item->number].words[1]].ref);
            sym_put32(r + 4, item->ref);
        }
    }

    return SYM_OK;
}


static sym_status_t
put_owner_table(sym_jvm_writer_t *w, uint32_t *table)
{
    for (size_t i = 0; i < w->owner_names.n; i++) {
        uint8_t *r = next_record(w, SYM_JVM_OWNER_BYTES, table);

        if (r == NULL) {
            break;
        }

        sym_put32(r, w->texts[w->owner_names.keys[i].words[0]].ref);
        sym_put32(r + 4, w->owners[i].file);
    }

    return w->err->status;
}


static sym_status_t
put_original_table(sym_jvm_writer_t *w, uint32_t *table)
{
    for (size_t i = 0; i < w->original_keys.n; i++) {
        const set_key_t *key = &w->original_keys.keys[i];
        uint8_t *r = next_record(w, SYM_JVM_ORIGINAL_BYTES, table);
        bool is_synthesized = w->originals[i].is_synthesized
                              || w->owners[key->words[0]].is_synthesized;

        if (r == NULL) {
            break;
        }

        sym_put32(r,
                  key->words[0] | (is_synthesized ? SYM_JVM_SYNTHESIZED : 0));
        sym_put32(r + 4, w->texts[key->words[1]].ref);
        sym_put32(r + 8, w->texts[key->words[2]].ref);
    }

    return w->err->status;
}


static sym_status_t
put_all(sym_jvm_writer_t *w, order_t *o, uint8_t *h)
{
    uint32_t classes = 0, methods = 0, owners = 0, originals = 0;

    order_classes(w, o);
    order_methods(w, o);

    if (put_methods(w, o) != SYM_OK || put_class_table(w, o, &classes) != SYM_OK
        || put_method_table(w, o, &methods) != SYM_OK
        || put_owner_table(w, &owners) != SYM_OK
        || put_original_table(w, &originals) != SYM_OK
        || sym_extents_flush(&w->extents) != SYM_OK)
    {
        return w->err->status;
    }

    sym_put32(h, SYM_JVM_MAGIC);
    sym_put32(h + 4, SYM_JVM_VERSION);
    sym_put32(h + 8, w->extents.next_number);
    sym_put32(h + 12, (uint32_t) w->class_names.n);
    sym_put32(h + 16, (uint32_t) w->method_keys.n);
    sym_put32(h + 20, (uint32_t) w->owner_names.n);
    sym_put32(h + 24, (uint32_t) w->original_keys.n);
    sym_put32(h + 28, classes);
    sym_put32(h + 32, methods);
    sym_put32(h + 36, owners);
    sym_put32(h + 40, originals);
    sym_put64(h + 44, w->n_members);
    sym_put64(h + 52, w->n_lines);
    return SYM_OK;
}


sym_status_t
sym_jvm_finish(sym_jvm_writer_t *w, sym_writer_stats_t *stats)
{
    uint8_t h[SYM_JVM_HEADER_BYTES] = { 0 };
    order_t o = {
        .classes = malloc((w->class_names.n + 1) * sizeof(*o.classes)),
        .methods = malloc((w->method_keys.n + 1) * sizeof(*o.methods)),
        .starts = calloc(w->class_names.n + 2, sizeof(*o.starts)),
        .piece = malloc(sizeof(*o.piece)),
    };

    if (o.classes == NULL || o.methods == NULL || o.starts == NULL
        || o.piece == NULL)
    {
        (void) no_memory(w);
    } else {
        (void) put_all(w, &o, h);
    }

    free_order(&o);
    if (w->err->status != SYM_OK) {
        return w->err->status;
    }

    *stats = (sym_writer_stats_t){
        .bytes = sym_extents_bytes(&w->extents),
        .extents = w->extents.next_number,
        .quality = w->n_lines != 0 ? SYM_JVM_LINES : SYM_JVM_NAMES,
    };
    return sym_extents_end(&w->extents, h, sizeof(h));
}
