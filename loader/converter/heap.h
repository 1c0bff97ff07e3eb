/*
 * heap.h - the heap of a converter: one for all of its threads, in one piece.
 */
#ifndef SYMLOADER_CONVERTER_HEAP_H
#define SYMLOADER_CONVERTER_HEAP_H

#include <stdint.h>

/* Reserves addresses for the heap of a process that may have so much memory.  None
 * is touched; getting none is no failure.  To be called before threads start. */
void heap_reserve(uint64_t memory_bytes);

#endif
