/*
 * thread_pool.h - the threads of a converter, which wait for work.
 *
 * They start before the process enters the sandbox, which then applies to all
 * of them and does not allow new threads.  They end with the process.
 */
#ifndef SYMLOADER_CONVERTER_THREAD_POOL_H
#define SYMLOADER_CONVERTER_THREAD_POOL_H

#include "base/thread_pool.h"

typedef struct thread_pool_s thread_pool_t;

/* Starts threads - 1 threads in addition to the caller, or as many as the
 * system allows; all of them wait.  NULL: out of memory. */
thread_pool_t *thread_pool_create(unsigned threads);

/* Sets how many threads take part from now on, including the caller. */
void thread_pool_limit(thread_pool_t *pool, unsigned threads);

/* The returned interface is valid as long as the pool; only the thread that
 * created the pool may use it. */
const sym_thread_pool_t *thread_pool_lent(const thread_pool_t *pool);

#endif
