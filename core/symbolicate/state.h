/*
 * state.h - the state of a resolver.  Private to core/symbolicate.
 *
 * open.c finds and opens modules, ask.c looks up a chunk of questions, frames.c
 * returns their answers, text.c writes names and files.
 */
#ifndef SYM_SYMBOLICATE_STATE_H
#define SYM_SYMBOLICATE_STATE_H

#include "symbolicate/resolver.h"
#include "symbolicate/cache/strings.h"
#include "symbolicate/cache/texts.h"

typedef struct {
    sym_symcache_t cache;
    sym_resolver_t *resolver;
    sym_extent_get_pt get;
    void *get_ctx;
    uint64_t module_id;
    uint64_t hash; /* hash of the key, if there is a module cache */
    sym_str_t name;
    sym_extent_view_t *table; /* table of extents for the symcache */
    uint32_t n_table;
    bool is_open;    /* the symcache is open */
    bool is_lost;    /* see sym_resolver_resume() */
    bool is_unsound; /* an extent of the module is damaged */
} sym_opened_module_t;

typedef struct {
    uint32_t function_addr, function_size;
    uint32_t first_level;
    uint16_t n_levels;
    uint8_t lang;
    bool is_open; /* not looked up yet: no room, or the answer is cached */
    bool is_met;  /* an earlier request looked it up, too */
    bool is_damaged;
    sym_answer_cache_ref_t cached; /* position of the cached answer; place 0:
                                      not cached */
} sym_result_t;

/* Texts of a level of a batch; during the lookup, the form of the name. */
typedef struct {
    sym_text_t name, file;
    uint32_t line; /* a copy, so the level itself need not be fetched */
} sym_level_texts_t;

struct sym_resolver_s {
    sym_arena_t *arena;
    sym_store_t *store;
    sym_snapshot_t *snapshot;
    uint32_t now_s;
    const sym_scopes_t *scopes;

    sym_opened_module_t *modules;
    uint32_t n_modules;
    size_t remember_left;

    const sym_question_t *questions;
    uint32_t n_questions;
    uint64_t *order, *order_spare;
    sym_result_t *results;
    sym_level_t *levels;
    uint32_t n_levels, max_levels;
    sym_level_t *spare_levels;      /* room for one answer: SYM_LEVELS_MAX */
    sym_level_texts_t *level_texts; /* in a batch: the texts of each level; else
                                       NULL */
    sym_texts_t texts;

    char *text; /* buffer of sym_resolver_text(), and its size */
    size_t text_room;

    sym_string_cache_t string_cache;
    uint64_t n_texts; /* size for the string cache, which is created when
                         needed */
    sym_answer_cache_t *answer_cache; /* NULL: none */
    sym_module_cache_t *module_cache; /* NULL: none */
    sym_block_cache_t *block_cache;   /* NULL: none */
    sym_names_t *names;               /* NULL: names are not demangled */
    uint64_t version;                 /* version of the store */
    uint32_t form;
    unsigned name_style; /* SYM_DEMANGLE_* */
    bool demangles_all;  /* also demangles names that are stored as shown */
    sym_text_style_t style;
    uint64_t damaged;
    bool is_unsound;     /* set when a module is found damaged */
    uint64_t owed_bytes; /* bytes of demangled names, for the next charge */
};

_Static_assert(SYM_LEVELS_MAX <= UINT16_MAX, "sym_result_t counts in 16 bits");


/* Opens or reopens a symcache that was found; counts damage. */
sym_status_t sym_resolver_open_cache(sym_resolver_t *r, sym_opened_module_t *m,
                                     sym_error_t *err);

/* For a batch, after an answer was appended to the levels: makes the texts of
 * all levels from `first` on. */
void sym_resolver_expect_texts(sym_resolver_t *r, const sym_answer_t *answer);
void sym_resolver_make_texts(sym_resolver_t *r, uint32_t first);

/*
 * Finds the artifact of an object among the location's sources, and marks it as
 * used.  SYM_OK: *choice has a READY record, or the reason why the object is
 * missing; SYM_NOT_FOUND; SYM_DAMAGED.
 */
sym_status_t sym_resolver_choose(sym_resolver_t *r, const sym_lookup_t *of,
                                 sym_choice_t *choice, sym_missing_t *missing);

/* Copies the negative state of an object in the store; the reason if it failed
 * or is malformed.  SYM_NOT_FOUND, SYM_NOMEM. */
sym_status_t sym_resolver_tell(sym_resolver_t *r, const sym_choice_t *choice,
                               sym_missing_t *missing);

/* Returns the symcache of a found module.  NULL: it cannot be read. */
static inline sym_symcache_t *
sym_resolver_cache(sym_resolver_t *r, uint32_t module)
{
    sym_opened_module_t *m = &r->modules[module];
    sym_error_t err = { 0 };

    return m->is_open || sym_resolver_open_cache(r, m, &err) == SYM_OK
               ? &m->cache
               : NULL;
}


/* Same for the i-th question of the chunk. */
static inline sym_symcache_t *
sym_resolver_cache_of(sym_resolver_t *r, uint32_t i)
{
    return sym_resolver_cache(r, r->questions[i].module);
}


static inline sym_answer_cache_key_t
sym_resolver_answer_key(const sym_resolver_t *r, const sym_question_t *q)
{
    return (sym_answer_cache_key_t){ r->modules[q->module].module_id, q->addr,
                                     r->form };
}

#endif
