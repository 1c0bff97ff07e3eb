/*
 * module_key.h - the key of a module: scope, debug file name, debug id.
 *
 * Clients write one id in several ways (case, leading zeros of the age).  The
 * store knows each module under one canonical form, so that all of these find
 * it.  Source: specs of the APIs; the id is Breakpad's (a GUID or build id as
 * 32 hexadecimal digits, then the age in hexadecimal).
 */
#ifndef SYM_OBJECT_MODULE_KEY_H
#define SYM_OBJECT_MODULE_KEY_H

#include "base/error.h"
#include "base/str.h"

/* LMDB keys have at most 511 bytes, and file names on any file system 255. */
#define SYM_SCOPE_MAX 64
#define SYM_NAME_MAX 255
#define SYM_ID_MAX 40 /* 32 digits and an age of up to 8 digits */

/* The scope of a key is the source to which its record belongs. */
#define SYM_SCOPE_LOCAL                                                        \
    ""                           /* modules loaded by hand, visible in every
                                    location */
#define SYM_SCOPE_GIVEN "given:" /* prefix of scopes of sources from requests */
#define SYM_SCOPE_ALL "*"        /* any source; used only in lookups */

typedef struct {
    sym_str_t scope;   /* name of a source, or SYM_SCOPE_LOCAL */
    sym_str_t name;    /* debug file name as sent by the client: "xul.pdb" */
    sym_str_t id;      /* canonical debug id */
    sym_str_t code_id; /* only in requests: the code id as in sym_code_id_t,
                          if the API has one; or "" */
} sym_module_key_t;

/* The sources whose records a location or command uses, in order. */
typedef struct {
    const sym_str_t *names;
    /* rules of each (sources/paths/); NULL: no files are searched there */
    const struct sym_source_rules_s *const *rules;
    uint32_t n;
    uint32_t number; /* in a process, equal lists have equal numbers */
} sym_scopes_t;

/* Only modules that were loaded by hand; its number is 0. */
extern const sym_scopes_t sym_scopes_local;

/* The name of a scope in input and output; the empty scope is "local". */
sym_str_t sym_scope_word(sym_str_t scope);
sym_str_t sym_scope_of_word(sym_str_t word);

/*
 * Writes the canonical form of id to out (SYM_ID_MAX bytes) and returns its
 * length; 0: not a debug id.  Accepted in upper or lower case: 32 digits (age
 * 0); 33 or more digits, of which those after the first 32 are the age (only
 * its first 8 are used); 9 to 16 digits (PDB 2.0: a time stamp of 8 digits and
 * an age).  Canonical: upper case, age without leading zeros but at least one
 * digit.
 */
size_t sym_debug_id_canonical(sym_str_t id, char out[SYM_ID_MAX]);

/*
 * Symbol servers write the age ffffffff for every portable PDB, because it has
 * a time stamp in place of an age.  True if the canonical id has that age.  The
 * id then denotes all ids with the same first SYM_UUID_DIGITS.
 */
#define SYM_UUID_DIGITS 32
bool sym_debug_id_has_any_age(sym_str_t id);

/* True if the key's debug id is only the beginning of a longer code id.  Such
 * an id equals no real debug id. */
bool sym_module_key_is_cut(const sym_module_key_t *key);

/* Canonical form of a UUID as Apple writes it (dashes are ignored), or of a
 * debug id of at least 32 digits.  Returns the length; 0: invalid. */
size_t sym_uuid_canonical(sym_str_t uuid, char out[SYM_ID_MAX]);

/* True if the store accepts the name: 1 to SYM_NAME_MAX bytes, no NUL, no
 * '/'. */
bool sym_module_name_ok(sym_str_t name);

#endif
