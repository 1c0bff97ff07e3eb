/*
 * d_reader.h - reads a mangled name of D, and writes its text as it goes.
 *
 * Where text and name differ in order, the part that is shown later is skipped
 * first and read again in its place.  A skipped part is never read twice while
 * it is skipped, so the depth of a name adds a factor, not an exponent.  Back
 * references and the ambiguities of the grammar do grow exponentially: the work
 * is bounded.  Nothing is allocated.
 *
 * Functions return false if the name is not as expected, or has used up its
 * work.  Those that only write return true, so that calls can be chained.
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
    const char *reference; /* the back reference that is followed, or end */
    char *out;
    size_t len, size;  /* len: also text that does not fit; it may be undone */
    size_t start;      /* of the text that "initializer for " goes before */
    unsigned skipping; /* not 0: read, but not written */
    unsigned depth;
    size_t work; /* that is left; at 0 all parts fail */
} sym_d_reader_t;

typedef bool sym_d_part_t(sym_d_reader_t *r);

/* name ends in a NUL. */
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


/* A number is followed by something, and has 32 bits. */
bool sym_d_number(sym_d_reader_t *r, uint32_t *n);

/* One level deeper; the caller restores r->depth in any case. */
bool sym_d_enter(sym_d_reader_t *r);

/* --- writing --- */

bool sym_d_put(sym_d_reader_t *r, const char *text);
bool sym_d_put_bytes(sym_d_reader_t *r, const char *bytes, size_t len);

/* The next bytes of the name, unchanged. */
bool sym_d_copy(sym_d_reader_t *r, size_t len);

/* "a.b." becomes "initializer for a.b". */
void sym_d_put_before(sym_d_reader_t *r, const char *text);

/* --- parts --- */

/* Reads a part without its text. */
bool sym_d_skip(sym_d_reader_t *r, sym_d_part_t *part);

/* Writes the text of a part that was skipped. */
bool sym_d_put_skipped(sym_d_reader_t *r, const char *from, sym_d_part_t *part);

/* Reads a part that is copied unchanged: see `start`. */
bool sym_d_apart(sym_d_reader_t *r, sym_d_part_t *part);

/* A number, and as many parts: "open, a, b, close". */
bool sym_d_list(sym_d_reader_t *r, const char *open, sym_d_part_t *part,
                const char *close);

/* --- the grammar, by file --- */

/* d_value.c: Value; kind is the first letter of its type. */
bool sym_d_value(sym_d_reader_t *r, char kind);

/* d.c: MangledName, "_D..." */
bool sym_d_mangled_name(sym_d_reader_t *r);

#endif
