/*
 * interrupt.h - SIGINT, SIGTERM and SIGHUP as a request to stop.
 *
 * They are blocked from interrupt_catch() on, and delivered only while the
 * loader waits (ppoll with *interrupt_mask()), so they never interrupt a step.
 */
#ifndef SYMLOADER_COMMON_INTERRUPT_H
#define SYMLOADER_COMMON_INTERRUPT_H

#include <signal.h>

void interrupt_catch(sigset_t *waiting_mask);

/* Returns the signal that was received, or 0. */
int interrupt_signal(void);

/* Ends the process as if by that signal. */
void interrupt_die(void);

#endif
