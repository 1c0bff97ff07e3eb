/*
 * out.h - where JSON is written: the one JSON writer of the project.
 *
 * A sym_out_t is a window of free bytes.  When it is full, `more` gives the
 * next one (nginx: another buffer of the chain; loader: flush to stdout), so
 * an answer goes straight to its last place.  Out of room for good (`more`
 * failed): `failed` is set and everything after it is dropped.
 *
 * Text form (what Python's json.dumps writes, which clients are used to): ASCII
 * only, ", " and ": " come from the caller, lower-case \u escapes, '/' as is.
 */
#ifndef SYM_JSON_OUT_H
#define SYM_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct sym_out_s sym_out_t;

struct sym_out_s {
    char *pos, *end;
    /* Takes what was written up to pos and sets a window of at least `need`
     * bytes (need <= SYM_OUT_NEED_MAX).  False: no memory. */
    bool (*more)(sym_out_t *out, size_t need);
    void *ctx;
    uint64_t before; /* bytes in windows already given back: another number,
                        another window */
    bool failed;
    bool is_full; /* set by `more`: enough for now.  A long answer stops at its
                     next frame or level, and goes on when asked again. */
};

#define SYM_OUT_NEED_MAX 65536

/* All that it may write goes to the `size` bytes at buf. */
sym_out_t sym_out_fixed(char *buf, size_t size);

/* At least `need` bytes at out->pos, or false. */
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


/* Text as it stands, over as many windows as it takes. */
void sym_out_windows(sym_out_t *out, sym_str_t text);

/* The same; most texts are short, known to the compiler, and fit. */
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


/* Quotes and escapes UTF-8 text; bytes that are no UTF-8 become \ufffd. */
void sym_out_string(sym_out_t *out, sym_str_t text);

/* The same without the quotes: a part of a string. */
void sym_out_escaped(sym_out_t *out, sym_str_t text);

/* Text for a terminal: control characters become '?', also U+0080 to U+009F,
 * which terminals may take for such. */
void sym_out_visible(sym_out_t *out, sym_str_t text);

/* Bytes of the control character at s[i]; 0: it is none. */
size_t sym_out_control_len(sym_str_t s, size_t i);

void sym_out_dec(sym_out_t *out, uint64_t value);

/* "0x1f" with its quotes. */
void sym_out_hex_string(sym_out_t *out, uint64_t value);

/* Seconds as a JSON number with six decimals: 0.000123 */
void sym_out_seconds(sym_out_t *out, double seconds);

#endif
