#include "converter/thread_pool.h"

#include <pthread.h>
#include <stdlib.h>

/* The largest frames, for a walk's stack of scopes, take tens of KiB. */
#define STACK_BYTES ((size_t) 1 << 20)

struct thread_pool_s {
    sym_thread_pool_t lent;
    pthread_mutex_t lock;
    pthread_cond_t called; /* signals that there is work */
    pthread_cond_t left;   /* signals that another thread waits */
    void (*work)(void *task);
    void *task;
    unsigned calls;   /* number of calls so far */
    unsigned wanted;  /* number of other threads still to start in the current
                         call */
    unsigned waiting; /* number of other threads that wait */
    unsigned others;
    unsigned most; /* maximum number of other threads that take part */
};


/* Main function of the other threads; never returns. */
static void *
serve(void *arg)
{
    thread_pool_t *pool = arg;
    unsigned calls = 0;

    (void) pthread_mutex_lock(&pool->lock);

    for (;;) {
        pool->waiting++;
        (void) pthread_cond_signal(&pool->left);

        while (pool->calls == calls || pool->wanted == 0) {
            calls = pool->calls;
            (void) pthread_cond_wait(&pool->called, &pool->lock);
        }

        calls = pool->calls;
        pool->wanted--;
        pool->waiting--;
        (void) pthread_mutex_unlock(&pool->lock);
        pool->work(pool->task);
        (void) pthread_mutex_lock(&pool->lock);
    }

    return NULL;
}


static void
wait_for_others(thread_pool_t *pool)
{
    while (pool->waiting < pool->others) {
        (void) pthread_cond_wait(&pool->left, &pool->lock);
    }
}


static void
run(void *ctx, void (*work)(void *task), void *task)
{
    thread_pool_t *pool = ctx;

    (void) pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->task = task;
    pool->wanted = pool->most;
    pool->calls++;
    (void) pthread_cond_broadcast(&pool->called);
    (void) pthread_mutex_unlock(&pool->lock);

    work(task);

    (void) pthread_mutex_lock(&pool->lock);
    pool->wanted = 0; /* threads that have not started yet do not take part */
    wait_for_others(pool);
    (void) pthread_mutex_unlock(&pool->lock);
}


static unsigned
start_others(thread_pool_t *pool, unsigned n)
{
    pthread_attr_t attr;
    pthread_t thread;
    unsigned started = 0;

    if (pthread_attr_init(&attr) != 0) {
        return 0;
    }

    if (pthread_attr_setstacksize(&attr, STACK_BYTES) == 0
        && pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0)
    {
        while (started < n && pthread_create(&thread, &attr, serve, pool) == 0)
        {
            started++;
        }
    }

    (void) pthread_attr_destroy(&attr);
    return started;
}


thread_pool_t *
thread_pool_create(unsigned threads)
{
    thread_pool_t *pool = calloc(1, sizeof(*pool));

    if (pool == NULL) {
        return NULL;
    }

    pool->lent = (sym_thread_pool_t){ run, pool };
    (void) pthread_mutex_init(&pool->lock, NULL);
    (void) pthread_cond_init(&pool->called, NULL);
    (void) pthread_cond_init(&pool->left, NULL);

    pool->others = start_others(pool, threads - 1);
    pool->most = pool->others;

    (void) pthread_mutex_lock(&pool->lock);
    wait_for_others(pool);
    (void) pthread_mutex_unlock(&pool->lock);
    return pool;
}


void
thread_pool_limit(thread_pool_t *pool, unsigned threads)
{
    unsigned others = threads > 0 ? threads - 1 : 0;

    pool->most = others < pool->others ? others : pool->others;
}


const sym_thread_pool_t *
thread_pool_lent(const thread_pool_t *pool)
{
    return pool->most != 0 ? &pool->lent : NULL;
}
