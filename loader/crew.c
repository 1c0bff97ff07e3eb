#include "crew.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

/* The largest frames, a walk's stack of scopes, take some tens of KiB. */
#define STACK_BYTES ((size_t) 1 << 20)

struct crew_s {
    sym_crew_t lent;
    pthread_mutex_t lock;
    pthread_cond_t called; /* there is work */
    pthread_cond_t left;   /* one more waits */
    void (*work)(void *task);
    void *task;
    unsigned calls;   /* how often there was work */
    unsigned wanted;  /* of the others, in the present work */
    unsigned waiting; /* of the others */
    unsigned others;
    unsigned most; /* of the others, that may take part */
};


/* One of the others; never ends. */
static void *
serve(void *arg)
{
    crew_t *crew = arg;
    unsigned calls = 0;

    (void) pthread_mutex_lock(&crew->lock);

    for (;;) {
        crew->waiting++;
        (void) pthread_cond_signal(&crew->left);

        while (crew->calls == calls || crew->wanted == 0) {
            calls = crew->calls;
            (void) pthread_cond_wait(&crew->called, &crew->lock);
        }

        calls = crew->calls;
        crew->wanted--;
        crew->waiting--;
        (void) pthread_mutex_unlock(&crew->lock);
        crew->work(crew->task);
        (void) pthread_mutex_lock(&crew->lock);
    }

    return NULL;
}


static void
wait_for_others(crew_t *crew)
{
    while (crew->waiting < crew->others) {
        (void) pthread_cond_wait(&crew->left, &crew->lock);
    }
}


static void
run(void *ctx, void (*work)(void *task), void *task)
{
    crew_t *crew = ctx;

    (void) pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->task = task;
    crew->wanted = crew->most;
    crew->calls++;
    (void) pthread_cond_broadcast(&crew->called);
    (void) pthread_mutex_unlock(&crew->lock);

    work(task);

    (void) pthread_mutex_lock(&crew->lock);
    crew->wanted = 0; /* who has not begun comes too late */
    wait_for_others(crew);
    (void) pthread_mutex_unlock(&crew->lock);
}


static unsigned
start_others(crew_t *crew, unsigned n)
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
        while (started < n && pthread_create(&thread, &attr, serve, crew) == 0)
        {
            started++;
        }
    }

    (void) pthread_attr_destroy(&attr);
    return started;
}


crew_t *
crew_create(unsigned threads)
{
    crew_t *crew = calloc(1, sizeof(*crew));

    if (crew == NULL) {
        return NULL;
    }

    /* A heap for each thread would take 64 MiB of the address space, which is
     * capped; they allocate too seldom to be in each other's way. */
    (void) mallopt(M_ARENA_MAX, 1);

    crew->lent = (sym_crew_t){ run, crew };
    (void) pthread_mutex_init(&crew->lock, NULL);
    (void) pthread_cond_init(&crew->called, NULL);
    (void) pthread_cond_init(&crew->left, NULL);

    crew->others = start_others(crew, threads - 1);
    crew->most = crew->others;

    (void) pthread_mutex_lock(&crew->lock);
    wait_for_others(crew);
    (void) pthread_mutex_unlock(&crew->lock);
    return crew;
}


void
crew_limit(crew_t *crew, unsigned threads)
{
    unsigned others = threads > 0 ? threads - 1 : 0;

    crew->most = others < crew->others ? others : crew->others;
}


const sym_crew_t *
crew_lent(const crew_t *crew)
{
    return crew->most != 0 ? &crew->lent : NULL;
}
