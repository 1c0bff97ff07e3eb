#include "demangle/d_reader.h"

/* Limit on the work: tokens that are read, and texts that are written; each 8
 * bytes of a text count as one more (measured: 10 to 15 ns each). */
#define WORK_MAX ((size_t) 16 * 1024)
#define WORK_BYTES 8

/* Limit on the nesting of types, names, templates and values. */
#define DEPTH_MAX 256u


static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}


sym_d_reader_t
sym_d_reader(const char *name, size_t len, char *out, size_t size)
{
    return (sym_d_reader_t){ .name = name,
                             .pos = name,
                             .end = name + len,
                             .reference = name + len,
                             .out = out,
                             .size = size,
                             .work = WORK_MAX };
}


void
sym_d_spend(sym_d_reader_t *r, size_t bytes)
{
    r->work -= smaller(1 + bytes / WORK_BYTES, r->work);
}


void
sym_d_advance(sym_d_reader_t *r, size_t bytes)
{
    sym_d_spend(r, bytes);
    r->pos += bytes;
}


bool
sym_d_number(sym_d_reader_t *r, uint32_t *n)
{
    size_t n_digits = strspn(r->pos, SYM_D_DIGITS);
    uint64_t sum = 0;

    for (size_t i = 0; i < n_digits && sum <= UINT32_MAX; i++) {
        sum = sum * 10 + (uint64_t) (r->pos[i] - '0');
    }

    sym_d_advance(r, n_digits);
    *n = (uint32_t) sum;
    return n_digits != 0 && sum <= UINT32_MAX && r->pos < r->end;
}


bool
sym_d_enter(sym_d_reader_t *r)
{
    if (++r->depth > DEPTH_MAX) {
        r->work = 0;
    }

    return r->work != 0;
}


bool
sym_d_put_bytes(sym_d_reader_t *r, const char *bytes, size_t len)
{
    if (r->skipping != 0) {
        return true;
    }

    if (r->len < r->size) {
        memcpy(r->out + r->len, bytes, smaller(len, r->size - r->len));
        sym_d_spend(r, len);
    }
    r->len += len;
    return true;
}


bool
sym_d_put(sym_d_reader_t *r, const char *text)
{
    return sym_d_put_bytes(r, text, strlen(text));
}


bool
sym_d_copy(sym_d_reader_t *r, size_t len)
{
    sym_d_put_bytes(r, r->pos, len);
    sym_d_advance(r, len);
    return true;
}


void
sym_d_put_before(sym_d_reader_t *r, const char *text)
{
    size_t len = strlen(text);

    if (r->skipping != 0) {
        return;
    }

    if (r->start < r->size) {
        char *start = r->out + r->start;
        size_t room = r->size - r->start, n = r->len - r->start;

        if (len < room) {
            memmove(start + len, start, smaller(n, room - len));
        }
        memcpy(start, text, smaller(len, room));
        sym_d_spend(r, smaller(n, room));
    }
    r->len += len - 1;
}


bool
sym_d_skip(sym_d_reader_t *r, sym_d_part_t *part)
{
    bool is_read;

    r->skipping++;
    is_read = part(r);
    r->skipping--;
    return is_read;
}


bool
sym_d_apart(sym_d_reader_t *r, sym_d_part_t *part)
{
    size_t start = r->start;
    bool is_read;

    r->start = r->len;
    is_read = part(r);
    r->start = start;
    return is_read;
}


bool
sym_d_put_skipped(sym_d_reader_t *r, const char *from, sym_d_part_t *part)
{
    const char *pos = r->pos;
    bool is_read;

    if (r->skipping != 0) {
        return true;
    }

    r->pos = from;
    is_read = sym_d_apart(r, part);
    r->pos = pos;
    return is_read;
}


bool
sym_d_list(sym_d_reader_t *r, const char *open, sym_d_part_t *part,
           const char *close)
{
    uint32_t n;

    if (!sym_d_number(r, &n)) {
        return false;
    }

    sym_d_put(r, open);
    for (uint32_t i = 0; i < n; i++) {
        if (i != 0) {
            sym_d_put(r, ", ");
        }
        if (!part(r)) {
            return false;
        }
    }

    return sym_d_put(r, close);
}
