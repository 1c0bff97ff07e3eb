/*
 * explain.h - the store's records of one module, as JSON.
 *
 * It shows an operator why a module has no symbols, or the origin of its
 * symbols. docs/use/directives.md, symbolicate_admin, describes the members.
 */
#ifndef SYM_EXPLAIN_EXPLAIN_H
#define SYM_EXPLAIN_EXPLAIN_H

#include "object/module_key.h"
#include "json/out.h"
#include "object/ref_key.h"
#include "places/places.h"

/* Maximum length of the text of one source, for any record: its texts have
 * limits (docs/formats/store.md, section 2), a byte may take six, and an
 * attempt has 300 bytes of keys and numbers.  The summary takes as much once
 * more. */
#define SYM_EXPLAIN_MAX ((size_t) 112 * 1024)

/* An attempt to fetch a file. */
typedef struct {
    sym_str_t outcome, url; /* outcome, or `skipped`; and the URL, or the
                               reason */
    uint64_t bytes, ms;
} sym_explained_attempt_t;

/* Maximum total length of the URLs of a source's attempts; further URLs are
 * left out. */
#define SYM_EXPLAIN_URLS ((size_t) 8 * 1024)

/* The records that one source has. */
typedef struct {
    sym_module_key_t key;
    sym_object_record_t record; /* state 0: no record */
    sym_str_t source;           /* origin of the valid record's file, if
                                   READY */

    const sym_explained_attempt_t *attempts;
    unsigned n_attempts;
    bool is_cut; /* there were more attempts */
} sym_explained_t;

/* Ids under which the store has symbols of the same name.  Most missing modules
 * are missing because only another build was uploaded. */
#define SYM_OTHER_IDS_MAX 8

typedef struct {
    unsigned n;
    sym_str_t ids[SYM_OTHER_IDS_MAX];
    char texts[SYM_OTHER_IDS_MAX][SYM_CODE_ID_MAX];
} sym_other_ids_t;

/* told: the result, or NULL.  The attempts at all sources are shown.  others:
 * other ids, or NULL.  blocked_hosts: a JSON array, or empty. */
void sym_explain_write(const sym_module_key_t *key, const sym_explained_t *told,
                       const sym_explained_t *sources, uint32_t n_sources,
                       const sym_other_ids_t *others, uint32_t now_s,
                       sym_str_t blocked_hosts, sym_out_t *out);

/* Reads all scopes; sources: an array of as many items.  SYM_NOT_FOUND: the
 * store has no record of the module; the text says so, too. */
sym_status_t sym_explain(sym_snapshot_t *snapshot, const sym_scopes_t *scopes,
                         const sym_module_key_t *key, uint32_t now_s,
                         sym_arena_t *arena, sym_explained_t *sources,
                         sym_str_t blocked_hosts, sym_out_t *out,
                         sym_error_t *err);

/*
 * Writes the members "attempts" and "sources" of one artifact of a module, each
 * after a comma, for a document that has other members.
 */
sym_status_t sym_explain_sources(sym_snapshot_t *snapshot,
                                 const sym_scopes_t *scopes,
                                 const sym_module_key_t *key, sym_kind_t kind,
                                 uint32_t now_s, sym_arena_t *arena,
                                 sym_explained_t *sources, sym_out_t *out,
                                 sym_error_t *err);

#endif
