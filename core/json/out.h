/*
 * out.h - the project's only JSON writer.
 *
 * A sym_out_t is a window of free bytes.  When it is full, `more` sets the next
 * one (nginx: another buffer of the chain; loader: flush to stdout).  So an
 * answer is written directly to its final place.  If `more` fails, `failed` is
 * set and all further output is dropped.
 *
 * The format is that of Python's json.dumps, which clients know: ASCII only,
 * lower-case \u escapes, '/' unescaped.  Callers write ", " and ": ".
 */
#ifndef SYM_JSON_OUT_H
#define SYM_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct sym_out_s sym_out_t;

struct sym_out_s {
    char *pos, *end;
    /* Takes the bytes written up to pos and sets a window of at least `need`
     * bytes (need <= SYM_OUT_NEED_MAX).  False: no memory. */
    bool (*more)(sym_out_t *out, size_t need);
    void *ctx;
    uint64_t before; /* bytes in earlier windows; changes with each window */
    bool failed;
    bool is_full; /* set by `more`: a long answer stops at its next frame or
                     level, and continues at the next call */
};

#define SYM_OUT_NEED_MAX 65536

/* Writes to the `size` bytes at buf; more output fails. */
sym_out_t sym_out_fixed(char *buf, size_t size);

/* Makes room for `need` bytes at out->pos; false: out of room. */
static inline bool
sym_out_room(sym_out_t *out, size_t need)
{
    if ((size_t) (out->end - out->pos) >= need) {
        return true;
    }

    if (!out->failed && !out->more(out, need)) {
        out->failed = true;
    }

    return !out->failed;
}


/* Writes the text unchanged, over as many windows as it needs. */
void sym_out_windows(sym_out_t *out, sym_str_t text);

/* Same, but inline for a text that fits the window. */
static inline void
sym_out_raw(sym_out_t *out, sym_str_t text)
{
    if (text.len <= (size_t) (out->end - out->pos) && text.len != 0) {
        memcpy(out->pos, text.data, text.len);
        out->pos += text.len;
    } else {
        sym_out_windows(out, text);
    }
}


/* Writes text in quotes, with escapes; invalid bytes of UTF-8 become \ufffd. */
void sym_out_string(sym_out_t *out, sym_str_t text);

/* Same for a part of a string, without quotes. */
void sym_out_escaped(sym_out_t *out, sym_str_t text);

/* Writes text for a terminal.  Control characters become '?', including U+0080
 * to U+009F, which some terminals execute. */
void sym_out_visible(sym_out_t *out, sym_str_t text);

/* Returns the length of the control character at s[i]; 0 for any other
 * character. */
size_t sym_out_control_len(sym_str_t s, size_t i);

/* Formats text that does not come from input: at most 511 bytes. */
__attribute__((format(printf, 2, 3))) void sym_out_printf(sym_out_t *out,
                                                          const char *fmt, ...);

/* Writes the key of an object's member, after a comma if it is not the first;
 * *first is cleared. */
void sym_out_key(sym_out_t *out, const char *key, bool *first);
void sym_out_key_dec(sym_out_t *out, const char *key, uint64_t value,
                     bool *first);
void sym_out_key_string(sym_out_t *out, const char *key, sym_str_t value,
                        bool *first);

void sym_out_dec(sym_out_t *out, uint64_t value);

/* Writes "0x1f" with quotes. */
void sym_out_hex_string(sym_out_t *out, uint64_t value);

/* Writes seconds as a JSON number with six decimals: 0.000123 */
void sym_out_seconds(sym_out_t *out, double seconds);

#endif
