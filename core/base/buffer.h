/*
 * buffer.h - a growing byte buffer, for temporary data of a writer.
 *
 * `failed` is set once memory runs out; later puts are ignored, so a caller
 * need check only once per record.
 */
#ifndef SYM_BASE_BUFFER_H
#define SYM_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *data;
    size_t len, size;
    bool failed;
} sym_buffer_t;

/* Makes room for `more` bytes after len; returns false if out of memory. */
bool sym_buffer_room(sym_buffer_t *b, size_t more);
void sym_buffer_free(sym_buffer_t *b);

/* Maximum length of a 64-bit number in LEB128. */
#define SYM_LEB_MAX 10

/* Both write at p and return the end of the number (DWARF 5, section 7.6). */
static inline uint8_t *
sym_uleb_write(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t) (v | 0x80);
        v >>= 7;
    }

    *p++ = (uint8_t) v;
    return p;
}


static inline uint8_t *
sym_sleb_write(uint8_t *p, int64_t v)
{
    while (v < -0x40 || v > 0x3f) {
        *p++ = (uint8_t) ((uint64_t) v | 0x80);
        v >>= 7;
    }

    *p++ = (uint8_t) (v & 0x7f);
    return p;
}


void sym_buffer_put(sym_buffer_t *b, const void *data, size_t len);

/*
 * Grows an array of items to hold at least `need`; NULL: out of memory, and the
 * old array is still valid.  *capacity counts items.
 */
void *sym_array_grow(void *items, size_t *capacity, size_t need, size_t size);

/* Makes room for n items in *items; false: out of memory. */
static inline bool
sym_array_room(void **items, size_t *capacity, size_t n, size_t size)
{
    void *grown = sym_array_grow(*items, capacity, n, size);

    *items = grown != NULL ? grown : *items;
    return grown != NULL;
}


#define SYM_ARRAY_ROOM(items, n, capacity)                                     \
    ((n) <= (capacity)                                                         \
     || sym_array_room((void **) &(items), &(capacity), (n),                   \
                       sizeof(*(items))))

#endif
