/*
 * pages.h - large pages for memory of several MiB with random access.
 *
 * With pages of 4 KiB each page costs a fault at its first write, and nearly
 * every random access waits for the page tables.  Large pages are requested; it
 * is no failure if the kernel has none.  Nothing here touches a page.
 */
#ifndef SYM_BASE_PAGES_H
#define SYM_BASE_PAGES_H

#include <stddef.h>

/* Requests large pages within these bytes. */
void sym_pages_large(void *start, size_t bytes);

/* Not cleared; aligned to a large page if it contains one, else to a cache
 * line.  NULL: out of memory.  Freed by free(). */
void *sym_pages_alloc(size_t bytes);

#endif
