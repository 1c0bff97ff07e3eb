#include "symbolicate/resolver.h"

#include "base/json_plain.h"
#include "symbolicate/cache/strings.h"
#include "symbolicate/order.h"

/* Levels kept for a chunk; a question that finds no room among them is looked
 * up once more when its answer is asked for. */
#define LEVELS_PER_QUESTION 4

/* Bytes that the tables of extents may take: so that a request for many large
 * modules does not spend its memory on them. */
#define REMEMBER_BASE ((size_t) 64 * 1024)
#define REMEMBER_PER_QUESTION ((size_t) 32)

#define TEXTS_PER_QUESTION 4

/* Bytes of names whose demangling takes the time of a frame, about. */
#define BYTES_PER_FRAME 16

/* Questions that wait for memory at the same time. */
#define AHEAD 24

/* Texts are unpacked in words. */
#define TEXT_ROOM SYM_PART_ROOM

_Static_assert(TEXT_ROOM <= SYM_OUT_NEED_MAX, "any part fits a window");

typedef struct {
    sym_symcache_t cache;
    sym_resolver_t *resolver;
    uint64_t module_id;
    uint64_t hash; /* of its key, if there are known ones */
    sym_str_t name;
    sym_extent_view_t *table; /* for the symcache to remember extents in */
    uint32_t n_table;
    bool is_open;    /* the symcache is */
    bool is_lost;    /* see sym_resolver_resume() */
    bool is_unsound; /* an extent of it is not what was written */
} module_t;

typedef struct {
    uint32_t function_addr, function_size;
    uint32_t first_level;
    uint16_t n_levels;
    uint8_t lang;
    bool is_open; /* not looked up yet: found no room, or is kept */
    bool is_met;  /* of late, too */
    sym_answer_cache_ref_t kept; /* place 0: nowhere */
} result_t;

struct sym_resolver_s {
    sym_arena_t *arena;
    sym_store_t *store;
    sym_snapshot_t *snapshot;
    uint32_t now_s;
    const sym_scopes_t *scopes;

    module_t *modules;
    uint32_t n_modules;
    size_t remember_left;

    const sym_question_t *questions;
    uint64_t *order, *order_spare;
    result_t *results;
    sym_level_t *levels;
    uint32_t n_levels, max_levels;
    sym_level_t *spare_levels; /* SYM_LEVELS_MAX, for one answer */

    char *text; /* of sym_resolver_text(), with so much room */
    size_t text_room;

    sym_string_cache_t memo;
    uint64_t n_texts; /* for the memo, which is made when it is needed */
    sym_answer_cache_t *recent; /* NULL: none */
    sym_module_cache_t *known;  /* NULL: none */
    sym_names_t *names;         /* NULL: nothing is demangled */
    uint64_t version;           /* of the store */
    uint32_t form;
    uint64_t damaged;
    bool is_unsound;     /* a module is, since it was asked for */
    uint64_t owed_bytes; /* of names demangled, for the next charge */
};

_Static_assert(SYM_LEVELS_MAX <= UINT16_MAX, "result_t counts in 16 bits");


static bool
take_scratch(sym_resolver_t *r, uint64_t n_questions)
{
    size_t n = n_questions < SYM_RESOLVE_CHUNK ? (size_t) n_questions
                                               : SYM_RESOLVE_CHUNK;

    r->max_levels = (uint32_t) (n * LEVELS_PER_QUESTION + SYM_LEVELS_MAX);
    r->order = sym_arena_alloc(r->arena, 2 * n * sizeof(*r->order));
    r->results = sym_arena_alloc(r->arena, n * sizeof(*r->results));
    r->levels = sym_arena_alloc(r->arena, (r->max_levels + SYM_LEVELS_MAX)
                                              * sizeof(*r->levels));
    if (r->order == NULL || r->results == NULL || r->levels == NULL) {
        return false;
    }

    r->order_spare = r->order + n;
    r->spare_levels = r->levels + r->max_levels;
    return true;
}


sym_resolver_t *
sym_resolver_create(sym_arena_t *arena, sym_store_t *store,
                    sym_snapshot_t *snapshot, uint32_t now_s,
                    uint32_t n_modules, uint64_t n_questions)
{
    sym_resolver_t *r = sym_arena_calloc(arena, 1, sizeof(*r));

    if (r == NULL) {
        return NULL;
    }

    r->arena = arena;
    r->store = store;
    r->snapshot = snapshot;
    r->now_s = now_s;
    r->scopes = &sym_scopes_local;
    r->n_modules = n_modules;
    if (store != NULL) {
        sym_store_tell_time(store, now_s);
    }

    r->modules = sym_arena_calloc(arena, n_modules, sizeof(*r->modules));
    r->n_texts = n_questions * TEXTS_PER_QUESTION;
    r->remember_left = REMEMBER_BASE
                       + (n_questions < SIZE_MAX / (2 * REMEMBER_PER_QUESTION)
                              ? (size_t) n_questions * REMEMBER_PER_QUESTION
                              : 0);

    return r->modules != NULL && take_scratch(r, n_questions) ? r : NULL;
}


void
sym_resolver_use_cache(sym_resolver_t *r, sym_worker_cache_t *kept,
                       uint32_t form)
{
    if (kept != NULL && r->snapshot != NULL) {
        r->recent = form != 0 ? kept->recent : NULL;
        r->known = kept->known;
        r->version = sym_snapshot_version(r->snapshot);
    }

    r->form = form;
}


void
sym_resolver_use_scopes(sym_resolver_t *r, const sym_scopes_t *scopes)
{
    r->scopes = scopes;
}


void
sym_resolver_use_names(sym_resolver_t *r, sym_names_t *names)
{
    r->names = names;
}


/* --- modules --- */

static sym_status_t
get_extent(void *ctx, uint32_t number, const uint8_t **data, size_t *len)
{
    module_t *m = ctx;
    sym_status_t rc = sym_snapshot_extent_sound(
        m->resolver->snapshot, m->module_id, number, data, len);

    if (rc == SYM_DAMAGED && !m->is_unsound) {
        m->is_unsound = true;
        m->resolver->is_unsound = true;
    }

    return rc;
}


/* Without a table each access to an extent asks the store: right, but slow. */
static void
remember(sym_resolver_t *r, module_t *m)
{
    size_t bytes = m->cache.n_extents * sizeof(*m->table);

    if (m->table == NULL && bytes <= r->remember_left) {
        m->n_table = m->cache.n_extents;
        m->table = sym_arena_calloc(r->arena, m->n_table, sizeof(*m->table));
        r->remember_left -= m->table != NULL ? bytes : 0;
    }

    if (m->table != NULL && m->cache.n_extents <= m->n_table) {
        sym_symcache_remember(&m->cache, m->table);
    }
}


/* Names of files are short, but a store may say otherwise: the stack has room
 * for the longest fact. */
static sym_status_t
copy_name(sym_resolver_t *r, module_t *m)
{
    char text[TEXT_ROOM];
    size_t len = sym_symcache_info(&m->cache, SYM_INFO_CODE_FILE, text);

    m->name = sym_arena_copy(r->arena, sym_str(text, len));
    return m->name.data != NULL ? SYM_OK : SYM_NOMEM;
}


static void
close_cache(sym_resolver_t *r, module_t *m)
{
    r->damaged += m->cache.damaged;
    m->cache = (sym_symcache_t){ 0 };
    m->is_open = false;

    if (m->table != NULL) {
        memset(m->table, 0, m->n_table * sizeof(*m->table));
    }
}


static sym_status_t
open_cache(sym_resolver_t *r, module_t *m)
{
    sym_error_t err = { 0 };

    if (sym_symcache_open(&m->cache, get_extent, m, &err) != SYM_OK) {
        r->damaged++;
        return SYM_DAMAGED;
    }

    remember(r, m);
    m->is_open = true;
    return SYM_OK;
}


/* What the store holds against a module.  Only of one that failed anybody asks
 * why. */
static sym_status_t
tell_missing(sym_resolver_t *r, const sym_module_record_t *record,
             sym_missing_t *missing)
{
    missing->state = record->state;
    missing->expires_at = record->expires_at;

    if (record->state == SYM_MODULE_FAILED) {
        missing->reason = sym_arena_copy(r->arena, record->reason);
        return missing->reason.data != NULL ? SYM_NOT_FOUND : SYM_NOMEM;
    }

    return SYM_NOT_FOUND;
}


/* Of a clock that was put back nobody knows how long it counted. */
static bool
is_current(const sym_resolver_t *r, const sym_cached_module_t *known)
{
    return known->expires_at == 0
           || (known->expires_at > r->now_s
               && known->since <= r->now_s + SYM_CLOCK_SLACK_S);
}


/* True if it was met in this version of the store before. */
static bool
is_known(sym_resolver_t *r, module_t *m, const sym_module_key_t *key,
         sym_str_t spelling, sym_missing_t *missing, sym_status_t *rc)
{
    sym_cached_module_t known;

    if (r->known == NULL
        || !sym_module_cache_find(r->known, r->version, key, r->scopes->number,
                                  m->hash, &known)
        || !is_current(r, &known)
        || sym_snapshot_is_unsound(r->snapshot, known.module_id)
        || (known.state != SYM_MODULE_READY && spelling.len != 0))
    {
        return false;
    }

    sym_store_touch(r->store, known.slot, r->now_s);

    if (known.state != SYM_MODULE_READY) {
        const sym_module_record_t record = { .state = known.state,
                                             .expires_at = known.expires_at };

        *rc = tell_missing(r, &record, missing);
        return true;
    }

    m->module_id = known.module_id;
    m->name = sym_arena_copy(r->arena, known.name);
    *rc = m->name.data != NULL ? SYM_OK : SYM_NOMEM;
    return true;
}


/* Not what the sources are still to be asked for. */
static void
remember_module(sym_resolver_t *r, const module_t *m,
                const sym_module_key_t *key, const sym_module_record_t *record,
                const sym_outlook_t *outlook, sym_str_t name)
{
    if (r->known != NULL && record->state != SYM_MODULE_FAILED
        && !outlook->is_open) {
        sym_module_cache_add(
            r->known, r->version, key, r->scopes->number, m->hash,
            &(sym_cached_module_t){ .state = record->state,
                                    .since = r->now_s,
                                    .expires_at = outlook->until,
                                    .module_id = record->module_id,
                                    .slot = record->slot,
                                    .name = name });
    }
}


void
sym_resolver_expect(sym_resolver_t *r, uint32_t module,
                    const sym_module_key_t *key)
{
    if (r->known != NULL) {
        r->modules[module].hash =
            sym_module_cache_hash(r->known, key, r->scopes->number);
        sym_module_cache_expect(r->known, r->modules[module].hash);
    }
}


void
sym_resolver_fetch(const sym_resolver_t *r, uint32_t module)
{
    if (r->known != NULL) {
        sym_module_cache_fetch(r->known, r->modules[module].hash);
    }
}


static sym_status_t
open_module(sym_resolver_t *r, uint32_t module, const sym_module_key_t *key,
            sym_str_t spelling, sym_missing_t *missing)
{
    module_t *m = &r->modules[module];
    sym_module_record_t record;
    sym_module_key_t found;
    sym_outlook_t outlook;
    sym_error_t err = { 0 };
    sym_status_t rc;

    *missing = (sym_missing_t){ 0 };
    if (r->snapshot == NULL) {
        return SYM_NOT_FOUND;
    }

    m->resolver = r;
    if (is_known(r, m, key, spelling, missing, &rc)) {
        return rc;
    }

    rc = sym_snapshot_choose(r->snapshot, r->scopes, key, spelling, r->now_s,
                             &found, &record, &outlook, &err);
    if (rc != SYM_OK) {
        r->damaged += rc != SYM_NOT_FOUND;
        return rc == SYM_NOT_FOUND ? SYM_NOT_FOUND : SYM_DAMAGED;
    }

    sym_store_touch(r->store, record.slot, r->now_s);
    missing->is_open = outlook.is_open;

    if (record.state != SYM_MODULE_READY) {
        record.expires_at = outlook.until;
        remember_module(r, m, key, &record, &outlook, SYM_STR(""));
        return tell_missing(r, &record, missing);
    }

    m->module_id = record.module_id;
    rc = open_cache(r, m);
    if (rc == SYM_OK) {
        rc = copy_name(r, m);
    }

    if (rc == SYM_OK && m->cache.damaged == 0) {
        remember_module(r, m, key, &record, &outlook, m->name);
    }

    return rc;
}


/* One that proves to be damaged does not count any more; another source's may. */
sym_status_t
sym_resolver_open(sym_resolver_t *r, uint32_t module,
                  const sym_module_key_t *key, sym_str_t spelling,
                  sym_missing_t *missing)
{
    module_t *m = &r->modules[module];
    bool was_unsound = r->is_unsound;

    for (uint32_t i = 0; i <= r->scopes->n; i++) {
        sym_status_t rc = open_module(r, module, key, spelling, missing);

        if (!m->is_unsound) {
            return rc;
        }

        close_cache(r, m);
        m->is_unsound = false;
        r->is_unsound = was_unsound;
    }

    return SYM_DAMAGED;
}


/* Extents go with their module's record, all at once, and an id is never used
 * again: the first of them tells. */
static void
resume_module(sym_resolver_t *r, module_t *m)
{
    const uint8_t *data;
    size_t len;

    close_cache(r, m);
    m->is_lost = get_extent(m, 0, &data, &len) != SYM_OK;
}


void
sym_resolver_resume(sym_resolver_t *r, sym_store_t *store,
                    sym_snapshot_t *snapshot)
{
    r->store = store;
    r->snapshot = snapshot;
    r->recent = NULL;
    r->known = NULL;

    for (uint32_t i = 0; i < r->n_modules; i++) {
        if (r->modules[i].module_id != 0) {
            resume_module(r, &r->modules[i]);
        }
    }
}


bool
sym_resolver_met_unsound(sym_resolver_t *r)
{
    bool is_unsound = r->is_unsound;

    r->is_unsound = false;
    return is_unsound;
}


bool
sym_resolver_is_unsound(const sym_resolver_t *r, uint32_t module)
{
    return r->modules[module].is_unsound;
}


bool
sym_resolver_is_lost(const sym_resolver_t *r, uint32_t module)
{
    return r->modules[module].is_lost;
}


uint64_t
sym_resolver_source_bytes(sym_resolver_t *r, const sym_module_key_t *key,
                          sym_str_t spelling)
{
    sym_module_record_t record;
    sym_module_key_t found;
    sym_outlook_t outlook;
    sym_error_t err = { 0 };

    return sym_snapshot_choose(r->snapshot, r->scopes, key, spelling, r->now_s,
                               &found, &record, &outlook, &err)
                   == SYM_OK
               ? record.source_bytes
               : 0;
}


sym_str_t
sym_resolver_name(const sym_resolver_t *r, uint32_t module)
{
    return r->modules[module].name;
}


/* --- questions --- */

/* NULL: it cannot be read. */
static sym_symcache_t *
cache_of_module(sym_resolver_t *r, uint32_t module)
{
    module_t *m = &r->modules[module];

    return m->is_open || open_cache(r, m) == SYM_OK ? &m->cache : NULL;
}


static sym_symcache_t *
cache_of(sym_resolver_t *r, uint32_t i)
{
    return cache_of_module(r, r->questions[i].module);
}


uint64_t
sym_resolver_image_base(sym_resolver_t *r, uint32_t module)
{
    const sym_symcache_t *cache = cache_of_module(r, module);

    return cache != NULL ? cache->image_base : 0;
}


/* One question by itself. */
static void
look_up(sym_resolver_t *r, uint32_t i, sym_level_t *levels,
        sym_answer_t *answer)
{
    sym_symcache_t *cache = cache_of(r, i);

    *answer = (sym_answer_t){ 0 };
    if (cache != NULL) {
        /* damage is counted by the reader, and leaves an empty answer */
        (void) sym_symcache_lookup(cache, r->questions[i].addr, levels, answer);
    }
}


/* Questions that wait for memory together. */
#define GROUP 16

static void
keep_answer(sym_resolver_t *r, uint32_t i, const sym_probe_t *probe)
{
    result_t *result = &r->results[i];
    sym_answer_t answer;

    if (r->max_levels - r->n_levels < SYM_LEVELS_MAX) {
        return;
    }

    /* damage is counted by the reader, and leaves an empty answer */
    (void) sym_symcache_answer(probe, r->levels + r->n_levels, &answer);

    for (uint32_t k = 0; k < answer.n_levels; k++) {
        sym_symcache_expect(probe->sc, answer.levels[k].name);
        sym_symcache_expect(probe->sc, answer.levels[k].file);
    }

    result->is_open = false;
    result->function_addr = answer.function_addr;
    result->function_size = answer.function_size;
    result->first_level = r->n_levels;
    result->n_levels = (uint16_t) answer.n_levels;
    result->lang = answer.lang;
    r->n_levels += answer.n_levels;
}


/* The i-th question has the answer of another one, found or without room. */
static void
share_answer(sym_resolver_t *r, uint32_t i, uint32_t other)
{
    const result_t own = r->results[i];

    r->results[i] = r->results[other];
    r->results[i].is_met = own.is_met;
    r->results[i].kept = own.kept;
}


static void
look_up_group(sym_resolver_t *r, const uint64_t *order, uint32_t n)
{
    sym_probe_t group[GROUP];

    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = SYM_ORDER_PLACE(order[k]);
        sym_symcache_t *cache = cache_of(r, i);

        group[k].rc = SYM_NOT_FOUND; /* in a module that cannot be read */
        if (cache != NULL) {
            sym_symcache_seek(cache, r->questions[i].addr, &group[k]);
        }
    }

    sym_symcache_lead(group, n);

    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = SYM_ORDER_PLACE(order[k]);

        if (k > 0 && sym_symcache_is_same(&group[k], &group[k - 1])) {
            share_answer(r, i, SYM_ORDER_PLACE(order[k - 1]));
        } else {
            keep_answer(r, i, &group[k]);
        }
    }
}


static sym_answer_cache_key_t
recent_key(const sym_resolver_t *r, const sym_question_t *q)
{
    return (sym_answer_cache_key_t){ r->modules[q->module].module_id, q->addr,
                                     r->form };
}


static void
expect(const sym_resolver_t *r, const sym_question_t *questions, uint32_t n)
{
    for (uint32_t i = 0; r->recent != NULL && i < n; i++) {
        sym_answer_cache_key_t key = recent_key(r, &questions[i]);

        sym_answer_cache_expect(r->recent, &key);
    }
}


/* True if the answer is kept from another request. */
static bool
is_kept(const sym_resolver_t *r, const sym_question_t *q, result_t *result)
{
    sym_answer_cache_key_t key;

    *result = (result_t){ .is_open = true };
    if (r->recent == NULL) {
        return false;
    }

    key = recent_key(r, q);
    switch (sym_answer_cache_meet(r->recent, &key, &result->kept)) {
    case SYM_RECENT_KEPT:
        return true;
    case SYM_RECENT_MET:
        result->is_met = true;
        break;
    case SYM_RECENT_NEW:
        break;
    }

    return false;
}


void
sym_resolver_ask(sym_resolver_t *r, const sym_question_t *questions, uint32_t n)
{
    const uint64_t *order;
    uint32_t n_new = 0;

    r->questions = questions;
    r->n_levels = 0;

    expect(r, questions, n < AHEAD ? n : AHEAD);

    for (uint32_t i = 0; i < n; i++) {
        const sym_question_t *q = &questions[i];

        if (i + AHEAD < n) {
            expect(r, q + AHEAD, 1);
        }

        if (!is_kept(r, q, &r->results[i])) {
            r->order[n_new++] = sym_order_key(q->module, q->addr, i);
        }
    }

    /* neighbours share a block, its page and its decoded head */
    order = sym_order_sort(r->order, r->order_spare, n_new);

    for (uint32_t i = 0; i < n_new; i += GROUP) {
        look_up_group(r, order + i, n_new - i < GROUP ? n_new - i : GROUP);
    }
}


void
sym_resolver_answer(sym_resolver_t *r, uint32_t i, sym_answer_t *answer)
{
    const result_t *result = &r->results[i];

    if (result->is_open) {
        look_up(r, i, r->spare_levels, answer);
        return;
    }

    *answer = (sym_answer_t){ .function_addr = result->function_addr,
                              .function_size = result->function_size,
                              .lang = result->lang,
                              .n_levels = result->n_levels,
                              .levels = r->levels + result->first_level };
}


void
sym_resolver_statement(sym_resolver_t *r, uint32_t i, sym_answer_t *answer)
{
    sym_level_t innermost;

    sym_resolver_answer(r, i, answer);

    if (answer->n_levels == 0
        || !sym_symcache_statement(cache_of(r, i), r->questions[i].addr,
                                   &innermost))
    {
        return;
    }

    /* other questions have these levels, too */
    if (answer->levels != r->spare_levels) {
        memcpy(r->spare_levels, answer->levels,
               answer->n_levels * sizeof(*answer->levels));
        answer->levels = r->spare_levels;
    }

    answer->levels[0].file = innermost.file;
    answer->levels[0].line = innermost.line;
}


bool
sym_resolver_repeat(sym_resolver_t *r, uint32_t i, sym_out_t *out)
{
    const result_t *result = &r->results[i];
    sym_answer_cache_key_t key;
    const char *text;

    if (result->kept.place == 0) {
        return false;
    }

    key = recent_key(r, &r->questions[i]);
    text = sym_answer_cache_text(r->recent, &key, &result->kept);
    if (text == NULL) {
        return false;
    }

    if (sym_out_room(out, result->kept.len)) {
        memcpy(out->pos, text, result->kept.len);
        out->pos += result->kept.len;
    }

    return true;
}


void
sym_resolver_keep(sym_resolver_t *r, uint32_t i, const char *start,
                  uint64_t before, const sym_out_t *out)
{
    const sym_question_t *q = &r->questions[i];
    sym_answer_cache_key_t key;

    /* nor what lies in two windows, or comes from a module that is damaged */
    if (!r->results[i].is_met || before != out->before || out->failed
        || r->modules[q->module].cache.damaged != 0)
    {
        return;
    }

    key = recent_key(r, q);
    sym_answer_cache_keep(r->recent, &key, start, (size_t) (out->pos - start));
}


/* --- texts --- */

/* Escapes a text that was unpacked to where it is to be written. */
static void
escape_text(sym_out_t *out, size_t len)
{
    char text[TEXT_ROOM];

    memcpy(text, out->pos, len);
    sym_out_escaped(out, sym_str(text, len));
}


/* False: it has several parts. */
static bool
write_part(sym_symcache_t *cache, sym_string_ref_t ref, sym_out_t *out)
{
    size_t len, room = (size_t) (out->end - out->pos);
    uint64_t damaged = cache->damaged;
    bool is_plain;

    if (room < TEXT_ROOM) {
        if (sym_symcache_string_len(cache, ref, &len, &is_plain) != SYM_OK) {
            return true;
        }

        if (len > SYM_PART_BYTES_MAX) {
            return false;
        }

        if (!sym_out_room(out, len + SYM_STRING_SLACK)) {
            return true;
        }
        room = (size_t) (out->end - out->pos);
    }

    len = sym_symcache_string_within(
        cache, ref, out->pos, room < TEXT_ROOM ? room : TEXT_ROOM, &is_plain);
    if (len == 0) {
        return ref == SYM_NO_REF || cache->damaged != damaged;
    }

    /* the symcache says so, too, but one damaged byte must not spoil the
     * document for the client */
    if (sym_is_plain(sym_str(out->pos, len))) {
        out->pos += len;
    } else {
        escape_text(out, len);
    }

    return true;
}


static void
write_text(sym_symcache_t *cache, sym_string_ref_t ref, sym_out_t *out)
{
    sym_string_ref_t parts[SYM_PARTS_MAX];
    uint32_t n;

    if (write_part(cache, ref, out)) {
        return;
    }

    n = sym_symcache_parts(cache, ref, parts);
    for (uint32_t i = 0; i < n; i++) {
        (void) write_part(cache, parts[i], out);
    }
}


sym_str_t
sym_resolver_show(sym_resolver_t *r, sym_str_t name, uint8_t lang)
{
    uint64_t before;
    sym_str_t shown;

    if (r->names == NULL) {
        return name;
    }

    before = sym_names_counts(r->names).demangled_bytes;
    shown = sym_names_show(r->names, name, lang, SYM_DEMANGLE_FULL);
    r->owed_bytes += sym_names_counts(r->names).demangled_bytes - before;
    return shown;
}


static void
write_shown(sym_resolver_t *r, sym_symcache_t *cache, sym_string_ref_t ref,
            uint8_t lang, sym_out_t *out)
{
    char text[SYM_MANGLED_MAX + SYM_STRING_SLACK];
    bool is_plain;
    size_t len;
    sym_str_t shown;

    if (sym_symcache_string_len(cache, ref, &len, &is_plain) != SYM_OK
        || len > SYM_MANGLED_MAX)
    {
        write_text(cache, ref, out);
        return;
    }

    len = sym_symcache_string_within(cache, ref, text, sizeof(text), &is_plain);
    shown = sym_resolver_show(r, sym_str(text, len), lang);

    if (sym_is_plain(shown)) {
        sym_out_raw(out, shown);
    } else {
        sym_out_escaped(out, shown);
    }
}


/* Forms of a text in the memo: as it is kept, or as a name of a language. */
#define FORM_KEPT 0u
#define FORM_NAME(lang) ((lang) + 1u)
#define FORM_LANG(form) ((uint8_t) ((form) -1))

static inline void
write_form(sym_resolver_t *r, sym_symcache_t *cache, sym_string_ref_t ref,
           uint32_t form, sym_out_t *out)
{
    if (form == FORM_KEPT) {
        write_text(cache, ref, out);
    } else {
        write_shown(r, cache, ref, FORM_LANG(form), out);
    }
}


bool
sym_resolver_text(sym_resolver_t *r, uint32_t module, sym_string_ref_t ref,
                  sym_str_t *text)
{
    sym_symcache_t *cache = &r->modules[module].cache;
    bool is_plain;
    size_t len;

    *text = SYM_STR("");
    if (sym_symcache_string_len(cache, ref, &len, &is_plain) != SYM_OK) {
        return true;
    }

    if (r->text == NULL || len + SYM_STRING_SLACK > r->text_room) {
        r->text_room = len <= SYM_PART_BYTES_MAX
                           ? SYM_PART_ROOM
                           : SYM_STRING_MAX + SYM_STRING_SLACK;
        r->text = sym_arena_alloc(r->arena, r->text_room);
        if (r->text == NULL) {
            return false;
        }
    }

    *text = sym_str(r->text, sym_symcache_string_within(
                                 cache, ref, r->text, r->text_room, &is_plain));
    return true;
}


static inline void
write_again(sym_resolver_t *r, uint32_t module, sym_string_ref_t ref,
            uint32_t form, sym_out_t *out)
{
    sym_symcache_t *cache = &r->modules[module].cache;
    sym_string_cache_slot_t *slot;
    const char *start;
    uint64_t before;

    if (r->n_texts != 0) {
        sym_string_cache_init(&r->memo, r->arena, r->n_texts);
        r->n_texts = 0;
    }

    if (r->memo.slots == NULL) {
        write_form(r, cache, ref, form, out);
        return;
    }

    slot = sym_string_cache_slot(&r->memo, module, ref);
    if (!sym_string_cache_meet(slot, module, ref, form)) {
        write_form(r, cache, ref, form, out);
        return;
    }

    if (slot->text != NULL) {
        sym_string_cache_write(slot, out);
        return;
    }

    start = out->pos;
    before = out->before;
    write_form(r, cache, ref, form, out);

    /* unless it lies in two windows, or in another */
    if (start != NULL && before == out->before && out->pos > start) {
        sym_string_cache_keep(&r->memo, slot, start,
                              (size_t) (out->pos - start));
    }
}


void
sym_resolver_write(sym_resolver_t *r, uint32_t module, sym_string_ref_t ref,
                   sym_out_t *out)
{
    write_again(r, module, ref, FORM_KEPT, out);
}


void
sym_resolver_write_name(sym_resolver_t *r, uint32_t module,
                        const sym_answer_t *answer, uint32_t level,
                        sym_out_t *out)
{
    bool is_shown =
        r->names != NULL && r->modules[module].cache.has_linker_names;

    write_again(
        r, module, answer->levels[level].name,
        is_shown ? FORM_NAME(sym_answer_lang(answer, level)) : FORM_KEPT, out);
}


void
sym_resolver_charge(sym_resolver_t *r, uint32_t *budget)
{
    uint64_t frames = r->owed_bytes / BYTES_PER_FRAME;

    r->owed_bytes -= frames * BYTES_PER_FRAME;
    *budget -= frames < *budget ? (uint32_t) frames : *budget;
}


uint64_t
sym_resolver_damaged(const sym_resolver_t *r)
{
    uint64_t damaged = r->damaged;

    for (uint32_t i = 0; i < r->n_modules; i++) {
        damaged += r->modules[i].cache.damaged;
    }

    return damaged;
}
