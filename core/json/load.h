/*
 * load.h - parses JSON text into jansson's tree, or says why it cannot.
 *
 * The one place that calls jansson's reader: it knows which of its errors are
 * the text's and which are ours, and bounds what a text may cost.  jansson
 * reads a text in one go and takes up to 100 bytes of memory for one of the
 * text, so its bytes, its tree and its keys are limited: 31 KB of gzip held a
 * worker for seconds and 2.5 GB.  jansson goes 2,048 levels deep and no
 * deeper.
 */
#ifndef SYM_JSON_LOAD_H
#define SYM_JSON_LOAD_H

#include <jansson.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/*
 * Measured, of text that jansson is given: the worst within all three takes 84
 * ms (as many keys as there may be, then reals of 22 digits); without a limit
 * of keys, one object of 178,000 took 104.
 */
#define SYM_JSON_BYTES_MAX ((size_t) 4 << 20)
#define SYM_JSON_MEMORY_MAX ((size_t) 24 << 20)
#define SYM_JSON_KEYS_MAX ((size_t) 50000)

/* A tree for administrators; its keys are not limited. */
#define SYM_JSON_TRUSTED_MAX ((size_t) 64 << 20)

/* A tree in a process of its own that may be lost: texts of up to 64 MiB. */
#define SYM_JSON_CONVERTER_MAX ((size_t) 1 << 30)
#define SYM_JSON_CONVERTER_BYTES_MAX ((size_t) 64 << 20)

/* A tree that is dropped whole: nothing of it is for json_decref(). */
typedef struct {
    json_t *root; /* NULL: none */
    sym_arena_t arena;
} sym_json_t;

/*
 * The tree of all of text, in at most `memory` bytes; flags are jansson's
 * JSON_*.  SYM_OK; SYM_MALFORMED with what (static, "the answer is no JSON"),
 * line and byte; SYM_LIMIT; SYM_NOMEM.  To be dropped whatever it gives.
 */
sym_status_t sym_json_load(sym_json_t *json, sym_str_t text, size_t memory,
                           size_t flags, const char *what, sym_error_t *err);
void sym_json_drop(sym_json_t *json);

/* "map", "sequence", ...: the words of Rust's serde, which clients of Symbolicator
 * know from its messages. */
const char *sym_json_type_name(const json_t *value);

#endif
