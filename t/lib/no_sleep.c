/*
 * no_sleep.c - preloaded: a process that sleeps reports it, and does not sleep.
 */
#include <time.h>
#include <unistd.h>

int
nanosleep(const struct timespec *pause, struct timespec *left)
{
    static const char text[] = "nanosleep() was called\n";

    (void) pause;
    (void) left;
    return write(STDERR_FILENO, text, sizeof(text) - 1) > 0 ? 0 : -1;
}
