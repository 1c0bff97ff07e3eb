#include "base/uri.h"

#include "base/text.h"
#include "base/hex.h"

typedef struct {
    sym_str_t name, value; /* encoded */
} parameter_t;


static bool
is_unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
           || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'
           || c == '~';
}


size_t
sym_uri_encode_byte(char c, char out[3])
{
    static const char digits[] = "0123456789ABCDEF";
    const uint8_t byte = (uint8_t) c;

    if (is_unreserved(c)) {
        out[0] = c;
        return 1;
    }

    out[0] = '%';
    out[1] = digits[byte >> 4];
    out[2] = digits[byte & 15];
    return 3;
}


static void
add_encoded(sym_text_t *t, char c, bool keep_slash)
{
    char encoded[3];

    if (c == '/' && keep_slash) {
        sym_text_byte(t, c);
    } else {
        sym_text_add(t, sym_str(encoded, sym_uri_encode_byte(c, encoded)));
    }
}


static sym_status_t
finish(sym_text_t *t, sym_str_t *out, sym_error_t *err)
{
    *out = sym_text_end(t);
    return t->failed ? sym_fail(err, SYM_NOMEM, "no memory for a URI") : SYM_OK;
}


sym_status_t
sym_uri_encode(sym_arena_t *arena, sym_str_t s, bool keep_slash, sym_str_t *out,
               sym_error_t *err)
{
    sym_text_t t = { .arena = arena };

    for (size_t i = 0; i < s.len; i++) {
        add_encoded(&t, s.data[i], keep_slash);
    }

    return finish(&t, out, err);
}


/* Decodes s and encodes it again. */
static sym_status_t
recode(sym_arena_t *arena, sym_str_t s, bool keep_slash, sym_str_t *out,
       sym_error_t *err)
{
    sym_text_t t = { .arena = arena };

    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];

        if (c == '+') {
            return sym_fail(err, SYM_UNSUPPORTED,
                            "a + in a URI is ambiguous; send %2B or %20");
        }

        if (c == '%') {
            int byte = sym_hex_percent(s, i);

            if (byte < 0) {
                return sym_fail(err, SYM_MALFORMED,
                                "a % in a URI without two digits after it");
            }
            c = (char) byte;
            i += 2;
        }

        add_encoded(&t, c, keep_slash);
    }

    return finish(&t, out, err);
}


/* --- paths --- */

static sym_status_t
check_path(sym_str_t *path, sym_error_t *err)
{
    if (path->len == 0) {
        *path = SYM_STR("/");
    }

    return path->data[0] == '/'
               ? SYM_OK
               : sym_fail(err, SYM_MALFORMED, "the path does not begin with /");
}


sym_status_t
sym_uri_path_s3(sym_arena_t *arena, sym_str_t path, sym_str_t *out,
                sym_error_t *err)
{
    if (check_path(&path, err) != SYM_OK) {
        return err->status;
    }

    return recode(arena, path, true, out, err);
}


/* --- queries --- */

/* Bytewise: %XX and letters sort by their encoded bytes. */
static bool
is_after(const parameter_t *a, const parameter_t *b)
{
    int order = sym_str_cmp(a->name, b->name);

    return order > 0 || (order == 0 && sym_str_cmp(a->value, b->value) > 0);
}


static sym_status_t
read_parameter(sym_arena_t *arena, sym_str_t piece, parameter_t *p,
               sym_error_t *err)
{
    const char *equals = memchr(piece.data, '=', piece.len);
    size_t len = equals != NULL ? (size_t) (equals - piece.data) : piece.len;
    sym_str_t value = SYM_STR("");

    if (equals != NULL) {
        value = sym_str(equals + 1, piece.len - len - 1);
    }

    if (recode(arena, sym_str(piece.data, len), false, &p->name, err) != SYM_OK
        || recode(arena, value, false, &p->value, err) != SYM_OK)
    {
        return err->status;
    }

    return SYM_OK;
}


static sym_status_t
read_query(sym_arena_t *arena, sym_str_t query, parameter_t *sorted, size_t *n,
           sym_error_t *err)
{
    size_t at = 0;

    while (at < query.len) {
        const char *start = query.data + at;
        const char *amp = memchr(start, '&', query.len - at);
        size_t len = amp != NULL ? (size_t) (amp - start) : query.len - at;
        size_t place = *n;
        parameter_t p;

        at += len + 1;
        if (len == 0) {
            continue;
        }

        if (*n == SYM_URI_PARAMETERS_MAX) {
            return sym_fail(err, SYM_LIMIT, "too many query parameters");
        }

        if (read_parameter(arena, sym_str(start, len), &p, err) != SYM_OK) {
            return err->status;
        }

        for (; place > 0 && is_after(&sorted[place - 1], &p); place--) {
            sorted[place] = sorted[place - 1];
        }
        sorted[place] = p;
        ++*n;
    }

    return SYM_OK;
}


sym_status_t
sym_uri_query(sym_arena_t *arena, sym_str_t query, sym_str_t *out,
              sym_error_t *err)
{
    parameter_t sorted[SYM_URI_PARAMETERS_MAX];
    sym_text_t t = { .arena = arena };
    size_t n = 0;

    if (read_query(arena, query, sorted, &n, err) != SYM_OK) {
        return err->status;
    }

    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            sym_text_byte(&t, '&');
        }
        sym_text_add(&t, sorted[i].name);
        sym_text_byte(&t, '=');
        sym_text_add(&t, sorted[i].value);
    }

    return finish(&t, out, err);
}
