/*
 * program.c - functions of many shapes, which call each other forever: recursion,
 * callbacks from libraries, large frames, variable arrays, tail calls, a function
 * that is a leaf.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noipa))

static volatile uint64_t sink;


NOINLINE static uint64_t
leaf(uint64_t a, uint64_t b)
{
    return a * 31 + (b ^ a >> 7);
}


NOINLINE static int
compare(const void *a, const void *b)
{
    uint64_t x = leaf(*(const uint64_t *) a, 1),
             y = leaf(*(const uint64_t *) b, 1);

    return (x > y) - (x < y);
}


NOINLINE static uint64_t
large(uint64_t a)
{
    char text[20000];

    snprintf(text, sizeof(text), "%llu %s %.3f", (unsigned long long) a, "text",
             (double) a / 7);
    return strlen(text) + (uint64_t) text[a % 10];
}


NOINLINE static uint64_t
variable(unsigned n)
{
    uint64_t numbers[n + 1];

    for (unsigned i = 0; i <= n; i++) {
        numbers[i] = leaf(i, n);
    }
    qsort(numbers, n + 1, sizeof(numbers[0]), compare);
    return numbers[n / 2];
}


NOINLINE static uint64_t
sum(unsigned n, ...)
{
    va_list args;
    uint64_t s = 0;

    va_start(args, n);
    for (unsigned i = 0; i < n; i++) {
        s += leaf(va_arg(args, uint64_t), i);
    }
    va_end(args);
    return s;
}


NOINLINE static uint64_t
aligned(uint64_t a)
{
    _Alignas(64) uint64_t table[16];

    for (unsigned i = 0; i < 16; i++) {
        table[i] = leaf(a, i);
    }
    return table[a % 16] + sum(3, a, table[0], table[1]);
}


NOINLINE static uint64_t
deep(unsigned n, uint64_t a)
{
    if (n == 0) {
        return large(a) + variable(20) + aligned(a);
    }
    return deep(n - 1, leaf(a, n)) + leaf(a, a);
}


NOINLINE static uint64_t
tail(unsigned n)
{
    return deep(n % 60, n);
}


int
main(void)
{
    for (unsigned i = 0;; i++) {
        sink += tail(i);
    }
}
