/*
 * account.h - limits on the memory of requests.
 *
 * A worker has one account, and each of its requests has a sub-account of it.
 * A charge to a request also counts for the worker.  The code that allocates
 * charges the bytes; the code that frees returns them.  Not shared between
 * threads.
 */
#ifndef SYM_BASE_ACCOUNT_H
#define SYM_BASE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sym_account_s sym_account_t;

typedef enum {
    SYM_REFUSED_NOTHING,
    SYM_REFUSED_WHOLE, /* other requests hold the rest at the moment */
    SYM_REFUSED_SHARE  /* more than a single request may hold */
} sym_refused_t;

#define SYM_REFUSED_STATES (SYM_REFUSED_SHARE + 1)

struct sym_account_s {
    sym_account_t *whole; /* the account that this one is part of, or NULL */
    size_t used;
    size_t limit;          /* 0: no limit */
    sym_refused_t refused; /* the last charge that was refused */
};

/* Returns false if the charge was refused: a->refused is the reason.  If a is
 * NULL, nothing is counted. */
bool sym_account_charge(sym_account_t *a, size_t n);

/* Charges bytes that are already allocated, even beyond the limit. */
void sym_account_add(sym_account_t *a, size_t n);

void sym_account_give(sym_account_t *a, size_t n);

#endif
