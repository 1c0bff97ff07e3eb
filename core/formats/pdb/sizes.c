#include "formats/pdb/sizes.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "formats/pdb/simple.h"

/* Types that modify another one, or are made of its numbers, in a row. */
#define MODIFIERS_MAX 64u


static uint64_t
class_hash(const sym_pdb_sizes_t *s, const sym_pdb_class_t *c)
{
    return sym_hash(&s->key,
                    c->unique_name.len != 0 ? c->unique_name : c->name);
}


static bool
is_same_class(const sym_pdb_class_t *a, const sym_pdb_class_t *b)
{
    return sym_str_eq(a->unique_name.len != 0 ? a->unique_name : a->name,
                      b->unique_name.len != 0 ? b->unique_name : b->name);
}


/* True if this record defines a class. */
static bool
read_definition(const sym_pdb_records_t *records, uint32_t at,
                sym_pdb_class_t *c)
{
    sym_pdb_record_t r;

    return sym_pdb_records_get(records, records->first + at, &r)
           && sym_pdb_is_class(r.kind) && sym_pdb_read_class(&r, c)
           && !c->is_forward;
}


static bool
list_classes(sym_pdb_sizes_t *s)
{
    const sym_pdb_records_t *records = s->types;
    sym_pdb_class_t c;
    size_t room = 0;

    for (uint32_t i = 0; i < records->n; i++) {
        /* without any class there is a list, too, so types are searched once */
        sym_sort_item_t *classes = sym_array_grow(
            s->classes, &room, s->n_classes + 1, sizeof(*classes));

        if (classes == NULL) {
            return false;
        }

        s->classes = classes;
        if (read_definition(records, i, &c)) {
            s->classes[s->n_classes++] =
                (sym_sort_item_t){ class_hash(s, &c), i };
        }
    }

    return sym_sort(s->classes, s->n_classes);
}


/* The first definition of the class that the record at `index` declares. */
static bool
find_definition(sym_pdb_sizes_t *s, const sym_pdb_class_t *declared,
                sym_pdb_class_t *c)
{
    const uint64_t hash = class_hash(s, declared);
    size_t low = 0, high;

    if (s->classes == NULL && !list_classes(s)) {
        s->is_out_of_memory = true;
        return false;
    }

    for (high = s->n_classes; low < high;) {
        size_t middle = low + (high - low) / 2;

        if (s->classes[middle].key < hash) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low < s->n_classes && s->classes[low].key == hash
           && read_definition(s->types, s->classes[low].at, c)
           && is_same_class(c, declared);
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


/* LF_POINTER: bits 13 to 18 are the size, if it is there; the lowest five the
 * kind, of which 10 and 11 are of 32 bits, 12 of 64 (cvinfo.h,
 * CV_ptrtype_e). */
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
