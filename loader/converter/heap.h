/*
 * heap.h - the heap of a converter: a single contiguous one for all of its
 * threads.
 */
#ifndef SYMLOADER_CONVERTER_HEAP_H
#define SYMLOADER_CONVERTER_HEAP_H

#include <stdint.h>

/* Reserves addresses for the heap of a process with this memory limit.  Pages
 * are not touched, and a failure is ignored.  Call it before threads start. */
void heap_reserve(uint64_t memory_bytes);

#endif
