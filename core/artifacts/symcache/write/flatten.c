#include "artifacts/symcache/write/flatten.h"
#include "artifacts/symcache/write/flatten_sort.h"

#include <stdlib.h>

#include "base/buffer.h"

/* Limit on cutting and requeueing of ranges that overlap badly.  In real files
   such ranges are rare. */
#define REQUEUE_PER_INLINE 16
#define REQUEUE_MIN 1024

/* State of the sweep over one function. */
typedef struct {
    sym_flatten_t *fl;
    const sym_function_t *f;
    uint64_t end; /* end of the function */

    const sym_line_t *lines; /* sorted, and no line is inside another one */
    size_t n_lines, next_line;
    size_t n_queue, next_queued;
    uint32_t seq;
    bool is_tied; /* some ranges begin at one address and depth */
    uint64_t requeues_left;

    /* the line record at the sweep's position */
    uint32_t file, line;
    uint64_t line_end;
} sweep_t;

void
sym_flatten_init(sym_flatten_t *fl, sym_error_t *err)
{
    memset(fl, 0, sizeof(*fl));
    fl->err = err;
}


void
sym_flatten_free(sym_flatten_t *fl)
{
    free(fl->segments);
    free(fl->nodes);
    free(fl->lines);
    free(fl->queue);
    free(fl->spare);
    free(fl->heap);
    free(fl->table);
    sym_flatten_init(fl, fl->err);
}


static sym_status_t
out_of_memory(sym_flatten_t *fl)
{
    return sym_fail(fl->err, SYM_NOMEM, "no memory for a function");
}


/* Makes room for another item at *items. */
#define ROOM(fl, items, n, size)                                               \
    ((n) < (size)                                                              \
     || grow((fl), (void **) &(items), &(size), (n) + 1, sizeof(*(items))))

static bool
grow(sym_flatten_t *fl, void **items, size_t *size, size_t need, size_t each)
{
    void *grown = sym_array_grow(*items, size, need, each);

    if (grown == NULL) {
        (void) out_of_memory(fl);
        return false;
    }

    *items = grown;
    return true;
}


/* --- the queue of inline ranges --- */

/*
 * The heap decides the order of ranges with equal starts, as in Mozilla's
 * server.  That order depends on how items move, so they move as in the
 * BinaryHeap of Rust's library.
 */
static void
lift(sym_flatten_t *fl, size_t at, sym_pending_t item)
{
    for (; at > 0 && sym_pending_before(&item, &fl->heap[(at - 1) / 2]);
         at = (at - 1) / 2)
    {
        fl->heap[at] = fl->heap[(at - 1) / 2];
    }

    fl->heap[at] = item;
}


static sym_status_t
push_heap(sym_flatten_t *fl, sym_pending_t item)
{
    if (!ROOM(fl, fl->heap, fl->n_heap, fl->heap_size)) {
        return fl->err->status;
    }

    lift(fl, fl->n_heap++, item);
    return SYM_OK;
}


static sym_pending_t
pop_heap(sym_flatten_t *fl)
{
    sym_pending_t top = fl->heap[0], last = fl->heap[--fl->n_heap];
    size_t at = 0, child;

    /* moves down to the bottom, to the right of two equals, and up again */
    for (; (child = 2 * at + 1) < fl->n_heap; at = child) {
        child += child + 1 < fl->n_heap
                 && !sym_pending_before(&fl->heap[child], &fl->heap[child + 1]);
        fl->heap[at] = fl->heap[child];
    }

    lift(fl, at, last);
    return top;
}


static sym_status_t
put_back(sweep_t *w, sym_pending_t item, uint64_t addr)
{
    if (w->requeues_left-- == 0) {
        return sym_fail(w->fl->err, SYM_LIMIT,
                        "inline ranges overlap too often");
    }

    item.addr = (uint32_t) addr; /* < end of the range <= 2^32 */
    item.seq = w->is_tied ? 0 : w->seq++;
    return push_heap(w->fl, item);
}


static const sym_pending_t *
next_inline(const sweep_t *w)
{
    const sym_flatten_t *fl = w->fl;
    const sym_pending_t *queued =
        w->next_queued < w->n_queue ? &fl->queue[w->next_queued] : NULL;

    if (fl->n_heap != 0
        && (queued == NULL || sym_pending_before(&fl->heap[0], queued)))
    {
        return &fl->heap[0];
    }

    return queued;
}


static sym_pending_t
take_inline(sweep_t *w)
{
    const sym_pending_t *next = next_inline(w);

    if (w->fl->n_heap != 0 && next == &w->fl->heap[0]) {
        return pop_heap(w->fl);
    }

    w->next_queued++;
    return *next;
}


/* --- nodes and segments --- */

static uint32_t
innermost(const sym_flatten_t *fl)
{
    return fl->n_open == 0 ? 0 : fl->open[fl->n_open - 1].node;
}


static inline sym_status_t
put_segment(sym_flatten_t *fl, uint64_t addr, uint32_t node, uint32_t file,
            uint32_t line)
{
    sym_segment_t *last;

    if (fl->n_segments != 0 && fl->segments[fl->n_segments - 1].addr == addr) {
        fl->n_segments--; /* the last entry for an address wins */
    }

    if (!ROOM(fl, fl->segments, fl->n_segments, fl->segments_size)) {
        return fl->err->status;
    }

    last = &fl->segments[fl->n_segments++];
    last->addr = (uint32_t) addr;
    last->node = node;
    last->file = file;
    last->line = file == SYM_NO_STRING ? 0 : line;
    return SYM_OK;
}


static size_t
node_slot(const sym_flatten_t *fl, const sym_flat_node_t *n)
{
    uint64_t h = ((uint64_t) n->parent << 32 | n->name) * 0x9e3779b97f4a7c15u;

    h = (h ^ h >> 32 ^ ((uint64_t) n->call_file << 32 | n->call_line))
        * 0xff51afd7ed558ccdu;

    return (size_t) (h >> 32) & (fl->n_table - 1);
}


/* Clears the hash table and makes it large enough for n nodes at half load. */
static sym_status_t
size_table(sym_flatten_t *fl, size_t n)
{
    size_t want = 16;
    uint32_t *table;

    while (want < 2 * n) {
        want *= 2;
    }

    if (want > fl->table_size) {
        table = realloc(fl->table, want * sizeof(*table));
        if (table == NULL) {
            return out_of_memory(fl);
        }
        fl->table = table;
        fl->table_size = want;
    }

    fl->n_table = want;
    memset(fl->table, 0, want * sizeof(*fl->table));

    for (uint32_t i = 1; i < fl->n_nodes; i++) {
        size_t at = node_slot(fl, &fl->nodes[i]);

        while (fl->table[at] != 0) {
            at = (at + 1) & (fl->n_table - 1);
        }
        fl->table[at] = i;
    }

    return SYM_OK;
}


/* The node of a call, shared by its ranges. */
static sym_status_t
find_node(sym_flatten_t *fl, const sym_flat_node_t *want, uint32_t *node)
{
    size_t at;

    for (at = node_slot(fl, want); fl->table[at] != 0;
         at = (at + 1) & (fl->n_table - 1))
    {
        const sym_flat_node_t *n = &fl->nodes[fl->table[at]];

        if (n->parent == want->parent && n->name == want->name
            && n->call_line == want->call_line
            && n->call_file == want->call_file)
        {
            *node = fl->table[at];
            return SYM_OK;
        }
    }

    if (!ROOM(fl, fl->nodes, fl->n_nodes, fl->nodes_size)) {
        return fl->err->status;
    }

    *node = (uint32_t) fl->n_nodes++;
    fl->nodes[*node] = *want;
    fl->table[at] = *node;

    return 2 * fl->n_nodes > fl->n_table ? size_table(fl, 2 * fl->n_nodes)
                                         : SYM_OK;
}


/* Opens an inline range at its address, if that is possible. */
static sym_status_t
open_inline(sweep_t *w, sym_pending_t p)
{
    sym_flatten_t *fl = w->fl;
    const sym_inline_t *in = &w->f->inlines[p.which];
    uint64_t parent_end;
    uint32_t parent, node = 0;

    if (fl->n_open > p.depth) {
        /* another range at this depth has not ended: this one begins after
           it */
        if (p.end > fl->open[p.depth].end) {
            return put_back(w, p, fl->open[p.depth].end);
        }
        fl->dropped++;
        return SYM_OK;
    }

    if (fl->n_open < p.depth) {
        fl->dropped++; /* the calls that it is inlined into do not exist */
        return SYM_OK;
    }

    parent_end = p.depth == 0 ? w->end : fl->open[p.depth - 1].end;
    if (p.end > parent_end) {
        /* the rest would begin after the end of the function */
        if (parent_end < w->end && put_back(w, p, parent_end) != SYM_OK) {
            return fl->err->status;
        }
        p.end = parent_end;
    }

    parent = innermost(fl);
    if (find_node(fl,
                  &(sym_flat_node_t){ parent, in->name, in->call_file,
                                      in->call_line },
                  &node)
        != SYM_OK)
    {
        return fl->err->status;
    }

    fl->open[fl->n_open++] = (sym_open_t){ p.end, node };

    /* up to the next line record, the caller's position is that of the call */
    return put_segment(fl, p.addr, parent, in->call_file, in->call_line);
}


/* --- the sweep --- */

/* Whether lines are sorted and inside the function, as compilers usually write
 * them. */
static bool
are_lines_settled(const sweep_t *w)
{
    uint64_t free_from = w->f->addr;

    for (size_t i = 0; i < w->f->n_lines; i++) {
        const sym_line_t *l = &w->f->lines[i];

        if (l->addr < free_from || l->addr >= w->end) {
            return false;
        }
        free_from = (uint64_t) l->addr + l->size;
    }

    return true;
}


/* A record that begins inside the previous one is ignored. */
static void
drop_inner_lines(sweep_t *w)
{
    sym_line_t *lines = w->fl->lines;
    uint64_t free_from = 0;
    size_t n = 0;

    for (size_t i = 0; i < w->n_lines; i++) {
        if (lines[i].addr >= free_from) {
            free_from = (uint64_t) lines[i].addr + lines[i].size;
            lines[n++] = lines[i];
        }
    }

    w->fl->dropped += w->n_lines - n;
    w->n_lines = n;
}


static sym_status_t
prepare_lines(sweep_t *w)
{
    sym_flatten_t *fl = w->fl;
    const sym_function_t *f = w->f;

    if (are_lines_settled(w)) {
        w->lines = f->lines;
        w->n_lines = f->n_lines;
        return SYM_OK;
    }

    for (size_t i = 0; i < f->n_lines; i++) {
        if (f->lines[i].addr < f->addr || f->lines[i].addr >= w->end) {
            fl->dropped++;
            continue;
        }

        if (!ROOM(fl, fl->lines, w->n_lines, fl->lines_size)) {
            return fl->err->status;
        }
        fl->lines[w->n_lines++] = f->lines[i];
    }

    if (sym_flatten_sort_lines(fl, w->n_lines) != SYM_OK) {
        return fl->err->status;
    }

    drop_inner_lines(w);
    w->lines = fl->lines;
    return SYM_OK;
}


static bool
has_ties(const sym_pending_t *sorted, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (sorted[i - 1].addr == sorted[i].addr
            && sorted[i - 1].depth == sorted[i].depth)
        {
            return true;
        }
    }

    return false;
}


/* Moves the queue to the heap, in the file's order. */
static sym_status_t
queue_in_heap(sweep_t *w)
{
    sym_flatten_t *fl = w->fl;
    const size_t n = w->n_queue;

    for (size_t i = 0; i < n; i++) {
        fl->spare[fl->queue[i].seq] = fl->queue[i];
    }

    w->is_tied = true;
    w->n_queue = 0;

    for (size_t i = 0; i < n; i++) {
        fl->spare[i].seq = 0;
        if (push_heap(fl, fl->spare[i]) != SYM_OK) {
            return fl->err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
prepare_inlines(sweep_t *w)
{
    sym_flatten_t *fl = w->fl;
    const sym_function_t *f = w->f;

    if (f->n_inlines > UINT32_MAX / 4) {
        return sym_fail(fl->err, SYM_LIMIT, "too many inlined calls");
    }

    for (size_t i = 0; i < f->n_inlines; i++) {
        const sym_inline_t *in = &f->inlines[i];

        /* ranges after the end are never reached, but affect the order in a
         * heap */
        if (in->size == 0 || in->addr < f->addr
            || in->depth >= SYM_INLINE_DEPTH_MAX) {
            fl->dropped++;
            continue;
        }

        if (!ROOM(fl, fl->queue, w->n_queue, fl->queue_size)) {
            return fl->err->status;
        }
        fl->queue[w->n_queue++] =
            (sym_pending_t){ in->addr, in->depth, (uint32_t) i, w->seq++,
                             (uint64_t) in->addr + in->size };
    }

    if (fl->queue_size > fl->spare_size) {
        sym_pending_t *spare =
            realloc(fl->spare, fl->queue_size * sizeof(*spare));

        if (spare == NULL) {
            return out_of_memory(fl);
        }
        fl->spare = spare;
        fl->spare_size = fl->queue_size;
    }

    sym_flatten_sort_queue(fl, w->n_queue);
    w->requeues_left = w->n_queue * REQUEUE_PER_INLINE + REQUEUE_MIN;

    if (size_table(fl, w->n_queue + 1) != SYM_OK) {
        return fl->err->status;
    }

    return has_ties(fl->queue, w->n_queue) ? queue_in_heap(w) : SYM_OK;
}


/* The next address at which calls change; or `t` if that is earlier. */
static uint64_t
next_change(const sweep_t *w, uint64_t t)
{
    const sym_flatten_t *fl = w->fl;
    const sym_pending_t *in = next_inline(w);

    if (in != NULL && in->addr < t) {
        t = in->addr;
    }

    if (fl->n_open != 0 && fl->open[fl->n_open - 1].end < t) {
        t = fl->open[fl->n_open - 1].end;
    }

    return t;
}


static uint64_t
next_event(const sweep_t *w)
{
    return next_change(w, w->next_line < w->n_lines
                              ? w->lines[w->next_line].addr
                              : UINT64_MAX);
}


/* The rest of the current line record belongs to the innermost call. */
static sym_status_t
resume_line(sweep_t *w, uint64_t t)
{
    if (w->line_end <= t) {
        return SYM_OK;
    }

    return put_segment(w->fl, t, innermost(w->fl), w->file, w->line);
}


/* Ends calls.  Where there is no line record, the caller continues at the
 * position of the call. */
static sym_status_t
close_inlines(sweep_t *w, uint64_t t)
{
    sym_flatten_t *fl = w->fl;
    const sym_flat_node_t *call;

    if (fl->n_open == 0 || fl->open[fl->n_open - 1].end > t) {
        return SYM_OK;
    }

    while (fl->n_open != 0 && fl->open[fl->n_open - 1].end <= t) {
        fl->n_open--;
    }

    if (w->line_end > t) {
        return resume_line(w, t);
    }

    call = &fl->nodes[fl->open[fl->n_open].node];
    return put_segment(fl, t, innermost(fl), call->call_file, call->call_line);
}


static sym_status_t
begin_lines(sweep_t *w, uint64_t t)
{
    sym_flatten_t *fl = w->fl;

    while (w->next_line < w->n_lines && w->lines[w->next_line].addr == t) {
        const sym_line_t *l = &w->lines[w->next_line++];

        w->file = l->file;
        w->line = l->line;
        w->line_end = t + l->size;

        if (put_segment(fl, t, innermost(fl), l->file, l->line) != SYM_OK) {
            return fl->err->status;
        }
    }

    return SYM_OK;
}


static sym_status_t
step(sweep_t *w, uint64_t t)
{
    sym_flatten_t *fl = w->fl;
    const sym_pending_t *in;
    uint32_t n_open;

    if (close_inlines(w, t) != SYM_OK) {
        return fl->err->status;
    }

    n_open = fl->n_open;
    while ((in = next_inline(w)) != NULL && in->addr <= t) {
        if (open_inline(w, take_inline(w)) != SYM_OK) {
            return fl->err->status;
        }
    }

    if (fl->n_open != n_open && resume_line(w, t) != SYM_OK) {
        return fl->err->status;
    }

    return begin_lines(w, t);
}


/* Most line records are between two changes of calls, and are only copied. */
static sym_status_t
take_lines(sweep_t *w)
{
    sym_flatten_t *fl = w->fl;
    uint64_t change = next_change(w, w->end);
    uint32_t node = innermost(fl);
    const sym_line_t *l, *first, *end;

    if (w->next_line == w->n_lines) {
        return SYM_OK; /* the array may be NULL */
    }

    first = w->lines + w->next_line;
    end = w->lines + w->n_lines;

    for (l = first; l < end && l->addr < change; l++) {
        if (put_segment(fl, l->addr, node, l->file, l->line) != SYM_OK) {
            return fl->err->status;
        }
    }

    if (l != first) {
        w->next_line += (size_t) (l - first);
        w->file = l[-1].file;
        w->line = l[-1].line;
        w->line_end = (uint64_t) l[-1].addr + l[-1].size;
    }

    return SYM_OK;
}


/* Drops nodes without segments. */
static void
tidy(sym_flatten_t *fl)
{
    size_t n = fl->n_segments, n_nodes = 1;
    sym_segment_t *s = fl->segments;
    uint32_t *kept =
        fl->table; /* marks the nodes in use; the table is at half load */

    if (fl->n_nodes == 1) {
        return;
    }

    memset(kept, 0, fl->n_nodes * sizeof(*kept));
    for (size_t i = 0; i < n; i++) {
        kept[s[i].node] = 1;
    }

    /* callers precede their calls, and the function is node 0 */
    for (size_t i = fl->n_nodes - 1; i > 0; i--) {
        kept[fl->nodes[i].parent] |= kept[i];
    }
    kept[0] = 0;

    for (size_t i = 1; i < fl->n_nodes; i++) {
        if (kept[i] != 0) {
            kept[i] = (uint32_t) n_nodes;
            fl->nodes[n_nodes] = fl->nodes[i];
            fl->nodes[n_nodes].parent = kept[fl->nodes[i].parent];
            n_nodes++;
        }
    }

    if (n_nodes == fl->n_nodes) {
        return; /* no node was dropped */
    }
    fl->n_nodes = n_nodes;

    for (size_t i = 0; i < n; i++) {
        s[i].node = kept[s[i].node];
    }
}


sym_status_t
sym_flatten(sym_flatten_t *fl, const sym_function_t *f)
{
    sweep_t w = { .fl = fl, .f = f, .end = (uint64_t) f->addr + f->size };
    uint64_t t;

    fl->n_segments = 0;
    fl->n_nodes = 0;
    fl->n_heap = 0;
    fl->n_open = 0;

    if (!ROOM(fl, fl->nodes, fl->n_nodes, fl->nodes_size)) {
        return fl->err->status;
    }
    fl->nodes[fl->n_nodes++] =
        (sym_flat_node_t){ 0, f->name, SYM_NO_STRING, 0 };

    if (prepare_lines(&w) != SYM_OK
        || (f->n_inlines != 0 && prepare_inlines(&w) != SYM_OK)
        || put_segment(fl, f->addr, 0, SYM_NO_STRING, 0) != SYM_OK)
    {
        return fl->err->status;
    }

    while (take_lines(&w) == SYM_OK && (t = next_event(&w)) < w.end) {
        if (step(&w, t) != SYM_OK) {
            return fl->err->status;
        }
    }

    if (fl->err->status != SYM_OK) {
        return fl->err->status;
    }

    fl->dropped += w.n_queue - w.next_queued + fl->n_heap;
    tidy(fl);
    return SYM_OK;
}
