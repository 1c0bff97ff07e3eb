/*
 * store_upload.h - writes one module from a converter into the store.
 *
 * Takes the converter's messages from the pool, and writes the extents to the
 * store.  Readers see nothing of the module before the last step.  The owner
 * knows the origin of the bytes and the clients that wait for the module.
 */
#ifndef SYMLOADER_DRIVER_STORE_UPLOAD_H
#define SYMLOADER_DRIVER_STORE_UPLOAD_H

#include "object/ref_key.h"
#include "store/write_object.h"
#include "driver/pool.h"

typedef struct {
    sym_module_key_t key; /* key of the module; its strings are in the texts
                             below */
    char scope[SYM_SCOPE_MAX];
    char name[SYM_NAME_MAX];
    char id[SYM_ID_MAX];
    sym_object_ref_t ref; /* the expected module; its texts are not set */
    bool is_named;        /* the module is expected by name, too */

    bool has_site; /* it is loaded by hand, with a path on its web site */
    uint8_t site[SYM_REF_DIGEST_BYTES]; /* digest of that path */

    sym_kind_t kind;
    sym_object_key_t object; /* with the ids of the file */

    char notes[SYM_REASON_MAX]; /* notes about the file, as sentences */
    size_t notes_len;

    sym_ingest_t *ingest;
    bool is_store_error; /* the store failed, not the file */
} store_upload_t;

/* Sets the expected module: a key that fits the store, and a reference (NULL:
 * made from the key). */
void store_upload_set_key(store_upload_t *in, const sym_module_key_t *key,
                          const sym_object_ref_t *ref);

/* Sets the path of a script or source map ("~/static/app.js", encoded), by
 * which it can be found in addition to its debug id; "": none. */
void store_upload_set_site(store_upload_t *in, sym_str_t url);

/*
 * Makes the key from a file, in the shared scope.  Some tools omit the name, or
 * write a complete path; then the name is taken from the folders of `path`, if
 * these contain the id.  For a format without a name, and without such folders,
 * the file's name is used (also in an archive), without ".debug", ".dbg" and
 * ".symbfile".  For a format without an id, the file's name before its first
 * dot is the id, or its folder's.
 */
sym_status_t store_upload_name(store_upload_t *in, const char *path,
                               const pool_module_t *module, sym_error_t *err);

/*
 * For callers that expect a certain module.  True if it is this module; the key
 * then gets its debug id.  A .sym file without a code id may have the debug id
 * of the expected build id.
 */
bool store_upload_is_module(store_upload_t *in, const pool_module_t *module);

/*
 * Finds NAME and ID in a path of the layout .../NAME/ID/FILE; false: not such a
 * path.
 */
bool store_upload_layout(const char *path, sym_str_t *name, sym_str_t *id);

/* Returns NAME from path's folders, if their ID is the module's. */
bool store_upload_folder_name(const store_upload_t *in, const char *path,
                              sym_str_t *name);

sym_status_t store_upload_begin(store_upload_t *in, sym_store_t *store,
                                sym_error_t *err);
sym_status_t store_upload_extent(store_upload_t *in, uint32_t number,
                                 const uint8_t *data, size_t len,
                                 sym_error_t *err);

/* Adds a converter's note; it is stored if the module is incomplete. */
void store_upload_note(store_upload_t *in, const char *text);

typedef enum {
    STORE_UPLOAD_FAILED,
    STORE_UPLOAD_STORED,
    STORE_UPLOAD_KEPT_BETTER, /* the store has a better one */
    STORE_UPLOAD_KEPT_LATER   /* a later file of the same module ended
                                 earlier */
} store_upload_result_t;

typedef struct {
    const sym_path_key_t *path; /* path of the file at a source; NULL: ... */
    const sym_path_record_t *file;
    uint16_t place;   /* number of the path in the plan */
    sym_str_t source; /* ... the name of the file */
    bool is_late;     /* a later file has already ended with the module */
    bool force;       /* poorer symbols may replace better ones */
} store_upload_origin_t;

/*
 * Puts the module into the store's batch; if in->ingest is not NULL, the caller
 * must finish it.  The best file of a module wins; among equals a complete one;
 * then the one at the earlier place, or the last one that was loaded by hand.
 * The order in which files end does not matter.  With force, the last one wins.
 */
store_upload_result_t store_upload_put(store_upload_t *in,
                                       const converter_done_t *done,
                                       const store_upload_origin_t *origin,
                                       sym_error_t *err);

/* Drops everything that was not put. */
void store_upload_drop(store_upload_t *in);

#endif
