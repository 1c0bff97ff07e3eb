/*
 * module_key.h - what names a module: scope, debug file name, debug id.
 *
 * Clients write one id in several ways (case, leading zeros of the age).  The
 * store knows each module under one canonical form, so that all of them find
 * it.  Source: specs of the APIs; the id is Breakpad's (a GUID or build id
 * as 32 hexadecimal digits, then the age in hexadecimal).
 */
#ifndef SYM_OBJECT_MODULE_KEY_H
#define SYM_OBJECT_MODULE_KEY_H

#include "base/error.h"
#include "base/str.h"

/* LMDB keys end at 511 bytes; a file name on any file system at 255. */
#define SYM_SCOPE_MAX 64
#define SYM_NAME_MAX 255
#define SYM_ID_MAX 40 /* 32 digits and an age of up to 8 */

/* A key's scope is the source that its record belongs to. */
#define SYM_SCOPE_LOCAL                                                        \
    ""                           /* modules loaded by hand; visible in every
                              location */
#define SYM_SCOPE_GIVEN "given:" /* scopes of sources of requests begin so */
#define SYM_SCOPE_ALL "*"        /* in lookups only: any source */

typedef struct {
    sym_str_t scope;   /* name of a source, or SYM_SCOPE_LOCAL */
    sym_str_t name;    /* debug file name as its client sends it: "xul.pdb" */
    sym_str_t id;      /* canonical debug id */
    sym_str_t code_id; /* in questions only: the code id as sym_code_id_t has
                          it, if the API that was asked has one; or "" */
} sym_module_key_t;

/* The sources whose records a location or command sees, in their order. */
typedef struct {
    const sym_str_t *names;
    const struct sym_source_rules_s *const *rules; /* of each (sources/paths/);
                              NULL: its files are not searched for */
    uint32_t n;
    uint32_t number; /* in a process: equal lists have equal numbers */
} sym_scopes_t;

/* Modules that were loaded by hand, and nothing else; its number is 0. */
extern const sym_scopes_t sym_scopes_local;

/* The name of a scope in input and output: "local" for the empty one. */
sym_str_t sym_scope_word(sym_str_t scope);
sym_str_t sym_scope_of_word(sym_str_t word);

/*
 * Writes the canonical form of id to out (SYM_ID_MAX bytes) and returns its
 * length; 0: not a debug id.  Accepted, in any case: 32 digits (age 0); 33 or
 * more: the digits past 32 are the age, its first 8 count; 9 to 16: PDB 2.0,
 * a time stamp of 8 digits and an age.  Canonical: upper case, age without
 * leading zeros but at least one digit.
 */
size_t sym_debug_id_canonical(sym_str_t id, char out[SYM_ID_MAX]);

/*
 * Symbol servers write the age ffffffff of every portable PDB, which has a time
 * stamp for its age.  True if the canonical id has that age: then it stands for
 * all ids with its first SYM_UUID_DIGITS.
 */
#define SYM_UUID_DIGITS 32
bool sym_debug_id_has_any_age(sym_str_t id);

/* True if the key's debug id is only the beginning of its longer code id: it
 * equals no real debug id. */
bool sym_module_key_is_cut(const sym_module_key_t *key);

/* Canonical form of a UUID as written by Apple (dashes are ignored), or of a
 * debug id of at least 32 digits.  Returns the length; 0: invalid. */
size_t sym_uuid_canonical(sym_str_t uuid, char out[SYM_ID_MAX]);

/* True if the store takes the name: 1 to SYM_NAME_MAX bytes, no NUL, no '/'. */
bool sym_module_name_ok(sym_str_t name);

#endif
