/*
 * thread_pool_kit.h - threads for tests that use a pool: n of them, for one
 * job.
 *
 *     thread_pool_t pool = { .n = 3 };
 *     const sym_thread_pool_t lent = { run, &pool };
 */
#ifndef SYM_UNIT_THREAD_POOL_KIT_H
#define SYM_UNIT_THREAD_POOL_KIT_H

#include <pthread.h>
#include <stdlib.h>

#include "base/thread_pool.h"

#define THREADS_MAX 5

typedef struct {
    unsigned n;
    unsigned runs; /* number of jobs that were done */
    void (*work)(void *task);
    void *task;
} thread_pool_t;


static void *
run_one(void *arg)
{
    thread_pool_t *pool = arg;

    pool->work(pool->task);
    return NULL;
}


static void
run(void *ctx, void (*work)(void *task), void *task)
{
    thread_pool_t *pool = ctx;
    pthread_t threads[THREADS_MAX];

    pool->runs++;
    pool->work = work;
    pool->task = task;
    for (unsigned i = 0; i < pool->n; i++) {
        if (pthread_create(&threads[i], NULL, run_one, pool) != 0) {
            abort();
        }
    }

    for (unsigned i = 0; i < pool->n; i++) {
        (void) pthread_join(threads[i], NULL);
    }
}

#endif
