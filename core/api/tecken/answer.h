/*
 * answer.h - an answer in progress.  Private to this API.
 *
 * answer.c goes through the request piece by piece, frame.c writes frames,
 * debug.c the debug block.
 */
#ifndef SYM_API_TECKEN_ANSWER_H
#define SYM_API_TECKEN_ANSWER_H

#include "api/tecken/request.h"
#include "symbolicate/resolver.h"

/* The text of a module in frames. */
typedef struct {
    sym_str_t text; /* v5: from `, "module": ` up to the offset; v4: from ` (in`
                       to the end of the string; data NULL: not made yet */
    uint32_t module; /* index of the need in t->base.needs */
    bool is_found;
} shown_t;

typedef struct answer_s {
    sym_resolver_t *resolver;
    uint32_t next; /* next item of the step */
    uint32_t line;
    uint32_t job, stack;  /* counted over all lines and jobs */
    uint32_t first_entry; /* first entry of this job */
    uint32_t frame;       /* counted over all stacks */
    uint32_t number;      /* number of the frame in its stack */
    bool is_begun;        /* the frame is written up to its inlined calls */
    uint32_t level;       /* next inlined call */
    unsigned map;         /* next map of the debug block: debug_map_t */
    bool is_first;        /* nothing of the current list is written yet */
    shown_t *shown;       /* texts for each pair */
    shown_t unknown;      /* text for frames without a module */

    sym_question_t *questions; /* questions of the current chunk */
    uint32_t n_questions, next_question;
    uint32_t chunk_end; /* first frame after the chunk */

    uint64_t settled; /* number of entries that are not null; each kind counts
                         once per job */
} answer_t;

/* The first step of the answer, and the first step of the debug block. */
sym_status_t tecken_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget);
sym_status_t tecken_debug(sym_request_t *r, sym_out_t *out, uint32_t *budget);

bool tecken_resume(sym_request_t *r);

/*
 * Writes the frame `a->frame`, without separators.  SYM_OK, SYM_NOMEM;
 * SYM_AGAIN: demangling used up the budget, or out is full, and the next call
 * continues the frame.
 */
sym_status_t answer_frame(sym_tecken_t *t, frame_t frame, sym_out_t *out,
                          uint32_t *budget);

/* Whether the frame can be looked up in the store; *shown: its module, unless
 * there is none. */
static inline bool
answer_asks(const answer_t *a, const request_t *q, frame_t frame,
            shown_t **shown)
{
    const uint32_t *entries = q->entries.items;
    uint32_t index = frame.place & FRAME_MODULE_MASK;

    if (index == FRAME_NO_MODULE) {
        return false;
    }

    *shown = &a->shown[entries[a->first_entry + index]];

    /* an offset of more bits is outside every module */
    return (*shown)->is_found && frame_kind(frame) == FRAME_PLAIN;
}


#endif
