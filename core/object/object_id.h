/*
 * object_id.h - ids of objects, and their spellings.
 *
 * An object is the output of a compiler and linker: an ELF or Mach-O file, a PE
 * file with its PDB, a WASM module.  It has a debug id (in the debug file, too)
 * and a code id (in the code file).  Nothing here guesses: the caller knows the
 * type of an id from its API, its source or its file, and calls the reader of
 * that spelling.  Only Mozilla's API has one field for both:
 * sym_mozilla_code_id().
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
 * A signature and an age.  The signature is a UUID (PDB 7.0, Mach-O, Breakpad, and
 * the first 16 bytes of a build id), or the time stamp of a PDB 2.0 file.
 */
typedef enum {
    SYM_DEBUG_ID_NONE,
    SYM_DEBUG_ID_UUID,
    SYM_DEBUG_ID_PDB20
} sym_debug_id_form_t;

#define SYM_UUID_BYTES 16

typedef struct {
    sym_debug_id_form_t form;
    uint8_t signature[SYM_UUID_BYTES]; /* in written order; PDB 2.0: four bytes,
                                          then zeros */
    uint32_t age;
} sym_debug_id_t;

/* Bytes of a GNU build id; SHA-1, the usual one, has 20. */
#define SYM_BUILD_ID_MAX 64

/* Digits of a code id: two for each byte of a build id. */
#define SYM_CODE_ID_MAX 128

/* Limit of each name of an object in requests to sources: no file has a longer
 * one. */
#define SYM_OBJECT_TEXT_MAX 4096

/* Complete, hexadecimal digits in lower case. */
typedef struct {
    uint8_t len; /* 0: none */
    char text[SYM_CODE_ID_MAX];
} sym_code_id_t;

/* "elf", "macho", "pe", "pe_dotnet", "wasm"; others are unknown. */
sym_object_type_t sym_object_type(sym_str_t word);

bool sym_debug_id_eq(const sym_debug_id_t *a, const sym_debug_id_t *b);
bool sym_code_id_eq(const sym_code_id_t *a, const sym_code_id_t *b);

/* The last component of a path of any system; "" if it has none. */
sym_str_t sym_object_file_name(sym_str_t path);

/* --- readers; false: the text is not such an id, and *id is empty --- */

/* Breakpad: 32 digits and an age of 1 to 8 digits, or 8 digits and an age (PDB
 * 2.0), in any case.  Symbol servers write ids of PDBs in the same way. */
bool sym_debug_id_read_breakpad(sym_str_t s, sym_debug_id_t *id);

/* Sentry: a UUID, with or without dashes, then an optional age (0), after a dash
 * if the UUID has dashes.  Or a time stamp of 8 digits, a dash and an age. */
bool sym_debug_id_read_sentry(sym_str_t s, sym_debug_id_t *id);

/* A UUID with dashes where RFC 9562 has them, or without any; no age. */
bool sym_debug_id_read_uuid(sym_str_t s, sym_debug_id_t *id);

/* The debug id of an ELF file: the first 16 bytes of its build id as a GUID, in
 * the byte order of the file; shorter build ids are padded with zeros. */
void sym_debug_id_of_build_id(const uint8_t *build_id, size_t len,
                              bool is_big_endian, sym_debug_id_t *id);

/* Sentry: digits in any case; dashes are ignored. */
bool sym_code_id_read(sym_str_t s, sym_code_id_t *id);

/* A GNU build id as in debuginfod and .build-id trees: complete bytes. */
bool sym_code_id_read_build_id(sym_str_t s, sym_code_id_t *id);

/*
 * The first 16 bytes of the build id that the Breakpad debug id of an ELF file
 * was derived from, as sym_debug_id_of_build_id() does for little-endian files.
 * False: the age is not 0, so it was not.
 */
bool sym_code_id_read_debug_id(sym_str_t s, sym_code_id_t *id);

/* PE: a time stamp of 8 digits and the size of the image, 1 to 8 digits. */
bool sym_code_id_read_pe(sym_str_t s, sym_code_id_t *id);

/*
 * Whether an id in Mozilla's API may be a code id.  The API has one field for
 * ids, and profilers that know only a build id send that.  A debug id has 32
 * digits and an age, usually "0": an odd number of digits.  Build ids have 8,
 * 16, 20, rarely more, bytes.  An id that may be either is looked up as both.
 */
bool sym_mozilla_is_code_id(sym_str_t id);

/*
 * The code id by which a module of Mozilla's API may be looked up: a build id as
 * above, or a PE file's.  The latter reads like the debug id of a PDB 2.0 file,
 * but such a module is called "NAME.pdb".  False: the id is only a debug id.
 */
bool sym_mozilla_code_id(sym_str_t name, sym_str_t id, sym_code_id_t *code_id);

/* --- writers; they return the length, or 0 if the id is empty or has no such
 * spelling --- */

#define SYM_ID_TEXT_MAX 64

/* The canonical form, also in the store: upper case, no zeros before the age. */
size_t sym_debug_id_write_breakpad(const sym_debug_id_t *id,
                                   char out[SYM_ID_TEXT_MAX]);

/* Lower case with dashes; then a dash and the age in hexadecimal, unless 0. */
size_t sym_debug_id_write_sentry(const sym_debug_id_t *id,
                                 char out[SYM_ID_TEXT_MAX]);

/* GUID in upper case, age in lower case (ffffffff for portable PDBs). */
size_t sym_debug_id_write_symstore(const sym_debug_id_t *id,
                                   sym_object_type_t type,
                                   char out[SYM_ID_TEXT_MAX]);

/* The time stamp in upper case, the size in lower case. */
size_t sym_code_id_write_pe(const sym_code_id_t *id, char out[SYM_ID_TEXT_MAX]);

/* As LLDB finds a UUID: AAAA/BBBB/CCCC/DDDD/EEEE/FFFFFFFFFFFF */
size_t sym_debug_id_write_lldb(const sym_debug_id_t *id,
                               char out[SYM_ID_TEXT_MAX]);

#endif
