#include "symcache/strings.h"

#include <stdlib.h>

#include "base/pages.h"
#include "symcache/writer.h"

/* Enough to see what a module's names have in common. */
#define SAMPLE_BYTES ((size_t) 2 << 20)

/* So many bytes of packed names are packed with care; in a module with more of
 * them time counts for more than size. */
#define CAREFUL_BYTES ((size_t) 1 << 20)

/* places[]: an id without text, or one that stands for another id. */
#define UNDEFINED UINT64_MAX
#define ALIAS ((uint64_t) 1 << 63)

/* A packed name is kept behind its packed length. */
#define PACKED_HEAD sizeof(uint16_t)

void
sym_strings_init(sym_strings_t *s, sym_error_t *err)
{
    *s = (sym_strings_t){ .err = err, .key = sym_hash_key() };
}


void
sym_strings_free(sym_strings_t *s)
{
    sym_buffer_free(&s->raw);
    sym_buffer_free(&s->packed);
    free(s->dict);
    free(s->places);
    free(s->slots);
    sym_strings_init(s, s->err);
}


static sym_status_t
out_of_memory(sym_strings_t *s)
{
    return sym_fail(s->err, SYM_NOMEM, "no memory for the module's names");
}


static bool
is_text(const sym_strings_t *s, uint32_t id, sym_str_t text)
{
    if (s->dict != NULL) {
        return sym_dict_packed_is(
            s->dict, s->packed.data + s->places[id] + PACKED_HEAD, text);
    }

    /* raw: a length of 4 bytes, then the text */
    const uint8_t *p = s->raw.data + s->places[id];

    return sym_str_eq(sym_str((const char *) p + 4, sym_load32(p)), text);
}


static sym_status_t
grow_slots(sym_strings_t *s)
{
    size_t n = s->n_slots == 0 ? 1024 : s->n_slots * 2;
    sym_string_slot_t *slots = calloc(n, sizeof(*slots));

    if (slots == NULL) {
        return out_of_memory(s);
    }

    sym_pages_large(slots, n * sizeof(*slots));

    for (size_t i = 0; i < s->n_slots; i++) {
        size_t at = s->slots[i].hash & (n - 1);

        if (s->slots[i].id == 0) {
            continue;
        }

        while (slots[at].id != 0) {
            at = (at + 1) & (n - 1);
        }
        slots[at] = s->slots[i];
    }

    free(s->slots);
    s->slots = slots;
    s->n_slots = n;
    return SYM_OK;
}


static sym_status_t
new_id(sym_strings_t *s, uint64_t place, uint32_t *id)
{
    uint64_t *places;

    if (s->n >= SYM_NO_STRING - 1) {
        return sym_fail(s->err, SYM_LIMIT, "too many names");
    }

    places = sym_array_grow(s->places, &s->size, s->n + 1, sizeof(*places));
    if (places == NULL) {
        return out_of_memory(s);
    }

    s->places = places;
    s->places[s->n] = place;
    *id = (uint32_t) s->n++;
    return SYM_OK;
}


/* Packs one name at the end of s->packed; a cut name packs to some 33 KiB. */
static uint64_t
pack(sym_strings_t *s, const sym_dict_t *dict, sym_str_t text)
{
    uint64_t place = s->packed.len;
    uint16_t len = 0;

    sym_buffer_put(&s->packed, &len, PACKED_HEAD);
    sym_dict_pack(dict, text,
                  place < CAREFUL_BYTES ? SYM_DICT_CAREFUL : SYM_DICT_QUICK,
                  &s->packed);

    if (!s->packed.failed) {
        len = (uint16_t) (s->packed.len - place - PACKED_HEAD);
        memcpy(s->packed.data + place, &len, PACKED_HEAD);
    }

    return place;
}


/* The samples are enough: makes the dictionary and packs what there is. */
static sym_status_t
train(sym_strings_t *s)
{
    sym_dict_t *dict = malloc(sizeof(*dict));

    if (dict == NULL || !sym_dict_train(dict, s->raw.data, s->raw.len)) {
        free(dict);
        return out_of_memory(s);
    }

    for (size_t id = 0; id < s->n; id++) {
        const uint8_t *p;

        if (s->places[id] & ALIAS) { /* also UNDEFINED */
            continue;
        }

        p = s->raw.data + s->places[id];
        s->places[id] =
            pack(s, dict, sym_str((const char *) p + 4, sym_load32(p)));
    }

    sym_buffer_free(&s->raw);
    s->dict = dict;
    return s->packed.failed ? out_of_memory(s) : SYM_OK;
}


static sym_status_t
keep_text(sym_strings_t *s, sym_str_t text, uint64_t *place)
{
    uint32_t len = (uint32_t) text.len;

    if (s->dict == NULL && s->raw.len >= SAMPLE_BYTES && train(s) != SYM_OK) {
        return s->err->status;
    }

    s->bytes += text.len;
    s->distinct++;

    if (s->dict != NULL) {
        *place = pack(s, s->dict, text);
        return s->packed.failed ? out_of_memory(s) : SYM_OK;
    }

    *place = s->raw.len;
    sym_buffer_put(&s->raw, &len, sizeof(len));
    sym_buffer_put(&s->raw, text.data, text.len);
    return s->raw.failed ? out_of_memory(s) : SYM_OK;
}


/* Cuts at a character, so that what is left is still UTF-8. */
static sym_str_t
cut(sym_strings_t *s, sym_str_t text)
{
    if (text.len <= SYM_NAME_BYTES_MAX) {
        return text;
    }

    s->truncated++;
    text.len = SYM_NAME_BYTES_MAX;
    while (text.len > 0 && ((uint8_t) text.data[text.len] & 0xc0) == 0x80) {
        text.len--;
    }

    return text;
}


/* Finds the id of text; or makes one, with a new id or the one in *id. */
static sym_status_t
intern(sym_strings_t *s, sym_str_t text, uint32_t hash, bool has_id,
       uint32_t *id)
{
    uint64_t place = 0;
    size_t at;

    if (s->used_slots >= s->n_slots / 4 * 3 && grow_slots(s) != SYM_OK) {
        return s->err->status;
    }

    for (at = hash & (s->n_slots - 1); s->slots[at].id != 0;
         at = (at + 1) & (s->n_slots - 1))
    {
        if (s->slots[at].hash == hash && is_text(s, s->slots[at].id - 1, text))
        {
            if (has_id) {
                s->places[*id] = ALIAS | (s->slots[at].id - 1);
            } else {
                *id = s->slots[at].id - 1;
            }
            return SYM_OK;
        }
    }

    if (keep_text(s, text, &place) != SYM_OK) {
        return s->err->status;
    }

    if (has_id) {
        s->places[*id] = place;
    } else if (new_id(s, place, id) != SYM_OK) {
        return s->err->status;
    }

    s->slots[at] = (sym_string_slot_t){ hash, *id + 1 };
    s->used_slots++;
    return SYM_OK;
}


sym_status_t
sym_strings_add(sym_strings_t *s, sym_str_t text, uint32_t *id)
{
    text = cut(s, text);
    return intern(s, text, (uint32_t) sym_hash(&s->key, text), false, id);
}


sym_status_t
sym_strings_add_hashed(sym_strings_t *s, sym_str_t text, uint32_t hash,
                       uint32_t *id)
{
    return text.len > SYM_NAME_BYTES_MAX ? sym_strings_add(s, text, id)
                                         : intern(s, text, hash, false, id);
}


sym_status_t
sym_strings_reserve(sym_strings_t *s, uint32_t *id)
{
    return new_id(s, UNDEFINED, id);
}


sym_status_t
sym_strings_define(sym_strings_t *s, uint32_t id, sym_str_t text)
{
    if (id >= s->n || s->places[id] != UNDEFINED) {
        return SYM_OK; /* the first definition stands */
    }

    text = cut(s, text);
    return intern(s, text, (uint32_t) sym_hash(&s->key, text), true, &id);
}


static sym_status_t
write_dictionary(sym_strings_t *s, sym_extents_t *x, sym_header_t *header)
{
    uint8_t *p;

    if (s->dict->len == 0) {
        return SYM_OK;
    }

    p = sym_extents_alloc(x, SYM_LANE_MAIN, s->dict->len + SYM_DICT_SLACK,
                          SYM_PLACE_ANY, &header->dict_ref);
    if (p == NULL) {
        return s->err->status;
    }

    memcpy(p, s->dict->bytes, s->dict->len);
    header->dict_len = s->dict->len;
    return SYM_OK;
}


sym_status_t
sym_strings_write(sym_strings_t *s, sym_extents_t *x, sym_header_t *header,
                  uint32_t **refs)
{
    if ((s->dict == NULL && train(s) != SYM_OK)
        || write_dictionary(s, x, header) != SYM_OK)
    {
        return s->err->status;
    }

    *refs = calloc(s->n + 1, sizeof(**refs));
    if (*refs == NULL) {
        return out_of_memory(s);
    }

    for (size_t id = 0; id < s->n; id++) {
        const uint8_t *from;
        size_t len;
        uint8_t *p;

        if (s->places[id] & ALIAS) {
            continue;
        }

        from = s->packed.data + s->places[id];
        len = sym_load16(from);
        if (len == 1) {
            continue; /* "" is what a reader makes of no reference */
        }

        p = sym_extents_alloc(x, SYM_LANE_MAIN, len, SYM_PLACE_ANY,
                              &(*refs)[id]);
        if (p == NULL) {
            return s->err->status;
        }
        memcpy(p, from + PACKED_HEAD, len);
    }

    for (size_t id = 0; id < s->n; id++) {
        if ((s->places[id] & ALIAS) && s->places[id] != UNDEFINED) {
            (*refs)[id] = (*refs)[s->places[id] & ~ALIAS];
        }
    }

    header->n_strings = (uint32_t) s->distinct;
    header->counts[SYM_COUNT_STRINGS] = s->distinct;
    header->counts[SYM_COUNT_STRING_BYTES] = s->bytes;
    header->counts[SYM_COUNT_TRUNCATED] = s->truncated;

    uint32_t *kept = *refs;
    sym_strings_free(s);
    *refs = kept;
    return SYM_OK;
}
