/*
 * object_id.h - ids of objects, and their spellings.
 *
 * An object is the output of a compiler and linker: an ELF or Mach-O file, a PE
 * file with its PDB, a WASM module.  It has a debug id, which the debug file
 * contains, too, and a code id, which the code file contains.  Nothing here
 * guesses: the caller knows the type of an id from its API, its source or its
 * file, and calls the reader for that spelling.  Only Mozilla's API has one
 * field for both: sym_mozilla_code_id().
 *
 * Sources: Symbolicator's API and symbol server compatibility pages (Sentry's
 * spellings and all paths), Mozilla's Eliot, the PE and PDB specifications.
 */
#ifndef SYM_OBJECT_OBJECT_ID_H
#define SYM_OBJECT_OBJECT_ID_H

#include "base/str.h"
#include "object/module_key.h"

typedef enum {
    SYM_OBJECT_UNKNOWN,
    SYM_OBJECT_ELF,
    SYM_OBJECT_MACHO,
    SYM_OBJECT_PE,
    SYM_OBJECT_PE_DOTNET,
    SYM_OBJECT_WASM
} sym_object_type_t;

#define SYM_OBJECT_TYPES (SYM_OBJECT_WASM + 1)

/*
 * A signature and an age.  The signature is a UUID (PDB 7.0, Mach-O, Breakpad,
 * and the first 16 bytes of a build id), or the time stamp of a PDB 2.0 file.
 */
typedef enum {
    SYM_DEBUG_ID_NONE,
    SYM_DEBUG_ID_UUID,
    SYM_DEBUG_ID_PDB20
} sym_debug_id_form_t;

#define SYM_UUID_BYTES 16

typedef struct {
    sym_debug_id_form_t form;
    uint8_t signature[SYM_UUID_BYTES]; /* in written order; for PDB 2.0 four
                                          bytes, then zeros */
    uint32_t age;
} sym_debug_id_t;

/* Limit on the bytes of a GNU build id.  The usual one, SHA-1, has 20. */
#define SYM_BUILD_ID_MAX 64

/* Limit on the digits of a code id: two for each byte of a build id. */
#define SYM_CODE_ID_MAX 128

/* Limit on each name of an object in requests to sources.  Files do not have
 * longer names. */
#define SYM_OBJECT_TEXT_MAX 4096

/* Complete, with hexadecimal digits in lower case. */
typedef struct {
    uint8_t len; /* 0: none */
    char text[SYM_CODE_ID_MAX];
} sym_code_id_t;

/* "elf", "macho", "pe", "pe_dotnet", "wasm"; other names are unknown. */
sym_object_type_t sym_object_type(sym_str_t word);

bool sym_debug_id_eq(const sym_debug_id_t *a, const sym_debug_id_t *b);
bool sym_code_id_eq(const sym_code_id_t *a, const sym_code_id_t *b);

/* The last component of a path of any system; "" after a last slash. */
sym_str_t sym_object_file_name(sym_str_t path);

/* --- readers; false: the text is not such an id, and *id is empty --- */

/* Breakpad's form: 32 digits and an age of 1 to 8 digits, or 8 digits and an
 * age (PDB 2.0), in upper or lower case.  Symbol servers write ids of PDBs in
 * the same form. */
bool sym_debug_id_read_breakpad(sym_str_t s, sym_debug_id_t *id);

/* Sentry's form: a UUID with or without dashes, then an optional age (default
 * 0), after a dash if the UUID has dashes.  Or a time stamp of 8 digits, a dash
 * and an age. */
bool sym_debug_id_read_sentry(sym_str_t s, sym_debug_id_t *id);

/* A UUID without an age, with the dashes of RFC 9562 or without any. */
bool sym_debug_id_read_uuid(sym_str_t s, sym_debug_id_t *id);

/* The debug id of an ELF file: the first 16 bytes of its build id as a GUID, in
 * the byte order of the file.  Shorter build ids are padded with zeros. */
void sym_debug_id_of_build_id(const uint8_t *build_id, size_t len,
                              bool is_big_endian, sym_debug_id_t *id);

/* Sentry's form: digits in upper or lower case; dashes are ignored. */
bool sym_code_id_read(sym_str_t s, sym_code_id_t *id);

/* A GNU build id as in debuginfod and .build-id trees: complete bytes, two
 * digits each. */
bool sym_code_id_read_build_id(sym_str_t s, sym_code_id_t *id);

/*
 * The first 16 bytes of the build id from which the Breakpad debug id of an ELF
 * file was derived (sym_debug_id_of_build_id(), little endian).  False: the age
 * is not 0, so it was not derived from a build id.
 */
bool sym_code_id_read_debug_id(sym_str_t s, sym_code_id_t *id);

/* PE: a time stamp of 8 digits and the size of the image, 1 to 8 digits. */
bool sym_code_id_read_pe(sym_str_t s, sym_code_id_t *id);

/*
 * Whether an id in Mozilla's API may be a code id.  The API has one field for
 * ids, and profilers that know only a build id send that.  A debug id has 32
 * digits and an age, which is usually "0": an odd number of digits.  Build ids
 * have 8, 16, 20, rarely more, bytes.  If an id may be either, both are looked
 * up.
 */
bool sym_mozilla_is_code_id(sym_str_t id);

/*
 * The code id by which a module of Mozilla's API may be looked up: a build id
 * as above, or a PE file's code id.  The latter has the form of a debug id of
 * PDB 2.0, but the name of such a module does not end in ".pdb".  False: the id
 * is only a debug id.
 */
bool sym_mozilla_code_id(sym_str_t name, sym_str_t id, sym_code_id_t *code_id);

/* --- writers; they return the length, or 0 if the id is empty or has no such
 * spelling --- */

#define SYM_ID_TEXT_MAX 64

/* The canonical form, also in the store: upper case, no leading zeros in the
 * age. */
size_t sym_debug_id_write_breakpad(const sym_debug_id_t *id,
                                   char out[SYM_ID_TEXT_MAX]);

/* Lower case with dashes; then a dash and the age in hexadecimal, unless it is
 * 0. */
size_t sym_debug_id_write_sentry(const sym_debug_id_t *id,
                                 char out[SYM_ID_TEXT_MAX]);

/* GUID in upper case, age in lower case (ffffffff for portable PDBs). */
size_t sym_debug_id_write_symstore(const sym_debug_id_t *id,
                                   sym_object_type_t type,
                                   char out[SYM_ID_TEXT_MAX]);

/* The time stamp in upper case, the size in lower case. */
size_t sym_code_id_write_pe(const sym_code_id_t *id, char out[SYM_ID_TEXT_MAX]);

#endif
