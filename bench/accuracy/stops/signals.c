/*
 * signals.c - a program that signals interrupt all the time: their handlers call
 * functions, so most stacks have the frame of a signal.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>

#define NOINLINE __attribute__((noipa))

static volatile uint64_t sink;


NOINLINE static uint64_t
work(uint64_t n)
{
    uint64_t s = 0;

    for (uint64_t i = 0; i < n; i++) {
        s += i * i ^ s >> 3;
    }
    return s;
}


/* Its first instruction is where half of the signals find the program. */
NOINLINE static uint64_t
tiny(uint64_t n)
{
    return n;
}


static void
handle(int number)
{
    (void) number;
    sink += work(200000);
}


NOINLINE static uint64_t
loop(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        sink += tiny(i);
    }
    return n != 0 ? loop(n - 1) : 0;
}


int
main(void)
{
    struct itimerval timer = { { 0, 500 }, { 0, 500 } };
    struct sigaction action = { .sa_handler = handle };

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (;;) {
        sink += loop(50);
    }
}
