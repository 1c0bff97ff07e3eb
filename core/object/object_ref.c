#include "object/object_ref.h"

#include "base/hash.h"
#include "base/sha256.h"

/* Increase it when the parts are written in another way. */
#define VERSION "ref1"

/* Each part has a tag and two bytes of length. */
typedef enum {
    TAG_TYPE = 1,
    TAG_EITHER,
    TAG_DEBUG_ID,
    TAG_CODE_ID,
    TAG_FILE_ID,
    TAG_DEBUG_FILE,
    TAG_CODE_FILE,
    TAG_SENT,
    TAG_CHECKSUM,
    TAG_URL,
    TAG_RELEASE,
    TAG_DIST,
    TAG_ROLE
} tag_t;

#define TAG_BYTES 3
#define DEBUG_ID_BYTES (1 + SYM_UUID_BYTES + 4)
#define ROLE_BYTES 12

_Static_assert(SYM_REF_BYTES_MAX >= (size_t) 9 * TAG_BYTES + 2 + DEBUG_ID_BYTES
                                        + SYM_CODE_ID_MAX + SYM_FILE_ID_BYTES
                                        + (size_t) 2 * SYM_NAME_MAX
                                        + SYM_REF_SENT_MAX
                                        + SYM_REF_CHECKSUM_MAX,
               "all parts of an object that is not at a URL");
_Static_assert(SYM_REF_BYTES_MAX >= (size_t) 4 * TAG_BYTES + SYM_REF_URL_MAX
                                        + SYM_REF_RELEASE_MAX + SYM_REF_DIST_MAX
                                        + ROLE_BYTES,
               "all parts of one at a URL");

typedef struct {
    char *data;
    size_t len;
} parts_t;


/* --- from a client --- */

void
sym_object_ref_named(sym_object_ref_t *ref, sym_str_t name, sym_str_t id)
{
    char text[SYM_ID_MAX];
    sym_str_t canonical = { text, sym_debug_id_canonical(id, text) };

    *ref = (sym_object_ref_t){ .is_either = true, .debug_file = name };
    if (!sym_module_name_ok(name)
        || !sym_debug_id_read_breakpad(canonical, &ref->debug_id))
    {
        return;
    }

    if (sym_str_eq(id, canonical)) {
        ref->canonical = id;
    } else {
        ref->sent = id;
    }
}


void
sym_object_ref_mozilla(sym_object_ref_t *ref, sym_str_t name, sym_str_t id)
{
    sym_object_ref_named(ref, name, id);
    if (ref->debug_id.form == SYM_DEBUG_ID_NONE
        || !sym_mozilla_code_id(name, id, &ref->code_id))
    {
        return;
    }

    if (id.len > SYM_ID_MAX) {
        ref->debug_id = (sym_debug_id_t){ .form = SYM_DEBUG_ID_NONE };
    }
}


sym_str_t
sym_object_ref_sent(const sym_object_ref_t *ref, char text[SYM_ID_TEXT_MAX])
{
    return ref->sent.len != 0
               ? ref->sent
               : sym_str(text,
                         sym_debug_id_write_breakpad(&ref->debug_id, text));
}


sym_str_t
sym_object_ref_name(const sym_object_ref_t *ref)
{
    sym_str_t name = sym_object_file_name(ref->debug_file);

    return name.len != 0 ? name : sym_object_file_name(ref->code_file);
}


/* --- copies --- */

#define TEXTS 7

static void
list_texts(sym_object_ref_t *ref, sym_str_t *texts[TEXTS])
{
    texts[0] = &ref->debug_file;
    texts[1] = &ref->code_file;
    texts[2] = &ref->sent;
    texts[3] = &ref->checksum;
    texts[4] = &ref->url;
    texts[5] = &ref->release;
    texts[6] = &ref->dist;
}


size_t
sym_object_ref_bytes(const sym_object_ref_t *ref)
{
    return ref->debug_file.len + ref->code_file.len + ref->sent.len
           + ref->checksum.len + ref->url.len + ref->release.len
           + ref->dist.len;
}


void
sym_object_ref_copy(sym_object_ref_t *to, const sym_object_ref_t *from,
                    char *room)
{
    sym_str_t *texts[TEXTS];

    *to = *from;
    to->canonical = SYM_STR("");
    list_texts(to, texts);
    for (unsigned i = 0; i < TEXTS; i++) {
        if (texts[i]->len != 0) {
            memcpy(room, texts[i]->data, texts[i]->len);
        }
        texts[i]->data = room;
        room += texts[i]->len;
    }
}


/* --- comparing --- */

static bool
is_same_debug_id(const sym_debug_id_t *a, const sym_debug_id_t *b)
{
    return a->form == b->form
           && memcmp(a->signature, b->signature, SYM_UUID_BYTES) == 0
           && (a->age == b->age
               || (a->form == SYM_DEBUG_ID_UUID
                   && (a->age == UINT32_MAX || b->age == UINT32_MAX)));
}


bool
sym_object_ref_matches(const sym_object_ref_t *ref, const sym_file_ids_t *file)
{
    bool have_debug_ids = ref->debug_id.form != SYM_DEBUG_ID_NONE
                          && file->debug_id.form != SYM_DEBUG_ID_NONE;
    bool have_code_ids = ref->code_id.len != 0 && file->code_id.len != 0;
    bool is_debug_id =
        have_debug_ids && is_same_debug_id(&ref->debug_id, &file->debug_id);
    bool is_code_id =
        have_code_ids && sym_code_id_eq(&ref->code_id, &file->code_id);

    if (ref->is_either) {
        return is_debug_id || is_code_id;
    }

    return (have_debug_ids || have_code_ids) && is_debug_id == have_debug_ids
           && is_code_id == have_code_ids;
}


bool
sym_object_key(const sym_object_ref_t *ref, char id[SYM_ID_MAX],
               sym_module_key_t *key)
{
    char text[SYM_ID_TEXT_MAX];
    size_t len;

    *key = (sym_module_key_t){ .code_id = sym_str(ref->code_id.text,
                                                  ref->code_id.len) };
    if (ref->canonical.len != 0) {
        key->name = ref->debug_file;
        key->id = ref->canonical;
        return true;
    }

    len = sym_debug_id_write_breakpad(&ref->debug_id, text);
    if (len != 0) {
        memcpy(id, text, len); /* it is in canonical form */
    } else {
        len = sym_debug_id_canonical(key->code_id, id);
    }

    if (len == 0) {
        return false;
    }

    key->id = sym_str(id, len);
    if (ref->is_either) {
        key->name = ref->debug_file;
        return true;
    }

    key->name = sym_object_file_name(ref->debug_file);
    if (!sym_module_name_ok(key->name)) {
        key->name = sym_object_file_name(ref->code_file);
    }
    if (!sym_module_name_ok(key->name)) {
        key->name = key->id;
    }

    return true;
}


/* --- as bytes --- */

static void
put(parts_t *p, tag_t tag, const void *bytes, size_t len, size_t max)
{
    if (len == 0 || len > max) {
        return;
    }

    p->data[p->len++] = (char) tag;
    p->data[p->len++] = (char) (len & 0xff);
    p->data[p->len++] = (char) (len >> 8);
    memcpy(p->data + p->len, bytes, len);
    p->len += len;
}


static void
put_text(parts_t *p, tag_t tag, sym_str_t text, size_t max)
{
    put(p, tag, text.data, text.len, max);
}


static void
write_number(uint8_t *p, uint32_t n)
{
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t) (n >> (24 - 8 * i));
    }
}


static uint32_t
read_number(const uint8_t *p)
{
    return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8
           | p[3];
}


static void
put_debug_id(parts_t *p, const sym_debug_id_t *id)
{
    uint8_t bytes[DEBUG_ID_BYTES];

    if (id->form == SYM_DEBUG_ID_NONE) {
        return;
    }

    bytes[0] = (uint8_t) id->form;
    memcpy(bytes + 1, id->signature, SYM_UUID_BYTES);
    write_number(bytes + 1 + SYM_UUID_BYTES, id->age);

    put(p, TAG_DEBUG_ID, bytes, sizeof(bytes), sizeof(bytes));
}


/* An object that consists only of its URL needs none. */
static void
put_role(parts_t *p, const sym_object_ref_t *ref)
{
    uint8_t bytes[ROLE_BYTES];

    if (ref->role == SYM_TEXT_SOURCE && ref->member == 0 && ref->since == 0) {
        return;
    }

    write_number(bytes, ref->role);
    write_number(bytes + 4, ref->member);
    write_number(bytes + 8, ref->since);
    put(p, TAG_ROLE, bytes, sizeof(bytes), sizeof(bytes));
}


sym_str_t
sym_object_ref_url(const sym_object_ref_t *ref)
{
    const char *fragment =
        ref->url.len == 0 ? NULL : memchr(ref->url.data, '#', ref->url.len);

    return fragment != NULL
               ? sym_str(ref->url.data, (size_t) (fragment - ref->url.data))
               : ref->url;
}


size_t
sym_object_ref_write(const sym_object_ref_t *ref, char out[SYM_REF_BYTES_MAX])
{
    const uint8_t type = (uint8_t) ref->type;
    const sym_str_t url = sym_object_ref_url(ref);
    parts_t p = { out, 0 };

    if (ref->url.len != 0) {
        if (url.len == 0 || url.len > SYM_REF_URL_MAX) {
            return 0;
        }

        put_text(&p, TAG_URL, url, SYM_REF_URL_MAX);
        put_text(&p, TAG_RELEASE, ref->release, SYM_REF_RELEASE_MAX);
        put_text(&p, TAG_DIST, ref->dist, SYM_REF_DIST_MAX);
        put_role(&p, ref);
        return p.len;
    }

    put(&p, TAG_TYPE, &type, type != SYM_OBJECT_UNKNOWN, 1);
    put(&p, TAG_EITHER, "1", ref->is_either, 1);
    put_debug_id(&p, &ref->debug_id);
    put(&p, TAG_CODE_ID, ref->code_id.text, ref->code_id.len, SYM_CODE_ID_MAX);
    put(&p, TAG_FILE_ID, ref->file_id, ref->has_file_id ? SYM_FILE_ID_BYTES : 0,
        SYM_FILE_ID_BYTES);
    put_text(&p, TAG_DEBUG_FILE,
             ref->is_either ? ref->debug_file
                            : sym_object_file_name(ref->debug_file),
             SYM_NAME_MAX);
    put_text(&p, TAG_CODE_FILE, sym_object_file_name(ref->code_file),
             SYM_NAME_MAX);
    put_text(&p, TAG_SENT, ref->sent, SYM_REF_SENT_MAX);
    put_text(&p, TAG_CHECKSUM, ref->checksum, SYM_REF_CHECKSUM_MAX);
    return p.len;
}


static bool
read_debug_id(sym_str_t bytes, sym_debug_id_t *id)
{
    const uint8_t *p = (const uint8_t *) bytes.data;

    if (bytes.len != DEBUG_ID_BYTES
        || (p[0] != SYM_DEBUG_ID_UUID && p[0] != SYM_DEBUG_ID_PDB20))
    {
        return false;
    }

    id->form = (sym_debug_id_form_t) p[0];
    memcpy(id->signature, p + 1, SYM_UUID_BYTES);
    id->age = read_number(p + 1 + SYM_UUID_BYTES);
    return true;
}


static bool
read_role(sym_str_t bytes, sym_object_ref_t *ref)
{
    const uint8_t *p = (const uint8_t *) bytes.data;

    if (bytes.len != ROLE_BYTES || read_number(p) >= SYM_TEXT_ROLES) {
        return false;
    }

    ref->role = (sym_text_role_t) read_number(p);
    ref->member = read_number(p + 4);
    ref->since = read_number(p + 8);
    return true;
}


/* Reads a part.  The caller notices a part that would be written
 * differently. */
static bool
read_part(tag_t tag, sym_str_t bytes, sym_object_ref_t *ref)
{
    switch (tag) {
    case TAG_TYPE:
        ref->type = (sym_object_type_t) (uint8_t) bytes.data[0];
        return ref->type < SYM_OBJECT_TYPES;
    case TAG_EITHER:
        ref->is_either = true;
        return true;
    case TAG_DEBUG_ID:
        return read_debug_id(bytes, &ref->debug_id);
    case TAG_CODE_ID:
        return sym_code_id_read(bytes, &ref->code_id);
    case TAG_FILE_ID:
        ref->has_file_id = bytes.len == SYM_FILE_ID_BYTES;
        memcpy(ref->file_id, bytes.data,
               ref->has_file_id ? SYM_FILE_ID_BYTES : 0);
        return ref->has_file_id;
    case TAG_DEBUG_FILE:
        ref->debug_file = bytes;
        return true;
    case TAG_CODE_FILE:
        ref->code_file = bytes;
        return true;
    case TAG_SENT:
        ref->sent = bytes;
        return true;
    case TAG_CHECKSUM:
        ref->checksum = bytes;
        return true;
    case TAG_URL:
        ref->url = bytes;
        return true;
    case TAG_RELEASE:
        ref->release = bytes;
        return true;
    case TAG_DIST:
        ref->dist = bytes;
        return true;
    case TAG_ROLE:
        return read_role(bytes, ref);
    }

    return false;
}


bool
sym_object_ref_read(sym_str_t bytes, sym_object_ref_t *ref)
{
    char again[SYM_REF_BYTES_MAX];
    sym_str_t rest = bytes;

    *ref = (sym_object_ref_t){ .type = SYM_OBJECT_UNKNOWN };
    while (rest.len != 0) {
        const uint8_t *p = (const uint8_t *) rest.data;
        size_t len = rest.len < TAG_BYTES ? 0 : p[1] | (size_t) p[2] << 8;

        if (len == 0 || len > rest.len - TAG_BYTES
            || !read_part((tag_t) p[0], sym_str(rest.data + TAG_BYTES, len),
                          ref))
        {
            return false;
        }

        rest = sym_str(rest.data + TAG_BYTES + len, rest.len - TAG_BYTES - len);
    }

    /* a reference can be written in one way only, so equal ones have equal
     * bytes */
    return bytes.len != 0 && sym_object_ref_write(ref, again) == bytes.len
           && memcmp(again, bytes.data, bytes.len) == 0;
}


/* --- names for searches --- */

bool
sym_object_ref_digest(const sym_object_ref_t *ref,
                      uint8_t digest[SYM_REF_DIGEST_BYTES])
{
    char bytes[sizeof(VERSION) + SYM_REF_BYTES_MAX];
    size_t len = sym_object_ref_write(ref, bytes + sizeof(VERSION));
    sym_sha256_t sha;

    memcpy(bytes, VERSION, sizeof(VERSION));
    if (len == 0 || !sym_sha256(sym_str(bytes, sizeof(VERSION) + len), &sha)) {
        return false;
    }

    memcpy(digest, sha.bytes, SYM_REF_DIGEST_BYTES);
    return true;
}


uint64_t
sym_object_ref_hash(const sym_object_ref_t *ref)
{
    const sym_hash_key_t key = sym_hash_key();
    char bytes[SYM_REF_BYTES_MAX];

    return sym_hash(&key, sym_str(bytes, sym_object_ref_write(ref, bytes))) | 1;
}
