/*
 * room.h - arrays that grow to megabytes.
 *
 * Most of what they cost is the system's, which gives their memory out in pages
 * of 4 KiB, each by a fault (measured: 2 to 3 us, a third of the time of a large
 * `symloader lookup`).  Large ones ask for large pages.
 */
#ifndef SYMLOADER_ROOM_H
#define SYMLOADER_ROOM_H

#include <stddef.h>

/* An array with room for `bytes`, and the first `used` ones of `old`, which is
 * freed.  NULL: out of memory, and old is as it was. */
void *room_grow(void *old, size_t used, size_t bytes);

#endif
