/*
 * load.h - parses JSON text into jansson's tree, or returns the reason why it
 * cannot.
 *
 * This is the only caller of jansson's reader.  It separates errors of the text
 * from ours, and limits the cost of a text.  jansson reads a text in one call,
 * and takes up to 100 bytes of memory for each byte of text.  So the size of
 * the text, the size of the tree, and the number of keys are limited; otherwise
 * 31 KB of gzip block a worker for seconds and take 2.5 GB.  jansson itself
 * limits the depth to 2,048 levels.
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
 * takes 50 ms (the maximum of keys, then reals of 22 digits).  Limits twice as
 * large, plus the callers' work on the tree, exceed the 100 ms of a turn on a
 * busy machine.
 */
#define SYM_JSON_BYTES_MAX ((size_t) 2 << 20)
#define SYM_JSON_MEMORY_MAX ((size_t) 12 << 20)
#define SYM_JSON_KEYS_MAX ((size_t) 25000)

/* Size of a tree for administrators; its keys are not limited. */
#define SYM_JSON_TRUSTED_MAX ((size_t) 64 << 20)

/* Size of a tree in a child process that may be killed: enough for texts of 64
 * MiB. */
#define SYM_JSON_CONVERTER_MAX ((size_t) 1 << 30)
#define SYM_JSON_CONVERTER_BYTES_MAX ((size_t) 64 << 20)

/* A tree that is freed as a whole; never call json_decref() for it. */
typedef struct {
    json_t *root; /* NULL: none */
    sym_arena_t arena;
} sym_json_t;

/*
 * Reads text into a tree of at most `memory` bytes; flags are jansson's JSON_*.
 * SYM_OK; SYM_MALFORMED with what (static, "the answer is not JSON"), line and
 * byte; SYM_LIMIT; SYM_NOMEM.  The caller must free the tree in any case.
 */
sym_status_t sym_json_load(sym_json_t *json, sym_str_t text, size_t memory,
                           size_t flags, const char *what, sym_error_t *err);

/* Same, but also within what the account allows (SYM_NOMEM).  Workers use it
 * for texts that can be large. */
sym_status_t sym_json_load_charged(sym_json_t *json, sym_account_t *account,
                                   sym_str_t text, size_t flags,
                                   const char *what, sym_error_t *err);
void sym_json_drop(sym_json_t *json);

/* "map", "sequence", ...: the words of Rust's serde, which Symbolicator's
 * messages contain. */
const char *sym_json_type_name(const json_t *value);

#endif
