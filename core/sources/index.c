#include "sources/index.h"

#include <stdlib.h>

#include "base/hex.h"

#define SLOTS_MIN 1024
#define LAST_TEXT_MAX 18 /* digits, blanks and zeros */

void
sym_source_index_begin(sym_source_index_t *index, size_t max_bytes)
{
    *index =
        (sym_source_index_t){ .max_bytes = max_bytes, .key = sym_hash_key() };
}


void
sym_source_index_free(sym_source_index_t *index)
{
    free(index->slots);
    index->slots = NULL;
    index->n = index->n_slots = 0;
}


/* Where the hash is, or goes. */
static uint64_t *
slot_of(const sym_source_index_t *index, uint64_t hash)
{
    size_t i = (size_t) hash & (index->n_slots - 1);

    while (index->slots[i] != 0 && index->slots[i] != hash) {
        i = (i + 1) & (index->n_slots - 1);
    }

    return &index->slots[i];
}


/* At most half of the slots are taken. */
static sym_status_t
grow(sym_source_index_t *index)
{
    sym_source_index_t larger = *index;

    if (index->n < index->n_slots / 2) {
        return SYM_OK;
    }

    larger.n_slots = index->n_slots == 0 ? SLOTS_MIN : 2 * index->n_slots;
    if (larger.n_slots > index->max_bytes / sizeof(*larger.slots)) {
        return SYM_LIMIT;
    }

    larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
    if (larger.slots == NULL) {
        return SYM_NOMEM;
    }

    for (size_t i = 0; i < index->n_slots; i++) {
        if (index->slots[i] != 0) {
            *slot_of(&larger, index->slots[i]) = index->slots[i];
        }
    }

    free(index->slots);
    index->slots = larger.slots;
    index->n_slots = larger.n_slots;
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


/* "NAME\ID",... */
static sym_status_t
add_line(sym_source_index_t *index)
{
    const char *end = index->line + index->line_len, *begin, *close, *cut;
    uint64_t hash, *slot;
    sym_status_t rc;

    begin = memchr(index->line, '"', index->line_len);
    index->line_len = 0;
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

    rc = grow(index);
    if (rc != SYM_OK) {
        return rc;
    }

    hash = hash_of(index, sym_str(begin, (size_t) (cut - begin)),
                   sym_str(cut + 1, (size_t) (close - cut - 1)));
    slot = slot_of(index, hash);
    index->n += *slot == 0;
    *slot = hash;
    return SYM_OK;
}


sym_status_t
sym_source_index_feed(sym_source_index_t *index, sym_str_t part)
{
    sym_status_t rc = SYM_OK;

    for (size_t i = 0; i < part.len && rc == SYM_OK; i++) {
        if (part.data[i] == '\n') {
            rc = add_line(index);
        } else if (index->line_len < sizeof(index->line)) {
            index->line[index->line_len++] = part.data[i];
        }
    }

    return rc;
}


sym_status_t
sym_source_index_end(sym_source_index_t *index)
{
    return index->line_len != 0 ? add_line(index) : SYM_OK;
}


bool
sym_source_index_has(const sym_source_index_t *index, sym_str_t path)
{
    const char *first, *last, *end = path.data + path.len;
    sym_str_t name, id;

    if (index->n_slots == 0 || path.len == 0) {
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
           && *slot_of(index, hash_of(index, name, id)) != 0;
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
