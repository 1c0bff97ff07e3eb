/*
 * address.h - architectures by Sentry's names, and call addresses from return
 * addresses.
 *
 * A return address points after its call, perhaps into another function or
 * line, so an address inside the call is looked up.  The rules are those of
 * Symbolicator (symbolic's heuristics.rs).
 */
#ifndef SYM_API_SENTRY_ADDRESS_H
#define SYM_API_SENTRY_ADDRESS_H

#include "base/str.h"

typedef struct {
    const char *stored; /* name in symcaches */
    const char *name;   /* Sentry's */
    uint8_t align;      /* alignment of instructions; 0: any */
    uint8_t back;       /* distance from an aligned address back to the call */
    const char *ip;     /* name of the program counter's register; NULL: none */
} sentry_arch_t;

/* Finds the architecture of a symcache; "unknown" if Sentry has no name for
 * it. */
const sentry_arch_t *sentry_arch(sym_str_t stored);

typedef enum {
    SENTRY_ADJUST_AUTO,
    SENTRY_ADJUST_YES,
    SENTRY_ADJUST_NO
} sentry_adjust_t;

typedef struct {
    sentry_adjust_t adjust;
    bool is_innermost;
    bool is_crash; /* the signal can be caused by a bad instruction */
    bool has_ip;
    uint64_t ip; /* value of the program counter, if known */
} sentry_call_t;

/* Returns the address to look up for an absolute one; it wraps around below
 * zero. */
uint64_t sentry_call_address(const sentry_arch_t *arch, uint64_t addr,
                             const sentry_call_t *call);

/* Whether it is SIGILL, SIGBUS or SIGSEGV, by their numbers on Apple's systems,
 * as in Symbolicator. */
bool sentry_is_crash_signal(uint32_t signal);

#endif
