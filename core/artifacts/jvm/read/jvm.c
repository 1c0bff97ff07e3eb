#include "artifacts/jvm/read/jvm.h"

#include <string.h>

/* Steps of interpolation before the search becomes a binary search. */
#define GUESSES 4

/* The bytes from ref to the end of its extent; data NULL: ref is invalid. */
static sym_str_t
rest_at(const sym_jvm_t *j, uint32_t ref)
{
    size_t len = 0;
    const uint8_t *data = sym_extent_rest(&j->in, ref, &len);

    return sym_str((const char *) data, len);
}


/* Reads a ULEB128 of up to 32 bits.  NULL: it is truncated or larger, or p is
 * NULL. */
static inline const uint8_t *
read_uleb(const uint8_t *p, const uint8_t *end, uint32_t *value)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; p != NULL && p < end && shift < 35; shift += 7) {
        uint8_t byte = *p++;

        sum |= (uint64_t) (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = (uint32_t) sum;
            return sum <= UINT32_MAX ? p : NULL;
        }
    }

    return NULL;
}


static bool
text_at(const sym_jvm_t *j, uint32_t ref, sym_str_t *text)
{
    sym_str_t rest = rest_at(j, ref);
    const uint8_t *start = (const uint8_t *) rest.data;
    const uint8_t *p;
    uint32_t len = 0;

    p = read_uleb(start, start != NULL ? start + rest.len : NULL, &len);

    if (p == NULL || len > rest.len - (size_t) (p - start)) {
        return false;
    }

    *text = sym_str((const char *) p, len);
    return true;
}


/* --- the header --- */

sym_status_t
sym_jvm_open(sym_jvm_t *j, sym_extent_get_pt get, void *ctx, sym_error_t *err)
{
    sym_str_t rest;
    const uint8_t *h;

    *j = (sym_jvm_t){ .in = { get, ctx, NULL, 1 } };
    rest = rest_at(j, 0);
    h = (const uint8_t *) rest.data;

    if (rest.len < SYM_JVM_HEADER_BYTES || sym_get32(h) != SYM_JVM_MAGIC) {
        return sym_fail(err, SYM_DAMAGED, "not an artifact of kind jvm");
    }

    if (sym_get32(h + 4) != SYM_JVM_VERSION) {
        return sym_fail(err, SYM_VERSION, "a jvm artifact of another version");
    }

    j->in.n = sym_get32(h + 8);
    j->n_classes = sym_get32(h + 12);
    j->n_methods = sym_get32(h + 16);
    j->n_owners = sym_get32(h + 20);
    j->n_originals = sym_get32(h + 24);
    j->classes_ref = sym_get32(h + 28);
    j->methods_ref = sym_get32(h + 32);
    j->owners_ref = sym_get32(h + 36);
    j->originals_ref = sym_get32(h + 40);
    j->n_members = sym_get64(h + 44);
    j->n_lines = sym_get64(h + 52);

    /* each member takes two bytes at least */
    if (j->in.n == 0 || j->in.n > SYM_EXTENTS_LIMIT
        || j->n_classes > SYM_JVM_CLASSES_MAX
        || j->n_methods > SYM_JVM_METHODS_MAX
        || j->n_originals > SYM_JVM_ORIGINALS_MAX
        || j->n_members > (uint64_t) j->in.n * SYM_EXTENT_MAX)
    {
        return sym_fail(err, SYM_DAMAGED, "damaged header of a jvm artifact");
    }

    return SYM_OK;
}


void
sym_jvm_remember(sym_jvm_t *j, sym_extent_view_t *table)
{
    j->in.cache = table;
}


/* --- classes --- */

static sym_status_t
read_owner(const sym_jvm_t *j, uint32_t number, sym_str_t *name,
           sym_str_t *file)
{
    const uint8_t *r = number < j->n_owners ? sym_extent_record(
                           &j->in, j->owners_ref, number, SYM_JVM_OWNER_BYTES)
                                            : NULL;

    *file = sym_str(NULL, 0);
    return r != NULL && text_at(j, sym_get32(r), name)
                   && (sym_get32(r + 4) == 0
                       || text_at(j, sym_get32(r + 4), file))
               ? SYM_OK
               : SYM_DAMAGED;
}


static sym_status_t
read_class(const sym_jvm_t *j, const uint8_t *r, sym_jvm_class_t *class)
{
    if (r == NULL || !text_at(j, sym_get32(r + 4), &class->name)) {
        return SYM_DAMAGED;
    }

    class->first_method = sym_get32(r + 12);
    class->n_methods = sym_get32(r + 16);

    if (class->first_method > j->n_methods
        || class->n_methods > j->n_methods - class->first_method)
    {
        return SYM_DAMAGED;
    }

    return read_owner(j, sym_get32(r + 8), &class->original, &class->file);
}


sym_status_t
sym_jvm_class(const sym_jvm_t *j, uint32_t i, sym_jvm_class_t *class)
{
    return read_class(
        j, sym_extent_record(&j->in, j->classes_ref, i, SYM_JVM_CLASS_BYTES),
        class);
}


/* Estimated position of the hash in [low, high), if hashes are spread
 * evenly. */
static uint32_t
guess(uint32_t low, uint32_t high, uint64_t from, uint64_t to, uint32_t hash)
{
    uint64_t width = high - low;
    uint64_t at = to > from ? (hash - from) * width / (to - from) : 0;

    return low + (uint32_t) (at < width ? at : width - 1);
}


sym_status_t
sym_jvm_find_class(const sym_jvm_t *j, sym_str_t name, sym_jvm_class_t *class)
{
    uint32_t low = 0, high = j->n_classes, hash = sym_jvm_hash(name);
    uint64_t from = 0, to = UINT64_C(1) << 32; /* smallest and largest hash
                                                  in [low, high) */

    for (unsigned tries = 0; low < high; tries++) {
        uint32_t at = tries < GUESSES ? guess(low, high, from, to, hash)
                                      : low + (high - low) / 2;
        const uint8_t *r =
            sym_extent_record(&j->in, j->classes_ref, at, SYM_JVM_CLASS_BYTES);
        uint32_t found = r != NULL ? sym_get32(r) : 0;
        sym_str_t text = { NULL, 0 };
        int order;

        if (r == NULL
            || (found == hash && !text_at(j, sym_get32(r + 4), &text))) {
            return SYM_DAMAGED;
        }

        order = found != hash ? (found > hash) - (found < hash)
                              : sym_str_cmp(text, name);
        if (order == 0) {
            return read_class(j, r, class);
        }

        if (order < 0) {
            low = at + 1;
            from = found > from && found <= hash ? found : from;
        } else {
            high = at;
            to = found < to && found >= hash ? (uint64_t) found + 1 : to;
        }
    }

    return SYM_NOT_FOUND;
}


/* --- methods --- */

static sym_status_t
read_method(const sym_jvm_t *j, const uint8_t *r, sym_jvm_method_t *method)
{
    sym_str_t body =
        r != NULL ? rest_at(j, sym_get32(r + 4)) : sym_str(NULL, 0);
    const uint8_t *start = (const uint8_t *) body.data, *p;

    if (body.data == NULL || !text_at(j, sym_get32(r), &method->name)) {
        return SYM_DAMAGED;
    }

    method->flags = start[0];
    p = read_uleb(start + 1, start + body.len, &method->n_members);
    if (p == NULL || method->n_members == 0) {
        return SYM_DAMAGED;
    }

    method->n_pieces = method->n_members / SYM_JVM_PIECE_MEMBERS
                       + (method->n_members % SYM_JVM_PIECE_MEMBERS != 0);
    method->members =
        sym_str((const char *) p, body.len - (size_t) (p - start));

    return method->n_pieces == 1
                   || method->members.len / SYM_JVM_PIECE_BYTES
                          >= method->n_pieces
               ? SYM_OK
               : SYM_DAMAGED;
}


sym_status_t
sym_jvm_method(const sym_jvm_t *j, const sym_jvm_class_t *class, uint32_t i,
               sym_jvm_method_t *method)
{
    return read_method(j,
                       sym_extent_record(&j->in, j->methods_ref,
                                         class->first_method + i,
                                         SYM_JVM_METHOD_BYTES),
                       method);
}


sym_status_t
sym_jvm_find_method(const sym_jvm_t *j, const sym_jvm_class_t *class,
                    sym_str_t name, sym_jvm_method_t *method)
{
    uint32_t low = 0, high = class->n_methods;

    while (low < high) {
        uint32_t at = low + (high - low) / 2;
        const uint8_t *r =
            sym_extent_record(&j->in, j->methods_ref, class->first_method + at,
                              SYM_JVM_METHOD_BYTES);
        sym_str_t text;
        int order;

        if (r == NULL || !text_at(j, sym_get32(r), &text)) {
            return SYM_DAMAGED;
        }

        order = sym_str_cmp(text, name);
        if (order == 0) {
            return read_method(j, r, method);
        }

        if (order < 0) {
            low = at + 1;
        } else {
            high = at;
        }
    }

    return SYM_NOT_FOUND;
}


/* --- members --- */

void
sym_jvm_members(const sym_jvm_t *j, const sym_jvm_method_t *method,
                uint32_t line, sym_jvm_cursor_t *c)
{
    const uint8_t *data = (const uint8_t *) method->members.data;

    *c = (sym_jvm_cursor_t){ .jvm = j,
                             .n_left = method->n_members,
                             .line = line };

    if (method->n_pieces == 1) {
        c->pos = data;
        c->end = data + method->members.len;
        c->left = method->n_members;
        c->n_left = 0;
    } else {
        c->list = data;
        c->n_pieces = method->n_pieces;
    }
}


/* SYM_NOT_FOUND: there are no more members. */
static sym_status_t
next_piece(sym_jvm_cursor_t *c)
{
    while (c->next_piece < c->n_pieces) {
        const uint8_t *r =
            c->list + (size_t) c->next_piece * SYM_JVM_PIECE_BYTES;
        uint32_t n = c->n_left < SYM_JVM_PIECE_MEMBERS ? c->n_left
                                                       : SYM_JVM_PIECE_MEMBERS;
        sym_str_t rest;

        c->next_piece++;
        c->n_left -= n;

        if (c->line != 0
            && (c->line < sym_get32(r + 4) || c->line > sym_get32(r + 8))) {
            continue;
        }

        rest = rest_at(c->jvm, sym_get32(r));
        if (rest.data == NULL) {
            return SYM_DAMAGED;
        }

        c->pos = (const uint8_t *) rest.data;
        c->end = c->pos + rest.len;
        c->left = n;
        c->has_range = false;
        c->start = 0;
        c->range_end = 0;
        return SYM_OK;
    }

    return SYM_NOT_FOUND;
}


/* Reads a range: its first line, as a zigzag difference from the last line of
 * the range before, and the number of further lines. */
static const uint8_t *
read_range(sym_jvm_cursor_t *c, const uint8_t *p)
{
    uint32_t step = 0, more = 0;

    p = read_uleb(p, c->end, &step);
    p = read_uleb(p, c->end, &more);
    c->start = c->range_end + (step >> 1 ^ (0 - (step & 1)));
    c->range_end = c->start + more;
    c->has_range = true;
    return p;
}


static const uint8_t *
read_lines(const sym_jvm_cursor_t *c, const uint8_t *p, sym_jvm_member_t *m)
{
    uint32_t more = 0;

    m->n_lines = 0;
    m->first = 0;
    m->last = 0;

    switch (m->form >> SYM_JVM_LINES_SHIFT & 3) {
    case SYM_JVM_LINES_NONE:
        return p;
    case SYM_JVM_LINES_FIRST:
        m->n_lines = 1;
        return read_uleb(p, c->end, &m->first);
    case SYM_JVM_LINES_BOTH:
        m->n_lines = 2;
        p = read_uleb(p, c->end, &m->first);
        p = read_uleb(p, c->end, &more);
        m->last = m->first + more;
        return p;
    default:
        m->n_lines = 2;
        m->first = c->start;
        m->last = c->range_end;
        return p;
    }
}


sym_status_t
sym_jvm_next(sym_jvm_cursor_t *c, sym_jvm_member_t *m)
{
    const uint8_t *p;

    while (c->left == 0) {
        sym_status_t rc = next_piece(c);

        if (rc != SYM_OK) {
            return rc;
        }
    }

    if (c->pos >= c->end || *c->pos > SYM_JVM_FORM_MAX) {
        return SYM_DAMAGED;
    }

    c->left--;
    m->form = *c->pos;
    m->notes = 0;
    p = read_uleb(c->pos + 1, c->end, &m->original);

    switch (m->form >> SYM_JVM_RANGE_SHIFT & 3) {
    case SYM_JVM_RANGE_SAME:
        break;
    case SYM_JVM_RANGE_NEW:
        p = read_range(c, p);
        break;
    default:
        c->has_range = false;
        c->start = 0;
        c->range_end = 0;
        break;
    }

    m->has_range = c->has_range;
    m->start = c->start;
    m->end = c->range_end;
    p = read_lines(c, p, m);

    if ((m->form & SYM_JVM_HAS_NOTES) != 0) {
        p = read_uleb(p, c->end, &m->notes);
    }

    c->pos = p;
    return p != NULL ? SYM_OK : SYM_DAMAGED;
}


sym_status_t
sym_jvm_original(const sym_jvm_t *j, uint32_t number,
                 sym_jvm_original_t *original)
{
    const uint8_t *r = number < j->n_originals
                           ? sym_extent_record(&j->in, j->originals_ref, number,
                                               SYM_JVM_ORIGINAL_BYTES)
                           : NULL;
    uint32_t owner;

    if (r == NULL || !text_at(j, sym_get32(r + 4), &original->name)
        || !text_at(j, sym_get32(r + 8), &original->parameters))
    {
        return SYM_DAMAGED;
    }

    owner = sym_get32(r);
    original->is_synthesized = (owner & SYM_JVM_SYNTHESIZED) != 0;
    return read_owner(j, owner & SYM_JVM_OWNER_MASK, &original->owner,
                      &original->file);
}


/* --- notes --- */

/* A list of pairs: their number, then the pairs. */
typedef struct {
    const uint8_t *pos, *end; /* pos NULL: damaged */
    uint32_t n;
} list_t;

static list_t
open_notes(const sym_jvm_t *j, uint32_t notes)
{
    sym_str_t rest = rest_at(j, notes);
    list_t list = { (const uint8_t *) rest.data, NULL, 0 };

    if (list.pos != NULL) {
        list.end = list.pos + rest.len;
        list.pos = read_uleb(list.pos, list.end, &list.n);
    }

    return list;
}


/* Reads the next pair.  False: damaged. */
static bool
next_pair(list_t *list, uint32_t *a, uint32_t *b)
{
    list->pos = read_uleb(list->pos, list->end, a);
    list->pos = read_uleb(list->pos, list->end, b);
    return list->pos != NULL;
}


sym_status_t
sym_jvm_position(const sym_jvm_t *j, uint32_t notes, uint32_t from,
                 uint32_t *line)
{
    list_t list = open_notes(j, notes);

    for (uint32_t i = 0; list.pos != NULL && i < list.n; i++) {
        uint32_t at, to;

        if (next_pair(&list, &at, &to) && at == from) {
            *line = to;
            return SYM_OK;
        }
    }

    return list.pos != NULL ? SYM_NOT_FOUND : SYM_DAMAGED;
}


/* Whether "La/b;" is the type of class a.b. */
static bool
is_descriptor(sym_str_t descriptor, sym_str_t class)
{
    const char *name = descriptor.data + 1;

    if (descriptor.len != class.len + 2 || descriptor.data[0] != 'L'
        || descriptor.data[descriptor.len - 1] != ';')
    {
        return false;
    }

    for (size_t i = 0; i < class.len; i++) {
        if (name[i] != (class.data[i] == '.' ? '/' : class.data[i])) {
            return false;
        }
    }

    return true;
}


sym_status_t
sym_jvm_removed(const sym_jvm_t *j, uint32_t notes, sym_str_t thrown,
                uint64_t *n)
{
    list_t list = open_notes(j, notes);
    uint32_t a, b;

    *n = 0;
    for (uint32_t i = 0; list.pos != NULL && i < list.n; i++) {
        (void) next_pair(&list, &a, &b);
    }

    list.pos = read_uleb(list.pos, list.end, &list.n);

    for (uint32_t i = 0; list.pos != NULL && i < list.n; i++) {
        sym_str_t class;

        if (!next_pair(&list, &a, &b) || !text_at(j, a, &class)) {
            return SYM_DAMAGED;
        }

        *n += is_descriptor(class, thrown) ? b : 0;
    }

    return list.pos != NULL ? SYM_OK : SYM_DAMAGED;
}


/* --- all of it --- */

typedef struct {
    uint64_t methods, members, lines, notes;
} counts_t;

/* Checks notes.  They are not shared, so they have fewer entries than the
 * artifact has bytes. */
static bool
check_notes(const sym_jvm_t *j, uint32_t notes, counts_t *counts)
{
    uint64_t n;

    counts->notes += open_notes(j, notes).n;
    return counts->notes <= (uint64_t) j->in.n * SYM_EXTENT_MAX
           && sym_jvm_removed(j, notes, SYM_STR(""), &n) == SYM_OK;
}


/* Counts the members of a method. */
static sym_status_t
check_method(const sym_jvm_t *j, const sym_jvm_method_t *method,
             counts_t *counts)
{
    sym_jvm_cursor_t cursor;
    sym_jvm_member_t m;
    sym_status_t rc;

    sym_jvm_members(j, method, 0, &cursor);

    while ((rc = sym_jvm_next(&cursor, &m)) == SYM_OK) {
        sym_jvm_original_t original;

        /* hostile methods may share their members, so they could count too
         * often */
        if (++counts->members > j->n_members
            || sym_jvm_original(j, m.original, &original) != SYM_OK
            || (m.notes != 0 && !check_notes(j, m.notes, counts)))
        {
            return SYM_DAMAGED;
        }

        counts->lines += m.n_lines != 0;
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


static sym_status_t
check_class(const sym_jvm_t *j, uint32_t i, counts_t *counts)
{
    sym_jvm_class_t class, found;
    sym_jvm_method_t method, same;
    sym_str_t last = { NULL, 0 };

    /* the order is correct if a search finds this item */
    if (sym_jvm_class(j, i, &class) != SYM_OK
        || sym_jvm_find_class(j, class.name, &found) != SYM_OK
        || found.first_method != class.first_method
        || class.first_method != counts->methods)
    {
        return SYM_DAMAGED;
    }

    for (uint32_t k = 0; k < class.n_methods; k++) {
        if (sym_jvm_method(j, &class, k, &method) != SYM_OK
            || (k != 0 && sym_str_cmp(last, method.name) >= 0)
            || sym_jvm_find_method(j, &class, method.name, &same) != SYM_OK
            || check_method(j, &method, counts) != SYM_OK)
        {
            return SYM_DAMAGED;
        }

        last = method.name;
    }

    counts->methods += class.n_methods;
    return SYM_OK;
}


sym_status_t
sym_jvm_check(const sym_jvm_t *j, sym_error_t *err)
{
    counts_t counts = { 0 };

    for (uint32_t i = 0; i < j->n_classes; i++) {
        if (check_class(j, i, &counts) != SYM_OK) {
            return sym_fail(err, SYM_DAMAGED,
                            "damaged class of a jvm artifact");
        }
    }

    return counts.methods == j->n_methods && counts.members == j->n_members
                   && counts.lines == j->n_lines
               ? SYM_OK
               : sym_fail(err, SYM_DAMAGED,
                          "a jvm artifact miscounts its members");
}
