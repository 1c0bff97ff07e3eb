/*
 * request.h - a parsed request.  Both readers build it, and the answer is
 * written from it.  Private to this API.
 *
 * Frames take eight bytes.  They are stored in blocks, in the order of the
 * request, so they need not be copied when their number grows.  Modules are
 * numbered by their first appearance: equal pairs of name and id share a
 * number, also across jobs.
 */
#ifndef SYM_API_TECKEN_REQUEST_H
#define SYM_API_TECKEN_REQUEST_H

#include "base/hash.h"
#include "api/tecken/tecken.h"

/* The meaning of a frame's `value`. */
typedef enum {
    FRAME_PLAIN, /* the offset */
    FRAME_WIDE,  /* an index in `wide`: an offset of 33 to 64 bits */
    FRAME_MINUS, /* unused: the offset is -1 */
    FRAME_TEXT,  /* an index in `texts`: a larger offset, as hexadecimal text */
    FRAME_WHOLE  /* an index in `texts`: v4, the offset as sent */
} frame_kind_t;

#define FRAME_KIND_SHIFT 29
#define FRAME_MODULE_MASK ((1u << FRAME_KIND_SHIFT) - 1)
#define FRAME_NO_MODULE FRAME_MODULE_MASK

typedef struct {
    uint32_t place; /* kind, and index in the job's memoryMap */
    uint32_t value;
} frame_t;

static inline frame_kind_t
frame_kind(frame_t frame)
{
    return (frame_kind_t) (frame.place >> FRAME_KIND_SHIFT);
}


#define FRAME_BLOCK 4096u

/* An array in the arena that grows. */
typedef struct {
    void *items;
    uint32_t n, cap;
} list_t;

typedef struct {
    uint32_t first_entry, n_entries;
    uint32_t first_stack, n_stacks;
} job_t;

/* A body of v5 with its own answer: a line of a bulk request, or all of another
 * request. */
typedef struct {
    uint32_t jobs, stacks, entries, wide, texts, frames; /* numbers of items
                                                            before this line */
    sym_str_t error; /* why a line without jobs is refused; NULL: not refused */
} line_t;

/* A distinct pair of name and id, as sent. */
typedef struct {
    sym_str_t name, id;
    uint32_t hash;
    uint32_t job;    /* 1 + the last job that wrote the pair */
    uint32_t line;   /* 1 + the last line that marked the pair:
                        request_mark() */
    uint32_t used;   /* 1 + index in `modules`; 0: no frame refers to it */
    uint32_t stacks; /* number of jobs with the pair, for the debug block */
} pair_t;

typedef struct {
    list_t lines;   /* line_t */
    list_t jobs;    /* job_t */
    list_t stacks;  /* uint32_t: number of frames of a stack */
    list_t entries; /* uint32_t: entries of all memoryMaps, as indexes in
                       `pairs` */
    list_t pairs;   /* pair_t */
    list_t wide;    /* uint64_t */
    list_t texts;   /* sym_str_t */

    list_t blocks;             /* frame_t * */
    uint32_t n_frames, n_real; /* n_real: frames with index >= 0 and a number as
                                  offset */

    sym_hash_key_t key; /* set together with the table */
    uint32_t *table;    /* hash table of pairs: 1 + index; 0: free */
    uint32_t table_mask;
} request_t;

typedef struct {
    sym_request_t base; /* its modules are the used pairs with a name and an
                           id */
    unsigned version;   /* 4 or 5 */
    bool has_debug;     /* the debug block was requested */
    bool is_bulk;       /* the body consists of lines, and so does the answer */
    sym_str_t left;     /* bulk: the lines that are not read yet */
    sym_str_t text;     /* the current line; data NULL: none */
    request_t request;
    struct direct_s *direct;
    struct answer_s *answer;
} sym_tecken_t;

/* Adds an item, zeroed; NULL: no memory. */
void *list_add(sym_arena_t *arena, list_t *list, size_t size);

/* These return false when out of memory. */
bool request_line(sym_tecken_t *t, sym_str_t text);
bool request_job(sym_tecken_t *t);
bool request_entry(sym_tecken_t *t, sym_str_t name, sym_str_t id);
bool request_stack(sym_tecken_t *t);
void request_stack_end(sym_tecken_t *t, uint32_t n_frames);
bool request_block(sym_tecken_t *t);

/*
 * Adds a frame to the current stack; index -1: no module.  The reader counts
 * the frames of a stack, and passes their number at the end of the stack.
 */
static inline bool
request_frame(sym_tecken_t *t, frame_kind_t kind, int64_t index, uint32_t value)
{
    request_t *q = &t->request;
    uint32_t at = q->n_frames % FRAME_BLOCK;
    frame_t **blocks;

    if (at == 0 && !request_block(t)) {
        return false;
    }

    blocks = q->blocks.items;
    blocks[q->n_frames / FRAME_BLOCK][at] =
        (frame_t){ (uint32_t) kind << FRAME_KIND_SHIFT
                       | ((uint32_t) index & FRAME_MODULE_MASK),
                   value };
    q->n_frames++;
    return true;
}


/* Same for an offset that may be larger. */
bool request_offset(sym_tecken_t *t, int64_t index, uint64_t offset);
bool request_text(sym_tecken_t *t, frame_kind_t kind, int64_t index,
                  sym_str_t text);

static inline frame_t
request_frame_at(const request_t *q, uint32_t n)
{
    frame_t *const *blocks = q->blocks.items;

    return blocks[n / FRAME_BLOCK][n % FRAME_BLOCK];
}


/* Returns the line that is being read. */
static inline line_t *
request_last_line(const request_t *q)
{
    return (line_t *) q->lines.items + q->lines.n - 1;
}


/* Number of frames and jobs of the line that is being read. */
static inline uint32_t
request_line_frames(const request_t *q)
{
    return q->n_frames - request_last_line(q)->frames;
}


static inline uint32_t
request_line_jobs(const request_t *q)
{
    return q->jobs.n - request_last_line(q)->jobs;
}


/* Drops the parts of the line that were read.  Its modules stay, but are
 * unused. */
void request_rewind(sym_tecken_t *t);

/* Returns the first job after the line. */
uint32_t request_line_end(const request_t *q, uint32_t line);

/* Marks the pairs that the line's frames refer to.  Returns the number of
 * frames. */
uint32_t request_mark(request_t *q, uint32_t line);

/* Call this after reading: it numbers the modules that frames refer to. */
sym_status_t request_finish(sym_tecken_t *t);

#endif
