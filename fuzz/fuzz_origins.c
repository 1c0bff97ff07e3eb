/*
 * The first line is a URL, each other line a pattern of allowed origins.  An
 * accepted URL must match its own text.  A pattern that matches alone must
 * match among others, with any case of its host.  No pattern without a wildcard
 * may match another host.
 */
#include "check.h"
#include "sources/guard/origins.h"

#include <stdlib.h>
#include <strings.h>

#define PATTERNS_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sym_str_t
take_line(sym_str_t *rest)
{
    const char *end =
        rest->len == 0 ? NULL : memchr(rest->data, '\n', rest->len);
    sym_str_t line = *rest;

    if (end == NULL) {
        rest->len = 0;
        return line;
    }

    line.len = (size_t) (end - rest->data);
    *rest = sym_str(end + 1, rest->len - line.len - 1);
    return line;
}


static bool
has(sym_str_t text, sym_str_t part)
{
    for (size_t i = 0; i + part.len <= text.len; i++) {
        if (strncasecmp(text.data + i, part.data, part.len) == 0) {
            return true;
        }
    }

    return false;
}


/* A copy of exactly this size, so that a sanitizer sees reads beyond it. */
static sym_str_t
exactly(sym_str_t s)
{
    char *copy = malloc(s.len + (s.len == 0));

    check(copy != NULL);
    if (s.len != 0) {
        memcpy(copy, s.data, s.len);
    }
    return sym_str(copy, s.len);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_str_t rest = sym_str((const char *) data, size);
    sym_str_t line = take_line(&rest), patterns[PATTERNS_MAX], shown;
    bool is_any = false;
    uint32_t n = 0;
    sym_error_t err = { 0 };
    sym_arena_t arena;
    sym_url_t url;

    sym_arena_init(&arena, (size_t) 1 << 20);
    if (sym_url_read(&arena, line, &url, &err) != SYM_OK) {
        sym_arena_drop(&arena);
        return 0;
    }

    shown = sym_url_shown(&arena, &url);
    check(shown.data == NULL || sym_origins_have(&shown, 1, &url, shown));
    check(!sym_origins_have(patterns, 0, &url, line));

    while (rest.len > 0 && n < PATTERNS_MAX) {
        sym_str_t text = take_line(&rest);

        patterns[n] = exactly(text);
        if (sym_origins_have(&patterns[n], 1, &url, line)) {
            is_any = true;
            check(sym_str_eq(text, line) || has(text, SYM_STR("*"))
                  || has(text, url.host));
        }
        n++;
    }
    check(sym_origins_have(patterns, n, &url, line) == is_any);

    for (uint32_t i = 0; i < n; i++) {
        free((void *) (uintptr_t) patterns[i].data);
    }
    sym_arena_drop(&arena);
    return 0;
}
