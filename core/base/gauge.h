/*
 * gauge.h - the progress of one thread, which others can wait for.
 *
 * The value only rises.  A thread that waited for a value sees all memory
 * writes made before the gauge reached that value.
 */
#ifndef SYM_BASE_GAUGE_H
#define SYM_BASE_GAUGE_H

#include <pthread.h>
#include <stdint.h>

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t at; /* atomic; written under the lock */
} sym_gauge_t;

#define SYM_GAUGE_END UINT64_MAX

void sym_gauge_init(sym_gauge_t *g, uint64_t at);
void sym_gauge_free(sym_gauge_t *g);

/* Advances by n; SYM_GAUGE_END: beyond all values, which ends all waits. */
void sym_gauge_add(sym_gauge_t *g, uint64_t n);

/* Waits until the gauge is at `at` or beyond. */
void sym_gauge_wait(sym_gauge_t *g, uint64_t at);

#endif
