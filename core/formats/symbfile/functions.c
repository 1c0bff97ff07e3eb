#include "formats/symbfile/functions.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/sort.h"

/* A group with this many ranges ends at the next function. */
#define GROUP_MAX 65536

/* So few ranges are sorted by insertion. */
#define SMALL_GROUP 32

/* Limit on new nodes for each range of a group, on average.  Sound files have
 * less than one, but calls that change their callers at each address could have
 * hundreds. */
#define NODES_PER_RANGE 8

/* Addresses of a kernel are in the last 2 GiB of 64 bits. */
#define HIGH_BASE_MASK ((uint64_t) 0x7fffffff)

#define NO_STRING SYM_NO_STRING

_Static_assert(SYM_NO_STRING == SYM_SYMBFILE_NO_STRING, "no string");

typedef struct {
    uint64_t addr, end;
    uint32_t depth, name, file, call_file, call_line;
    uint32_t first_line, n_lines; /* range in the group's lines */
} range_t;

/* A range that covers the current position, and its node. */
typedef struct {
    const range_t *range;
    uint32_t node;
} level_t;

struct sym_symbfile_functions_s {
    sym_shard_t *shard;
    sym_error_t *err;
    bool has_base;
    uint64_t base, dropped;
    uint32_t empty; /* id of the string "" */

    /* the group of ranges that is being read */
    range_t *ranges;
    size_t n_ranges, ranges_size;
    sym_symbfile_line_t *lines;
    size_t n_lines, lines_size;
    bool has_calls; /* ranges since the last one of depth 0 */
    uint32_t name;
    uint64_t end; /* end of the last range of depth 0 */

    /* the sweep over the group */
    sym_sort_item_t *order;
    size_t order_size;
    level_t levels[SYM_INLINE_DEPTH_MAX + 1];
    unsigned n_levels; /* ranges of all lower depths were read */
    uint64_t nodes_left;
    bool is_open;  /* a function */
    uint32_t addr; /* its start */
    sym_flat_node_t *nodes;
    size_t n_nodes, nodes_size;
    sym_segment_t *segments;
    size_t n_segments, segments_size;
};

sym_symbfile_functions_t *
sym_symbfile_functions_create(sym_shard_t *shard, sym_error_t *err)
{
    sym_symbfile_functions_t *fs = calloc(1, sizeof(*fs));

    if (fs == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for functions");
        return NULL;
    }

    fs->shard = shard;
    fs->err = err;
    fs->empty = NO_STRING;
    return fs;
}


void
sym_symbfile_functions_free(sym_symbfile_functions_t *fs)
{
    if (fs == NULL) {
        return;
    }

    free(fs->ranges);
    free(fs->lines);
    free(fs->order);
    free(fs->nodes);
    free(fs->segments);
    free(fs);
}


uint64_t
sym_symbfile_functions_base(const sym_symbfile_functions_t *fs)
{
    return fs->base;
}


uint64_t
sym_symbfile_functions_dropped(const sym_symbfile_functions_t *fs)
{
    return fs->dropped;
}


static sym_status_t
out_of_memory(sym_symbfile_functions_t *fs)
{
    return sym_fail(fs->err, SYM_NOMEM, "no memory for a function");
}


/* --- output --- */

/* Gets the node's index. */
static sym_status_t
add_node(sym_symbfile_functions_t *fs, const sym_flat_node_t *from,
         uint32_t *node)
{
    if (!SYM_ARRAY_ROOM(fs->nodes, fs->n_nodes + 1, fs->nodes_size)) {
        return out_of_memory(fs);
    }

    *node = (uint32_t) fs->n_nodes;
    fs->nodes[fs->n_nodes++] = *from;
    return SYM_OK;
}


static sym_status_t
add_segment(sym_symbfile_functions_t *fs, const sym_segment_t *segment)
{
    const sym_segment_t *last =
        fs->n_segments != 0 ? &fs->segments[fs->n_segments - 1] : NULL;

    if (last != NULL && last->node == segment->node
        && last->file == segment->file && last->line == segment->line)
    {
        return SYM_OK;
    }

    if (!SYM_ARRAY_ROOM(fs->segments, fs->n_segments + 1, fs->segments_size)) {
        return out_of_memory(fs);
    }

    fs->segments[fs->n_segments++] = *segment;
    return SYM_OK;
}


static void
begin_function(sym_symbfile_functions_t *fs, uint64_t addr)
{
    fs->is_open = true;
    fs->addr = (uint32_t) addr;
    fs->n_nodes = 0;
    fs->n_segments = 0;
}


static sym_status_t
end_function(sym_symbfile_functions_t *fs, uint64_t end)
{
    const uint64_t size = end - fs->addr;
    const sym_flat_function_t f = { .addr = fs->addr,
                                    .size = size <= UINT32_MAX ? (uint32_t) size
                                                               : UINT32_MAX,
                                    .lang = SYM_LANG_UNKNOWN,
                                    .nodes = fs->nodes,
                                    .n_nodes = fs->n_nodes,
                                    .segments = fs->segments,
                                    .n_segments = fs->n_segments };

    if (!fs->is_open) {
        return SYM_OK;
    }

    fs->is_open = false;
    return sym_shard_function(fs->shard, &f) == SYM_OK ? SYM_OK
                                                       : out_of_memory(fs);
}


/* --- the sweep over a group --- */

/* Sorts by address, then by the order in the file.  Most functions are small
 * and nearly sorted. */
static sym_status_t
sort_ranges(sym_symbfile_functions_t *fs)
{
    const bool is_small = fs->n_ranges <= SMALL_GROUP;

    if (!SYM_ARRAY_ROOM(fs->order, fs->n_ranges, fs->order_size)) {
        return out_of_memory(fs);
    }

    for (size_t i = 0; i < fs->n_ranges; i++) {
        const sym_sort_item_t item = { fs->ranges[i].addr, (uint32_t) i };
        size_t at = i;

        for (; is_small && at != 0 && fs->order[at - 1].key > item.key; at--) {
            fs->order[at] = fs->order[at - 1];
        }

        fs->order[at] = item;
    }

    return is_small || sym_sort(fs->order, fs->n_ranges) ? SYM_OK
                                                         : out_of_memory(fs);
}


/* A file that is unknown has an empty name in a string table. */
static uint32_t
file_of(const sym_symbfile_functions_t *fs, uint32_t id)
{
    return id == fs->empty ? NO_STRING : id;
}


/* A line without a file is not kept. */
static void
set_call(sym_flat_node_t *node, uint32_t file, uint32_t line)
{
    node->call_file = file;
    node->call_line = file != NO_STRING ? line : 0;
}


/* A writer may omit a call's file if it is the caller's own. */
static sym_flat_node_t
node_of(const sym_symbfile_functions_t *fs, unsigned depth)
{
    const range_t *r = fs->levels[depth].range;
    sym_flat_node_t node = { .name = r->name, .call_file = NO_STRING };

    if (depth != 0) {
        const level_t *caller = &fs->levels[depth - 1];

        node.parent = caller->node;
        set_call(&node,
                 r->call_file != NO_STRING ? file_of(fs, r->call_file)
                                           : caller->range->file,
                 r->call_line);
    }

    return node;
}


/* Sets the node of the level.  An equal call gets the same node as before. */
static sym_status_t
find_node(sym_symbfile_functions_t *fs, unsigned depth)
{
    const sym_flat_node_t node = node_of(fs, depth);
    uint32_t *at = &fs->levels[depth].node;

    if (*at < fs->n_nodes) {
        const sym_flat_node_t *last = &fs->nodes[*at];

        if (last->parent == node.parent && last->name == node.name
            && last->call_file == node.call_file
            && last->call_line == node.call_line)
        {
            return SYM_OK;
        }
    }

    if (fs->nodes_left-- == 0) {
        return sym_fail(fs->err, SYM_LIMIT,
                        "inlined calls change their callers too often");
    }

    return add_node(fs, &node, at);
}


/* Adds segments of the innermost call from `addr` to `end`. */
static sym_status_t
add_lines(sym_symbfile_functions_t *fs, const level_t *level, uint64_t addr,
          uint64_t end)
{
    const range_t *r = level->range;
    const sym_symbfile_line_t *lines = fs->lines + r->first_line;
    size_t low = 0, high = r->n_lines;
    sym_segment_t segment = { .addr = (uint32_t) addr,
                              .node = level->node,
                              .file = r->file };

    /* the first entry above addr */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->addr + lines[middle].offset <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    segment.line = low != 0 && r->file != NO_STRING ? lines[low - 1].line : 0;

    for (;; low++) {
        /* the last of several entries at one address wins */
        if ((low == r->n_lines || r->addr + lines[low].offset > segment.addr)
            && add_segment(fs, &segment) != SYM_OK)
        {
            return fs->err->status;
        }

        if (low == r->n_lines || r->addr + lines[low].offset >= end) {
            return SYM_OK;
        }

        segment.addr = (uint32_t) (r->addr + lines[low].offset);
        segment.line = r->file != NO_STRING ? lines[low].line : 0;
    }
}


/* Adds the segments from addr to the next change.  *next gets its address, at
 * most `limit`. */
static sym_status_t
add_step(sym_symbfile_functions_t *fs, uint64_t addr, uint64_t limit,
         uint64_t *next)
{
    unsigned depth = 0;

    *next = limit;

    for (; depth < fs->n_levels; depth++) {
        const range_t *r = fs->levels[depth].range;

        if (r == NULL || r->end <= addr) {
            break;
        }

        if (depth == 0 && !fs->is_open) {
            begin_function(fs, addr);
        }

        *next = *next < r->end ? *next : r->end;
        if (find_node(fs, depth) != SYM_OK) {
            return fs->err->status;
        }
    }

    if (depth == 0) {
        return end_function(fs, addr);
    }

    return add_lines(fs, &fs->levels[depth - 1], addr, *next);
}


/* The last of several ranges with the same depth wins. */
static void
open_range(sym_symbfile_functions_t *fs, const range_t *r)
{
    while (fs->n_levels <= r->depth) {
        fs->levels[fs->n_levels++] = (level_t){ .node = UINT32_MAX };
    }

    fs->levels[r->depth].range = r;
}


static sym_status_t
sweep(sym_symbfile_functions_t *fs)
{
    uint64_t addr = 0;
    sym_status_t rc = sort_ranges(fs);

    fs->n_levels = 0;
    fs->nodes_left = (uint64_t) fs->n_ranges * NODES_PER_RANGE + 1024;

    for (size_t i = 0; rc == SYM_OK && i < fs->n_ranges;) {
        addr = fs->order[i].key;

        for (; i < fs->n_ranges && fs->order[i].key == addr; i++) {
            open_range(fs, &fs->ranges[fs->order[i].at]);
        }

        while (rc == SYM_OK) {
            uint64_t limit = i < fs->n_ranges ? fs->order[i].key : UINT64_MAX;

            if (addr >= limit) {
                break;
            }

            rc = add_step(fs, addr, limit, &addr);

            if (rc == SYM_OK && !fs->is_open) {
                break; /* a gap, or the end of the group */
            }
        }
    }

    return rc;
}


static sym_status_t
end_group(sym_symbfile_functions_t *fs)
{
    sym_status_t rc = fs->n_ranges != 0 ? sweep(fs) : SYM_OK;

    fs->n_ranges = 0;
    fs->n_lines = 0;
    fs->has_calls = false;
    return rc;
}


/* --- records --- */

static sym_status_t
string(void *ctx, sym_str_t text, uint32_t *id, sym_error_t *err)
{
    sym_symbfile_functions_t *fs = ctx;

    if (sym_shard_string(fs->shard, text, false, id) != SYM_OK) {
        return sym_fail(err, SYM_NOMEM, "no memory for a string");
    }

    if (text.len == 0) {
        fs->empty = *id;
    }

    return SYM_OK;
}


/* Subtracts the base.  False: the address does not fit a symcache. */
static bool
relate(sym_symbfile_functions_t *fs, uint64_t *addr)
{
    if (!fs->has_base) {
        fs->has_base = true;
        fs->base = *addr > UINT32_MAX ? *addr & ~HIGH_BASE_MASK : 0;
    }

    if (*addr < fs->base || *addr - fs->base > UINT32_MAX) {
        return false;
    }

    *addr -= fs->base;
    return true;
}


/* Whether a function is added to the group. */
static bool
continues(const sym_symbfile_functions_t *fs, const sym_symbfile_range_t *r,
          uint64_t addr)
{
    return fs->n_ranges != 0 && fs->n_ranges < GROUP_MAX && r->name == fs->name
           && (!fs->has_calls || addr == fs->end);
}


static sym_status_t
range(void *ctx, const sym_symbfile_range_t *r, sym_error_t *err)
{
    sym_symbfile_functions_t *fs = ctx;
    uint64_t addr = r->addr, end;

    (void) err; /* is fs->err */

    if (!relate(fs, &addr) || r->size == 0 || r->depth > SYM_INLINE_DEPTH_MAX
        || (r->depth != 0 && fs->n_ranges == 0))
    {
        fs->dropped++;
        return SYM_OK;
    }

    end = addr + r->size;
    end = end <= (uint64_t) UINT32_MAX + 1 ? end : (uint64_t) UINT32_MAX + 1;

    if (r->depth == 0) {
        if (!continues(fs, r, addr) && end_group(fs) != SYM_OK) {
            return fs->err->status;
        }

        fs->has_calls = false;
        fs->name = r->name;
        fs->end = end;
    } else {
        fs->has_calls = true;
    }

    if (!SYM_ARRAY_ROOM(fs->ranges, fs->n_ranges + 1, fs->ranges_size)
        || !SYM_ARRAY_ROOM(fs->lines, fs->n_lines + r->n_lines, fs->lines_size))
    {
        return out_of_memory(fs);
    }

    if (fs->n_lines + r->n_lines > UINT32_MAX) {
        return sym_fail(fs->err, SYM_LIMIT, "a function has too many lines");
    }

    if (r->n_lines != 0) {
        memcpy(fs->lines + fs->n_lines, r->lines,
               r->n_lines * sizeof(*r->lines));
    }

    fs->ranges[fs->n_ranges++] =
        (range_t){ .addr = addr,
                   .end = end,
                   .depth = r->depth,
                   .name = r->name,
                   .file = file_of(fs, r->file),
                   .call_file = r->call_file,
                   .call_line = r->call_line,
                   .first_line = (uint32_t) fs->n_lines,
                   .n_lines = (uint32_t) r->n_lines };
    fs->n_lines += r->n_lines;
    return SYM_OK;
}


static sym_status_t
pad(void *ctx, const sym_symbfile_pad_t *p, sym_error_t *err)
{
    sym_symbfile_functions_t *fs = ctx;
    const sym_symbfile_frame_t *frames = p->frames;
    const sym_symbfile_frame_t *last;
    uint64_t addr = p->addr;
    sym_segment_t segment;
    uint32_t node = 0;

    (void) err; /* is fs->err */

    if (!relate(fs, &addr) || p->n_frames == 0
        || p->n_frames > SYM_INLINE_DEPTH_MAX + 1)
    {
        fs->dropped++;
        return SYM_OK;
    }

    begin_function(fs, addr);

    for (size_t i = 0; i < p->n_frames; i++) {
        sym_flat_node_t from = { .parent = node,
                                 .name = frames[i].name,
                                 .call_file = NO_STRING };

        if (i != 0) {
            set_call(&from, file_of(fs, frames[i - 1].file),
                     frames[i - 1].line);
        }

        if (add_node(fs, &from, &node) != SYM_OK) {
            return fs->err->status;
        }
    }

    last = &frames[p->n_frames - 1];
    segment.addr = (uint32_t) addr;
    segment.node = node;
    segment.file = file_of(fs, last->file);
    segment.line = segment.file != NO_STRING ? last->line : 0;

    if (add_segment(fs, &segment) != SYM_OK) {
        return fs->err->status;
    }

    return end_function(fs, addr + 1);
}


sym_symbfile_sink_t
sym_symbfile_functions_sink(sym_symbfile_functions_t *fs)
{
    return (sym_symbfile_sink_t){
        .string = string, .range = range, .pad = pad, .ctx = fs
    };
}


sym_status_t
sym_symbfile_functions_end(sym_symbfile_functions_t *fs)
{
    return end_group(fs);
}
