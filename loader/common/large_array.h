/*
 * large_array.h - arrays that grow to megabytes.
 *
 * Most of what they cost are faults (measured: 2 to 3 us each, a third of the time
 * of a large `symloader lookup`), so they are in large pages (base/pages.h).
 */
#ifndef SYMLOADER_COMMON_LARGE_ARRAY_H
#define SYMLOADER_COMMON_LARGE_ARRAY_H

#include <stddef.h>

/* An array with room for `bytes`, and the first `used` ones of `old`, which is
 * freed.  NULL: out of memory, and old is as it was. */
void *large_array_grow(void *old, size_t used, size_t bytes);

#endif
