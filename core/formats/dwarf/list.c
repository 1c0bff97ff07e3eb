/*
 * list.c - the list of a file's units, which grows as its bytes arrive.
 */
#include <pthread.h>
#include <stdlib.h>

#include "formats/dwarf/constants.h"
#include "formats/dwarf/grow.h"
#include "formats/dwarf/units.h"

/* Bytes of .debug_info in a chunk.  With smaller chunks shared names are looked
 * up too often.  With larger ones too many threads wait for the last chunk. */
#define CHUNK_BYTES ((uint64_t) 4 << 20)

/* Upper bound for a unit's header, with its length (DWARF 5, 7.5.1). */
#define HEADER_BYTES_MAX 64

struct sym_dw_list_s {
    pthread_mutex_t lock; /* protects the lists of all chunks */
    const sym_dwarf_supply_t *supply;
    size_t n_units;
    size_t n_chunks; /* atomic */
    size_t most;     /* most chunks */
    bool is_whole;   /* the list reaches the current end */
    bool is_out_of_memory;
    sym_dw_chunk_t chunks[];
};


/* Fills *u from the header.  `b` is the unit without its length. */
static void
read_header(sym_dw_unit_t *u, const sym_dw_info_t *info, sym_dw_bytes_t *b)
{
    uint16_t version = sym_dw_u16(b);
    uint8_t kind = DW_UT_compile;

    if (sym_ok(&b->c) && (version < 2 || version > 5)) {
        sym_cursor_fail(&b->c, SYM_UNSUPPORTED, "version of a unit");
        return;
    }

    u->shape.version = (uint8_t) version;

    if (version >= 5) {
        kind = sym_dw_u8(b);
        u->shape.addr_size = sym_dw_u8(b);
        u->abbrev_offset = sym_dw_number(b, u->shape.offset_size);
    } else {
        u->abbrev_offset = sym_dw_number(b, u->shape.offset_size);
        u->shape.addr_size = sym_dw_u8(b);
    }

    if (kind == DW_UT_skeleton || kind == DW_UT_split_compile) {
        u->dwo_id = sym_dw_u64(b);
    } else if (kind == DW_UT_type || kind == DW_UT_split_type) {
        sym_dw_skip(b, 8 + (uint64_t) u->shape.offset_size);
    }

    if (!sym_ok(&b->c)) {
        return;
    }

    if (u->shape.addr_size != 2 && u->shape.addr_size != 4
        && u->shape.addr_size != 8)
    {
        sym_cursor_fail(&b->c, SYM_UNSUPPORTED, "size of addresses");
    } else if (u->abbrev_offset >= info->sections->abbrev.len) {
        sym_cursor_fail(&b->c, SYM_MALFORMED, "no such abbreviations");
    } else {
        u->kind = kind;
        u->first = sym_dw_offset(b);
    }
}


sym_status_t
sym_dw_info_init(sym_dw_info_t *info, const sym_dwarf_sections_t *sections,
                 const sym_dwarf_supply_t *supply, bool is_big_endian)
{
    size_t most = (size_t) (sections->info.len / CHUNK_BYTES) + 1;
    sym_dw_list_t *list =
        calloc(1, sizeof(*list) + most * sizeof(list->chunks[0]));

    *info = (sym_dw_info_t){ .sections = sections, .list = list };
    info->is_swapped =
        is_big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

    if (list == NULL) {
        return SYM_NOMEM;
    }

    list->supply = supply;
    list->most = most;
    (void) pthread_mutex_init(&list->lock, NULL);
    return SYM_OK;
}


void
sym_dw_info_free(sym_dw_info_t *info)
{
    sym_dw_list_t *list = info->list;

    if (list == NULL) {
        return;
    }

    for (size_t i = 0; i < list->most; i++) {
        free(list->chunks[i].units);
    }

    (void) pthread_mutex_destroy(&list->lock);
    free(list);
    *info = (sym_dw_info_t){ 0 };
}


size_t
sym_dw_info_chunks_max(const sym_dw_info_t *info)
{
    return info->list->most;
}


/* False: the bytes will never arrive. */
static bool
wait_for(const sym_dw_info_t *info, uint64_t n)
{
    uint64_t len = info->sections->info.len;
    const sym_dwarf_supply_t *supply = info->list->supply;

    return supply == NULL || supply->wait(supply->ctx, n < len ? n : len);
}


/* Reads the header of the next unit, at c->end.  False: out of memory. */
static bool
list_unit(const sym_dw_info_t *info, sym_dw_chunk_t *c)
{
    sym_error_t err = { 0 };
    sym_dw_bytes_t b = sym_dw_bytes_at(info->sections->info, ".debug_info",
                                       c->end, info->is_swapped, &err);
    sym_dw_unit_t u = { .offset = c->end, .number = info->list->n_units };
    sym_dw_bytes_t unit;

    if (!SYM_DW_ROOM(c->units, c->n_units, c->units_size)) {
        return false;
    }

    if (sym_dw_unit_bytes(&b, &unit, &u.shape.offset_size)) {
        read_header(&u, info, &unit);
    }

    if (err.status != SYM_OK && c->bad.status == SYM_OK) {
        c->bad = err;
    }

    u.end = sym_dw_offset(&b);
    c->units[c->n_units++] = u;
    c->end = u.end;
    info->list->n_units++;
    return true;
}


/* Call it with the lock held.  False: there are no more units. */
static bool
list_chunk(const sym_dw_info_t *info)
{
    sym_dw_list_t *list = info->list;
    size_t n = list->n_chunks;
    sym_dw_chunk_t *c = &list->chunks[n];
    uint64_t len = info->sections->info.len;

    if (n == list->most) {
        return false;
    }

    c->offset = c->end = n == 0 ? 0 : list->chunks[n - 1].end;
    while (c->end < len && c->end - c->offset < CHUNK_BYTES) {
        if (!wait_for(info, c->end + HEADER_BYTES_MAX)) {
            return false;
        }

        if (!list_unit(info, c)) {
            list->is_out_of_memory = true;
            return false;
        }
    }

    if (c->n_units == 0 || !wait_for(info, c->end)) {
        return false;
    }

    __atomic_store_n(&list->n_chunks, n + 1, __ATOMIC_RELEASE);
    return true;
}


const sym_dw_chunk_t *
sym_dw_info_chunk(const sym_dw_info_t *info, size_t i, sym_error_t *err)
{
    sym_dw_list_t *list = info->list;
    bool is_listed;

    if (i < __atomic_load_n(&list->n_chunks, __ATOMIC_ACQUIRE)) {
        return &list->chunks[i];
    }

    (void) pthread_mutex_lock(&list->lock);
    while (i >= list->n_chunks && !list->is_whole) {
        list->is_whole = !list_chunk(info);
    }

    is_listed = i < list->n_chunks;
    if (!is_listed && list->is_out_of_memory) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for units");
    }
    (void) pthread_mutex_unlock(&list->lock);

    return is_listed ? &list->chunks[i] : NULL;
}


/* The chunk that contains the byte, or NULL. */
static const sym_dw_chunk_t *
find_chunk(const sym_dw_info_t *info, uint64_t offset)
{
    sym_dw_list_t *list = info->list;
    size_t n = __atomic_load_n(&list->n_chunks, __ATOMIC_ACQUIRE);
    size_t low = 0, high = n;
    sym_error_t ignored = { 0 };

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->chunks[middle].end <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    /* the chunk is not listed yet: continue the list */
    while (low >= n && offset < info->sections->info.len) {
        const sym_dw_chunk_t *c = sym_dw_info_chunk(info, low, &ignored);

        if (c == NULL || offset < c->end) {
            return c;
        }
        low++;
    }

    return low < n ? &list->chunks[low] : NULL;
}


const sym_dw_unit_t *
sym_dw_info_find(const sym_dw_info_t *info, uint64_t offset)
{
    const sym_dw_chunk_t *c = find_chunk(info, offset);
    const sym_dw_unit_t *u;
    size_t low = 0, high;

    if (c == NULL) {
        return NULL;
    }

    high = c->n_units;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->units[middle].offset <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    if (low == 0) {
        return NULL;
    }

    u = &c->units[low - 1];
    return u->kind != 0 && offset >= u->first && offset < u->end ? u : NULL;
}
