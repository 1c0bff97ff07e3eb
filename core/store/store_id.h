/*
 * store_id.h - ids of objects in 21 bytes, as in the tables of the store.
 *
 * A file's record lists the ids of its objects; an object's key begins with
 * one.  Ids are binary, so all spellings of an id are equal.  The age is last,
 * so ids of one UUID with different ages have a common prefix.
 */
#ifndef SYM_STORE_FILE_ID_H
#define SYM_STORE_FILE_ID_H

#include "object/object_id.h"
#include "object/object_ref.h"

#define SYM_STORE_ID_BYTES 20
#define SYM_STORE_ID_LEN (1 + SYM_STORE_ID_BYTES)

/* Forms of ids that are not code ids. */
#define SYM_STORE_ID_UUID 'd'   /* 16 bytes, age u32 big endian */
#define SYM_STORE_ID_PDB20 'p'  /* 4 bytes, age u32 big endian */
#define SYM_STORE_ID_FILE 'f'   /* Elastic's FileID, 16 bytes */
#define SYM_STORE_ID_DIGEST 'u' /* of URL, release and dist, 16 bytes */

/* A code id of n digits has the form SYM_STORE_ID_CODE + n; the bytes contain
 * its first 40 digits. */
#define SYM_STORE_ID_CODE 0x7f

typedef struct {
    uint8_t form; /* 0: none */
    uint8_t bytes[SYM_STORE_ID_BYTES];
} sym_store_id_t;

/* This age matches any other; symbol servers use it for all portable PDBs. */
#define SYM_AGE_ANY UINT32_MAX

sym_store_id_t sym_store_id_debug(const sym_debug_id_t *id);
sym_store_id_t sym_store_id_code(const sym_code_id_t *id);
sym_store_id_t sym_store_id_bytes(uint8_t form, const uint8_t bytes[16]);

/* Gets the ids of a reference (at most SYM_REF_IDS). */
#define SYM_REF_IDS 4
unsigned sym_store_ids_of_ref(const sym_object_ref_t *ref,
                              sym_store_id_t ids[SYM_REF_IDS]);

static inline bool
sym_store_id_is_code(const sym_store_id_t *id)
{
    return id->form > SYM_STORE_ID_CODE;
}


/* Whether both ids are of one type, so that they can be compared. */
bool sym_store_ids_compare(const sym_store_id_t *a, const sym_store_id_t *b);
bool sym_store_id_eq(const sym_store_id_t *a, const sym_store_id_t *b);

/*
 * Whether a file or an object with these ids matches the reference: ids of a
 * type that both have must be equal.  If the reference's id may be of either
 * type, one equal id suffices.
 */
bool sym_store_ids_match(const sym_object_ref_t *ref, const sym_store_id_t *ids,
                         unsigned n);

/* Whether the id is one of the reference's. */
bool sym_store_ids_share(const sym_object_ref_t *ref, const sym_store_id_t *ids,
                         unsigned n);

#endif
