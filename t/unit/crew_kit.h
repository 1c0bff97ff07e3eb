/*
 * crew_kit.h - threads for tests of what a crew does: n of them, for one work.
 *
 *     crew_t crew = { .n = 3 };
 *     const sym_crew_t lent = { run, &crew };
 */
#ifndef SYM_UNIT_CREW_KIT_H
#define SYM_UNIT_CREW_KIT_H

#include <pthread.h>
#include <stdlib.h>

#include "base/crew.h"

#define THREADS_MAX 5

typedef struct {
    unsigned n;
    unsigned runs; /* so many works were done */
    void (*work)(void *task);
    void *task;
} crew_t;


static void *
run_one(void *arg)
{
    crew_t *crew = arg;

    crew->work(crew->task);
    return NULL;
}


static void
run(void *ctx, void (*work)(void *task), void *task)
{
    crew_t *crew = ctx;
    pthread_t threads[THREADS_MAX];

    crew->runs++;
    crew->work = work;
    crew->task = task;
    for (unsigned i = 0; i < crew->n; i++) {
        if (pthread_create(&threads[i], NULL, run_one, crew) != 0) {
            abort();
        }
    }

    for (unsigned i = 0; i < crew->n; i++) {
        (void) pthread_join(threads[i], NULL);
    }
}

#endif
