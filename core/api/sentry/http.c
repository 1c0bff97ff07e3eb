/*
 * http.c - errors and queries in the form that Symbolicator's clients know.
 *
 * Its framework (axum 0.8) refuses requests in plain text, with the texts
 * below; Symbolicator's own errors are JSON: {"detail", "causes"}.
 */
#include "api/sentry/http.h"

#include "base/form.h"
#include "base/hex.h"
#include "base/text.h"

#define NOT_FOUND 404
#define NOT_ALLOWED 405
#define TOO_LARGE 413
#define OWN_ERRORS 500 /* and above */

#define REFUSED "Failed to deserialize query string: "

/* Maximum decoded length of a name or number; longer texts are invalid. */
#define WORD_MAX 40

typedef struct {
    char text[WORD_MAX];
    size_t len; /* WORD_MAX: the text is too long */
} word_t;


static sym_str_t
refusal_text(const sym_api_error_t *error)
{
    switch (error->status) {
    case NOT_FOUND:
    case NOT_ALLOWED:
        return error->description; /* empty if no route matches */

    case TOO_LARGE:
        /* applies to client_max_body_size; other limits have their own texts */
        if (sym_str_starts(error->title, SYM_STR("413 "))) {
            return SYM_STR(
                "Failed to buffer the request body: length limit exceeded");
        }

        break;

    default:
        break;
    }

    return error->description.len != 0 ? error->description : error->title;
}


const char *
sentry_write_error(const sym_api_error_t *error, sym_out_t *out)
{
    if (error->status < OWN_ERRORS) {
        sym_out_raw(out, refusal_text(error));
        return "text/plain; charset=utf-8";
    }

    sym_out_raw(out, SYM_STR("{\"detail\": "));
    sym_out_string(out, error->description.len != 0 ? error->description
                                                    : error->title);
    sym_out_raw(out, SYM_STR("}"));
    return "application/json";
}


/* --- the query (application/x-www-form-urlencoded) --- */

static sym_str_t
rest(sym_str_t text, size_t start)
{
    return sym_str(text.data + start, text.len - start);
}


/* A '%' without two digits is taken literally, as in browsers. */
static char
decoded(sym_str_t text, size_t *at)
{
    int byte = sym_form_byte(text, at);

    if (byte < 0) {
        return '%';
    }

    return (char) byte;
}


/* Takes the first `len` bytes of the text, and decodes them. */
static word_t
next_word(sym_str_t *text, size_t len)
{
    word_t word = { .len = 0 };

    for (size_t i = 0; i < len && word.len < sizeof(word.text);) {
        word.text[word.len++] = decoded(sym_str(text->data, len), &i);
    }

    *text = rest(*text, len);
    return word;
}


static size_t
length_to(sym_str_t text, char end)
{
    const char *found = text.len != 0 ? memchr(text.data, end, text.len) : NULL;

    return found != NULL ? (size_t) (found - text.data) : text.len;
}


static bool
is_word(const word_t *word, const char *text)
{
    return sym_str_eq(sym_str(word->text, word->len), sym_cstr(text));
}


/* Reads a u64 like Rust.  Returns NULL, or why the text is refused. */
static const char *
read_seconds(const word_t *word, uint64_t *seconds)
{
    sym_str_t digits = sym_str(word->text, word->len);

    if (digits.len == 0) {
        return REFUSED "timeout: cannot parse integer from empty string";
    }

    if (digits.len > 1 && digits.data[0] == '+') {
        digits = sym_str(digits.data + 1, digits.len - 1);
    }

    for (size_t i = 0; i < digits.len; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') {
            return REFUSED "timeout: invalid digit found in string";
        }
    }

    return sym_dec_read(digits, seconds) ? NULL
                                         : REFUSED
               "timeout: number too large to fit in target type";
}


/* Takes the next NAME=VALUE from the query. */
static word_t
next_pair(sym_str_t *query, sym_str_t *value)
{
    size_t len = length_to(*query, '&');
    sym_str_t pair = sym_str(query->data, len);
    word_t name = next_word(&pair, length_to(pair, '='));

    *query = rest(*query, len);
    *query = rest(*query, query->len != 0); /* '&' */
    *value = rest(pair, pair.len != 0);     /* '=' */
    return name;
}


bool
sentry_read_wait(sym_str_t query, sym_api_wait_t *wait, const char **refusal)
{
    bool has_scope = false;

    *wait = (sym_api_wait_t){ .has_timeout = false };
    *refusal = NULL;

    while (query.len != 0 && *refusal == NULL) {
        sym_str_t value;
        word_t name = next_pair(&query, &value);

        if (is_word(&name, "scope")) {
            *refusal = has_scope ? REFUSED "duplicate field `scope`" : NULL;
            has_scope = true;
            wait->scope = value;
        } else if (is_word(&name, "timeout")) {
            word_t seconds = next_word(&value, value.len);

            *refusal = wait->has_timeout
                           ? REFUSED "duplicate field `timeout`"
                           : read_seconds(&seconds, &wait->timeout_s);
            wait->has_timeout = true;
        }
    }

    return *refusal == NULL;
}


sym_str_t
sentry_read_scope(sym_arena_t *arena, sym_str_t query)
{
    sym_text_t scope = { .arena = arena };
    bool is_found = false;

    while (query.len != 0 && !is_found) {
        sym_str_t value;
        word_t name = next_pair(&query, &value);

        is_found = is_word(&name, "scope");
        for (size_t i = 0; is_found && i < value.len;) {
            sym_text_byte(&scope, decoded(value, &i));
        }
    }

    return sym_text_end(&scope);
}
