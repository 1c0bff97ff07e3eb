/*
 * store_upload.h - writes one module from a converter into the store.
 *
 * Takes the converter's messages from the pool, and puts the extents into the
 * store. Readers see nothing of the module before the last step.  The owner
 * knows where the bytes came from and which clients wait for the module.
 */
#ifndef SYMLOADER_DRIVER_STORE_UPLOAD_H
#define SYMLOADER_DRIVER_STORE_UPLOAD_H

#include "store/write.h"
#include "driver/pool.h"

typedef struct {
    sym_module_key_t key; /* of the module, into the texts below */
    char scope[SYM_SCOPE_MAX];
    char name[SYM_NAME_MAX];
    char id[SYM_ID_MAX];
    char asked_code_id[SYM_CODE_ID_MAX];

    sym_kind_t kind;
    bool is_native; /* a debug file: its ids alone find it */
    sym_str_t code_id;
    char code_id_text[SYM_CODE_ID_MAX];

    char notes[SYM_REASON_MAX]; /* of the file, one sentence after the other */
    size_t notes_len;

    sym_ingest_t *ingest;
    bool is_store_error; /* what failed was the store, not the file */
} store_upload_t;

/* Copies a key that fits the store, its id in the canonical form. */
void store_upload_set_key(store_upload_t *in, const sym_module_key_t *key);

/*
 * The key that a file gives, in the scope that everybody shares.  Some tools
 * leave the name out, or put a whole path there: then the folders of `path`
 * tell it, if the id is theirs.  Of a format that has no name, that of the
 * file counts where the folders do not tell (in an archive or not), less
 * ".debug" and ".dbg".
 */
sym_status_t store_upload_name(store_upload_t *in, const char *path,
                               const pool_module_t *module, sym_error_t *err);

/*
 * For callers that expect a certain module.  True if the module is the key's, by
 * its debug id or by its whole code id, which leads to the debug id of a .sym file
 * that has no code id; the key has its debug id afterwards.
 * Clients that send no code id may have it in the place of the debug id: then the
 * two must read the same (sym_debug_id_canonical()).
 */
bool store_upload_is_module(store_upload_t *in, const pool_module_t *module);

/*
 * NAME and ID of a path in symbol-store layout, .../NAME/ID/FILE; false if it
 * does not look so.
 */
bool store_upload_layout(const char *path, sym_str_t *name, sym_str_t *id);

/* NAME of path's folders, if their ID is the module's. */
bool store_upload_folder_name(const store_upload_t *in, const char *path,
                              sym_str_t *name);

sym_status_t store_upload_begin(store_upload_t *in, sym_store_t *store,
                                sym_error_t *err);
sym_status_t store_upload_extent(store_upload_t *in, uint32_t number,
                                 const uint8_t *data, size_t len,
                                 sym_error_t *err);

/* What a converter has noted.  Kept with a module that is incomplete. */
void store_upload_note(store_upload_t *in, const char *text);

typedef enum {
    STORE_UPLOAD_FAILED,
    STORE_UPLOAD_STORED,
    STORE_UPLOAD_KEPT_BETTER, /* what the store has is better */
    STORE_UPLOAD_KEPT_LATER   /* a later file of the same module was quicker */
} store_upload_result_t;

typedef struct {
    sym_str_t source, attempts; /* for the record */
    bool is_late;               /* a later file has filled the module */
    bool is_rest;               /* it replaces poor symbols by good ones only */
    bool force;                 /* poorer symbols replace better ones, too */
} store_upload_origin_t;

/*
 * Puts the module into the store's batch (sym_ingest_put()); in->ingest is to be
 * finished.  Of all files of a module the best wins, of equally good ones one
 * that all was there for, and of those the last: whatever order they end in.  By
 * force, just the last.
 */
store_upload_result_t store_upload_put(store_upload_t *in, sym_store_t *store,
                                       const converter_done_t *done,
                                       const store_upload_origin_t *origin,
                                       sym_error_t *err);

/* Drops what is not put. */
void store_upload_drop(store_upload_t *in);

#endif
