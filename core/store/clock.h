/*
 * clock.h - when each module was last used.
 *
 * A file of u32 seconds since 1970, one for each slot, mapped by every process
 * that has the store open.  Readers write to it without a lock: a lost mark
 * only changes a module's place in the order of eviction.  On a read-only file
 * system, other processes do not see the marks.
 */
#ifndef SYM_STORE_CLOCK_H
#define SYM_STORE_CLOCK_H

#include "base/error.h"

#define SYM_NO_SLOT UINT32_MAX
#define SYM_SLOTS_MAX (1u << 26)

typedef struct {
    int fd;
    uint32_t *slots; /* mapped, shared */
    uint32_t n;
    bool is_read_only; /* the mapping is private */

    /* only the writer uses it: slots taken by modules */
    uint64_t *used;
    uint32_t n_used_words, hint;
} sym_clock_t;

sym_status_t sym_clock_open(sym_clock_t *c, const char *path, bool is_writer,
                            sym_error_t *err);
void sym_clock_close(sym_clock_t *c);

void sym_clock_mark(sym_clock_t *c, uint32_t slot, uint32_t now_s);
uint32_t sym_clock_read(sym_clock_t *c, uint32_t slot);

/* For the writer.  Returns a free slot, marked as never used, and extends the
 * file if necessary.  SYM_NO_SLOT: it failed, and the module counts as never
 * used. */
uint32_t sym_clock_take(sym_clock_t *c);
void sym_clock_claim(sym_clock_t *c, uint32_t slot);
void sym_clock_give(sym_clock_t *c, uint32_t slot);

#endif
