/*
 * thread_pool.h - the interface of threads that share one piece of work.
 *
 * core/ starts no threads: a caller that has threads passes them to a reader
 * that can use them.  Without a pool the caller does all of the work.
 */
#ifndef SYM_BASE_THREAD_POOL_H
#define SYM_BASE_THREAD_POOL_H

#include <stddef.h>

typedef struct {
    /* Runs work(task) on several threads at once, including the caller's, and
     * returns when all of them are done. */
    void (*run)(void *ctx, void (*work)(void *task), void *task);
    void *ctx;
} sym_thread_pool_t;

static inline void
sym_thread_pool_run(const sym_thread_pool_t *pool, void (*work)(void *task),
                    void *task)
{
    if (pool != NULL) {
        pool->run(pool->ctx, work, task);
    } else {
        work(task);
    }
}

#endif
