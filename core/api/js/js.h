/*
 * js.h - a request of Sentry's API for events of JavaScript (POST
 * /symbolicate-js): the declarations that its files share.
 *
 *     read.c      reads requests; refuses invalid ones
 *     text.c      rules for URLs, paths and names of modules
 *     list.c      reads Sentry's lists of bundles and files
 *     needs.c     adds needs, and opens the artifacts found
 *     lookup.c    finds each file in bundles, single files and lists
 *     scrape.c    fetches files from the web
 *     own.c       files of the location's sources, if the request has none
 *     scripts.c   finds the map of each script; opens both
 *     answer.c    writes the complete answer, in slices
 *     frame.c     maps positions to original ones, and writes frames
 *     explain.c   explains where files were searched and why they did not fit
 *
 * Symbolicator looks up the scripts of a request in order; entries of a list
 * also apply to later scripts.  The same result is reached here in *passes*.
 * Each pass looks everything up again, with the files that are in the store by
 * then, and adds missing files to the needs of the next round.  The last pass
 * is one in which no file is missing.
 *
 * It is a route of the API `sentry`, which has the errors and the query of all
 * routes.
 */
#ifndef SYM_API_JS_JS_H
#define SYM_API_JS_JS_H

#include "api/fields.h"
#include "base/sort.h"
#include "base/text.h"
#include "symbolicate/artifact.h"
#include "symbolicate/js/js.h"
#include "symbolicate/source_text.h"

/* Creates a request for the API `sentry`, which sets `scope`. */
extern const sym_request_ops_t js_ops;

#define JS_URL_MAX 4096 /* maximum length of a URL that is built here */
#define JS_SCRIPTS_MAX 4096

/* --- the request --- */

/* Data of a frame, as JSON. */
typedef struct {
    sym_str_t sourcemap, origin, resolved_with;
    uint8_t symbolicated; /* of the type sym_field_bool_t */
} js_data_t;

/* Optional texts have data NULL if absent.  `json`: as sent. */
typedef struct {
    sym_str_t abs_path, function, module;
    sym_str_t function_json, module_json, filename_json, platform_json;
    sym_str_t context_line_json, pre_context_json, post_context_json;
    sym_str_t data_json;
    js_data_t data;
    sym_field_number_t lineno, colno;
    uint32_t script;
} js_frame_t;

typedef struct {
    uint32_t first, n; /* frames */
} js_stack_t;

typedef struct {
    sym_str_t code_file;
    sym_debug_id_t debug_id; /* form NONE: none */
} js_module_t;

typedef struct {
    sym_blocks_t frames;
    sym_list_t stacks, modules;
    sym_str_t release, dist; /* data NULL: absent */
    sym_str_t *origins;
    uint32_t n_origins;
    bool may_scrape;
    bool is_own; /* answered from the sources of the location */
    sym_fields_options_t options;
} js_request_t;

/* --- files --- */

typedef enum { JS_SCRIPT, JS_SOURCEMAP, JS_SOURCE } js_type_t;

/* The properties by which a file is looked up. */
typedef struct {
    js_type_t type;
    sym_str_t abs_path; /* data NULL: none */
    sym_debug_id_t debug_id;
} js_key_t;

typedef enum {
    JS_WAITS, /* not known yet: a file that decides it is missing */
    JS_FOUND,
    JS_ABSENT, /* absent or unreadable */
    JS_MALFORMED,
    JS_DISABLED /* scraping the URL is not allowed */
} js_state_t;

typedef enum { JS_IN_BUNDLE, JS_ALONE, JS_SCRAPED, JS_EMBEDDED } js_origin_t;

typedef struct {
    js_state_t state;
    js_origin_t origin;
    sym_str_t uri;           /* URI of the bundle or file */
    sym_str_t resolved_with; /* as JSON */
    sym_str_t reference;     /* reference in a script's header; data NULL:
                                none */
    js_key_t key;
    bool is_empty; /* the file was found, but has no artifact */
    uint32_t need; /* need for the artifact of the file's type, if found */
} js_file_t;

/* An entry of a list from Sentry. */
typedef struct {
    bool is_bundle;
    sym_str_t uri, url, abs_path, reference;
    sym_str_t resolved_with; /* a word; "": none */
    bool has_headers;
} js_entry_t;

typedef struct {
    const js_entry_t *entries;
    uint32_t n;
} js_list_t;

/* A view of an artifact; valid in one snapshot. */
typedef struct {
    uint32_t time; /* number of the snapshot; 0: not open */
    bool is_open;
    sym_artifact_found_t found;
    union {
        sym_script_t script;
        sym_sourcemap_t map;
        sym_sources_t sources;
    } as;
} js_view_t;

typedef struct {
    const js_entry_t *entry;
    uint32_t need;
    js_view_t view;
} js_bundle_t;

/* A generated script. */
typedef struct {
    sym_str_t abs_path;
    uint32_t rank;           /* rank among the scripts, by abs_path */
    sym_debug_id_t debug_id; /* debug id of the script's module */
    bool has_frames;         /* it has frames with lines; otherwise it is not
                                looked up */

    /* state of a pass */
    js_file_t script, map;
    bool has_map;         /* it refers to a map, or has a debug id */
    sym_str_t label;      /* URL of the map */
    sym_str_t base;       /* base URL of the map's sources */
    uint32_t text, texts; /* needs for the text of the script, and for the texts
                             in the map; 0: none */
    js_view_t script_view, map_view, text_view, texts_view;
} js_script_t;

typedef enum {
    JS_INVALID_LOCATION,
    JS_INVALID_ABS_PATH,
    JS_NO_COLUMN,
    JS_MISSING_SOURCE_CONTENT,
    JS_MISSING_SOURCE,
    JS_MALFORMED_SOURCEMAP,
    JS_MISSING_SOURCEMAP,
    JS_INVALID_BASE64,
    JS_SCRAPING_DISABLED,
    JS_NO_ERROR
} js_error_type_t;

typedef struct {
    js_error_type_t type;
    uint32_t script;
    uint32_t line, column;
    bool has_column;
    sym_str_t source; /* for JS_MISSING_SOURCE_CONTENT */
} js_error_t;

/* A source whose text is missing in its map. */
typedef struct {
    js_file_t file;
    uint32_t time; /* snapshot of the lookup */
    js_view_t view;
} js_source_t;

/* State of an attempt to fetch a file from the web. */
typedef enum {
    JS_NOT_ATTEMPTED,
    JS_TRIED, /* the need holds the outcome */
    JS_REFUSED
} js_attempt_state_t;

typedef struct {
    sym_str_t url;
    js_attempt_state_t state;
    const char *reason;
    sym_str_t details;
    uint32_t need;
} js_attempt_t;

/* A place where a file was searched for. */
typedef struct {
    uint32_t script;
    const char *file;  /* type of the file */
    sym_str_t by, uri; /* "debug-id", ... */
    uint32_t need;     /* UINT32_MAX: `result` applies */
    const char *result;
} js_try_t;

typedef struct {
    sym_request_t base; /* first */

    js_request_t request;
    sym_str_t scope;
    struct js_reader_s *reader;

    js_script_t *scripts;
    uint32_t n_scripts;

    struct js_table_s *table; /* index of needs */
    struct js_table_s
        *asked; /* ids, stems and list entries, with the pass in which they were
                   requested */
    struct js_table_s *attempted; /* URLs, with the pass */
    sym_list_t lists;             /* lists that were read */

    /* a pass */
    uint32_t pass;
    uint32_t cost;   /* cost that was not charged to the budget yet, in
                        frames */
    uint32_t time;   /* number of the snapshot */
    bool waits;      /* a file is missing in this pass */
    bool lists_wait; /* a missing file is a list or a bundle, which may contain
                        files for all scripts: no other list is requested
                        before */
    uint32_t next, stack, frame;
    sym_list_t bundles;  /* of js_bundle_t *, highest URI first */
    sym_list_t singles;  /* of const js_entry_t * */
    sym_list_t attempts; /* of js_attempt_t */
    sym_list_t errors;   /* of js_error_t */
    sym_list_t tries;    /* places, of js_try_t; only if the answer explains
                            them */
    uint32_t script;     /* script whose files are being looked up */

    /* the answer */
    sym_source_text_t text;
    size_t context_bytes;
    sym_context_t lines;
    struct js_table_s *by_path; /* index of sources */
    sym_list_t sources;         /* of js_source_t * */
    bool is_writing, is_raw, is_in_stack;
    bool is_first;      /* nothing of the current list is written yet */
    uint32_t n_missing; /* number of errors for missing sources */
    uint32_t lost;
    sym_sort_item_t *order; /* order of errors or attempts */
} js_t;

static inline js_frame_t *
js_frame(const js_request_t *q, uint32_t n)
{
    return sym_blocks_at(&q->frames, sizeof(js_frame_t), n);
}

/* --- read.c --- */

/* SYM_OK; SYM_AGAIN: the budget is spent; SYM_MALFORMED, SYM_LIMIT: refused;
 * SYM_NOMEM. */
sym_status_t js_read(js_t *j, uint32_t budget);

/* --- text.c --- */

/* Resolves the URL or path `right` relative to `base`.  data NULL: too long, or
 * no memory. */
sym_str_t js_join(sym_arena_t *arena, sym_str_t base, sym_str_t right);

/* Whether the text is an absolute URL; and the URL's scheme. */
bool js_is_url(sym_str_t text);
sym_str_t js_scheme(sym_str_t url);

/* Returns the form of a URL for Sentry's lists: without host, query and
 * extensions. */
sym_str_t js_stem(sym_str_t url);

#define JS_CANDIDATES 4

/* Makes the names that a file may have at Sentry: its URL, and its URL with "~"
 * instead of the host, each with and without the query.  Returns their number;
 * 0: no memory. */
unsigned js_candidates(sym_arena_t *arena, sym_str_t url,
                       sym_str_t names[JS_CANDIDATES]);

/* Returns the path after a bundler's own scheme in the name of a source. */
sym_str_t js_filename(sym_str_t name, bool *is_bundled);

/* Returns the name of the module in a file, as a view of the path. */
sym_str_t js_module_name(sym_str_t path);

/* --- list.c --- */

/* Reads a list of Sentry's artifacts; unreadable entries are omitted.
 * SYM_NOMEM. */
sym_status_t js_list_read(js_t *j, sym_str_t text, js_list_t *list);

/* --- needs.c --- */

/* A table of numbers by hash.  Returns the position of the number; *is_new: it
 * was added.  NULL: out of memory. */
uint32_t *js_table_at(js_t *j, struct js_table_s **table, uint64_t hash,
                      bool *is_new);

/* Finds or adds a need.  SYM_NOMEM. */
sym_status_t js_need(js_t *j, const sym_object_ref_t *ref, sym_kind_t kind,
                     bool is_artifact, uint32_t *need);
js_state_t js_state_of(js_t *j, uint32_t need);

/* Finds the artifact for the file's type, by reference; sets state and need.
 * SYM_NOMEM. */
sym_status_t js_find_needed(js_t *j, sym_object_ref_t *ref, bool is_artifact,
                            js_file_t *file);

/* Finds the need for an artifact of another kind from the same file. 0: not
 * settled yet. */
sym_status_t js_further(js_t *j, uint32_t of, sym_kind_t kind, uint32_t *need,
                        bool *waits);

/* Returns the artifact of a need in this snapshot. */
typedef sym_status_t (*js_open_pt)(js_view_t *view, sym_error_t *err);
bool js_open(js_t *j, uint32_t need, js_open_pt open, js_view_t *view);
sym_status_t js_open_sources(js_view_t *view, sym_error_t *err);

/* Returns a text of up to `max` bytes; data NULL: longer, damaged, or no
 * memory. */
sym_str_t js_read_text(js_t *j, const sym_sources_t *sources, sym_str_t name,
                       size_t max);

/* Returns the start of the hour in which the URL is fetched.  Hours begin at
 * different times for different URLs, to spread the fetches. */
uint32_t js_hour_of(sym_str_t url);

/* Writes the URL without its query. */
void js_write_url(sym_text_t *t, sym_arena_t *arena, const sym_url_t *url);

/* --- lookup.c --- */

/* Call this before each pass. */
void js_begin_pass(js_t *j);

/* SYM_NOMEM. */
sym_status_t js_find_file(js_t *j, const js_key_t *key, js_file_t *file);

/* --- scrape.c --- */

/* Records an attempt; only the first one at a URL in a pass counts.
 * SYM_NOMEM. */
sym_status_t js_note_attempt(js_t *j, sym_str_t url,
                             const js_attempt_t *attempt);

sym_status_t js_scrape(js_t *j, js_file_t *file);

/* Describes the result of the n-th attempt: "success", or a reason with
 * details. */
const char *js_attempt_result(js_t *j, const js_attempt_t *attempt,
                              sym_str_t *details);

/* --- own.c --- */

/* Finds a file by its key.  SYM_NOMEM. */
sym_status_t js_find_own(js_t *j, js_file_t *file);

/* Makes the URL of the map next to a script.  SYM_NOMEM. */
sym_status_t js_find_beside(js_t *j, sym_str_t abs_path, js_key_t *key);

/* --- scripts.c --- */

/* Collects the scripts of all frames, each once.  SYM_NOMEM, SYM_LIMIT:
 * refused. */
sym_status_t js_list_scripts(js_t *j);

/* Finds a script and its map.  SYM_NOMEM. */
sym_status_t js_find_script(js_t *j, js_script_t *s);

/* NULL: absent or damaged. */
const sym_script_t *js_open_script(js_t *j, js_script_t *s);
const sym_sourcemap_t *js_open_map(js_t *j, js_script_t *s);

/* --- frame.c --- */

/* Looks up the other files that a frame needs besides its script and map.
 * SYM_NOMEM. */
sym_status_t js_look_up_frame(js_t *j, const js_frame_t *f);

/* Writes a frame, and notes its error.  caller: the calling frame, or NULL.
 * SYM_NOMEM. */
sym_status_t js_write_frame(js_t *j, const js_frame_t *f,
                            const js_frame_t *caller, sym_out_t *out);

/* Writes a frame as it was sent, with the lines of its script. */
sym_status_t js_write_raw(js_t *j, const js_frame_t *f, sym_out_t *out);

/* --- explain.c --- */

extern const char *const js_file_words[]; /* by js_type_t */

/* The result of a bundle that was opened: `found`, or, if NULL, no file is what
 * the key asks for.  NULL: the file has the debug id of the key, or none. */
const char *js_bundle_result(js_t *j, const js_bundle_t *bundle,
                             const js_key_t *key,
                             const sym_sources_file_t *found);

/* Records a place, if the request wants them explained.  SYM_NOMEM. */
sym_status_t js_note_try(js_t *j, const js_try_t *t);

/* A step: writes all recorded places. */
sym_status_t js_write_tries(sym_request_t *r, sym_out_t *out, uint32_t *budget);

/* --- answer.c --- */

sym_status_t js_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget);
bool js_resume(sym_request_t *r);

#endif
