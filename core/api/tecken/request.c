#include "api/tecken/request.h"


#define LIST_FIRST 8u
#define TABLE_FIRST 64u

/* With up to this many pairs, comparing is faster than hashing. */
#define FEW_PAIRS 8u

void *
list_add(sym_arena_t *arena, list_t *list, size_t size)
{
    uint8_t *item;

    if (list->n == list->cap) {
        uint32_t cap = list->cap == 0 ? LIST_FIRST : list->cap * 2;
        void *grown;

        if (cap > FRAME_MODULE_MASK
            || (grown = sym_arena_alloc(arena, cap * size)) == NULL)
        {
            return NULL;
        }

        if (list->n != 0) {
            memcpy(grown, list->items, list->n * size);
        }
        list->items = grown;
        list->cap = cap;
    }

    item = (uint8_t *) list->items + list->n * size;
    memset(item, 0, size);
    list->n++;
    return item;
}


bool
request_line(sym_tecken_t *t, sym_str_t text)
{
    request_t *q = &t->request;
    line_t *line = list_add(t->base.arena, &q->lines, sizeof(*line));

    if (line == NULL) {
        return false;
    }

    *line = (line_t){ .jobs = q->jobs.n,
                      .stacks = q->stacks.n,
                      .entries = q->entries.n,
                      .wide = q->wide.n,
                      .texts = q->texts.n,
                      .frames = q->n_frames };
    t->text = text;
    t->direct = NULL;
    return true;
}


void
request_rewind(sym_tecken_t *t)
{
    request_t *q = &t->request;
    const line_t *line = request_last_line(q);

    q->jobs.n = line->jobs;
    q->stacks.n = line->stacks;
    q->entries.n = line->entries;
    q->wide.n = line->wide;
    q->texts.n = line->texts;
    q->n_frames = line->frames;
    q->blocks.n = (line->frames + FRAME_BLOCK - 1) / FRAME_BLOCK;
}


bool
request_job(sym_tecken_t *t)
{
    request_t *q = &t->request;
    job_t *job = list_add(t->base.arena, &q->jobs, sizeof(*job));

    if (job == NULL) {
        return false;
    }

    job->first_entry = q->entries.n;
    job->first_stack = q->stacks.n;
    return true;
}


static job_t *
last_job(const request_t *q)
{
    return (job_t *) q->jobs.items + q->jobs.n - 1;
}


bool
request_stack(sym_tecken_t *t)
{
    uint32_t *frames =
        list_add(t->base.arena, &t->request.stacks, sizeof(*frames));

    if (frames == NULL) {
        return false;
    }

    last_job(&t->request)->n_stacks++;
    return true;
}


void
request_stack_end(sym_tecken_t *t, uint32_t n_frames)
{
    uint32_t *stacks = t->request.stacks.items;

    stacks[t->request.stacks.n - 1] = n_frames;
}


/* The first block of a small request is not larger than its body can fill. */
bool
request_block(sym_tecken_t *t)
{
    request_t *q = &t->request;
    frame_t **block = list_add(t->base.arena, &q->blocks, sizeof(*block));
    size_t n = FRAME_BLOCK;

    if (block == NULL || q->n_frames > UINT32_MAX - FRAME_BLOCK) {
        return false;
    }

    /* length of "[0,0]" and a comma or bracket */
    if (t->base.body.len / 6 + 1 < n) {
        n = t->base.body.len / 6 + 1;
    }

    *block = sym_arena_alloc(t->base.arena, n * sizeof(**block));
    return *block != NULL;
}


bool
request_offset(sym_tecken_t *t, int64_t index, uint64_t offset)
{
    request_t *q = &t->request;
    uint64_t *wide;

    if (offset <= UINT32_MAX) {
        return request_frame(t, FRAME_PLAIN, index, (uint32_t) offset);
    }

    wide = list_add(t->base.arena, &q->wide, sizeof(*wide));
    if (wide == NULL) {
        return false;
    }

    *wide = offset;
    return request_frame(t, FRAME_WIDE, index, q->wide.n - 1);
}


bool
request_text(sym_tecken_t *t, frame_kind_t kind, int64_t index, sym_str_t text)
{
    request_t *q = &t->request;
    sym_str_t *item = list_add(t->base.arena, &q->texts, sizeof(*item));

    if (item == NULL) {
        return false;
    }

    *item = text;
    return request_frame(t, kind, index, q->texts.n - 1);
}


/* --- pairs of name and id --- */

static uint32_t
hash_of(const request_t *q, sym_str_t name, sym_str_t id)
{
    sym_hash_state_t s = sym_hash_begin(&q->key);

    sym_hash_add(&s, id);
    sym_hash_add(&s, name);
    return (uint32_t) sym_hash_end(s);
}


static bool
table_grow(sym_tecken_t *t)
{
    request_t *q = &t->request;
    pair_t *pairs = q->pairs.items;
    const bool is_first = q->table == NULL;
    uint32_t size = is_first ? TABLE_FIRST : (q->table_mask + 1) * 2;

    q->table = sym_arena_calloc(t->base.arena, size, sizeof(*q->table));
    if (q->table == NULL) {
        return false;
    }

    q->table_mask = size - 1;
    if (is_first) {
        q->key = sym_hash_key();
    }

    for (uint32_t i = 0; i < q->pairs.n; i++) {
        uint32_t at;

        if (is_first) {
            pairs[i].hash = hash_of(q, pairs[i].name, pairs[i].id);
        }

        at = pairs[i].hash & q->table_mask;
        while (q->table[at] != 0) {
            at = (at + 1) & q->table_mask;
        }
        q->table[at] = i + 1;
    }

    return true;
}


static bool
is_pair(const pair_t *pair, sym_str_t name, sym_str_t id)
{
    return sym_str_eq(pair->id, id) && sym_str_eq(pair->name, name);
}


static bool
add_pair(sym_tecken_t *t, sym_str_t name, sym_str_t id, uint32_t hash)
{
    pair_t *pair = list_add(t->base.arena, &t->request.pairs, sizeof(*pair));

    if (pair == NULL) {
        return false;
    }

    *pair = (pair_t){ .name = name, .id = id, .hash = hash };
    return true;
}


static bool
find_of_few(sym_tecken_t *t, sym_str_t name, sym_str_t id, uint32_t *number)
{
    const list_t *list = &t->request.pairs;
    const pair_t *pairs = list->items;

    for (*number = 0; *number < list->n; (*number)++) {
        if (is_pair(&pairs[*number], name, id)) {
            return true;
        }
    }

    return add_pair(t, name, id, 0);
}


static bool
find_hashed(sym_tecken_t *t, sym_str_t name, sym_str_t id, uint32_t *number)
{
    request_t *q = &t->request;
    const pair_t *pairs = q->pairs.items;
    uint32_t hash = hash_of(q, name, id), at = hash & q->table_mask;

    for (; q->table[at] != 0; at = (at + 1) & q->table_mask) {
        *number = q->table[at] - 1;
        if (pairs[*number].hash == hash && is_pair(&pairs[*number], name, id)) {
            return true;
        }
    }

    if (!add_pair(t, name, id, hash)) {
        return false;
    }

    *number = q->pairs.n - 1;
    q->table[at] = q->pairs.n;
    return true;
}


/* Returns the number of a pair, assigned at its first appearance. */
static bool
find_pair(sym_tecken_t *t, sym_str_t name, sym_str_t id, uint32_t *number)
{
    const request_t *q = &t->request;

    if (q->table == NULL && q->pairs.n < FEW_PAIRS) {
        return find_of_few(t, name, id, number);
    }

    if ((q->table == NULL || q->pairs.n > q->table_mask / 2) && !table_grow(t))
    {
        return false;
    }

    return find_hashed(t, name, id, number);
}


bool
request_entry(sym_tecken_t *t, sym_str_t name, sym_str_t id)
{
    request_t *q = &t->request;
    uint32_t number, *entry;

    if (!find_pair(t, name, id, &number)) {
        return false;
    }

    entry = list_add(t->base.arena, &q->entries, sizeof(*entry));
    if (entry == NULL) {
        return false;
    }

    *entry = number;
    last_job(q)->n_entries++;
    return true;
}


/* --- after reading --- */

uint32_t
request_line_end(const request_t *q, uint32_t line)
{
    const line_t *lines = q->lines.items;

    return line + 1 == q->lines.n ? q->jobs.n : lines[line + 1].jobs;
}


/* Same for the next n frames of a job, starting at *frame. */
static uint32_t
mark_frames(request_t *q, const job_t *job, uint32_t line, uint32_t *frame,
            uint32_t n)
{
    const uint32_t *entries = q->entries.items;
    pair_t *pairs = q->pairs.items;
    uint32_t marked = 0;

    for (; n > 0; n--, (*frame)++) {
        uint32_t place = request_frame_at(q, *frame).place;
        uint32_t index = place & FRAME_MODULE_MASK;

        if (index != FRAME_NO_MODULE
            && place >> FRAME_KIND_SHIFT != FRAME_WHOLE) {
            pairs[entries[job->first_entry + index]].line = line + 1;
            marked++;
        }
    }

    return marked;
}


uint32_t
request_mark(request_t *q, uint32_t line)
{
    const line_t *lines = q->lines.items;
    const job_t *jobs = q->jobs.items;
    const uint32_t *stacks = q->stacks.items;
    uint32_t end = request_line_end(q, line);
    uint32_t frame = lines[line].frames, marked = 0;

    for (uint32_t j = lines[line].jobs; j < end; j++) {
        for (uint32_t s = 0; s < jobs[j].n_stacks; s++) {
            marked += mark_frames(q, &jobs[j], line, &frame,
                                  stacks[jobs[j].first_stack + s]);
        }
    }

    return marked;
}


static sym_status_t
collect_modules(sym_tecken_t *t)
{
    request_t *q = &t->request;
    pair_t *pairs = q->pairs.items;
    sym_object_ref_t *refs;
    uint32_t n = 0;

    for (uint32_t i = 0; i < q->pairs.n; i++) {
        /* without a name or an id, no source can have the module */
        if (pairs[i].line != 0 && pairs[i].name.len != 0
            && pairs[i].id.len != 0) {
            pairs[i].used = ++n;
        }
    }

    t->base.stats.modules = n;
    t->base.needs = sym_arena_calloc(t->base.arena, n, sizeof(*t->base.needs));
    refs = sym_arena_alloc(t->base.arena, n * sizeof(*refs));
    if (t->base.needs == NULL || refs == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < q->pairs.n; i++) {
        if (pairs[i].used != 0) {
            n = pairs[i].used - 1;
            sym_object_ref_mozilla(&refs[n], pairs[i].name, pairs[i].id);
            t->base.needs[n] = (sym_need_t){ .ref = &refs[n],
                                             .kind = SYM_KIND_SYMCACHE,
                                             .found = SYM_NEED_MISSING };
        }
    }

    return SYM_OK;
}


sym_status_t
request_finish(sym_tecken_t *t)
{
    request_t *q = &t->request;

    for (uint32_t i = 0; i < q->lines.n; i++) {
        q->n_real += request_mark(q, i);
    }

    t->base.stats.jobs = q->jobs.n;
    t->base.stats.stacks = q->stacks.n;
    t->base.stats.frames = q->n_frames;
    return collect_modules(t);
}
