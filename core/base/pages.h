/*
 * pages.h - memory of some MiB that is met all over the place.
 *
 * In pages of 4 KiB each of these costs a fault when it is first written to, and
 * nearly every look at random waits for the page tables, too.  Large ones are
 * asked for; not getting them is no failure.  None is touched here.
 */
#ifndef SYM_BASE_PAGES_H
#define SYM_BASE_PAGES_H

#include <stddef.h>

/* For the large pages that lie within these bytes. */
void sym_pages_large(void *start, size_t bytes);

/* Not cleared; it begins with a large page if it has one, and with a line of the
 * cache otherwise.  NULL: out of memory.  Given back by free(). */
void *sym_pages_alloc(size_t bytes);

#endif
