#include "store/object.h"

#include "base/hex.h"
#include "object/ref_key.h"
#include "store/bytes.h"
#include "store/tables.h"

#include <libdeflate.h>

#define OBJECT_VERSION 1
#define OBJECT_CRC (OBJECT_FIXED - 4)

#define FLAG_FILE_ID 1
#define FLAG_DIGEST 2
#define FLAG_PATH 4

/* In the table of names: the object's key does not contain the name. */
#define KIND_NAMELESS 0x80

/* Form of a code id; the length follows it. */
#define CODE_ID 'c'

/* Maximum for a module and its share of the tree; keeps sums far from
   overflow. */
#define PAGES_MAX ((uint64_t) 34 * SYM_EXTENTS_LIMIT)

/* --- ids --- */

static sym_key_id_t
of_file_id(const sym_store_id_t *id)
{
    size_t len = id->form == SYM_STORE_ID_UUID    ? 20
                 : id->form == SYM_STORE_ID_PDB20 ? 8
                                                  : 16;
    sym_key_id_t out; /* fields are set one by one, not zeroed first, because
                         lookups create many entries */

    out.len = 1 + len;
    out.bytes[0] = (char) id->form;
    memcpy(out.bytes + 1, id->bytes, len);
    return out;
}


sym_key_id_t
sym_key_id_debug(const sym_debug_id_t *id)
{
    sym_store_id_t bytes = sym_store_id_debug(id);

    return bytes.form != 0 ? of_file_id(&bytes) : (sym_key_id_t){ 0 };
}


sym_key_id_t
sym_key_id_code(const sym_code_id_t *id)
{
    sym_key_id_t out = { 0 };

    if (id->len == 0 || id->len > SYM_CODE_ID_MAX) {
        return out;
    }

    out.len = 2 + (size_t) id->len;
    out.bytes[0] = CODE_ID;
    out.bytes[1] = (char) id->len;
    memcpy(out.bytes + 2, id->text, id->len);
    return out;
}


sym_key_id_t
sym_key_id_bytes(char form, const uint8_t bytes[16])
{
    sym_store_id_t id = sym_store_id_bytes((uint8_t) form, bytes);

    return of_file_id(&id);
}


unsigned
sym_object_ids(const sym_object_key_t *o, sym_key_id_t ids[OBJECT_IDS_MAX])
{
    unsigned n = 0;

    if (o->has_digest) {
        ids[n++] = sym_key_id_bytes(SYM_STORE_ID_DIGEST, o->digest);
    }

    ids[n] = sym_key_id_debug(&o->debug_id);
    n += ids[n].len != 0;
    ids[n] = sym_key_id_code(&o->code_id);
    n += ids[n].len != 0;

    if (o->has_file_id) {
        ids[n++] = sym_key_id_bytes(SYM_STORE_ID_FILE, o->file_id);
    }

    return n;
}


sym_str_t
sym_object_shown_id(const sym_object_key_t *o, char text[SYM_CODE_ID_MAX])
{
    sym_debug_id_t digest = { .form = SYM_DEBUG_ID_UUID, .age = SYM_TEXT_AGE };
    size_t len = sym_debug_id_write_breakpad(&o->debug_id, text);

    if (len == 0 && o->has_digest) {
        memcpy(digest.signature, o->digest, sizeof(o->digest));
        len = sym_debug_id_write_breakpad(&digest, text);
    }

    if (len == 0) {
        memcpy(text, o->code_id.text, o->code_id.len);
        len = o->code_id.len;
    }

    return sym_str(text, len);
}


unsigned
sym_object_file_ids(const sym_object_key_t *o,
                    sym_store_id_t ids[OBJECT_IDS_MAX])
{
    unsigned n = 0;

    ids[n] = sym_store_id_debug(&o->debug_id);
    n += ids[n].form != 0;
    ids[n] = sym_store_id_code(&o->code_id);
    n += ids[n].form != 0;

    if (o->has_file_id) {
        ids[n++] = sym_store_id_bytes(SYM_STORE_ID_FILE, o->file_id);
    }

    if (o->has_digest) {
        ids[n++] = sym_store_id_bytes(SYM_STORE_ID_DIGEST, o->digest);
    }

    return n;
}


/* --- keys --- */

size_t
sym_object_prefix(sym_str_t scope, const sym_key_id_t *id,
                  char out[OBJECT_KEY_MAX])
{
    char *p = out;

    (void) sym_str_append(&p, scope);
    *p++ = '\0';
    (void) sym_str_append(&p, sym_str(id->bytes, id->len));
    return (size_t) (p - out);
}


size_t
sym_object_file_prefix(sym_str_t scope, const sym_store_id_t *id,
                       char out[OBJECT_KEY_MAX])
{
    static const char hex[] = "0123456789abcdef";
    sym_key_id_t key;

    if (!sym_store_id_is_code(id)) {
        key = of_file_id(id);
        return sym_object_prefix(scope, &key, out);
    }

    key = (sym_key_id_t){ .len = 2, .bytes = { CODE_ID } };
    key.bytes[1] = (char) (id->form - SYM_STORE_ID_CODE);
    for (unsigned i = 0;
         i < 2 * SYM_STORE_ID_BYTES && i < (unsigned) (uint8_t) key.bytes[1];
         i++)
    {
        unsigned byte = id->bytes[i / 2];

        key.bytes[key.len++] = hex[i % 2 == 0 ? byte >> 4 : byte & 15];
    }

    return sym_object_prefix(scope, &key, out);
}


/* The id of an object without ids: it has no bytes. */
static bool
is_zero(const sym_debug_id_t *id)
{
    static const uint8_t zeros[SYM_UUID_BYTES];

    return memcmp(id->signature, zeros, sizeof(zeros)) == 0;
}


static bool
is_found_by_name(const sym_object_key_t *o)
{
    return !o->is_nameless
           || (o->debug_id.form != SYM_DEBUG_ID_NONE && is_zero(&o->debug_id));
}


size_t
sym_object_key_write(sym_str_t scope, const sym_object_key_t *o,
                     sym_kind_t kind, unsigned n, char out[OBJECT_KEY_MAX])
{
    sym_key_id_t ids[OBJECT_IDS_MAX];
    unsigned n_ids = sym_object_ids(o, ids);
    bool has_name = is_found_by_name(o);
    char *p;

    if (n >= n_ids || scope.len > SYM_SCOPE_MAX || kind == SYM_KIND_ALL
        || (unsigned) kind > SYM_KIND_MAX
        || (has_name && !sym_module_name_ok(o->name)))
    {
        return 0;
    }

    p = out + sym_object_prefix(scope, &ids[n], out);
    if (has_name) {
        (void) sym_str_append(&p, o->name);
    }
    *p++ = '\0';
    *p++ = (char) kind;

    if (n != 0) {
        (void) sym_str_append(&p, sym_str(ids[0].bytes, ids[0].len));
    }

    return (size_t) (p - out);
}


/* The name under which an object is listed. */
static sym_str_t
listed_name(const sym_object_key_t *o)
{
    return sym_module_name_ok(o->name) ? o->name : SYM_STR("");
}


size_t
sym_name_key_write(sym_str_t scope, const sym_object_key_t *o, sym_kind_t kind,
                   char out[NAME_KEY_MAX])
{
    sym_key_id_t ids[OBJECT_IDS_MAX];
    unsigned char last = (unsigned char) kind;
    char *p = out;

    (void) sym_object_ids(o, ids);
    (void) sym_str_append(&p, scope);
    *p++ = '\0';
    (void) sym_str_append(&p, listed_name(o));
    *p++ = '\0';
    (void) sym_str_append(&p, sym_str(ids[0].bytes, ids[0].len));
    *p++ = (char) (is_found_by_name(o) ? last : last | KIND_NAMELESS);
    return (size_t) (p - out);
}


/* Length of the id at the start of the text; 0: no id. */
static size_t
id_len(sym_str_t text)
{
    size_t len = 0;

    if (text.len < 2) {
        return 0;
    }

    switch (text.data[0]) {
    case SYM_STORE_ID_UUID:
        len = 21;
        break;
    case SYM_STORE_ID_PDB20:
        len = 9;
        break;
    case SYM_STORE_ID_FILE:
    case SYM_STORE_ID_DIGEST:
        len = 17;
        break;
    case CODE_ID:
        len = 2 + (size_t) (uint8_t) text.data[1];
        len = len > 2 && len <= OBJECT_ID_MAX ? len : 0;
        break;
    default:
        break;
    }

    return len <= text.len ? len : 0;
}


/* Takes the next n bytes of *rest. */
static sym_str_t
split(sym_str_t *rest, size_t n)
{
    sym_str_t part = sym_str(rest->data, n);

    rest->data += n;
    rest->len -= n;
    return part;
}


/* Takes the text before the next NUL, and skips the NUL; false: no NUL. */
static bool
split_text(sym_str_t *rest, size_t max, sym_str_t *text)
{
    const char *nul = memchr(rest->data, '\0', rest->len);

    if (nul == NULL || (size_t) (nul - rest->data) > max) {
        return false;
    }

    *text = split(rest, (size_t) (nul - rest->data));
    (void) split(rest, 1);
    return true;
}


bool
sym_object_key_parse(const MDB_val *key, sym_object_entry_t *e)
{
    sym_str_t rest = sym_str(key->mv_data, key->mv_size);

    *e = (sym_object_entry_t){ 0 };
    if (key->mv_size > OBJECT_KEY_MAX
        || !split_text(&rest, SYM_SCOPE_MAX, &e->scope))
    {
        return false;
    }

    e->id = split(&rest, id_len(rest));
    if (e->id.len == 0 || !split_text(&rest, SYM_NAME_MAX, &e->name)
        || rest.len == 0)
    {
        return false;
    }

    e->kind = (sym_kind_t) (uint8_t) *split(&rest, 1).data;
    e->first = rest;
    return e->kind != SYM_KIND_ALL && (unsigned) e->kind <= SYM_KIND_MAX
           && id_len(rest) == rest.len;
}


static size_t
join(sym_str_t scope, sym_str_t id, sym_str_t name, unsigned kind, char *out)
{
    char *p = out;

    (void) sym_str_append(&p, scope);
    *p++ = '\0';
    (void) sym_str_append(&p, id);
    (void) sym_str_append(&p, name);
    *p++ = '\0';
    *p++ = (char) kind;
    return (size_t) (p - out);
}


size_t
sym_object_key_of_entry(const sym_object_entry_t *e, char out[OBJECT_KEY_MAX])
{
    return join(e->scope, e->first.len != 0 ? e->first : e->id, e->name,
                e->kind, out);
}


size_t
sym_object_key_of_name(const MDB_val *name, char out[OBJECT_KEY_MAX])
{
    sym_str_t rest = sym_str(name->mv_data, name->mv_size), scope, text, id;
    unsigned kind;

    if (name->mv_size > NAME_KEY_MAX
        || !split_text(&rest, SYM_SCOPE_MAX, &scope)
        || !split_text(&rest, SYM_NAME_MAX, &text))
    {
        return 0;
    }

    id = split(&rest, id_len(rest));
    if (id.len == 0 || rest.len != 1) {
        return 0;
    }

    kind = (uint8_t) rest.data[0];
    return join(scope, id, (kind & KIND_NAMELESS) != 0 ? SYM_STR("") : text,
                kind & ~(unsigned) KIND_NAMELESS, out);
}


size_t
sym_object_path_key(sym_str_t scope, const sym_object_record_t *r,
                    char out[PATH_KEY_MAX])
{
    char *p = out;

    if (!r->has_path || scope.len > SYM_SCOPE_MAX
        || r->path.len > PATH_KEY_MAX - SYM_SCOPE_MAX - 1)
    {
        return 0;
    }

    (void) sym_str_append(&p, scope);
    *p++ = '\0';
    (void) sym_str_append(&p, r->path);
    return (size_t) (p - out);
}


/* --- values --- */

/* Computed over the record without the checksum itself. */
static uint32_t
object_crc(const MDB_val *key, const uint8_t *p, size_t len)
{
    uint32_t crc = sym_crc(key->mv_data, key->mv_size, p, OBJECT_CRC);

    return libdeflate_crc32(crc, p + OBJECT_FIXED, len - OBJECT_FIXED);
}


static sym_str_t
cut(sym_str_t text, size_t max)
{
    return sym_str(text.data, text.len < max ? text.len : max);
}


size_t
sym_object_write(const MDB_val *key, const sym_object_record_t *r,
                 uint8_t out[OBJECT_BYTES_MAX])
{
    const sym_object_key_t *o = &r->object;
    sym_store_id_t debug_id = sym_store_id_debug(&o->debug_id);
    sym_str_t name = cut(listed_name(o), SYM_NAME_MAX);
    sym_str_t path = cut(r->path, SOURCE_MAX);
    sym_str_t reason = cut(r->reason, SYM_REASON_MAX);
    uint8_t *p = out;

    p = sym_bytes_put(p, OBJECT_VERSION, 1);
    p = sym_bytes_put(p, r->state, 1);
    p = sym_bytes_put(p, r->quality, 1);
    p = sym_bytes_put(p,
                      (o->has_file_id ? FLAG_FILE_ID : 0)
                          | (o->has_digest ? FLAG_DIGEST : 0)
                          | (r->has_path ? FLAG_PATH : 0),
                      1);
    p = sym_bytes_put(p, r->slot, 4);
    p = sym_bytes_put(p, r->module_id, 8);
    p = sym_bytes_put(p, r->extents, 4);
    p = sym_bytes_put(p, r->kind_version, 4);
    p = sym_bytes_put(p, r->bytes, 8);
    p = sym_bytes_put(p, r->pages, 8);
    p = sym_bytes_put(p, r->source_bytes, 8);
    p = sym_bytes_put(p, (uint64_t) r->stored_at, 8);
    p = sym_bytes_put(p, r->expires_at, 4);
    p = sym_bytes_put(p, r->place, 2);
    p = sym_bytes_put(p, o->type, 1);
    p = sym_bytes_put(p, name.len, 1);
    p = sym_bytes_put(p, path.len, 2);
    p = sym_bytes_put(p, reason.len, 2);
    p = sym_bytes_put(p, o->code_id.len, 1);
    p = sym_bytes_put(p, debug_id.form, 1);
    memcpy(p, debug_id.bytes, SYM_STORE_ID_BYTES);

    p = sym_bytes_put_text(out + OBJECT_FIXED, name);
    p = sym_bytes_put_text(p, path);
    p = sym_bytes_put_text(p, reason);
    p = sym_bytes_put_text(p, sym_str(o->code_id.text, o->code_id.len));
    if (o->has_file_id) {
        memcpy(p, o->file_id, sizeof(o->file_id));
        p += sizeof(o->file_id);
    }

    if (o->has_digest) {
        memcpy(p, o->digest, sizeof(o->digest));
        p += sizeof(o->digest);
    }

    sym_crc_put(out + OBJECT_CRC, object_crc(key, out, (size_t) (p - out)));
    return (size_t) (p - out);
}


static bool
read_debug_id(const uint8_t *p, sym_debug_id_t *id)
{
    uint8_t form = *p++;
    size_t len = form == SYM_STORE_ID_UUID ? SYM_UUID_BYTES : 4;

    *id = (sym_debug_id_t){ .form = form == SYM_STORE_ID_UUID
                                        ? SYM_DEBUG_ID_UUID
                                        : SYM_DEBUG_ID_PDB20 };
    if (form == 0) {
        id->form = SYM_DEBUG_ID_NONE;
        return true;
    }

    memcpy(id->signature, p, len);
    p += len;
    id->age = (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16
              | (uint32_t) p[2] << 8 | p[3];
    return form == SYM_STORE_ID_UUID || form == SYM_STORE_ID_PDB20;
}


/* Reads the texts after the numbers; their lengths are at p. */
static sym_status_t
read_texts(const MDB_val *val, const uint8_t *p, unsigned flags,
           sym_object_record_t *r)
{
    sym_object_key_t *o = &r->object;
    size_t name = (size_t) sym_bytes_take(&p, 1);
    size_t path = (size_t) sym_bytes_take(&p, 2);
    size_t reason = (size_t) sym_bytes_take(&p, 2);
    size_t code_id = (size_t) sym_bytes_take(&p, 1);
    size_t others = (o->has_file_id ? 16u : 0) + (o->has_digest ? 16u : 0);

    if (!read_debug_id(p, &o->debug_id) || path > SOURCE_MAX
        || reason > SYM_REASON_MAX || code_id > SYM_CODE_ID_MAX
        || val->mv_size
               != OBJECT_FIXED + name + path + reason + code_id + others)
    {
        return SYM_DAMAGED;
    }

    p = (const uint8_t *) val->mv_data + OBJECT_FIXED;
    o->name = sym_bytes_take_text(&p, name);
    r->path = sym_bytes_take_text(&p, path);
    r->reason = sym_bytes_take_text(&p, reason);
    r->has_path = (flags & FLAG_PATH) != 0;
    o->code_id.len = (uint8_t) code_id;
    memcpy(o->code_id.text, p, code_id);
    p += code_id;

    if (o->has_file_id) {
        memcpy(o->file_id, p, sizeof(o->file_id));
        p += sizeof(o->file_id);
    }

    if (o->has_digest) {
        memcpy(o->digest, p, sizeof(o->digest));
    }

    return SYM_OK;
}


sym_status_t
sym_object_read(const MDB_val *key, const MDB_val *val, sym_object_record_t *r)
{
    const uint8_t *p = val->mv_data;
    sym_object_entry_t entry;
    unsigned flags;

    *r = (sym_object_record_t){ 0 };
    if (val->mv_size < OBJECT_FIXED || !sym_object_key_parse(key, &entry)
        || entry.first.len != 0)
    {
        return SYM_DAMAGED;
    }

    if (*p++ != OBJECT_VERSION) {
        return SYM_NOT_FOUND;
    }

    r->kind = entry.kind;
    r->state = (sym_module_state_t) sym_bytes_take(&p, 1);
    r->quality = (uint8_t) sym_bytes_take(&p, 1);
    flags = (unsigned) sym_bytes_take(&p, 1);
    r->slot = (uint32_t) sym_bytes_take(&p, 4);
    r->module_id = sym_bytes_take(&p, 8);
    r->extents = (uint32_t) sym_bytes_take(&p, 4);
    r->kind_version = (uint32_t) sym_bytes_take(&p, 4);
    r->bytes = sym_bytes_take(&p, 8);
    r->pages = sym_bytes_take(&p, 8);
    r->source_bytes = sym_bytes_take(&p, 8);
    r->stored_at = (int64_t) sym_bytes_take(&p, 8);
    r->expires_at = (uint32_t) sym_bytes_take(&p, 4);
    r->place = (uint16_t) sym_bytes_take(&p, 2);
    r->object.type = (sym_object_type_t) sym_bytes_take(&p, 1);
    r->object.has_file_id = (flags & FLAG_FILE_ID) != 0;
    r->object.has_digest = (flags & FLAG_DIGEST) != 0;
    r->object.is_nameless = entry.name.len == 0;

    return r->module_id >> (64 - EXTENT_BITS) != 0
                   || r->extents > SYM_EXTENTS_LIMIT || r->pages > PAGES_MAX
                   || r->object.type > SYM_OBJECT_WASM || r->stored_at < 0
                   || r->stored_at > TIME_MAX
                   || (r->state != SYM_MODULE_READY
                       && r->state != SYM_MODULE_MALFORMED)
               ? SYM_DAMAGED
               : read_texts(val, p, flags, r);
}


sym_status_t
sym_object_check(const MDB_val *key, const MDB_val *val, sym_object_record_t *r)
{
    const uint8_t *p = val->mv_data;
    sym_status_t status = sym_object_read(key, val, r);
    char buf[OBJECT_KEY_MAX];
    sym_object_entry_t entry;
    size_t len;

    if (status != SYM_OK) {
        return status;
    }

    (void) sym_object_key_parse(key, &entry);
    len = sym_object_key_write(entry.scope, &r->object, r->kind, 0, buf);
    return len == key->mv_size && memcmp(buf, key->mv_data, len) == 0
                   && sym_crc_get(p + OBJECT_CRC)
                          == object_crc(key, p, val->mv_size)
               ? SYM_OK
               : SYM_DAMAGED;
}


bool
sym_object_replaces(const sym_object_record_t *a, const sym_object_record_t *b)
{
    if (a->quality != b->quality) {
        return a->quality > b->quality;
    }

    if ((a->reason.len == 0) != (b->reason.len == 0)) {
        return a->reason.len == 0;
    }

    return a->place <= b->place;
}


bool
sym_object_is_poor(const sym_object_record_t *record)
{
    const sym_kind_row_t *kind = sym_kind_find(record->kind);

    return kind != NULL && record->quality < kind->good;
}
