/*
 * crew.h - the threads of a converter, which wait between two pieces of work.
 *
 * They begin before the sandbox is entered, which lets nobody start a thread
 * and holds for all of them.  They end with the process.
 */
#ifndef SYMLOADER_CREW_H
#define SYMLOADER_CREW_H

#include "base/crew.h"

typedef struct crew_s crew_t;

/* The caller and threads - 1 others, or as many as the system gives, all of them
 * waiting now.  NULL: out of memory. */
crew_t *crew_create(unsigned threads);

/* At most so many take part from now on, the caller counted. */
void crew_limit(crew_t *crew, unsigned threads);

/* Valid as long as the crew; it is called from the thread that made it. */
const sym_crew_t *crew_lent(const crew_t *crew);

#endif
