#include "json/tokens.h"

#include "base/arena.h"
#include "base/json_plain.h"
#include "json/raw.h"

enum {
    VALUE,
    FIRST_VALUE, /* or the end of a list */
    KEY,
    FIRST_KEY, /* or the end of an object */
    CLOSE,
    NOTHING
};

sym_json_tokens_t
sym_json_tokens(sym_str_t text)
{
    const char *start = text.len != 0 ? text.data : "";

    return (sym_json_tokens_t){ .start = start,
                                .p = start,
                                .end = start + text.len };
}


static bool
fail(const sym_json_tokens_t *t, const char *p, sym_status_t status,
     const char *what, sym_error_t *err)
{
    err->offset = (uint64_t) (p - t->start);
    (void) sym_fail(err, status, what);
    return false;
}


static bool
is_list(const sym_json_tokens_t *t)
{
    return (t->lists >> (t->depth - 1) & 1) != 0;
}


/* Moves *p after white space. */
static bool
space(const sym_json_tokens_t *t, const char **p, sym_error_t *err)
{
    const char *end =
        t->end - *p > SYM_JSON_SPACE_MAX ? *p + SYM_JSON_SPACE_MAX : t->end;

    *p = sym_raw_space(*p, end);
    return *p != end || end == t->end
           || fail(t, *p, SYM_LIMIT, "too much white space", err);
}


/* A value ended at p: takes the comma after it. */
static bool
end_value(sym_json_tokens_t *t, const char *p, sym_error_t *err)
{
    if (!space(t, &p, err)) {
        return false;
    }

    t->next = t->depth == 0 ? NOTHING : CLOSE;
    if (t->depth != 0 && p < t->end && *p == ',') {
        p++;
        t->next = is_list(t) ? VALUE : KEY;
    }

    t->p = p;
    return true;
}


/* --- tokens --- */

static bool
open(sym_json_tokens_t *t, const char *p, sym_json_token_t *token,
     sym_error_t *err)
{
    const bool list = *p == '[';

    if (t->depth == SYM_JSON_DEPTH_MAX) {
        return fail(t, p, SYM_LIMIT, "lists and objects are nested too deeply",
                    err);
    }

    t->lists &= ~((uint64_t) 1 << t->depth);
    t->lists |= (uint64_t) list << t->depth;
    t->depth++;
    t->next = list ? FIRST_VALUE : FIRST_KEY;
    t->p = p + 1;
    token->type = SYM_JSON_OPEN;
    token->text = sym_str(p, 1);
    return true;
}


static bool
close(sym_json_tokens_t *t, const char *p, sym_json_token_t *token,
      sym_error_t *err)
{
    t->depth--;
    token->type = SYM_JSON_CLOSE;
    token->text = sym_str(p, 1);
    return end_value(t, p + 1, err);
}


/* Returns the end of a string, or of the part of it that is read in one call: *p.
 * NULL: malformed at *p. */
static const char *
scan_string(sym_json_tokens_t *t, const char **at)
{
    const char *p = *at, *end = t->end;
    const char *enough =
        end - p > SYM_JSON_PART_MAX ? p + SYM_JSON_PART_MAX : end;

    while (p < enough && *p != '"') {
        const char *after = p;
        bool is_valid = true;

        if (*p == '\\') {
            t->has_escapes = true;
            after = sym_raw_escape(p, end);
        } else if ((uint8_t) *p < 0x20) {
            after = NULL;
        } else if ((uint8_t) *p < 0x7f) {
            after += sym_plain_length(p, enough);
        } else {
            after += sym_utf8_character((const uint8_t *) p, (size_t) (end - p),
                                        &is_valid);
        }

        if (after == NULL || !is_valid) {
            *at = p;
            return NULL;
        }
        p = after;
    }

    *at = p;
    return p;
}


static bool
end_key(sym_json_tokens_t *t, const char *p, sym_error_t *err)
{
    if (!space(t, &p, err)) {
        return false;
    }

    if (p == t->end || *p != ':') {
        return fail(t, p, SYM_MALFORMED, "a key without a value", err);
    }

    t->next = VALUE;
    t->p = p + 1;
    return true;
}


/* Continues the string at t->string from p on. */
static bool
string(sym_json_tokens_t *t, const char *p, sym_json_token_t *token,
       sym_error_t *err)
{
    const bool is_key = t->next == KEY || t->next == FIRST_KEY;

    if (scan_string(t, &p) == NULL) {
        return fail(t, p, SYM_MALFORMED, "a string is malformed", err);
    }

    token->text = sym_str(t->string + 1, (size_t) (p - t->string) - 1);
    token->has_escapes = t->has_escapes;
    if (p < t->end && *p != '"') {
        token->type = SYM_JSON_PART;
        t->p = p;
        return true;
    }

    if (p == t->end) {
        return fail(t, p, SYM_TRUNCATED, "a string without an end", err);
    }

    token->type = is_key ? SYM_JSON_KEY : SYM_JSON_STRING;
    t->string = NULL;
    return is_key ? end_key(t, p + 1, err) : end_value(t, p + 1, err);
}


static const char *
digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }

    return p;
}


/* NULL: malformed. */
static const char *
digits_after(const char *p, const char *end)
{
    const char *after = digits(p, end);

    return after != p ? after : NULL;
}


/* Returns the end of a number; NULL: it is not a number. */
static const char *
number(const char *p, const char *end)
{
    const char *first = p += p < end && *p == '-';

    p = digits_after(p, end);
    if (p == NULL || (p - first > 1 && *first == '0')) {
        return NULL;
    }

    p = p < end && *p == '.' ? digits_after(p + 1, end) : p;
    if (p != NULL && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        p = digits_after(p, end);
    }

    return p;
}


static const char *
word(const char *p, const char *end)
{
    static const sym_str_t words[] = { { "true", 4 },
                                       { "false", 5 },
                                       { "null", 4 } };
    const sym_str_t rest = sym_str(p, (size_t) (end - p));

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (sym_str_starts(rest, words[i])) {
            return p + words[i].len;
        }
    }

    return NULL;
}


static bool
plain_value(sym_json_tokens_t *t, const char *p, sym_json_token_t *token,
            sym_error_t *err)
{
    const char *after = number(p, t->end);

    token->type = SYM_JSON_NUMBER;
    if (after == NULL) {
        token->type = SYM_JSON_WORD;
        after = word(p, t->end);
    }

    if (after == NULL) {
        return fail(t, p, SYM_MALFORMED, "a value is malformed", err);
    }

    token->text = sym_str(p, (size_t) (after - p));
    return end_value(t, after, err);
}


/* Reads what begins with this character, if it may be next. */
static bool
begin(sym_json_tokens_t *t, const char *p, sym_json_token_t *token,
      sym_error_t *err)
{
    const bool wants_value = t->next == VALUE || t->next == FIRST_VALUE;
    const bool wants_key = t->next == KEY || t->next == FIRST_KEY;

    if ((*p == ']' || *p == '}') && t->next != VALUE && t->next != KEY
        && t->next != NOTHING && is_list(t) == (*p == ']'))
    {
        return close(t, p, token, err);
    }

    if (*p == '"' && (wants_value || wants_key)) {
        t->string = p;
        t->has_escapes = false;
        return string(t, p + 1, token, err);
    }

    if (wants_value) {
        return *p == '{' || *p == '[' ? open(t, p, token, err)
                                      : plain_value(t, p, token, err);
    }

    return fail(t, p, SYM_MALFORMED,
                wants_key            ? "a key is malformed"
                : t->next == NOTHING ? "bytes after the value"
                                     : "a comma or an end is missing",
                err);
}


bool
sym_json_token(sym_json_tokens_t *t, sym_json_token_t *token, sym_error_t *err)
{
    const char *p = t->p;

    token->has_escapes = false;
    if (t->string != NULL) {
        return string(t, p, token, err);
    }

    if (!space(t, &p, err)) {
        return false;
    }

    if (p < t->end) {
        return begin(t, p, token, err);
    }

    return t->next != NOTHING
           && fail(t, p, SYM_TRUNCATED, "the text ends too early", err);
}


bool
sym_json_is(const sym_json_token_t *key, const char *text)
{
    const sym_raw_string_t string = { key->text, key->has_escapes };
    const sym_str_t want = sym_cstr(text);
    sym_arena_t arena;
    bool is_equal;

    if (!key->has_escapes) {
        return sym_str_eq(key->text, want);
    }

    if (key->text.len > want.len * sizeof("\\u0041")) {
        return false;
    }

    sym_arena_init(&arena, 0);
    is_equal = sym_str_eq(sym_raw_decode(&arena, &string), want);
    sym_arena_drop(&arena);
    return is_equal;
}


bool
sym_json_skip(sym_json_tokens_t *t, sym_error_t *err)
{
    const unsigned depth = t->depth;
    sym_json_token_t token;

    do {
        if (!sym_json_token(t, &token, err)) {
            return false;
        }
    } while (t->depth != depth || token.type == SYM_JSON_PART);

    return true;
}
