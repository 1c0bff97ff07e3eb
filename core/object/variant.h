/*
 * variant.h - in which way a module was asked for.
 *
 * A client of some APIs tells all of an object: its type, both ids, the names of
 * both files.  All of that decides under which paths a source is asked for it.
 * The store knows a module by its name and id alone, and what was found is there
 * for everybody.  But what a source does not have under some paths it may have
 * under others: so what is absent, failed or malformed belongs to the *variant*,
 * a digest of what decides the paths.
 */
#ifndef SYM_OBJECT_VARIANT_H
#define SYM_OBJECT_VARIANT_H

#include "base/hash.h"
#include "object/object_id.h"

/* How a module is asked for beside its key. */
typedef struct {
    sym_str_t spelling; /* sym_spelling_of() of the id as sent, or "" */
    const sym_object_id_t *object; /* if the API tells all of it, or NULL */
} sym_asked_t;

/* '~', which no id begins with, and 32 hexadecimal digits.  Nobody can make two
 * objects that have the same. */
#define SYM_VARIANT_LEN 33

/* Writes the variant to out and returns its length; 0: libcrypto cannot work. */
size_t sym_variant_of(const sym_object_id_t *object, char out[SYM_VARIANT_LEN]);

/* The same for a table of a process, which is quicker; never 0. */
uint64_t sym_variant_tag(const sym_object_id_t *object);

/* Whether the text, which has the place of an id, begins as a variant does; and
 * whether it is one. */
bool sym_variant_is_in(sym_str_t id);
bool sym_variant_ok(sym_str_t text);

#endif
