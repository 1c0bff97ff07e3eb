/*
 * oom.h - makes malloc() and its kin fail: the next allocations_left succeed.
 * Programs named *_oom are linked so that their calls come here.
 */
#ifndef T_UNIT_OOM_H
#define T_UNIT_OOM_H

#include <stdbool.h>
#include <stdlib.h>

static unsigned long allocations_left = (unsigned long) -1;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);


static bool
may_allocate(void)
{
    return allocations_left != 0 && allocations_left-- != 0;
}


void *
__wrap_malloc(size_t size)
{
    return may_allocate() ? __real_malloc(size) : NULL;
}


void *
__wrap_calloc(size_t n, size_t size)
{
    return may_allocate() ? __real_calloc(n, size) : NULL;
}


void *
__wrap_realloc(void *p, size_t size)
{
    return may_allocate() ? __real_realloc(p, size) : NULL;
}

#endif
