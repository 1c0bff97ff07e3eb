/*
 * crew.h - hands that do one piece of work at the same time.
 *
 * core/ starts no threads: who has some lends them to a reader that can use
 * them.  Without a crew the caller does all of it.
 */
#ifndef SYM_BASE_CREW_H
#define SYM_BASE_CREW_H

#include <stddef.h>

typedef struct {
    /* Calls work(task) in some threads at once, the caller's among them, and
     * comes back when all of them have. */
    void (*run)(void *ctx, void (*work)(void *task), void *task);
    void *ctx;
} sym_crew_t;

static inline void
sym_crew_run(const sym_crew_t *crew, void (*work)(void *task), void *task)
{
    if (crew != NULL) {
        crew->run(crew->ctx, work, task);
    } else {
        work(task);
    }
}

#endif
