/*
 * resolver.h - answers (module, address) questions from the store.
 *
 * The layer between an API and store + symcache.  The API numbers its modules
 * from 0, opens each of them once, and asks in chunks.  It gets levels (a
 * function and its inlined calls), and writes their texts directly to the
 * output.  All memory is in the caller's arena, and nothing needs to be closed:
 * to abandon a request, drop the arena, even after a fault in the store's
 * pages.
 *
 * Damaged bytes are counted and answered as "no symbol".  From then on, lookups
 * of a module with a damaged extent fail.
 */
#ifndef SYM_SYMBOLICATE_RESOLVER_H
#define SYM_SYMBOLICATE_RESOLVER_H

#include "base/arena.h"
#include "symbolicate/cache/names.h"
#include "json/out.h"
#include "symbolicate/cache/worker.h"
#include "places/places.h"
#include "artifacts/symcache/read/reader.h"

typedef struct sym_resolver_s sym_resolver_t;

typedef struct {
    uint32_t module; /* index of an opened module */
    uint32_t addr;
} sym_question_t;

/* Escaping of names and files. */
typedef enum {
    SYM_TEXT_JSON,    /* the inside of a JSON string */
    SYM_TEXT_TERMINAL /* control characters become '?' */
} sym_text_style_t;

/* Why a module was not found, or whether a source may have better symbols. */
typedef struct {
    sym_module_state_t state; /* the negative state in the store; 0: none, or an
                                 expired one */
    uint32_t expires_at;      /* from the negative record */
    sym_str_t reason;         /* in the arena */
    bool is_open;             /* a source may have the module, or a better
                                 one */
} sym_missing_t;

/* Maximum number of questions in a chunk. */
#define SYM_RESOLVE_CHUNK 1024

/*
 * Creates a resolver for n_modules modules and about n_questions questions; the
 * latter only determines how much memory is used. snapshot NULL: an empty
 * store.  Returns NULL if out of memory.
 */
sym_resolver_t *sym_resolver_create(sym_arena_t *arena,
                                    sym_snapshot_t *snapshot, uint32_t now_s,
                                    uint32_t n_modules, uint64_t n_questions);

/* Maximum number of questions in a chunk of a command. */
#define SYM_RESOLVE_BATCH 131072

/*
 * Same for a command, which attaches one module itself, as number 0
 * (sym_resolver_attach()), and asks in chunks of up to `batch` questions.
 * Texts are made during the lookup (cache/texts.h), and are kept from one chunk
 * to the next.  The arena should have large pages.
 */
sym_resolver_t *sym_resolver_create_batch(sym_arena_t *arena, uint32_t batch,
                                          sym_text_style_t style);

/* Uses and fills a worker cache of the same store; NULL: none. form: an API's
 * number for the form of its texts; 0: texts are not cached. */
void sym_resolver_use_cache(sym_resolver_t *r, sym_worker_cache_t *caches,
                            uint32_t form);

/* Sets the visible sources, in order; they must outlive the resolver.  Without
 * this call only modules loaded by hand are visible. */
void sym_resolver_use_scopes(sym_resolver_t *r, const sym_scopes_t *scopes);

/* Sets the cache for demangling linker names; without it, names are written as
 * stored. */
void sym_resolver_use_names(sym_resolver_t *r, sym_names_t *names);

/* Sets the style of demangling (demangle.h).  It also applies to modules whose
 * names are normally shown as stored, because Breakpad files may contain
 * mangled names.  Without this call: SYM_DEMANGLE_FULL, and names of such
 * modules are not demangled. */
void sym_resolver_use_style(sym_resolver_t *r, unsigned style);

/* Makes room for more modules.  If memory had to move, the answers of the
 * current chunk are no longer valid.  False: out of memory. */
bool sym_resolver_reserve(sym_resolver_t *r, uint32_t n_modules);

/* Prefetches for modules that will be opened soon.  Call expect for several
 * modules, then fetch for these, because each call waits for memory that the
 * earlier one requested. */
void sym_resolver_expect(sym_resolver_t *r, uint32_t module,
                         const sym_module_key_t *key);
void sym_resolver_fetch(const sym_resolver_t *r, uint32_t module);

/*
 * SYM_OK: found, and marked as used; SYM_NOT_FOUND: *missing has the reason;
 * SYM_DAMAGED: the module cannot be read; SYM_NOMEM.  The scope of the key is
 * ignored.
 */
sym_status_t sym_resolver_open(sym_resolver_t *r, uint32_t module,
                               const sym_module_key_t *key,
                               const sym_lookup_t *of, sym_missing_t *missing);

/*
 * Opens a module whose extents the caller has.  SYM_DAMAGED, SYM_VERSION: *err
 * says why.  If the number already has a module with the same id, the bytes
 * must be the same, possibly at other addresses: its current chunk and its
 * cached answers stay valid.  With another id, the chunk must be asked again.
 */
sym_status_t sym_resolver_attach(sym_resolver_t *r, uint32_t module,
                                 uint64_t id,
                                 const sym_extent_source_t *extents,
                                 sym_error_t *err);

/*
 * Continues in another snapshot of the same store, which may have been
 * reopened: answers of the current chunk and cached ones become invalid.
 * Modules that were removed or replaced are lost.
 */
void sym_resolver_resume(sym_resolver_t *r, sym_snapshot_t *snapshot);
bool sym_resolver_is_lost(const sym_resolver_t *r, uint32_t module);

/* Whether a found module has turned out to be damaged since the last call.  The
 * next resolver will not find it. */
bool sym_resolver_met_unsound(sym_resolver_t *r);
bool sym_resolver_is_unsound(const sym_resolver_t *r, uint32_t module);

/* Size of the file that an artifact was made from; 0: not found. */
uint64_t sym_resolver_source_bytes(sym_resolver_t *r, const sym_lookup_t *of);

/* Name of a found module in its file, or "". */
sym_str_t sym_resolver_name(const sym_resolver_t *r, uint32_t module);

/*
 * Looks up n <= SYM_RESOLVE_CHUNK questions (in a batch: up to its size), in
 * the order that suits the store.  They must stay in place until the next
 * chunk.
 */
void sym_resolver_ask(sym_resolver_t *r, const sym_question_t *questions,
                      uint32_t n);

/* Writes the i-th question's answer from the answer cache; false: not
 * cached. */
bool sym_resolver_repeat(sym_resolver_t *r, uint32_t i, sym_out_t *out);

/* Returns the cached text itself; it is valid until the next text is cached. */
bool sym_resolver_recall(const sym_resolver_t *r, uint32_t i, sym_str_t *text);

/* Caches the text written for the i-th question, if that is useful.  The text
 * begins at `start`, in the output window that began after `before` bytes. */
void sym_resolver_keep(sym_resolver_t *r, uint32_t i, const char *start,
                       uint64_t before, const sym_out_t *out);

/* Same for data that an API derived from a module: `size` bytes that are valid
 * until the process ends.  False: not cached. */
bool sym_resolver_recall_note(const sym_resolver_t *r, uint32_t module,
                              void *note, size_t size);
void sym_resolver_keep_note(sym_resolver_t *r, uint32_t module,
                            const void *note, size_t size);

/* Returns the i-th answer; its levels are valid until the next call.
 * SYM_DAMAGED: the data cannot be read, and the answer is empty. */
sym_status_t sym_resolver_answer(sym_resolver_t *r, uint32_t i,
                                 sym_answer_t *answer);

/* Same with the line that atos shows: docs/formats/macho.md. */
sym_status_t sym_resolver_statement(sym_resolver_t *r, uint32_t i,
                                    sym_answer_t *answer);

/* Prefetches for the i-th answer of a batch, which is written now, and for
 * those after it. */
void sym_resolver_fetch_ahead(const sym_resolver_t *r, uint32_t i);

/* The image base that was subtracted from the file's addresses. */
uint64_t sym_resolver_image_base(sym_resolver_t *r, uint32_t module);

/* The address of a byte of its file: see sym_symcache_offset(). */
bool sym_resolver_offset(sym_resolver_t *r, uint32_t module, uint64_t offset,
                         uint64_t *addr);

/* Returns a fact of a found module: see sym_symcache_info(). */
size_t sym_resolver_info(sym_resolver_t *r, uint32_t module, sym_info_t which,
                         char *out);

/* Returns the module's version control system: see
 * sym_symcache_source_server(). */
size_t sym_resolver_source_server(sym_resolver_t *r, uint32_t module,
                                  char *out);

/* Returns the module's SYM_FLAG_*; SYM_FLAG_FEATURES is always set. */
uint32_t sym_resolver_flags(sym_resolver_t *r, uint32_t module);

/* Returns a string of a module that was asked; valid until the next call; "" on
 * damage.  False: out of memory. */
bool sym_resolver_text(sym_resolver_t *r, uint32_t module, sym_string_ref_t ref,
                       sym_str_t *text);

/* Writes a string of the module in the resolver's style. */
void sym_resolver_write(sym_resolver_t *r, uint32_t module,
                        sym_string_ref_t ref, sym_out_t *out);

/* Same for the name of a level of an answer. */
void sym_resolver_write_name(sym_resolver_t *r, uint32_t module,
                             const sym_answer_t *answer, uint32_t level,
                             sym_out_t *out);

/* Same for the file of a level. */
void sym_resolver_write_file(sym_resolver_t *r, uint32_t module,
                             const sym_answer_t *answer, uint32_t level,
                             sym_out_t *out);

/* Returns the line of a level; in a batch it is stored next to the level's
 * texts. */
uint32_t sym_resolver_line(const sym_resolver_t *r, const sym_answer_t *answer,
                           uint32_t level);

/* A level of a batch with its rendered texts; SYM_TEXT_SLACK bytes after each
 * are readable.  Valid until the next chunk. */
typedef struct {
    sym_str_t function, file;
    uint32_t line;
} sym_frame_t;

/* False: a text is "", or had no room: write both with the functions above. */
bool sym_resolver_frame(const sym_resolver_t *r, const sym_answer_t *answer,
                        uint32_t level, sym_frame_t *frame);

/* Returns the demangled name, valid until the next call, for callers that write
 * texts themselves.  Without a cache of names it returns the name unchanged. */
sym_str_t sym_resolver_show(sym_resolver_t *r, sym_str_t name, uint8_t lang);

/* The name of a level as it is shown, as a text like sym_resolver_text()'s. */
bool sym_resolver_name_text(sym_resolver_t *r, uint32_t module,
                            const sym_answer_t *answer, uint32_t level,
                            sym_str_t *shown);

/* Charges the demangling since the last call to a budget counted in frames,
 * because demangling takes more time than everything else. */
void sym_resolver_charge(sym_resolver_t *r, uint32_t *budget);

/* Number of calls so far that found damaged bytes. */
uint64_t sym_resolver_damaged(const sym_resolver_t *r);

/* Returns the artifact of an object in each visible source, in order; record
 * NULL: none.  Views live as long as the snapshot. */
typedef void (*sym_records_pt)(void *ctx, uint32_t source, sym_str_t scope,
                               const sym_object_record_t *record);
void sym_resolver_records(sym_resolver_t *r, const sym_object_ref_t *ref,
                          sym_kind_t kind, sym_records_pt each, void *ctx);

/* Like sym_snapshot_objects() of one source, in this snapshot. */
sym_status_t sym_resolver_objects(sym_resolver_t *r, sym_str_t scope,
                                  sym_store_mark_t *mark, uint64_t *records,
                                  sym_object_each_pt each, void *ctx);

/* Returns the places of an object at a visible source. */
void sym_resolver_places(sym_resolver_t *r, uint32_t source,
                         const sym_lookup_t *of, sym_file_order_t order,
                         sym_place_each_pt each, void *ctx);

/* Returns the place of a text at a URL, in any source. */
void sym_resolver_url(sym_resolver_t *r, sym_str_t scope,
                      const sym_lookup_t *of, sym_place_each_pt each,
                      void *ctx);

#endif
