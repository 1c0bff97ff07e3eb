#include "symbolicate/context.h"

/* Limits from source_context.rs: a line that fits is shown completely; a longer
 * one from some bytes before the column, up to a maximum.  Fewer than NEAR bytes
 * at an edge are not cut off. */
#define FITS 150
#define BEFORE 60
#define SHOWN 140
#define NEAR 5

#define MARK "{snip}"

/* Bytes to read of a line: the shown part, and the rest of its last
 * character. */
#define READ_MAX (FITS + 3)

/* UTF-8 of U+FFFD. */
#define REPLACEMENT "\xef\xbf\xbd"


/* --- characters --- */

/* Writes valid UTF-8, up to three times as long. */
static size_t
replace_invalid(sym_str_t in, char *out)
{
    const uint8_t *s = (const uint8_t *) in.data;
    size_t len = 0;

    if (in.len != 0 && sym_utf8_valid(in)) {
        memcpy(out, in.data, in.len);
        return in.len;
    }

    for (size_t i = 0; i < in.len;) {
        bool is_valid;
        size_t n = sym_utf8_character(s + i, in.len - i, &is_valid);
        sym_str_t c = is_valid ? sym_str(in.data + i, n) : SYM_STR(REPLACEMENT);

        memcpy(out + len, c.data, c.len);
        len += c.len;
        i += n;
    }

    return len;
}


/* The start of the character at `at`. */
static size_t
boundary(const char *s, size_t len, size_t at)
{
    if (at >= len) {
        return len;
    }

    for (size_t back = 0; back < 3 && at > 0 && (s[at] & 0xc0) == 0x80; back++)
    {
        at--;
    }

    return at;
}


/* --- cutting --- */

typedef struct {
    uint64_t start, end;
} cut_t;

/* The shown part of a line, not yet adjusted to character boundaries. */
static cut_t
cut(uint64_t len, uint64_t column)
{
    cut_t c = { 0, len };

    if (len <= FITS) {
        return c;
    }

    column = column < len ? column : len;
    c.start = column > BEFORE ? column - BEFORE : 0;
    c.start = c.start < NEAR ? 0 : c.start;
    c.end = len - c.start > SHOWN ? c.start + SHOWN : len;

    if (c.end > len - NEAR) {
        c.end = len;
        c.start = len - SHOWN;
    }

    return c;
}


/*
 * Writes the shown part of a line of `len` bytes.  If the line fits, `bytes` is
 * the complete line.  Otherwise it begins at `from`, up to 3 bytes before the
 * shown part, and ends 3 bytes after it.
 */
static size_t
write_line(sym_str_t bytes, uint64_t from, uint64_t len, uint64_t column,
           char out[SYM_CONTEXT_LINE_MAX])
{
    char text[3 * READ_MAX], *p = out;
    cut_t c = cut(len, column);
    size_t start = 0, skip = 0, end, n;

    if (len > FITS) {
        skip = boundary(bytes.data, bytes.len, (size_t) (c.start - from));
        n = replace_invalid(sym_str(bytes.data + skip, bytes.len - skip), text);
        end = boundary(text, n, (size_t) (c.end - from) - skip);
    } else {
        /* the replacement of invalid bytes may have made it too long */
        n = replace_invalid(bytes, text);
        c = cut(n, column);
        start = boundary(text, n, (size_t) c.start);
        end = boundary(text, n, (size_t) c.end);
    }

    if (from + skip + start > 0) {
        memcpy(p, MARK " ", sizeof(MARK));
        p += sizeof(MARK);
    }

    memcpy(p, text + start, end - start);
    p += end - start;

    if (end < n) {
        memcpy(p, " " MARK, sizeof(MARK));
        p += sizeof(MARK);
    }

    return (size_t) (p - out);
}


/* --- reading --- */

/* Copies bytes of the text; they are in one block or two. */
static sym_status_t
read_bytes(const sym_context_text_t *t, uint64_t from, uint64_t to, char *out)
{
    while (from < to) {
        uint64_t number = from / t->block_bytes;
        size_t at = (size_t) (from % t->block_bytes), n;
        sym_str_t bytes;
        sym_status_t rc = t->block(t->ctx, number, &bytes);

        if (rc != SYM_OK) {
            return rc;
        }

        if (at >= bytes.len) {
            return SYM_DAMAGED;
        }

        n = bytes.len - at < to - from ? bytes.len - at : (size_t) (to - from);
        memcpy(out, bytes.data + at, n);
        out += n;
        from += n;
    }

    return SYM_OK;
}


/* Counts the newlines in PIECE bytes.  The length is fixed, so compilers make
 * vector instructions of the loop. */
#define PIECE 128

static unsigned
count_newlines(const char *bytes)
{
    uint8_t n = 0;

    for (unsigned i = 0; i < PIECE; i++) {
        n = (uint8_t) (n + (bytes[i] == '\n'));
    }

    return n;
}


/* Moves *at after the next n newlines of the block.  SYM_NOT_FOUND: the block
 * has fewer. */
static sym_status_t
skip_lines(const sym_context_text_t *t, uint64_t n, uint64_t *at)
{
    uint64_t number = *at / t->block_bytes;
    size_t pos = (size_t) (*at % t->block_bytes);
    sym_str_t bytes;
    sym_status_t rc = t->block(t->ctx, number, &bytes);

    /* skips whole pieces before the line */
    while (rc == SYM_OK && n > 1 && pos < bytes.len && bytes.len - pos >= PIECE)
    {
        unsigned found = count_newlines(bytes.data + pos);

        if (found >= n) {
            break;
        }
        n -= found;
        pos += PIECE;
    }

    for (; rc == SYM_OK && n > 0; n--) {
        const char *found =
            pos < bytes.len ? memchr(bytes.data + pos, '\n', bytes.len - pos)
                            : NULL;

        if (found == NULL) {
            return SYM_NOT_FOUND;
        }

        pos = (size_t) (found - bytes.data) + 1;
    }

    *at = number * t->block_bytes + pos;
    return rc;
}


/* Position after the n-th newline; the text must have at least n. */
static sym_status_t
find_line(const sym_context_text_t *t, uint64_t n, uint64_t *at)
{
    uint64_t low = 0, high = (t->len - 1) / t->block_bytes, before = 0;
    sym_status_t rc;

    /* the last block with fewer newlines before it */
    while (low < high) {
        uint64_t middle = high - (high - low) / 2, count;

        rc = t->count(t->ctx, middle, &count);
        if (rc != SYM_OK) {
            return rc;
        }

        if (count < n) {
            low = middle;
            before = count;
        } else {
            high = middle - 1;
        }
    }

    *at = low * t->block_bytes;
    rc = skip_lines(t, n - before, at);
    return rc == SYM_NOT_FOUND ? SYM_DAMAGED : rc;
}


typedef struct {
    uint64_t number; /* from 0 */
    uint64_t start, end, next;
} line_t;


/* Finds the end of the line that begins at line->start. */
static sym_status_t
end_line(const sym_context_text_t *t, line_t *line)
{
    sym_status_t rc;
    char last;

    if (line->number >= t->newlines) {
        line->end = line->next = t->len;
        return SYM_OK;
    }

    line->next = line->start;
    rc = skip_lines(t, 1, &line->next);
    rc = rc == SYM_NOT_FOUND ? find_line(t, line->number + 1, &line->next) : rc;

    if (rc != SYM_OK || line->next <= line->start || line->next > t->len) {
        return rc != SYM_OK ? rc : SYM_DAMAGED;
    }

    line->end = line->next - 1;
    if (line->end == line->start) {
        return SYM_OK;
    }

    rc = read_bytes(t, line->end - 1, line->end, &last);
    line->end -= rc == SYM_OK && last == '\r';
    return rc;
}


static sym_status_t
show_line(const sym_context_text_t *t, const line_t *line, uint64_t column,
          char out[SYM_CONTEXT_LINE_MAX], size_t *len)
{
    uint64_t n = line->end - line->start, from = 0, to = n;
    char bytes[READ_MAX];
    sym_status_t rc;

    if (n > FITS) {
        cut_t c = cut(n, column);

        from = c.start > 3 ? c.start - 3 : 0;
        to = n - c.end > 3 ? c.end + 3 : n;
    }

    rc = read_bytes(t, line->start + from, line->start + to, bytes);
    *len = rc == SYM_OK ? write_line(sym_str(bytes, (size_t) (to - from)), from,
                                     n, column, out)
                        : 0;
    return rc;
}


sym_status_t
sym_context_read(const sym_context_text_t *text, uint64_t line, uint64_t column,
                 sym_context_t *context)
{
    const uint64_t wanted = line > 0 ? line - 1 : 0;
    line_t l = { .number = wanted > SYM_CONTEXT_AROUND
                               ? wanted - SYM_CONTEXT_AROUND
                               : 0 };
    sym_status_t rc = SYM_OK;

    context->n = 0;
    context->bytes = 0;
    context->before = (unsigned) (wanted - l.number);

    if (text->len == 0 || wanted > text->newlines) {
        return SYM_NOT_FOUND;
    }

    rc = l.number != 0 ? find_line(text, l.number, &l.start) : SYM_OK;

    while (rc == SYM_OK && context->n <= context->before + SYM_CONTEXT_AROUND
           && l.start < text->len)
    {
        sym_str_t *shown = &context->lines[context->n++];

        shown->data = context->text + context->bytes;
        rc = end_line(text, &l);
        rc = rc != SYM_OK
                 ? rc
                 : show_line(text, &l, column, context->text + context->bytes,
                             &shown->len);
        context->bytes += rc == SYM_OK ? shown->len : 0;
        l = (line_t){ .number = l.number + 1, .start = l.next };
    }

    return rc != SYM_OK || context->n > context->before ? rc : SYM_NOT_FOUND;
}


/* --- a text in memory --- */

static sym_status_t
count_none(void *ctx, uint64_t number, uint64_t *newlines)
{
    (void) ctx;
    *newlines = 0;
    return number == 0 ? SYM_OK : SYM_DAMAGED;
}


static sym_status_t
all_bytes(void *ctx, uint64_t number, sym_str_t *bytes)
{
    *bytes = *(const sym_str_t *) ctx;
    return number == 0 ? SYM_OK : SYM_DAMAGED;
}


sym_context_text_t
sym_context_memory(sym_str_t *text)
{
    sym_context_text_t t = { .len = text->len,
                             .block_bytes = text->len + 1,
                             .ctx = text,
                             .count = count_none,
                             .block = all_bytes };

    for (const char *p = text->data, *end = p + text->len;
         p != end && (p = memchr(p, '\n', (size_t) (end - p))) != NULL; p++)
    {
        t.newlines++;
    }

    return t;
}
