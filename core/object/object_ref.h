/*
 * object_ref.h - a reference: all that a client sends about one object.
 *
 * The decoder of an API fills it in, and every layer uses it: lookups in the
 * store, paths at sources, messages to the loader.  Texts are views that the
 * decoder keeps valid.  A text that is longer than its limit is left out.
 */
#ifndef SYM_OBJECT_OBJECT_REF_H
#define SYM_OBJECT_OBJECT_REF_H

#include "object/object_id.h"

#define SYM_REF_SENT_MAX 255
#define SYM_REF_CHECKSUM_MAX 256
#define SYM_REF_URL_MAX 4096
#define SYM_REF_PATH "~/" /* prefix of URLs of any host */
/* prefix of NAME/KEY/NAME at a Windows symbol server */
#define SYM_REF_KEY "key:"
/* prefix of URLs that name a debug id (RFC 9562) */
#define SYM_REF_URN "urn:uuid:"
#define SYM_REF_RELEASE_MAX 250
#define SYM_REF_DIST_MAX 64
#define SYM_FILE_ID_BYTES 16

/* The type of a file at a URL, which its bytes do not show. */
typedef enum {
    SYM_TEXT_SOURCE, /* source code */
    SYM_TEXT_LIST,   /* JSON, unchanged */
    SYM_TEXT_BUNDLE, /* a bundle of scripts, source maps and sources */
    SYM_TEXT_SCRIPT, /* generated JavaScript */
    SYM_TEXT_SOURCEMAP,
    SYM_TEXT_ROLES
} sym_text_role_t;

typedef struct {
    sym_object_type_t type;
    /* The client has one field for an id, of either kind, and one for a name.
     * One equal id is a match.  The type, and the files at sources, are guessed
     * from the forms of both. */
    bool is_either;
    bool has_file_id;
    bool has_digest; /* digest of a text at a URL; the URL is unknown, until
                       messages carry references */
    sym_debug_id_t debug_id; /* form NONE: unknown */
    sym_code_id_t code_id;   /* len 0: unknown */
    uint8_t file_id[SYM_FILE_ID_BYTES], digest[16];
    sym_str_t debug_file, code_file; /* as their system names them, or "";
                                        complete paths, because patterns
                                        match these */
    sym_str_t sent;     /* with is_either: the id as sent, if that is not its
                           canonical form; the layout `breakpad` uses it in
                           paths */
    sym_str_t checksum; /* checksum of the debug file's bytes, or "" */
    /* set for a text at a URL.  Then only these and the next three are set, and
     * code_id for a source file that a client gets unchanged */
    sym_str_t url, release, dist;
    sym_text_role_t role; /* type of that text */
    uint32_t member;      /* 1 + the number of a file in the bundle at the
                            URL; 0: the text is not in a bundle */
    uint32_t since;       /* for texts that may change: a text of another time
                            is another text */
    sym_str_t canonical;  /* with is_either: the id as sent, if that is its
                            canonical form; "" in copies, which generate it */
} sym_object_ref_t;

/* The ids of a file. */
typedef struct {
    sym_debug_id_t debug_id;
    sym_code_id_t code_id;
} sym_file_ids_t;

/*
 * Fills in *ref for an API with a name and a debug id, in any accepted spelling
 * (module_key.h).  If the store cannot contain such a name or id, the reference
 * gets no id.
 */
void sym_object_ref_named(sym_object_ref_t *ref, sym_str_t name, sym_str_t id);

/*
 * Does the same for Mozilla's field, which may also be a code id: that of an
 * ELF or PE file (sym_mozilla_code_id()).  If the id is longer than a debug id,
 * it is only a code id.
 */
void sym_object_ref_mozilla(sym_object_ref_t *ref, sym_str_t name,
                            sym_str_t id);

/* The id of a named reference as its client sent it: a view of the reference or
 * of `text`. */
sym_str_t sym_object_ref_sent(const sym_object_ref_t *ref,
                              char text[SYM_ID_TEXT_MAX]);

/* The name of the debug file, else of the code file, without folders; or "". */
sym_str_t sym_object_ref_name(const sym_object_ref_t *ref);

/* The bytes of all strings; a copy of the reference, with its strings in
 * `room`. */
size_t sym_object_ref_bytes(const sym_object_ref_t *ref);
void sym_object_ref_copy(sym_object_ref_t *to, const sym_object_ref_t *from,
                         char *room);

/*
 * Whether a file is the object.  They must have an equal id, and no ids that
 * differ.  With is_either one equal id is enough.  The age ffffffff is equal to
 * every age (module_key.h).  Names and types are not compared.
 */
bool sym_object_ref_matches(const sym_object_ref_t *ref,
                            const sym_file_ids_t *file);

/*
 * The key under which a store keeps the object.  Its name is that of the debug
 * file, else of the code file, else the id.  Its id is the debug id, or the
 * code id in the form of one.  The scope is left empty.  The key is a view of
 * the reference and of `id`.  False: the object has no id by which a store can
 * find it.
 */
bool sym_object_key(const sym_object_ref_t *ref, char id[SYM_ID_MAX],
                    sym_module_key_t *key);

/* The URL without its fragment, which is not sent to the host. */
sym_str_t sym_object_ref_url(const sym_object_ref_t *ref);

/*
 * Writes the reference as bytes: the fields that decide which paths are
 * requested from which sources.  References that lead to the same paths have
 * the same bytes.  Names are reduced to their last component, except the debug
 * file's with is_either.  A text that is too long is left out.  Returns the
 * length; 0: there is no object, or its URL is too long.
 */
#define SYM_REF_BYTES_MAX 4480
size_t sym_object_ref_write(const sym_object_ref_t *ref,
                            char out[SYM_REF_BYTES_MAX]);

/* The fields are views of the bytes.  False: the bytes are not those of a
 * reference. */
bool sym_object_ref_read(sym_str_t bytes, sym_object_ref_t *ref);

/* A digest of the bytes.  False: the URL is too long, or libcrypto failed. */
#define SYM_REF_DIGEST_BYTES 16
bool sym_object_ref_digest(const sym_object_ref_t *ref,
                           uint8_t digest[SYM_REF_DIGEST_BYTES]);

/* A faster hash, for tables in one process; never 0. */
uint64_t sym_object_ref_hash(const sym_object_ref_t *ref);

#endif
