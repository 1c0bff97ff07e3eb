/*
 * layout.h - where a module lies at a symbol source, and back.
 *
 * The nginx module needs the paths of a missing module below the base of a
 * source, one for each kind of file that may have its symbols; the reader of
 * event notifications needs the module of a path.  No function here allocates:
 * output goes into the caller's buffer, and results of reading are views of
 * the caller's text.
 *
 * Encoding.  A path is encoded as S3's own clients encode keys, and as the
 * canonical URI of Signature V4 wants it: every byte but A-Z a-z 0-9 - . _ ~
 * as %XX in upper case (sym_uri_encode_byte() does both).  Mozilla's clients
 * leave + and @ as they are; here they become %2B and %40, because
 *  - S3 takes a bare + in a path for a space: "libstdc++.so" asked for so is
 *    another object there.  MinIO, s3rver and nginx take it for itself.
 *  - all of them decode %XX, so %2B, %40, %7B, %3C and %20 reach the same object
 *    as the bare bytes do, wherever these are taken at all.
 *  - signed and sent path are the same text, and nobody need guess which bytes
 *    the other side decoded before it checked the signature.
 * ~ stays: S3 signs it bare, and RFC 3986 (2.3) makes %7E and ~ the same.
 */
#ifndef SYM_SOURCES_PATHS_LAYOUT_H
#define SYM_SOURCES_PATHS_LAYOUT_H

#include "base/error.h"
#include "object/files.h"
#include "object/module_key.h"
#include "object/object_ref.h"
#include "base/str.h"

typedef enum {
    SYM_LAYOUT_BREAKPAD,
    SYM_LAYOUT_NATIVE,
    SYM_LAYOUT_DEBUGINFOD,
    SYM_LAYOUT_SYMSTORE,
    SYM_LAYOUT_SYMSTORE_INDEX2,
    SYM_LAYOUT_SSQP,
    SYM_LAYOUT_UNIFIED,
    SYM_LAYOUT_SLASHSYMBOLS
} sym_layout_t;

/* How the id is written in a path of the layout breakpad. */
typedef enum {
    SYM_SOURCE_IDS_AS_IS, /* as the client sent it */
    SYM_SOURCE_IDS_UPPER  /* the same in upper case: as symbols are uploaded */
} sym_source_ids_t;

/* What becomes of the letters of a path, A to Z, in the end. */
typedef enum {
    SYM_SOURCE_CASING_DEFAULT, /* as the layout defines */
    SYM_SOURCE_CASING_LOWER,
    SYM_SOURCE_CASING_UPPER
} sym_source_casing_t;

typedef struct {
    sym_layout_t layout;
    unsigned files; /* a bit for each sym_source_file_t to request */
    sym_source_ids_t ids;
    sym_source_casing_t casing;

    /* which modules are asked for: see sym_source_takes() */
    bool requires_checksum;
    const sym_str_t *patterns; /* glob.h */
    uint32_t n_patterns;
} sym_source_rules_t;

/*
 * A module as it was requested.  If its type is unknown, its name and ids decide:
 * only "NAME.pdb" has a PDB, and only a type, or a code id that is too short for
 * a build id, leads to a PE file.
 */
typedef struct {
    sym_str_t name;      /* debug file name as sent */
    sym_str_t id;        /* debug id as sent, in any accepted form */
    sym_str_t code_id;   /* in lower case, or "" */
    sym_str_t code_file; /* name of the file with that id; "": as `name` */
    sym_object_type_t type;
    const sym_object_ref_t
        *object; /* if its API tells all of it, whose paths then
                                      follow from it alone; or NULL */
} sym_source_module_t;

/* The code id of a module that was requested by this id; "" if the id is not the
 * code id, compared in any case. */
sym_str_t sym_source_code_id(sym_str_t id, sym_str_t code_id);

/* No longer id is accepted (module_key.h). */
#define SYM_SOURCE_ID_MAX 255

/* The longest path: two names, each byte encoded, an id, slashes and the
 * extension. */
#define SYM_SOURCE_PATH_MAX (2 * 3 * SYM_NAME_MAX + SYM_SOURCE_ID_MAX + 16)

/* "breakpad" for the configuration; false: no such layout. */
bool sym_layout_find(sym_str_t name, sym_layout_t *layout);

/* The files that a layout has paths for. */
unsigned sym_layout_files(sym_layout_t layout);

/* The files of a type, by its word in the configuration ("elf", "pdb", ...);
 * 0: there is no such type. */
unsigned sym_source_files_find(sym_str_t type);

/*
 * Whether the name may become a folder at a source: a store can keep it, it is
 * neither "." nor "..", and it contains no '/', '\\' or control character.  Such
 * a name could lead out of its folder, or end a request line.
 */
bool sym_source_name_ok(sym_str_t name);

/*
 * Writes the path of a file of the module to out and sets *path to it.  The path
 * is relative to the source's base, without a '/' before it or a NUL after it.
 *
 * sym_source_path() encodes it, for URLs and signatures.  sym_source_key() does
 * not, for keys of objects and files below a folder.
 *
 * Errors leave *path empty.  SYM_NOT_FOUND (*err stays as it is): the rules do
 * not include the file; or its path needs a code id (a UUID), which the module
 * does not have; or an earlier file has the same path.  SYM_MALFORMED: the name
 * is not sym_source_name_ok(), or the id is not a debug id.  SYM_LIMIT: the path
 * is longer than size, or the id than SYM_SOURCE_ID_MAX.
 */
sym_status_t sym_source_path(const sym_source_rules_t *rules,
                             sym_source_file_t file,
                             const sym_source_module_t *module, char *out,
                             size_t size, sym_str_t *path, sym_error_t *err);
sym_status_t sym_source_key(const sym_source_rules_t *rules,
                            sym_source_file_t file,
                            const sym_source_module_t *module, char *out,
                            size_t size, sym_str_t *path, sym_error_t *err);

/*
 * The places of a module at one source, numbered in the order of asking: the
 * path of number n, and which file that is.  A module whose object is known whole
 * has Symbolicator's paths of its type: debug files before code files, or if
 * `is_thorough`, when all of them are to be asked, in its order.  SYM_NOT_FOUND
 * and the other errors are those of sym_source_path().
 */
#define SYM_SOURCE_PLACES (2 * SYM_SOURCE_FILES)

typedef struct {
    sym_source_file_t file;
    sym_str_t path;
} sym_source_place_t;

sym_status_t sym_source_place(const sym_source_rules_t *rules,
                              const sym_source_module_t *module,
                              bool is_thorough, unsigned n, bool is_encoded,
                              char *out, size_t size, sym_source_place_t *place,
                              sym_error_t *err);

/* Whether the source may be asked for the module: its object has a checksum, if
 * one is required; and if there are patterns, one of them matches the path of its
 * code file or of its debug file, or the one name of a module without an object.
 * Takes steps (steps.h); when it has taken all, the answer may be wrong. */
bool sym_source_takes(const sym_source_rules_t *rules,
                      const sym_object_ref_t *object, sym_str_t name,
                      uint64_t *steps);

/* Whether the id as sent gives another path than its canonical form. */
bool sym_source_is_respelled(const sym_source_rules_t *rules,
                             sym_source_file_t file,
                             const sym_source_module_t *module,
                             sym_str_t canonical);

/* The module that an object at a source is.  Both ids: its key does not say which
 * of them it has. */
typedef struct {
    sym_str_t name; /* a view of the key; empty: the ids alone tell */
    char id[SYM_ID_MAX];
    size_t id_len; /* of the canonical debug id; 0: none */
    sym_code_id_t code_id;
} sym_source_found_t;

/* Reads the key (decoded; any folders may stand in front), whatever layout the
 * object lies in.  False: no symbol file; *found is empty. */
bool sym_source_module_of(sym_str_t key, sym_source_found_t *found);

#endif
