/*
 * load.h - parses JSON text into jansson's tree, or says why it cannot.
 *
 * The only caller of jansson's reader: it separates errors of the text from
 * ours, and bounds the cost of a text.  jansson reads a text in one go and
 * takes up to 100 bytes of memory for each byte of it, so bytes, tree and keys
 * are limited: without limits 31 KB of gzip blocked a worker for seconds and
 * took 2.5 GB. jansson goes 2,048 levels deep and no deeper.
 */
#ifndef SYM_JSON_LOAD_H
#define SYM_JSON_LOAD_H

#include <jansson.h>

#include "base/account.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/*
 * Limits of a text for jansson.  Measured: the worst text within all three
 * takes 50 ms (the maximum of keys, then reals of 22 digits).  Twice as much,
 * with what callers do with the tree, took more than a turn's 100 ms on a busy
 * machine.
 */
#define SYM_JSON_BYTES_MAX ((size_t) 2 << 20)
#define SYM_JSON_MEMORY_MAX ((size_t) 12 << 20)
#define SYM_JSON_KEYS_MAX ((size_t) 25000)

/* A tree for administrators; its keys are not limited. */
#define SYM_JSON_TRUSTED_MAX ((size_t) 64 << 20)

/* A tree in a child process that may be killed: texts of up to 64 MiB. */
#define SYM_JSON_CONVERTER_MAX ((size_t) 1 << 30)
#define SYM_JSON_CONVERTER_BYTES_MAX ((size_t) 64 << 20)

/* A tree that is freed as a whole, never by json_decref(). */
typedef struct {
    json_t *root; /* NULL: none */
    sym_arena_t arena;
} sym_json_t;

/*
 * The tree of all of text, in at most `memory` bytes; flags are jansson's
 * JSON_*.  SYM_OK; SYM_MALFORMED with what (static, "the answer is not JSON"),
 * line and byte; SYM_LIMIT; SYM_NOMEM.  The caller drops the tree in any case.
 */
sym_status_t sym_json_load(sym_json_t *json, sym_str_t text, size_t memory,
                           size_t flags, const char *what, sym_error_t *err);

/* Does the same, within what the account may still hold (SYM_NOMEM); what can be
 * large in a worker is read by this. */
sym_status_t sym_json_load_charged(sym_json_t *json, sym_account_t *account,
                                   sym_str_t text, size_t flags,
                                   const char *what, sym_error_t *err);
void sym_json_drop(sym_json_t *json);

/* "map", "sequence", ...: the words of Rust's serde, which clients of Symbolicator
 * know from its messages. */
const char *sym_json_type_name(const json_t *value);

#endif
