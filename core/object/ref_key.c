#include "object/ref_key.h"

/* Names of texts at URLs.  Only their ids distinguish them. */
static const char *const role_names[SYM_TEXT_ROLES] = {
    [SYM_TEXT_SOURCE] = "source",       [SYM_TEXT_LIST] = "list",
    [SYM_TEXT_BUNDLE] = "bundle",       [SYM_TEXT_SCRIPT] = "script",
    [SYM_TEXT_SOURCEMAP] = "sourcemap",
};


sym_text_role_t
sym_text_role_of(sym_str_t path)
{
    static const char *const scripts[] = { ".js", ".mjs", ".cjs" };

    if (sym_str_ends_nocase(path, SYM_STR(".map"))) {
        return SYM_TEXT_SOURCEMAP;
    }

    for (unsigned i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        if (sym_str_ends_nocase(path, sym_cstr(scripts[i]))) {
            return SYM_TEXT_SCRIPT;
        }
    }

    return SYM_TEXT_SOURCE;
}


bool
sym_text_key(const sym_module_key_t *key, sym_text_role_t *role,
             uint8_t digest[SYM_REF_DIGEST_BYTES])
{
    sym_debug_id_t id;

    for (unsigned i = 0; i < SYM_TEXT_ROLES; i++) {
        if (sym_str_eq(key->name, sym_cstr(role_names[i]))) {
            *role = (sym_text_role_t) i;
            if (!sym_debug_id_read_breakpad(key->id, &id)
                || id.age != SYM_TEXT_AGE) {
                return false;
            }
            memcpy(digest, id.signature, SYM_REF_DIGEST_BYTES);
            return true;
        }
    }

    return false;
}


static size_t
write_link_id(const sym_object_ref_t *ref, char id[SYM_ID_MAX])
{
    sym_debug_id_t digest = { .form = SYM_DEBUG_ID_UUID, .age = SYM_TEXT_AGE };
    char text[SYM_ID_TEXT_MAX];
    size_t len = 0;

    if (ref->has_digest) {
        memcpy(digest.signature, ref->digest, sizeof(ref->digest));
    }

    if (ref->has_digest || sym_object_ref_digest(ref, digest.signature)) {
        len = sym_debug_id_write_breakpad(&digest, text);
        memcpy(id, text, len);
    }

    return len;
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
    if (ref->url.len != 0 || ref->has_digest) {
        return link_key(ref, key);
    }

    if (!sym_object_key(ref, key->id, &key->key)) {
        key->sent = SYM_STR("");
        return false;
    }

    key->sent = ref->is_either && ref->sent.len != 0 ? ref->sent : key->key.id;
    return true;
}


/* The id as it was sent.  A code id may also be readable as a debug id, which
 * then has fewer digits. */
static sym_str_t
sent_id(const sym_module_key_t *key)
{
    char reading[SYM_ID_MAX];
    size_t len = sym_debug_id_canonical(key->code_id, reading);

    return len != 0 && sym_str_eq(key->id, sym_str(reading, len)) ? key->code_id
                                                                  : key->id;
}


void
sym_object_ref_of_key(const sym_module_key_t *key, sym_object_ref_t *ref)
{
    sym_str_t id = sent_id(key);
    uint8_t digest[SYM_REF_DIGEST_BYTES];
    sym_text_role_t role;

    if (sym_text_key(key, &role, digest)) {
        *ref = (sym_object_ref_t){ .has_digest = true, .role = role };
        memcpy(ref->digest, digest, sizeof(ref->digest));
        return;
    }

    /* the name of an object without a name is its id */
    if (key->name.len != 0 && !sym_str_eq(key->name, key->id)) {
        sym_object_ref_mozilla(ref, key->name, id);
    } else {
        sym_object_ref_mozilla(ref, id, id);
        ref->debug_file = SYM_STR("");
    }

    if (key->code_id.len != 0) {
        (void) sym_code_id_read(key->code_id, &ref->code_id);
    }
    if (sym_module_key_is_cut(key)) {
        ref->debug_id = (sym_debug_id_t){ .form = SYM_DEBUG_ID_NONE };
    }
}
