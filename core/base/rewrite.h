/*
 * rewrite.h - rewrites names by a request's regular expressions (Symbolicator's
 * `rewrite_first_module`).
 *
 * Symbolicator uses Rust's regular expressions.  Here PCRE2 runs them, with
 * limits on time and memory: an expression that exceeds a limit matches
 * nothing.  Only the server links PCRE2, so it passes the function to core.
 */
#ifndef SYM_BASE_REWRITE_H
#define SYM_BASE_REWRITE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#define SYM_REWRITE_RULES_MAX 64
#define SYM_REWRITE_TEXT_MAX 1024 /* bytes of each text and name */

typedef struct {
    sym_str_t from, to; /* expression, and replacement with $name and ${name} */
} sym_rewrite_t;

typedef sym_status_t (*sym_rewrite_pt)(sym_arena_t *arena,
                                       const sym_rewrite_t *rule,
                                       sym_str_t name, sym_str_t *out);

/*
 * Applies a rule to a name; at most some 20 ms.  SYM_OK: *out, in the arena;
 * SYM_NOT_FOUND: it does not match; SYM_MALFORMED: the expression is invalid,
 * *out says why; SYM_NOMEM.
 */
sym_status_t sym_rewrite(sym_arena_t *arena, const sym_rewrite_t *rule,
                         sym_str_t name, sym_str_t *out);

#endif
