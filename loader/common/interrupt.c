#include "common/interrupt.h"

#include <stddef.h>

/* A signal handler can only access global variables. */
static volatile sig_atomic_t caught;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))


static void
remember(int number)
{
    caught = number;
}


void
interrupt_catch(sigset_t *waiting_mask)
{
    struct sigaction action = { .sa_handler = remember };
    struct sigaction old;
    sigset_t block;
    size_t i;

    sigemptyset(&block);

    for (i = 0; i < N_SIGNALS; i++) {
        /* nohup(1) and background jobs of shells ignore some signals; these
           stay ignored. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        {
            sigaction(signals[i], &action, NULL);
            sigaddset(&block, signals[i]);
        }
    }

    sigprocmask(SIG_BLOCK, &block, waiting_mask);
}


int
interrupt_signal(void)
{
    sigset_t pending;
    size_t i;

    if (caught != 0) {
        return caught;
    }

    /* In a loader that never waits long, signals are still pending. */
    sigpending(&pending);

    for (i = 0; i < N_SIGNALS; i++) {
        if (sigismember(&pending, signals[i])) {
            return signals[i];
        }
    }

    return 0;
}


void
interrupt_die(void)
{
    struct sigaction by_default = { .sa_handler = SIG_DFL };
    sigset_t none;
    int number = interrupt_signal();

    sigaction(number, &by_default, NULL);
    sigemptyset(&none);
    raise(number);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
