/*
 * d_reader.h - reads a mangled name of D, and writes its text at the same time.
 *
 * Text and name may differ in order.  A part that is shown later is skipped
 * first, and then read again in its place.  A part that is being skipped is
 * never read twice, so the depth of a name adds a factor, not an exponent.
 * Back references and the ambiguities of the grammar do grow exponentially, so
 * the work is limited.  Nothing is allocated.
 *
 * Functions return false if the name is not as expected, or its work is used
 * up.  Functions that only write return true, so that calls can be chained.
 */
#ifndef SYM_DEMANGLE_D_READER_H
#define SYM_DEMANGLE_D_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SYM_D_DIGITS "0123456789"

typedef struct {
    const char *name, *pos, *end; /* *end is NUL */
    const char *reference;        /* the innermost back reference, or `end` */
    char *out;
    size_t len, size;  /* len also counts text that does not fit, because
                          text may be removed */
    size_t start;      /* position for "initializer for " */
    unsigned skipping; /* not 0: parts are read, but not written */
    unsigned depth;
    size_t work; /* work that is left; at 0 all parts fail */
} sym_d_reader_t;

typedef bool sym_d_part_t(sym_d_reader_t *r);

/* name must end in a NUL. */
sym_d_reader_t sym_d_reader(const char *name, size_t len, char *out,
                            size_t size);

/* --- reading --- */

static inline bool
sym_d_is_digit(char c)
{
    return c >= '0' && c <= '9';
}


static inline bool
sym_d_begins_with(const char *p, const char *text)
{
    return *p == *text && strncmp(p, text, strlen(text)) == 0;
}


void sym_d_spend(sym_d_reader_t *r, size_t bytes);
void sym_d_advance(sym_d_reader_t *r, size_t bytes);

static inline bool
sym_d_take(sym_d_reader_t *r, const char *text)
{
    if (!sym_d_begins_with(r->pos, text)) {
        return false;
    }

    sym_d_advance(r, strlen(text));
    return true;
}


/* Reads a number of 32 bits, which must be followed by something. */
bool sym_d_number(sym_d_reader_t *r, uint32_t *n);

/* Goes one level deeper.  The caller restores r->depth in any case. */
bool sym_d_enter(sym_d_reader_t *r);

/* --- writing --- */

bool sym_d_put(sym_d_reader_t *r, const char *text);
bool sym_d_put_bytes(sym_d_reader_t *r, const char *bytes, size_t len);

/* Copies the next bytes of the name unchanged. */
bool sym_d_copy(sym_d_reader_t *r, size_t len);

/* Turns "a.b." into "initializer for a.b". */
void sym_d_put_before(sym_d_reader_t *r, const char *text);

/* --- parts --- */

/* Reads a part, and writes no text. */
bool sym_d_skip(sym_d_reader_t *r, sym_d_part_t *part);

/* Reads a part that was skipped, and writes its text. */
bool sym_d_put_skipped(sym_d_reader_t *r, const char *from, sym_d_part_t *part);

/* Reads a part with its own `start`. */
bool sym_d_apart(sym_d_reader_t *r, sym_d_part_t *part);

/* Reads a number and as many parts: "open, a, b, close". */
bool sym_d_list(sym_d_reader_t *r, const char *open, sym_d_part_t *part,
                const char *close);

/* --- the grammar, by file --- */

/* d_value.c: Value; kind is the first letter of its type. */
bool sym_d_value(sym_d_reader_t *r, char kind);

/* d.c: MangledName, "_D..." */
bool sym_d_mangled_name(sym_d_reader_t *r);

#endif
