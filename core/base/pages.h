/*
 * pages.h - large pages for memory of several MiB with random access.
 *
 * With pages of 4 KiB, the first write to each page costs a fault, and nearly
 * every random access waits for the page tables.  The kernel is asked for large
 * pages, and may ignore that.  These functions do not touch the pages.
 */
#ifndef SYM_BASE_PAGES_H
#define SYM_BASE_PAGES_H

#include <stddef.h>

/* Requests large pages for these bytes. */
void sym_pages_large(void *start, size_t bytes);

/* Allocates memory, not zeroed, and aligned to a large page if it contains one,
 * else to a cache line.  NULL: out of memory.  Freed by free(). */
void *sym_pages_alloc(size_t bytes);

#endif
