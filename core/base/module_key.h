/*
 * module_key.h - what names a module: scope, debug file name, debug id.
 *
 * Clients write one id in several ways (case, leading zeros of the age).  The
 * store knows each module under one canonical form, so that all of them find
 * it.  Source: specs of the dialects; the id is Breakpad's (a GUID or build id
 * as 32 hexadecimal digits, then the age in hexadecimal).
 */
#ifndef SYM_BASE_MODULE_KEY_H
#define SYM_BASE_MODULE_KEY_H

#include "base/error.h"
#include "base/str.h"

/* LMDB keys end at 511 bytes; a file name on any file system at 255. */
#define SYM_SCOPE_MAX 64
#define SYM_NAME_MAX 255
#define SYM_ID_MAX 40 /* 32 digits and an age of up to 8 */

typedef struct {
    sym_str_t scope; /* "" is the one that everybody shares */
    sym_str_t name;  /* debug file name as its client sends it: "xul.pdb" */
    sym_str_t id;    /* canonical debug id */
} sym_module_key_t;

/*
 * Writes the canonical form of id to out (SYM_ID_MAX bytes) and returns its
 * length; 0: not a debug id.  Accepted, in any case: 32 digits (age 0); 33 or
 * more: the digits past 32 are the age, its first 8 count; 9 to 16: PDB 2.0,
 * a time stamp of 8 digits and an age.  Canonical: upper case, age without
 * leading zeros but at least one digit.
 */
size_t sym_debug_id_canonical(sym_str_t id, char out[SYM_ID_MAX]);

/* The same of a UUID as Apple writes it, of which dashes count for nothing; or of
 * a debug id of at least 32 digits. */
size_t sym_uuid_canonical(sym_str_t uuid, char out[SYM_ID_MAX]);

/* True if the name can be kept: 1 to SYM_NAME_MAX bytes, no NUL, no '/'. */
bool sym_module_name_ok(sym_str_t name);

#endif
