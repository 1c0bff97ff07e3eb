/*
 * program.c - a program that crashes; with a second argument in the handler of
 * another signal.  A client of crash reports is linked to it.
 */
#define _GNU_SOURCE

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "client.h"

static inline __attribute__((always_inline)) int
read_it(volatile int *p)
{
    return *p; /* here: inlined */
}


__attribute__((noipa)) static int
deepest(volatile int *p)
{
    return read_it(p) + 1; /* here: deepest */
}


__attribute__((noipa)) static int
compare(const void *a, const void *b)
{
    int more = deepest(NULL); /* here: compare */

    return more + *(const int *) a - *(const int *) b;
}


__attribute__((noipa)) static int
sort_them(int n)
{
    int numbers[] = { 3, 1, n };

    qsort(numbers, 3, sizeof(numbers[0]), compare); /* here: sort_them */
    return numbers[0];
}


/* A signal interrupts it before its first instruction. */
__attribute__((naked, noipa, aligned(64))) static void
interrupted(void)
{
    __asm__("ud2; ret"); /* here: interrupted */
}


static void
handle(int number)
{
    (void) deepest(NULL); /* here: handle */
    _exit(number);
}


int
main(int argc, char **argv)
{
    crash_client_start(argv);
    if (argc > 2) {
        signal(SIGILL, handle);
        interrupted(); /* here: main_interrupted */
    }
    argc += sort_them(argc); /* here: main */
    return argc;
}
