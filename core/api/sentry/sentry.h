/*
 * sentry.h - a request of Sentry's native API (POST /symbolicate): the
 * declarations that its files share.  Private to this API.
 *
 *     read_direct.c reads requests with the usual structure
 *     read_json.c   reads other requests; refuses invalid ones
 *     readers.c     functions for both readers
 *     read_parts.c  reads options, sources and scraping, also from forms
 *     values.c      JSON values
 *     any.c         requests about a file at a URL
 *     http.c        texts of errors, and the query
 *     path.c        paths of source files
 *     modules.c     sorts modules, finds those of frames, adds their needs
 *     address.c     computes call addresses from return addresses
 *     answer.c      writes the complete answer, in slices
 *     frame.c       writes a frame
 *     rendered.c    caches the part of a frame that depends only on its address
 *     il.c          finds source locations of .NET frames
 *     module.c      writes a module
 *     candidates.c  writes the files that each source had for a module
 *     context.c     finds the source lines around a frame
 *     dump.c        walks the stacks of crash reports, then uses the above
 *
 * Frames are kept in the order of the request.  In answers and rules, their
 * index counts from the innermost call, so from the other end of a stack if the
 * request lists callers first.
 */
#ifndef SYM_API_SENTRY_SENTRY_H
#define SYM_API_SENTRY_SENTRY_H

#include "api/request.h"
#include "api/sentry/address.h"
#include "base/rewrite.h"
#include "base/sort.h"
#include "object/object_ref.h"
#include "symbolicate/context.h"
#include "artifacts/ppdb/read/il.h"

/* --- the request --- */

/* Keys of a frame that the answer copies from the request. */
typedef enum {
    /* strings */
    SENTRY_LANG,
    SENTRY_SYMBOL,
    SENTRY_FUNCTION,
    SENTRY_ABS_PATH,
    SENTRY_STRINGS,

    /* values are hexadecimal numbers */
    SENTRY_FUNCTION_ID = SENTRY_STRINGS,
    SENTRY_SYM_ADDR,
    SENTRY_HEXES,

    /* values are JSON texts; strings are first */
    SENTRY_PLATFORM = SENTRY_HEXES,
    SENTRY_PACKAGE,
    SENTRY_FILENAME,
    SENTRY_CONTEXT_LINE,
    SENTRY_SOURCE_LINK,
    SENTRY_QUOTED,
    SENTRY_LINENO = SENTRY_QUOTED,
    SENTRY_PRE_CONTEXT,
    SENTRY_POST_CONTEXT,
    SENTRY_IN_APP,
    SENTRY_VARS,
    SENTRY_KEYS
} sentry_key_t;

typedef struct sentry_field_s sentry_field_t;

struct sentry_field_s {
    sentry_field_t *next;
    sentry_key_t key;
    union {
        sym_str_t text; /* decoded string, or JSON */
        uint64_t number;
    } value;
};

typedef enum {
    SENTRY_TRUST_NONE,
    SENTRY_TRUST_SCAN,
    SENTRY_TRUST_CFISCAN,
    SENTRY_TRUST_FP,
    SENTRY_TRUST_CFI,
    SENTRY_TRUST_PREWALKED,
    SENTRY_TRUST_CONTEXT,
    SENTRY_TRUSTS
} sentry_trust_t;

extern const sym_str_t sentry_trusts[SENTRY_TRUSTS];

typedef struct {
    uint64_t addr;
    uint64_t relative_to;   /* if is_relative: index of a module, or of no
                               module */
    sentry_field_t *fields; /* sorted by key, each once */
    uint32_t module;        /* from sentry_module_of(), once needs are found */
    bool is_relative;
    uint8_t adjust; /* sentry_adjust_t; AUTO: not in the frame */
    uint8_t trust;  /* sentry_trust_t */
} sentry_frame_t;

typedef struct sentry_register_s sentry_register_t;

struct sentry_register_s {
    sentry_register_t *next;
    sym_str_t name;
    uint64_t value;
};

typedef struct {
    uint32_t first, n; /* frames */
    bool has_thread_id, has_thread_name;
    bool has_requesting, is_requesting;
    bool has_adjust; /* a frame contains whether its address is adjusted */
    uint64_t thread_id;
    sym_str_t thread_name;
    sentry_register_t *registers;
    uint32_t n_registers;
} sentry_stack_t;

/* Strings with data NULL are absent. */
typedef struct {
    sym_object_ref_t ref;
    sym_str_t code_file, debug_file, debug_checksum; /* as sent */
    uint64_t addr, size;
    bool has_size;   /* the size is shown: it was sent, or derived from the next
                        module's address */
    uint32_t need;   /* 1 + need for its symbols; 0: no frame refers to it */
    uint32_t unwind; /* 1 + need for its unwind rules; 0: no walk needs them */
} sentry_module_t;

#define SENTRY_BLOCK 4096u

typedef struct {
    bool has_candidates;  /* from options.dif_candidates */
    bool has_context;     /* from options.apply_source_context */
    bool is_caller_first; /* from options.frame_order */
    bool has_variables;   /* from options.extract_variables */
    bool has_signal;
    uint32_t signal;
    sym_str_t scraping;            /* from options.scraping; data NULL if
                                      absent */
    const sym_rewrite_t *rewrites; /* from rewrite_first_module */
    uint32_t n_rewrites;

    bool is_report; /* the request is a crash report, and its stacks were walked
                       (dump.c) */

    sentry_frame_t **blocks; /* blocks of SENTRY_BLOCK frames */
    uint32_t n_blocks, max_blocks;
    uint32_t n_frames;
    sentry_stack_t *stacks;
    uint32_t n_stacks, max_stacks;
    sentry_module_t *modules; /* in the order of the request */
    uint32_t n_modules, max_modules;
    sym_sort_item_t *order; /* order of the modules by address */
} sentry_request_t;

typedef struct sentry_s sentry_t;

struct sentry_s {
    sym_request_t base; /* first */
    sentry_request_t request;
    /* Writes the members of the answer to a crash report before its stacks,
     * with a comma at the end.  NULL: the request is native. */
    void (*write_crash)(const sentry_t *s, sym_out_t *out);
    sym_str_t scope; /* `scope` in the query, or "" */
    uint32_t next;   /* next frame to find the module for, while parsing */
    struct sentry_direct_s *direct;
    bool is_general; /* never use the direct reader */
    struct sentry_answer_s *answer;
};

static inline sentry_frame_t *
sentry_frame(const sentry_request_t *q, uint32_t n)
{
    return &q->blocks[n / SENTRY_BLOCK][n % SENTRY_BLOCK];
}


/* Returns the form of a frame's texts in the cache: demangled, or as stored. */
static inline unsigned
sentry_form(const sym_request_t *r)
{
    return r->options->names != NULL ? 1 : 2;
}


/* Returns a field of a frame.  NULL: the frame does not have the key. */
const sentry_field_t *sentry_field(const sentry_frame_t *frame,
                                   sentry_key_t key);

/* --- modules.c --- */

#define SENTRY_NO_MODULE UINT32_MAX

/* Sorts the modules; a module without a size extends to the next one. */
sym_status_t sentry_sort_modules(sentry_t *s);

/* Returns the index of the module at an address; SENTRY_NO_MODULE: none. */
uint32_t sentry_module_at(const sentry_request_t *q, uint64_t addr);

/* Same for the address of a frame. */
uint32_t sentry_module_of(const sentry_request_t *q,
                          const sentry_frame_t *frame);

/* Adds the needs of the modules that frames refer to.  SYM_AGAIN: the budget is
 * spent. */
sym_status_t sentry_find_needs(sentry_t *s, uint32_t budget);

/* --- the answer --- */

typedef enum {
    SENTRY_SYMBOLICATED,
    SENTRY_MISSING_SYMBOL,
    SENTRY_UNKNOWN_IMAGE,
    SENTRY_MISSING,
    SENTRY_MALFORMED
} sentry_status_t;

/* Where a frame is, before its lookup. */
typedef struct {
    uint32_t module; /* index of the module, or SENTRY_NO_MODULE */
    uint32_t need;
    sentry_status_t status; /* SENTRY_SYMBOLICATED: to be looked up */
    bool is_il;
    uint64_t relative; /* adjusted address, relative to the module */
    uint32_t question; /* index of its question in the chunk; unless is_il */
} sentry_place_t;

/* Facts about a module, from its artifacts. */
typedef struct {
    bool is_read;
    bool has_debug_info, has_symbols, has_unwind_info, has_sources;
    const char *vcs; /* from a PDB's SRCSRV stream; NULL: none */
    const sentry_arch_t *arch;
    sym_module_state_t error; /* why the module is missing; 0: unknown, or not
                                 missing */
} sentry_facts_t;

typedef struct sentry_answer_s {
    sym_resolver_t *resolver;
    uint32_t stack;  /* current stack */
    uint32_t frame;  /* next frame of the stack, in the order of the request */
    uint32_t level;  /* next level of that frame, if is_begun */
    uint32_t module; /* next module */
    bool has_module; /* a module was written */
    bool is_begun;   /* some levels of the frame were written */
    bool is_first;   /* nothing of the current list is written yet */
    bool drops_last; /* the outermost frame is garbage after _start */
    uint32_t tail;   /* number of the stack's frames that are known to be
                        dropped */
    uint32_t chunk, n_chunk; /* first frame of the chunk that was looked up, and
                                number of frames in it */
    sentry_place_t *places;  /* places of the chunk's frames */
    sym_question_t *questions;
    char *rendered; /* texts of a frame's levels */
    char *path;     /* room for a path */
    size_t path_room;
    sentry_facts_t *facts;  /* facts of each module */
    sym_str_t *packages;    /* packages with their key, as shown in frames; data
                            NULL: not written yet */
    struct sentry_il_s *il; /* open artifacts of each .NET module */
    struct sentry_sources_s *sources; /* NULL: the request has no source
                                         context */
    uint32_t cost; /* cost of the source context since it was last charged, in
                      frames */
} sentry_answer_t;

/* Decides whether a frame of the stack is looked up, and at which address. */
void sentry_locate(sentry_t *s, const sentry_stack_t *stack,
                   const sentry_frame_t *frame, uint32_t index,
                   sentry_place_t *place);

/* The first step. */
sym_status_t sentry_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget);
bool sentry_resume(sym_request_t *r);
void sentry_count_frames(const sym_request_t *r, uint32_t max,
                         uint32_t *counts);

/* --- rendered.c --- */

/* Gets the texts of a frame's levels for sentry_write_rendered().  False: they
 * depend on more than the address, or are long.  Valid until the next call. */
bool sentry_render(sentry_t *s, const sentry_place_t *place, sym_str_t *text,
                   uint32_t *budget);

/* Writes the part of a level before these texts; it is the same in every
 * level. */
void sentry_write_head(const sentry_t *s, uint32_t index,
                       const sentry_frame_t *frame, const sentry_place_t *place,
                       sym_out_t *out);

/* Writes the levels.  False: the head is too long, and nothing was written. */
bool sentry_write_rendered(sentry_t *s, uint32_t index,
                           const sentry_frame_t *frame,
                           const sentry_place_t *place, sym_str_t text,
                           sym_out_t *out);

/* Writes the comma between two frames. */
void sentry_write_comma(sentry_answer_t *a, sym_out_t *out);

/* Writes language, names, place and line of a level; the path is "" if
 * unknown.  False: no memory. */
bool sentry_path_of(sentry_t *s, const sentry_place_t *place,
                    const sym_level_t *level, sym_str_t *path);
void sentry_write_names(sentry_answer_t *a, uint32_t need,
                        const sym_answer_t *answer, uint32_t level,
                        sym_out_t *out);
void sentry_write_path(sym_str_t path, uint32_t line, sym_out_t *out);

/* Whether the answer contains a function with a name; Symbolicator does not
 * show others. */
bool sentry_is_named(const sym_answer_t *answer);

/* Whether a missing frame is omitted: it came from a scan of the stack, and
 * turned out to be garbage. */
bool sentry_is_dropped(const sentry_frame_t *frame, sentry_status_t status);

/* Writes a frame: its levels, or the request's values.  SYM_AGAIN: the budget
 * is spent, and levels are left. */
sym_status_t sentry_write_frame(sentry_t *s, uint32_t index,
                                const sentry_frame_t *frame,
                                const sentry_place_t *place, sym_out_t *out,
                                uint32_t *budget);

/* --- il.c --- */

/* Finds the source location of a .NET frame.  False: not found.  The texts are
 * views into the store. */
bool sentry_look_up_il(sentry_t *s, const sentry_frame_t *frame,
                       const sentry_place_t *place, sym_il_frame_t *found);

/* Whether the module of a need has a portable PDB without texts of sources and
 * links to them. */
bool sentry_has_no_own_sources(sentry_t *s, uint32_t need);

/* --- module.c --- */

/* Collects the facts of a module, once its needs are open. */
const sentry_facts_t *sentry_facts(sentry_t *s, uint32_t module);

/* Whether the answer lists the module. */
bool sentry_is_listed(sentry_t *s, uint32_t module);

/* Writes a module.  Returns the cost, in frames. */
uint32_t sentry_write_module(sentry_t *s, uint32_t module, sym_out_t *out);

/* --- candidates.c --- */

/* Returns why a need was not found: the first error in the order in which
 * sources were tried; 0: unknown. */
sym_module_state_t sentry_first_error(sentry_t *s, const sym_need_t *need);

/* Writes `, "candidates": [...]`; nothing for a module without candidates.
 * Returns the cost, in frames. */
uint32_t sentry_write_candidates(sentry_t *s, uint32_t module, sym_out_t *out);

/* --- context.c --- */

/* Continues with steps that add the needs of source context (sources, then the
 * texts at their links), then with the step `then`. */
sym_status_t sentry_begin_context(sentry_t *s, sym_request_step_t then);

/* Gets the n-th text of source links: the module of the first frame that needs
 * it, and the need for the text.  False: there are fewer. */
bool sentry_link(const sentry_t *s, uint32_t n, uint32_t *module,
                 const sym_need_t **need);

/* Whether a source file of the module was found. */
bool sentry_has_sources(const sentry_t *s, uint32_t module);

/* Records that a frame of the answer is in the module. */
void sentry_own_frame(sentry_t *s, uint32_t module);

/* With source context, a module without frames in the answer counts as
 * unused. */
bool sentry_is_unused(const sentry_t *s, uint32_t module);

#define SENTRY_LINK_MAX 8192

typedef struct {
    bool is_found;  /* the module's sources contain the file */
    bool has_lines; /* the file has this line */
    size_t link_len;
    sym_context_t lines;
    char link[SENTRY_LINK_MAX]; /* URL of the text, if it is not in the module's
                                   sources */
} sentry_context_t;

/* Finds the source of a frame.  Finds nothing if the module is SENTRY_NO_MODULE
 * or the path is empty.  SYM_OK; SYM_NOMEM. */
sym_status_t sentry_find_context(sentry_t *s, uint32_t module, sym_str_t path,
                                 uint64_t line, sentry_context_t *context);

/* Whether the source replaces the request's own value of the key. */
bool sentry_context_replaces(const sentry_context_t *context, sentry_key_t key);

/* Writes `, "pre_context": ...` and the keys after it. */
void sentry_write_context(const sentry_context_t *context, sym_out_t *out);

#endif
