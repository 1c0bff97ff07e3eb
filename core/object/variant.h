/*
 * variant.h - how today's records name a reference, until results belong to
 * paths.
 *
 * The store knows an object by name and id, and what was found is there for
 * everybody.  The absence of an object at a source depends on the requested
 * paths: for an object that is known whole, such a record belongs to the
 * *variant*, a digest of what decides the paths; for a named one, to the
 * spelling of its id.
 */
#ifndef SYM_OBJECT_VARIANT_H
#define SYM_OBJECT_VARIANT_H

#include "object/object_ref.h"

/* How a module is looked up, in addition to its key. */
typedef struct {
    const sym_object_ref_t *ref;
    sym_str_t spelling; /* sym_spelling_of() of the id as sent, or "" */
    const sym_object_ref_t *object; /* the reference if it is known whole, or
                                       NULL */
} sym_asked_t;

/* The key of a reference; `key` and `asked` are views of it. */
typedef struct {
    sym_module_key_t key;
    sym_asked_t asked;
    sym_str_t sent; /* the id as sent; of an object that is known whole: the
                       key's */
    char id[SYM_ID_MAX];
} sym_ref_key_t;

/* The scope is left empty.  False: no store can have such an object; the id is
 * "". */
bool sym_ref_key(const sym_object_ref_t *ref, sym_ref_key_t *key);

/* The age in the id of a text; the other digits are the digest of its
 * reference. */
#define SYM_TEXT_AGE UINT32_C(0xfffffffe)

/* The role of a file of a web site, by the ending of its path. */
sym_text_role_t sym_text_role_of(sym_str_t path);

/* Whether the key is that of a text at a URL; its role, and the digest of its
 * reference. */
bool sym_text_key(const sym_module_key_t *key, sym_text_role_t *role,
                  uint8_t digest[SYM_REF_DIGEST_BYTES]);

/*
 * The reference of a client that has a key, until messages and commands carry
 * references: the id as sent may also be a code id.
 */
void sym_object_ref_of_key(const sym_module_key_t *key, sym_object_ref_t *ref);

/* '~', with which no id begins, and 32 hexadecimal digits.  No client can make
 * two objects with the same one. */
#define SYM_VARIANT_LEN 33

/* Writes the variant to out and returns its length; 0: libcrypto cannot work. */
size_t sym_variant_of(const sym_object_ref_t *object,
                      char out[SYM_VARIANT_LEN]);

/* Whether the text, which has the place of an id, begins as a variant does; and
 * whether it is one. */
bool sym_variant_is_in(sym_str_t id);
bool sym_variant_ok(sym_str_t text);

#endif
