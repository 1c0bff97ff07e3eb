/*
 * address.h - architectures by Sentry's names, and the address of the call that
 * a return address belongs to.
 *
 * A return address points after its call, perhaps into another function or
 * line, so an address inside the call is looked up.  The rules are those of
 * Symbolicator (symbolic's heuristics.rs).
 */
#ifndef SYM_API_SENTRY_ADDRESS_H
#define SYM_API_SENTRY_ADDRESS_H

#include "base/str.h"

typedef struct {
    const char *stored; /* in symcaches */
    const char *name;   /* Sentry's */
    uint8_t align;      /* of instructions; 0: any */
    uint8_t back;       /* from an aligned address to the call before it */
    const char *ip;     /* the register of the program counter; NULL: none */
} sentry_arch_t;

/* The architecture of a symcache; "unknown" if Sentry has no name for it. */
const sentry_arch_t *sentry_arch(sym_str_t stored);

typedef enum {
    SENTRY_ADJUST_AUTO,
    SENTRY_ADJUST_YES,
    SENTRY_ADJUST_NO
} sentry_adjust_t;

typedef struct {
    sentry_adjust_t adjust;
    bool is_innermost;
    bool is_crash; /* a bad instruction can raise the signal */
    bool has_ip;
    uint64_t ip; /* value of the program counter, if it is known */
} sentry_call_t;

/* The address to look up for an absolute one; below zero it wraps around. */
uint64_t sentry_call_address(const sentry_arch_t *arch, uint64_t addr,
                             const sentry_call_t *call);

/* SIGILL, SIGBUS or SIGSEGV.  Symbolicator knows them by their numbers on Apple's
 * systems. */
bool sentry_is_crash_signal(uint32_t signal);

#endif
