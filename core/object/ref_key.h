/*
 * ref_key.h - the key of a reference: a name and an id, by which messages,
 * commands and lists show an object.
 */
#ifndef SYM_OBJECT_REF_KEY_H
#define SYM_OBJECT_REF_KEY_H

#include "object/object_ref.h"

/* `key` is a view of this struct and of the reference. */
typedef struct {
    sym_module_key_t key;
    sym_str_t sent; /* the id as sent; for an object that is completely
                       known, the key's id */
    char id[SYM_ID_MAX];
} sym_ref_key_t;

/* The scope is left empty.  False: no store can contain such an object; then
 * the id is "". */
bool sym_ref_key(const sym_object_ref_t *ref, sym_ref_key_t *key);

/* The age in the id of a text; the other digits of the id are the digest of its
 * reference. */
#define SYM_TEXT_AGE UINT32_C(0xfffffffe)

/* The role of a file of a web site, by the extension of its path. */
sym_text_role_t sym_text_role_of(sym_str_t path);

/* Whether the key is that of a text at a URL.  Gets its role and the digest of
 * its reference. */
bool sym_text_key(const sym_module_key_t *key, sym_text_role_t *role,
                  uint8_t digest[SYM_REF_DIGEST_BYTES]);

/*
 * The reference for a key, until messages and commands carry references.  The
 * id as sent may also be a code id.
 */
void sym_object_ref_of_key(const sym_module_key_t *key, sym_object_ref_t *ref);

#endif
