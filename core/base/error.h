/*
 * error.h - how all code in core/ reports errors.
 *
 * A function that can fail returns a sym_status_t and fills the sym_error_t
 * that the caller passes.  The texts are static and never hold bytes of the
 * input, so an error can be kept, logged or sent to another process without
 * copying.  The first failure wins: sym_fail() does not change an error that is
 * already filled.
 */
#ifndef SYM_BASE_ERROR_H
#define SYM_BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

typedef enum {
    SYM_OK = 0,
    SYM_NOT_FOUND,   /* the requested item does not exist; not a failure */
    SYM_TRUNCATED,   /* the input is shorter than it claims */
    SYM_MALFORMED,   /* the input breaks its format's rules */
    SYM_UNSUPPORTED, /* well formed, but not supported */
    SYM_LIMIT,       /* beyond one of our named limits */
    SYM_NOMEM,       /* out of memory */
    SYM_IO,          /* the operating system refused; sys_errno says why */
    SYM_BUSY,        /* another process holds a lock or a slot that is needed */
    SYM_FULL,        /* no room is left on the disk or in the store's quota */
    SYM_DAMAGED,     /* the store's own bytes have changed */
    SYM_VERSION,     /* written by a format version we do not know */
    SYM_AGAIN        /* the slice is done, but more work is left */
} sym_status_t;

typedef struct {
    sym_status_t status;
    int sys_errno;       /* errno of the call that failed; 0: none */
    const char *what;    /* static text */
    const char *section; /* static: "FUNC record", ".debug_line"; or NULL */
    uint64_t offset;     /* position of the reader in the input, in bytes */
    uint64_t line;       /* line of a text input, from 1; 0: not a text */
    uint64_t item;       /* number of an entry in a list, from 1; 0: not in a
                            list.  If item is not 0, section is a part of the
                            entry, and offset is valid only if it is not 0 */
} sym_error_t;

/* Records a failure unless one is already recorded.  Returns its status. */
sym_status_t sym_fail(sym_error_t *err, sym_status_t status, const char *what);

/* Same for a failed system call. */
sym_status_t sym_fail_sys(sym_error_t *err, sym_status_t status,
                          const char *what, int code);

/* "truncated", "malformed", ...: the word used in logs, JSON and metrics. */
const char *sym_status_name(sym_status_t status);

/*
 * "malformed: size is not a number (FUNC record, line 12, byte 345)".
 * Writes at most size bytes with the closing NUL; returns buf.
 */
const char *sym_error_text(const sym_error_t *err, char *buf, size_t size);

#endif
