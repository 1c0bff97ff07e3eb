#include "formats/pdb/sizes.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "formats/pdb/hashes.h"
#include "formats/pdb/simple.h"

/* Limit on chains of types that modify another type or take its values. */
#define MODIFIERS_MAX 64u

/* So many hash searches cost less than a list of all classes. */
#define SEARCHES_MAX 16u


static uint64_t
class_hash(const sym_pdb_sizes_t *s, const sym_pdb_class_t *c)
{
    return sym_hash(&s->key,
                    c->unique_name.len != 0 ? c->unique_name : c->name);
}


/* The key of the definition with that name and stored hash. */
static uint64_t
hashed_key(uint64_t hash, uint32_t stored)
{
    return hash ^ (stored + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
}


static bool
is_same_class(const sym_pdb_class_t *a, const sym_pdb_class_t *b)
{
    return sym_str_eq(a->unique_name.len != 0 ? a->unique_name : a->name,
                      b->unique_name.len != 0 ? b->unique_name : b->name);
}


/* True if this record is the definition. */
static bool
read_definition(const sym_pdb_records_t *records, uint32_t at,
                sym_pdb_class_t *c)
{
    sym_pdb_record_t r;

    return sym_pdb_is_class(sym_pdb_records_kind(records, at))
           && sym_pdb_records_get(records, records->first + at, &r)
           && sym_pdb_is_definition(&r) && sym_pdb_read_class(&r, c);
}


/* False: out of memory. */
static bool
room_for_class(sym_pdb_sizes_t *s, size_t *room)
{
    sym_sort_item_t *classes =
        sym_array_grow(s->classes, room, s->n_classes + 2, sizeof(*classes));

    s->classes = classes != NULL ? classes : s->classes;
    return classes != NULL;
}


/* Lists each class by its name, and by its name and stored hash. */
static bool
read_classes(sym_pdb_sizes_t *s)
{
    sym_pdb_class_t c;
    size_t room = 0;

    /* the list exists even if there are no classes, so records are searched
     * once */
    if (!room_for_class(s, &room)) {
        return false;
    }

    for (uint32_t i = 0; i < s->types->n; i++) {
        uint64_t hash;

        if (!read_definition(s->types, i, &c)) {
            continue;
        }

        if (!room_for_class(s, &room)) {
            return false;
        }

        hash = class_hash(s, &c);
        s->classes[s->n_classes++] = (sym_sort_item_t){ hash, i };
        if (sym_pdb_has_hashes(s->types)) {
            s->classes[s->n_classes++] = (sym_sort_item_t){
                hashed_key(hash, sym_pdb_hash_at(s->types, i)), i
            };
        }
    }

    return sym_sort(s->classes, s->n_classes);
}


static bool
list_classes(sym_pdb_sizes_t *s)
{
    if (read_classes(s)) {
        return true;
    }

    free(s->classes);
    s->classes = NULL;
    s->n_classes = 0;
    return false;
}


/* The first item with that key; UINT32_MAX: not found. */
static uint32_t
listed(const sym_pdb_sizes_t *s, uint64_t key)
{
    size_t i = sym_sort_find(s->classes, s->n_classes, key);

    return i < s->n_classes && s->classes[i].key == key ? s->classes[i].at
                                                        : UINT32_MAX;
}


/* False: searches by hash do not find it. */
static bool
find_hashed(const sym_pdb_records_t *records, const sym_pdb_class_t *declared,
            const uint32_t hashes[2], sym_pdb_class_t *c)
{
    for (uint32_t i = 0; sym_pdb_next_hashed(records, hashes, &i); i++) {
        if (read_definition(records, i, c) && is_same_class(c, declared)) {
            return true;
        }
    }

    return false;
}


/* The definition whose stored hash is one of these; if there is none, the first
 * definition. */
static bool
find_listed(sym_pdb_sizes_t *s, const sym_pdb_class_t *declared,
            const uint32_t hashes[2], sym_pdb_class_t *c)
{
    const uint64_t hash = class_hash(s, declared);
    uint32_t at = UINT32_MAX;

    if (s->classes == NULL && !list_classes(s)) {
        s->is_out_of_memory = true;
        return false;
    }

    for (size_t i = 0; sym_pdb_has_hashes(s->types) && i < 2; i++) {
        const uint32_t stored = hashes[i] % s->types->buckets;
        const uint32_t found = listed(s, hashed_key(hash, stored));

        at = found < at ? found : at;
    }

    at = at != UINT32_MAX ? at : listed(s, hash);
    return at != UINT32_MAX && read_definition(s->types, at, c)
           && is_same_class(c, declared);
}


static bool
find_definition(sym_pdb_sizes_t *s, const sym_pdb_class_t *declared,
                sym_pdb_class_t *c)
{
    const uint32_t hashes[2] = { sym_pdb_hash(declared->name),
                                 sym_pdb_hash(declared->unique_name) };

    return (s->classes == NULL && s->searches++ < SEARCHES_MAX
            && find_hashed(s->types, declared, hashes, c))
           || find_listed(s, declared, hashes, c);
}


static uint64_t
size_of_class(sym_pdb_sizes_t *s, sym_pdb_record_t *r)
{
    sym_pdb_class_t c, definition;

    if (!sym_pdb_read_class(r, &c)) {
        return 0;
    }

    return c.is_forward && find_definition(s, &c, &definition) ? definition.size
                                                               : c.size;
}


/* LF_POINTER: bits 13 to 18 are the size, if present.  The lowest five bits are
 * the kind: 10 and 11 have 32 bits, 12 has 64 (cvinfo.h, CV_ptrtype_e). */
static uint64_t
size_of_pointer(sym_pdb_record_t *r)
{
    uint32_t attributes, size, kind;

    (void) sym_u32(&r->fields);
    attributes = sym_u32(&r->fields);
    size = attributes >> 13 & 0x3f;
    kind = attributes & 0x1f;
    if (size != 0) {
        return size;
    }

    return kind == 12 ? 8 : kind == 10 || kind == 11 ? 4 : 0;
}


uint64_t
sym_pdb_size_of(sym_pdb_sizes_t *s, uint32_t index)
{
    sym_pdb_record_t r;

    for (unsigned n = 0; n < MODIFIERS_MAX; n++) {
        if (index < SYM_PDB_FIRST_RECORD) {
            return sym_pdb_simple_size(index);
        }

        if (!sym_pdb_records_get(s->types, index, &r)) {
            return 0;
        }

        if (r.kind == SYM_LF_MODIFIER) {
            index = sym_u32(&r.fields);
        } else if (r.kind == SYM_LF_ENUM || r.kind == SYM_LF_ENUM_ST) {
            (void) sym_u32(&r.fields); /* count, properties */
            index = sym_u32(&r.fields);
        } else if (r.kind == SYM_LF_POINTER) {
            return size_of_pointer(&r);
        } else {
            return sym_pdb_is_class(r.kind) ? size_of_class(s, &r) : 0;
        }
    }

    return 0;
}
