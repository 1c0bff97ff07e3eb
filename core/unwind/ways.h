/*
 * ways.h - the ways by which the walker finds a caller.  Private to unwind/.
 *
 * Each returns SYM_OK with the caller's registers, SYM_NOT_FOUND, or SYM_AGAIN
 * as sym_walk_step() does.
 */
#ifndef SYM_UNWIND_WAYS_H
#define SYM_UNWIND_WAYS_H

#include "unwind/walk.h"

/* Reads a word of the stack.  False: the dump does not contain it. */
bool sym_walk_word(sym_walk_t *w, uint64_t addr, uint64_t *value);

/* An address without the bits of its signature. */
static inline uint64_t
sym_walk_strip(const sym_walk_t *w, uint64_t addr)
{
    return addr & w->process->pointer_mask;
}


static inline const sym_walk_frame_t *
sym_walk_last(const sym_walk_t *w)
{
    return &w->frames[w->n_frames - 1];
}


/* Whether a 64-bit address can exist.  On x86-64 bits 47 to 63 are equal.  On
 * arm64 addresses of user space are below 2^52 and above the first page. */
bool sym_walk_is_canonical(sym_unwind_arch_t arch, uint64_t addr);

sym_status_t sym_walk_by_frame_pointer(sym_walk_t *w,
                                       sym_unwind_registers_t *caller);

sym_status_t sym_walk_by_scan(sym_walk_t *w, sym_unwind_registers_t *caller,
                              uint32_t *budget);

#endif
