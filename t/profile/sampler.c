/*
 * sampler.c - a program that samples itself, as gperftools' CPU profiler does,
 * and writes the same file: words of the machine's size (0, 3, 0, microseconds,
 * 0), then for each stack its count, its depth and its addresses, then (0, 1, 0),
 * then the text of /proc/self/maps.
 */
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define DEPTH_MAX 64
#define STACKS 400

static uintptr_t stacks[STACKS][DEPTH_MAX + 1];
static volatile int n_stacks;

static void
sample(int number, siginfo_t *info, void *context)
{
    void *found[DEPTH_MAX + 2];
    const int from = 2; /* frames of the signal and its handler */
    int n;

    (void) number;
    (void) info;
    (void) context;
    if (n_stacks == STACKS) {
        return;
    }

    n = backtrace(found, DEPTH_MAX);
    if (from < n) {
        stacks[n_stacks][0] = (uintptr_t) (n - from);
        memcpy(&stacks[n_stacks][1], found + from,
               (size_t) (n - from) * sizeof(void *));
        n_stacks++;
    }
}


#include "work.h"

static void
put(FILE *out, uintptr_t word)
{
    fwrite(&word, sizeof(word), 1, out);
}


int
main(int argc, char **argv)
{
    struct sigaction act = { .sa_sigaction = sample,
                             .sa_flags = SA_SIGINFO | SA_RESTART };
    const struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
    void *warm[4];
    char line[4096];
    FILE *out, *maps;
    unsigned sum = 0;

    (void) argc;
    (void) backtrace(warm, 4); /* it allocates at its first call */
    sigaction(SIGPROF, &act, NULL);
    setitimer(ITIMER_PROF, &every, NULL);

    while (n_stacks < STACKS) {
        sum += work(sum);
    }

    out = fopen(argv[1], "wb");
    maps = fopen("/proc/self/maps", "r");
    if (out == NULL || maps == NULL) {
        return 1;
    }

    put(out, 0), put(out, 3), put(out, 0), put(out, 2000), put(out, 0);
    for (int i = 0; i < STACKS; i++) {
        put(out, 1);
        for (uintptr_t k = 0; k <= stacks[i][0]; k++) {
            put(out, stacks[i][k]);
        }
    }
    put(out, 0), put(out, 1), put(out, 0);

    while (fgets(line, sizeof(line), maps) != NULL) {
        fputs(line, out);
    }

    return fclose(out) != 0 || sum == 0;
}
