#include "sources/paths/index.h"

#include <stdlib.h>

#include "base/hex.h"

#define SLOTS_MIN 1024
#define LAST_TEXT_MAX 18 /* digits, blanks and zeros */

void
sym_source_index_begin(sym_source_index_t *index, size_t max_bytes,
                       sym_source_index_room_t *room)
{
    *index = (sym_source_index_t){ .max_bytes = max_bytes,
                                   .room = room,
                                   .key = sym_hash_key() };
}


void
sym_source_index_free(sym_source_index_t *index)
{
    for (size_t i = 0; i < index->n_tables; i++) {
        free(index->tables[i]);
    }

    if (index->room != NULL) {
        index->room->bytes -= index->bytes;
    }

    index->n = index->n_tables = index->n_last = index->bytes = 0;
}


static size_t
slots_of(size_t table)
{
    return (size_t) SLOTS_MIN << table;
}


/* Returns the slot of the hash in a table, or a free one. */
static uint64_t *
slot_of(uint64_t *slots, size_t n_slots, uint64_t hash)
{
    size_t i = (size_t) hash & (n_slots - 1);

    while (slots[i] != 0 && slots[i] != hash) {
        i = (i + 1) & (n_slots - 1);
    }

    return &slots[i];
}


static bool
has_hash(const sym_source_index_t *index, uint64_t hash)
{
    for (size_t i = index->n_tables; i-- > 0;) {
        if (*slot_of(index->tables[i], slots_of(i), hash) != 0) {
            return true;
        }
    }

    return false;
}


/* Whether there is room for `bytes` more in an index. */
static bool
has_room(const sym_source_index_t *index, size_t bytes)
{
    const sym_source_index_room_t *room = index->room;
    size_t left;

    if (room == NULL) {
        return true;
    }

    left = room->max_bytes - (room->bytes - index->bytes);
    return index->bytes + bytes <= left - left / 4;
}


/* At most half of the slots are used. */
static sym_status_t
grow(sym_source_index_t *index)
{
    size_t bytes = slots_of(index->n_tables) * sizeof(uint64_t);
    uint64_t *slots;

    if (index->n_tables != 0
        && index->n_last < slots_of(index->n_tables - 1) / 2) {
        return SYM_OK;
    }

    if (index->n_tables == SYM_INDEX_TABLES
        || bytes > index->max_bytes - index->bytes)
    {
        return SYM_LIMIT;
    }

    if (!has_room(index, bytes)) {
        return SYM_FULL;
    }

    slots = calloc(1, bytes);
    if (slots == NULL) {
        return SYM_NOMEM;
    }

    index->tables[index->n_tables++] = slots;
    index->n_last = 0;
    index->bytes += bytes;
    if (index->room != NULL) {
        index->room->bytes += bytes;
    }

    return SYM_OK;
}


static uint64_t
hash_of(const sym_source_index_t *index, sym_str_t name, sym_str_t id)
{
    sym_hash_state_t s = sym_hash_begin(&index->key);
    uint64_t hash;

    sym_hash_add(&s, name);
    sym_hash_add(&s, id);
    hash = sym_hash_end(s);
    return hash != 0 ? hash : 1;
}


/* Parses "NAME\ID",... */
static sym_status_t
add_line(sym_source_index_t *index)
{
    const char *end = index->line + index->line_len, *begin, *close, *cut;
    uint64_t hash;
    size_t last;
    sym_status_t rc;

    begin = memchr(index->line, '"', index->line_len);
    if (begin == NULL) {
        return SYM_OK;
    }

    begin++;
    close = memchr(begin, '"', (size_t) (end - begin));
    close = close != NULL ? close : end;
    cut = memchr(begin, '\\', (size_t) (close - begin));
    if (cut == NULL) {
        return SYM_OK;
    }

    hash = hash_of(index, sym_str(begin, (size_t) (cut - begin)),
                   sym_str(cut + 1, (size_t) (close - cut - 1)));
    if (has_hash(index, hash)) {
        return SYM_OK;
    }

    rc = grow(index);
    if (rc != SYM_OK) {
        return rc;
    }

    last = index->n_tables - 1;
    *slot_of(index->tables[last], slots_of(last), hash) = hash;
    index->n++;
    index->n_last++;
    return SYM_OK;
}


/* A line that does not fit is kept, and added by the next call. */
sym_status_t
sym_source_index_end(sym_source_index_t *index)
{
    sym_status_t rc = index->line_len != 0 ? add_line(index) : SYM_OK;

    if (rc == SYM_OK) {
        index->line_len = 0;
    }

    return rc;
}


sym_status_t
sym_source_index_feed(sym_source_index_t *index, sym_str_t part, size_t *taken)
{
    sym_status_t rc = SYM_OK;
    size_t i;

    for (i = 0; i < part.len; i++) {
        if (part.data[i] == '\n') {
            rc = sym_source_index_end(index);
            if (rc != SYM_OK) {
                break;
            }
        } else if (index->line_len < sizeof(index->line)) {
            index->line[index->line_len++] = part.data[i];
        }
    }

    *taken = i;
    return rc;
}


bool
sym_source_index_has(const sym_source_index_t *index, sym_str_t path)
{
    const char *first, *last, *end = path.data + path.len;
    sym_str_t name, id;

    if (path.len == 0) {
        return false;
    }

    first = memchr(path.data, '/', path.len);
    last = memrchr(path.data, '/', path.len);
    if (first == NULL || first == last) {
        return false;
    }

    name = sym_str(path.data, (size_t) (first - path.data));
    id = sym_str(first + 1, (size_t) (last - first - 1));
    return sym_str_eq(name, sym_str(last + 1, (size_t) (end - last - 1)))
           && has_hash(index, hash_of(index, name, id));
}


bool
sym_source_index_last(sym_str_t text, unsigned *last)
{
    uint64_t n;

    if (text.len > LAST_TEXT_MAX) {
        return false;
    }

    while (text.len != 0 && (uint8_t) text.data[0] <= ' ') {
        text = sym_str(text.data + 1, text.len - 1);
    }

    while (text.len != 0 && (uint8_t) text.data[text.len - 1] <= ' ') {
        text.len--;
    }

    if (!sym_dec_read(text, &n) || n > SYM_INDEX_LAST_MAX) {
        return false;
    }

    *last = (unsigned) n;
    return true;
}
