/*
 * Any bytes as JSON: a value that is read without a tree must also be read by
 * jansson, with the same strings, to the same end; objects reported to have
 * unique keys must have no duplicates.  The same is true for members and items.  Tokens
 * are read from exactly the values that jansson reads, but for the limits of both.
 */
#include <string.h>

#include "check.h"
#include "json/load.h"
#include "json/member.h"
#include "json/raw.h"
#include "json/tokens.h"

#define FLAGS (JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static void
check_value(const char *text, const char *end, size_t flags)
{
    json_t *value;

    if (end == NULL) {
        return;
    }

    value = json_loadb(text, (size_t) (end - text), flags, NULL);
    check(value != NULL);
    json_decref(value);
}


static void
check_string(const char *text, size_t size)
{
    sym_raw_string_t string;
    const char *end = sym_raw_string(text, text + size, &string);
    sym_arena_t arena;
    sym_str_t decoded;
    json_t *value;

    if (end == NULL) {
        return;
    }

    value = json_loadb(text, (size_t) (end - text), FLAGS, NULL);
    check(json_is_string(value));

    sym_arena_init(&arena, 0);
    decoded = sym_raw_decode(&arena, &string);
    check(decoded.data != NULL
          && sym_str_eq(decoded, sym_str(json_string_value(value),
                                         json_string_length(value))));
    sym_arena_drop(&arena);
    json_decref(value);
}


static void
check_view(sym_str_t text, sym_str_t view)
{
    check(view.data >= text.data
          && view.data + view.len <= text.data + text.len);
    check_value(view.data, view.data + view.len, FLAGS);
}


static void
check_members(sym_str_t text)
{
    sym_json_items_t items = sym_json_items(text);
    sym_str_t view = sym_json_member(text, "a");

    if (view.data != NULL) {
        check_view(text, view);
    }
    while (sym_json_next(&items, &view)) {
        check_view(text, view);
    }
}


/* Their bytes follow each other, and have no end outside of the text.  jansson takes a
 * NUL for the end. */
static void
check_tokens(sym_str_t text)
{
    sym_json_tokens_t t = sym_json_tokens(text);
    sym_error_t err = { 0 };
    sym_json_token_t token;
    json_error_t error;
    json_t *value = json_loadb(text.data, text.len, FLAGS, &error);
    const char *at = t.p;

    while (sym_json_token(&t, &token, &err)) {
        check(t.p > at && t.p <= t.end);
        at = t.p;
    }

    check(err.status == SYM_OK ? t.p == t.end : err.offset <= text.len);
    if (memchr(text.data, '\0', text.len) != NULL) {
        json_decref(value);
        return;
    }

    if (value != NULL) {
        check(err.status == SYM_OK || err.status == SYM_LIMIT);
    } else {
        check(err.status != SYM_OK
              || json_error_code(&error) == json_error_numeric_overflow
              || json_error_code(&error) == json_error_null_byte_in_key);
    }

    json_decref(value);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* a block of its own: a sanitizer sees every byte past it */
    char *text = malloc(size == 0 ? 1 : size);

    if (text == NULL) {
        return 0;
    }

    if (size != 0) {
        memcpy(text, data, size);
    }

    check_value(text, sym_raw_value(text, text + size), FLAGS);
    check_value(text, sym_raw_unique(text, text + size),
                FLAGS | JSON_REJECT_DUPLICATES);
    check_string(text, size);
    check_members(sym_str(text, size));
    check_tokens(sym_str(text, size));
    free(text);
    return 0;
}
