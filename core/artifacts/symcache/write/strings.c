#include "artifacts/symcache/write/strings.h"

#include <stdlib.h>

#include "base/pages.h"
#include "base/json_plain.h"
#include "artifacts/symcache/write/writer.h"

/* Limit on the samples: enough bytes to find the common parts of a module's
 * names. */
#define SAMPLE_BYTES ((size_t) 2 << 20)

/* Limit on the packed names that are packed thoroughly.  Beyond it, time
 * matters more than size. */
#define CAREFUL_BYTES ((size_t) 512 << 10)

/* Values of places[]: an id without text, an alias of another id, or the index
 * of a long string. */
#define UNDEFINED UINT64_MAX
#define ALIAS ((uint64_t) 1 << 63)
#define LONG ((uint64_t) 1 << 62)

/* A packed name follows its packed length. */
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
    free(s->recent);
    free(s->places);
    free(s->longs);
    free(s->slots);
    sym_swift_names_free(&s->swift);
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
    if (s->places[id] & LONG) {
        return false;
    }

    if (s->dict != NULL) {
        return sym_dict_packed_is(
            s->dict, s->packed.data + s->places[id] + PACKED_HEAD, text);
    }

    /* raw: a length of 4 bytes precedes the text */
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


/* Packs one name at the end of s->packed.  The longest name packs to some 33
 * KiB. */
static uint64_t
pack(sym_strings_t *s, const sym_dict_t *dict, sym_str_t text)
{
    uint64_t place = s->packed.len;
    uint16_t len = 0;

    sym_buffer_put(&s->packed, &len, PACKED_HEAD);
    sym_dict_pack(dict, s->recent, text,
                  place < CAREFUL_BYTES ? SYM_DICT_CAREFUL : SYM_DICT_QUICK,
                  &s->packed);

    if (!s->packed.failed) {
        len = (uint16_t) (s->packed.len - place - PACKED_HEAD);
        memcpy(s->packed.data + place, &len, PACKED_HEAD);
    }

    return place;
}


/* Makes the dictionary from the samples, then packs the samples. */
static sym_status_t
train(sym_strings_t *s)
{
    sym_dict_t *dict = malloc(sizeof(*dict));
    sym_recent_t *recent = calloc(1, sizeof(*recent));

    if (dict == NULL || recent == NULL
        || !sym_dict_train(dict, s->raw.data, s->raw.len))
    {
        free(dict);
        free(recent);
        return out_of_memory(s);
    }

    s->recent = recent;
    for (size_t id = 0; id < s->n; id++) {
        const uint8_t *p;

        if (s->places[id] & (ALIAS | LONG)) { /* also true for UNDEFINED */
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


/* Longest prefix of at most `most` bytes that ends with a complete
 * character. */
static size_t
whole_characters(const char *text, size_t most)
{
    for (size_t len = most; len + 3 >= most; len--) {
        if (((uint8_t) text[len] & 0xc0) != 0x80) {
            return len;
        }
    }

    return most; /* no UTF-8 */
}


/* Many offsets of a file may point into one long text.  Their total cost must
 * not exceed the file's share. */
static sym_str_t
cut(sym_strings_t *s, sym_str_t text, size_t most)
{
    if (text.len <= SYM_PART_BYTES_MAX) {
        return text;
    }

    if (s->long_bytes > SYM_LONG_BYTES_MAX - SYM_NAME_BYTES_MAX) {
        most = SYM_PART_BYTES_MAX;
    }

    if (text.len > most) {
        s->truncated++;
        text.len = whole_characters(text.data, most);
    }

    s->long_bytes += text.len > SYM_PART_BYTES_MAX ? text.len : 0;
    return text;
}


/* Compares long texts by their parts. */
static bool
is_long(const sym_strings_t *s, uint32_t id, const sym_long_string_t *string)
{
    const sym_long_string_t *other;

    if ((s->places[id] & LONG) == 0) {
        return false;
    }

    other = &s->longs[s->places[id] & ~LONG];
    return other->len == string->len && other->n_parts == string->n_parts
           && memcmp(other->parts, string->parts,
                     string->n_parts * sizeof(string->parts[0]))
                  == 0;
}


static sym_status_t
keep_long(sym_strings_t *s, const sym_long_string_t *string, uint64_t *place)
{
    sym_long_string_t *longs = sym_array_grow(s->longs, &s->longs_size,
                                              s->n_longs + 1, sizeof(*longs));

    if (longs == NULL) {
        return out_of_memory(s);
    }

    s->longs = longs;
    s->longs[s->n_longs] = *string;
    *place = LONG | s->n_longs++;
    s->distinct++;
    return SYM_OK;
}


/* The slot of text, or a free slot for it.  `string`: parts of a long text,
 * else NULL. */
static size_t
find_slot(const sym_strings_t *s, sym_str_t text,
          const sym_long_string_t *string, uint32_t hash)
{
    size_t at = hash & (s->n_slots - 1);

    for (; s->slots[at].id != 0; at = (at + 1) & (s->n_slots - 1)) {
        uint32_t found = s->slots[at].id - 1;

        if (s->slots[at].hash == hash
            && (string != NULL ? is_long(s, found, string)
                               : is_text(s, found, text)))
        {
            break;
        }
    }

    return at;
}


bool
sym_strings_find(const sym_strings_t *s, sym_str_t text, uint32_t *id)
{
    size_t at;

    if (s->n_slots == 0 || text.len > SYM_PART_BYTES_MAX) {
        return false;
    }

    at = find_slot(s, text, NULL, (uint32_t) sym_hash(&s->key, text));
    *id = s->slots[at].id - 1;
    return s->slots[at].id != 0;
}


/* Finds the id of text, or adds the text with a new id or with *id.  `string`:
 * as above. */
static sym_status_t
intern(sym_strings_t *s, sym_str_t text, const sym_long_string_t *string,
       uint32_t hash, bool has_id, uint32_t *id)
{
    uint64_t place = 0;
    size_t at;

    if (s->used_slots >= s->n_slots / 4 * 3 && grow_slots(s) != SYM_OK) {
        return s->err->status;
    }

    at = find_slot(s, text, string, hash);
    if (s->slots[at].id != 0) {
        uint32_t found = s->slots[at].id - 1;

        if (has_id) {
            s->places[*id] = ALIAS | found;
        } else {
            *id = found;
        }
        return SYM_OK;
    }

    if ((string != NULL ? keep_long(s, string, &place)
                        : keep_text(s, text, &place))
        != SYM_OK)
    {
        return s->err->status;
    }

    if (has_id) {
        s->places[*id] = place;
    } else if (new_id(s, place, id) != SYM_OK) {
        return s->err->status;
    }

    if (sym_is_swift_name(text) && !sym_swift_names_note(&s->swift, text, *id))
    {
        return out_of_memory(s);
    }

    s->slots[at] = (sym_string_slot_t){ hash, *id + 1 };
    s->used_slots++;
    return SYM_OK;
}


static sym_status_t
intern_parts(sym_strings_t *s, sym_str_t text, sym_long_string_t *string)
{
    *string = (sym_long_string_t){ .len = (uint32_t) text.len,
                                   .is_plain = sym_is_plain(text) };

    while (text.len > 0) {
        sym_str_t part = text;

        if (part.len > SYM_PART_BYTES_MAX) {
            part.len = whole_characters(text.data, SYM_PART_BYTES_MAX);
        }

        if (intern(s, part, NULL, (uint32_t) sym_hash(&s->key, part), false,
                   &string->parts[string->n_parts++])
            != SYM_OK)
        {
            return s->err->status;
        }

        text = sym_str(text.data + part.len, text.len - part.len);
    }

    return SYM_OK;
}


/* Adds a text, cut to at most `most` bytes. */
static sym_status_t
intern_up_to(sym_strings_t *s, size_t most, sym_str_t text, bool has_id,
             uint32_t *id)
{
    sym_long_string_t string;
    bool has_parts;
    uint32_t hash;

    text = cut(s, text, most);
    hash = (uint32_t) sym_hash(&s->key, text);
    has_parts = text.len > SYM_PART_BYTES_MAX;

    if (has_parts && intern_parts(s, text, &string) != SYM_OK) {
        return s->err->status;
    }

    return intern(s, text, has_parts ? &string : NULL, hash, has_id, id);
}


sym_status_t
sym_strings_add(sym_strings_t *s, sym_str_t text, uint32_t *id)
{
    return intern_up_to(s, SYM_NAME_BYTES_MAX, text, false, id);
}


sym_status_t
sym_strings_add_fact(sym_strings_t *s, sym_str_t text, uint32_t *id)
{
    return intern_up_to(s, SYM_PART_BYTES_MAX, text, false, id);
}


sym_status_t
sym_strings_add_hashed(sym_strings_t *s, sym_str_t text, uint32_t hash,
                       uint32_t *id)
{
    return text.len > SYM_PART_BYTES_MAX
               ? sym_strings_add(s, text, id)
               : intern(s, text, NULL, hash, false, id);
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
        return SYM_OK; /* the first definition wins */
    }

    return intern_up_to(s, SYM_NAME_BYTES_MAX, text, true, &id);
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


/* Writes strings that have several parts. */
static sym_status_t
write_longs(const sym_strings_t *s, sym_extents_t *x, uint32_t *refs)
{
    for (size_t id = 0; id < s->n; id++) {
        const sym_long_string_t *string;
        uint8_t head[SYM_LEB_MAX], *p;
        size_t len;

        if ((s->places[id] & (ALIAS | LONG)) != LONG) {
            continue;
        }

        string = &s->longs[s->places[id] & ~LONG];
        len = (size_t) (sym_uleb_write(head, (uint64_t) string->len << 1
                                                 | (unsigned) string->is_plain)
                        - head);
        p = sym_extents_alloc(x, SYM_LANE_MAIN,
                              len + string->n_parts * sizeof(*refs),
                              SYM_PLACE_ANY, &refs[id]);
        if (p == NULL) {
            return s->err->status;
        }

        memcpy(p, head, len);
        for (uint32_t i = 0; i < string->n_parts; i++) {
            memcpy(p + len + i * sizeof(*refs), &refs[string->parts[i]],
                   sizeof(*refs));
        }
    }

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

        if (s->places[id] & (ALIAS | LONG)) {
            continue;
        }

        from = s->packed.data + s->places[id];
        len = sym_load16(from);
        if (len == 1) {
            continue; /* the ref of "" is 0 */
        }

        p = sym_extents_alloc(x, SYM_LANE_MAIN, len, SYM_PLACE_ANY,
                              &(*refs)[id]);
        if (p == NULL) {
            return s->err->status;
        }
        memcpy(p, from + PACKED_HEAD, len);
    }

    if (write_longs(s, x, *refs) != SYM_OK) {
        return s->err->status;
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
