#include "object/variant.h"

#include "base/digits.h"

#define MARK '~'

/* Texts at URLs have these names; their ids tell them apart. */
static const char *const role_names[SYM_TEXT_ROLES] = {
    [SYM_TEXT_SOURCE] = "source",       [SYM_TEXT_LIST] = "list",
    [SYM_TEXT_BUNDLE] = "bundle",       [SYM_TEXT_SCRIPT] = "script",
    [SYM_TEXT_SOURCEMAP] = "sourcemap",
};


sym_text_role_t
sym_text_role(sym_str_t name)
{
    for (unsigned i = 0; i < SYM_TEXT_ROLES; i++) {
        if (sym_str_eq(name, sym_cstr(role_names[i]))) {
            return (sym_text_role_t) i;
        }
    }

    return SYM_TEXT_SOURCE;
}


/* A UUID and the age 0. */
static size_t
write_link_id(const sym_object_ref_t *ref, char id[SYM_ID_MAX])
{
    uint8_t digest[SYM_REF_DIGEST_BYTES];

    if (!sym_object_ref_digest(ref, digest)) {
        return 0;
    }

    (void) sym_digits_write_upper(digest, sizeof(digest), id);
    id[2 * sizeof(digest)] = '0';
    return 2 * sizeof(digest) + 1;
}


static bool
link_key(const sym_object_ref_t *ref, sym_ref_key_t *key)
{
    key->key = (sym_module_key_t){
        .scope = SYM_STR(""),
        .name = sym_cstr(role_names[ref->role]),
        .id = sym_str(key->id, write_link_id(ref, key->id)),
    };
    key->sent = key->key.id;
    return key->key.id.len != 0;
}


bool
sym_ref_key(const sym_object_ref_t *ref, sym_ref_key_t *key)
{
    key->asked = (sym_asked_t){ .spelling = SYM_STR("") };

    if (ref->url.len != 0) {
        return link_key(ref, key);
    }

    if (!sym_object_key(ref, key->id, &key->key)) {
        key->sent = SYM_STR("");
        return false;
    }

    key->sent = key->key.id;
    if (!ref->is_either) {
        key->asked.object = ref;
        return true;
    }

    if (ref->sent.len != 0) {
        key->sent = ref->sent;
        key->asked.spelling = sym_spelling_of(ref->sent, key->key.id);
    }

    return true;
}


size_t
sym_variant_of(const sym_object_ref_t *object, char out[SYM_VARIANT_LEN])
{
    uint8_t digest[SYM_REF_DIGEST_BYTES];

    if (!sym_object_ref_digest(object, digest)) {
        return 0;
    }

    out[0] = MARK;
    (void) sym_digits_write_lower(digest, sizeof(digest), out + 1);
    return SYM_VARIANT_LEN;
}


bool
sym_variant_is_in(sym_str_t id)
{
    return id.len != 0 && id.data[0] == MARK;
}


bool
sym_variant_ok(sym_str_t text)
{
    if (text.len != SYM_VARIANT_LEN || text.data[0] != MARK) {
        return false;
    }

    for (size_t i = 1; i < text.len; i++) {
        char c = text.data[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
    }

    return true;
}
