/*
 * resolver.h - answers (module, address) questions out of the store.
 *
 * What stands between an API and store + symcache: the API numbers its
 * modules from 0, opens each once and asks in chunks; what comes back are
 * levels whose texts are written straight to the output.  Everything lives in
 * the caller's arena.  Nothing needs an end of its own: a request that is given
 * up midway, also by a fault in the store's pages, is given up by dropping the
 * arena.
 *
 * Damaged bytes are counted and answered as "nothing there".  A module with an
 * extent that is not what was written is not found from then on.
 */
#ifndef SYM_SYMBOLICATE_RESOLVER_H
#define SYM_SYMBOLICATE_RESOLVER_H

#include "base/arena.h"
#include "symbolicate/cache/names.h"
#include "json/out.h"
#include "symbolicate/cache/worker.h"
#include "store/store.h"
#include "artifacts/symcache/read/reader.h"

typedef struct sym_resolver_s sym_resolver_t;

typedef struct {
    uint32_t module; /* one that was found */
    uint32_t addr;
} sym_question_t;

/* How names and files are written. */
typedef enum {
    SYM_TEXT_JSON,    /* the inside of a JSON string */
    SYM_TEXT_TERMINAL /* control characters become '?' */
} sym_text_style_t;

/* What is not there of a module: why it was not found, or better symbols. */
typedef struct {
    sym_module_state_t state; /* what the store holds against it; 0: nothing, or
                                 nothing that still counts */
    uint32_t expires_at;      /* as in its record */
    sym_str_t reason;         /* in the arena */
    bool is_open; /* a source may have it, or better, that was not asked for it
                     in this way */
} sym_missing_t;

/* Most questions of a chunk. */
#define SYM_RESOLVE_CHUNK 1024

/*
 * For n_modules modules and about n_questions questions in all, which only
 * decides how much memory is worth spending.  A NULL snapshot: an empty store.
 * NULL when out of memory.
 */
sym_resolver_t *sym_resolver_create(sym_arena_t *arena, sym_store_t *store,
                                    sym_snapshot_t *snapshot, uint32_t now_s,
                                    uint32_t n_modules, uint64_t n_questions);

/* Most questions of a chunk of a command. */
#define SYM_RESOLVE_BATCH 131072

/*
 * The same for a command that asks chunks of up to `batch` questions of one
 * module, its number 0, which it finds by itself (sym_resolver_attach()).  Texts
 * are made while it asks (cache/texts.h), and stay from one chunk to the next.
 * Large pages suit the arena.
 */
sym_resolver_t *sym_resolver_create_batch(sym_arena_t *arena, uint32_t batch,
                                          sym_text_style_t style);

/* Uses and fills a worker cache of the same store; NULL: none.  The form is an
 * API's number for the texts that it writes; 0: none of them is cached. */
void sym_resolver_use_cache(sym_resolver_t *r, sym_worker_cache_t *caches,
                            uint32_t form);

/* The sources whose modules are seen, in their order; must outlive the
 * resolver.  Without this call: modules that were loaded by hand. */
void sym_resolver_use_scopes(sym_resolver_t *r, const sym_scopes_t *scopes);

/* Names that modules keep as the linker knows them are demangled by `names`;
 * without it they are written as they are stored. */
void sym_resolver_use_names(sym_resolver_t *r, sym_names_t *names);

/* Names are demangled in this style (demangle.h), also those of modules whose
 * names are shown as they are kept: files of Breakpad may have mangled ones.
 * Without this call: SYM_DEMANGLE_FULL, and such modules' names are not. */
void sym_resolver_use_style(sym_resolver_t *r, unsigned style);

/* Makes room for more modules.  Answers of the present chunk do not count any more,
 * if there was no room.  False: out of memory. */
bool sym_resolver_reserve(sym_resolver_t *r, uint32_t n_modules);

/* A module will be opened soon: before that, for several at a time, expect then
 * fetch, as they wait for memory.  Each must be expected. */
void sym_resolver_expect(sym_resolver_t *r, uint32_t module,
                         const sym_module_key_t *key);
void sym_resolver_fetch(const sym_resolver_t *r, uint32_t module);

/*
 * SYM_OK: found, and marked as used; SYM_NOT_FOUND: *missing says why; SYM_DAMAGED:
 * it is there but cannot be read; SYM_NOMEM.  The scope of the key does not
 * count.
 */
sym_status_t sym_resolver_open(sym_resolver_t *r, uint32_t module,
                               const sym_module_key_t *key,
                               const sym_asked_t *asked,
                               sym_missing_t *missing);

/*
 * Opens a module whose extents the caller has.  SYM_DAMAGED, SYM_VERSION: *err
 * says why.  Under the same id these must be the same bytes, though they may lie
 * elsewhere by now: the present chunk and the cached answers of the module stay.
 * Under another id the chunk has to be asked again.
 */
sym_status_t sym_resolver_attach(sym_resolver_t *r, uint32_t module,
                                 uint64_t id,
                                 const sym_extent_source_t *extents,
                                 sym_error_t *err);

/*
 * All goes on in another snapshot of the same store, which may have been opened
 * again: no answer of the present chunk counts any more, nor a cached one.  A
 * module that is gone, or another by now, is lost.
 */
void sym_resolver_resume(sym_resolver_t *r, sym_store_t *store,
                         sym_snapshot_t *snapshot);
bool sym_resolver_is_lost(const sym_resolver_t *r, uint32_t module);

/* True if, since the last call, a module that was found proved to be damaged:
 * the next resolver does not find it. */
bool sym_resolver_met_unsound(sym_resolver_t *r);
bool sym_resolver_is_unsound(const sym_resolver_t *r, uint32_t module);

/* Bytes of the file that an artifact was made from; 0: it is not there.  To be
 * asked as it was opened. */
uint64_t sym_resolver_source_bytes(sym_resolver_t *r,
                                   const sym_module_key_t *key, sym_kind_t kind,
                                   const sym_asked_t *asked);

/* The name that its file gives for a module that was found, or "". */
sym_str_t sym_resolver_name(const sym_resolver_t *r, uint32_t module);

/*
 * Looks n <= SYM_RESOLVE_CHUNK questions up (of a batch: as many as were told),
 * in the order that suits the store.  They must stay in place until the next
 * chunk.
 */
void sym_resolver_ask(sym_resolver_t *r, const sym_question_t *questions,
                      uint32_t n);

/* Writes the answer to the i-th of them out of the answer cache; false: it is not
 * there. */
bool sym_resolver_repeat(sym_resolver_t *r, uint32_t i, sym_out_t *out);

/* The same text as it was kept; it lives until the next one is. */
bool sym_resolver_recall(const sym_resolver_t *r, uint32_t i, sym_str_t *text);

/* Keeps what was written for the i-th, from `start` in the window that began
 * after `before` bytes, if it is worth it. */
void sym_resolver_keep(sym_resolver_t *r, uint32_t i, const char *start,
                       uint64_t before, const sym_out_t *out);

/* The same for what an API found out of a module: `size` bytes that hold until the
 * process ends.  False: they are not there. */
bool sym_resolver_recall_note(const sym_resolver_t *r, uint32_t module,
                              void *note, size_t size);
void sym_resolver_keep_note(sym_resolver_t *r, uint32_t module,
                            const void *note, size_t size);

/* What the i-th of them gave; its levels live until the next call.  SYM_DAMAGED:
 * it cannot be read, and the answer is empty. */
sym_status_t sym_resolver_answer(sym_resolver_t *r, uint32_t i,
                                 sym_answer_t *answer);

/* The same with the place that atos shows: docs/formats/macho.md. */
sym_status_t sym_resolver_statement(sym_resolver_t *r, uint32_t i,
                                    sym_answer_t *answer);

/* The i-th answer of a batch is written now, and those behind it soon: fetches
 * what they need into the cache. */
void sym_resolver_fetch_ahead(const sym_resolver_t *r, uint32_t i);

/* What was taken off the addresses of the file that it was made from. */
uint64_t sym_resolver_image_base(sym_resolver_t *r, uint32_t module);

/* A fact of a module that was found: sym_symcache_info(), which see. */
size_t sym_resolver_info(sym_resolver_t *r, uint32_t module, sym_info_t which,
                         char *out);

/* The system that keeps its sources: sym_symcache_source_server(). */
size_t sym_resolver_source_server(sym_resolver_t *r, uint32_t module,
                                  char *out);

/* And its SYM_FLAG_*; SYM_FLAG_FEATURES is set in any case. */
uint32_t sym_resolver_flags(sym_resolver_t *r, uint32_t module);

/* A text of a module that was asked, until the next call; "" on damage.  False:
 * out of memory. */
bool sym_resolver_text(sym_resolver_t *r, uint32_t module, sym_string_ref_t ref,
                       sym_str_t *text);

/* Writes a text of the module in the resolver's style. */
void sym_resolver_write(sym_resolver_t *r, uint32_t module,
                        sym_string_ref_t ref, sym_out_t *out);

/* The same for the name of a level of an answer. */
void sym_resolver_write_name(sym_resolver_t *r, uint32_t module,
                             const sym_answer_t *answer, uint32_t level,
                             sym_out_t *out);

/* And for its file. */
void sym_resolver_write_file(sym_resolver_t *r, uint32_t module,
                             const sym_answer_t *answer, uint32_t level,
                             sym_out_t *out);

/* The line of a level, which for a batch is at hand where its texts are. */
uint32_t sym_resolver_line(const sym_resolver_t *r, const sym_answer_t *answer,
                           uint32_t level);

/* A level of a batch with its texts as they are written, each readable for
 * SYM_TEXT_SLACK bytes more; they live until the next chunk. */
typedef struct {
    sym_str_t function, file;
    uint32_t line;
} sym_frame_t;

/* False: a text is "", or was not made: both are to be written by the functions
 * above. */
bool sym_resolver_frame(const sym_resolver_t *r, const sym_answer_t *answer,
                        uint32_t level, sym_frame_t *frame);

/* The demangled name, valid until the next call, for callers that write texts
 * themselves.  Without a cache of names, the name unchanged. */
sym_str_t sym_resolver_show(sym_resolver_t *r, sym_str_t name, uint8_t lang);

/* Takes off a budget of frames what was demangled since the last call: that takes
 * more time than all else. */
void sym_resolver_charge(sym_resolver_t *r, uint32_t *budget);

/* Calls so far that met damaged bytes. */
uint64_t sym_resolver_damaged(const sym_resolver_t *r);

/* What the store has of an object in each visible source, in their order; record
 * NULL: nothing.  Views live as long as the snapshot. */
typedef void (*sym_records_pt)(void *ctx, sym_str_t scope,
                               const sym_module_record_t *record);
void sym_resolver_records(sym_resolver_t *r, const sym_module_key_t *key,
                          sym_kind_t kind, const sym_object_ref_t *object,
                          sym_records_pt each, void *ctx);

/* The same in the source that the key names, visible or not. */
void sym_resolver_record(sym_resolver_t *r, const sym_module_key_t *key,
                         sym_kind_t kind, const sym_object_ref_t *object,
                         sym_records_pt each, void *ctx);

#endif
