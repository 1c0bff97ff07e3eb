/*
 * The rules for URLs and names of JavaScript, and lists of Sentry's artifacts: the
 * first line is a URL or path, the second one is joined to it, the rest is a list.
 */
#include "api/js/js.h"
#include "check.h"

#define ARENA_MAX ((size_t) 64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
is_part(sym_str_t part, sym_str_t whole)
{
    return part.len == 0
           || (part.data >= whole.data
               && part.data + part.len <= whole.data + whole.len);
}


static sym_str_t
take_line(sym_str_t *rest)
{
    const char *end =
        rest->len != 0 ? memchr(rest->data, '\n', rest->len) : NULL;
    size_t len = end != NULL ? (size_t) (end - rest->data) : rest->len;
    sym_str_t line = sym_str(rest->data, len);

    len += end != NULL;
    *rest = sym_str(rest->data + len, rest->len - len);
    return line;
}


/* A joined path begins with the scheme of its base. */
static void
check_joined(sym_arena_t *arena, sym_str_t base, sym_str_t right)
{
    sym_str_t joined = js_join(arena, base, right);

    check(joined.data == NULL || joined.len <= JS_URL_MAX);
    if (joined.data != NULL && sym_str_starts(base, SYM_STR("https://"))
        && memmem(right.data, right.len, "://", 3) == NULL
        && !sym_str_starts(right, SYM_STR("webpack:"))
        && !sym_str_starts(right, SYM_STR("turbopack:")))
    {
        check(sym_str_starts(joined, SYM_STR("https://")));
    }
}


static void
check_names(sym_arena_t *arena, sym_str_t path)
{
    sym_str_t names[JS_CANDIDATES], filename, module;
    unsigned n = js_candidates(arena, path, names);
    bool is_bundled;

    check(n > 0 && n <= JS_CANDIDATES && is_part(names[0], path));
    check(is_part(js_stem(path), path) && is_part(js_scheme(path), path));
    check(!js_is_url(path) || js_scheme(path).len != 0);

    filename = js_filename(path, &is_bundled);
    check(is_part(filename, path));
    module = js_module_name(path);
    check(is_part(module, path));
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    sym_str_t rest = { text, size }, path, right;
    sym_arena_t arena;
    js_t j = { .base = { .arena = &arena } };
    js_list_t list;

    if (text == NULL) {
        return 0;
    }

    memcpy(text, data, size);
    sym_arena_init(&arena, ARENA_MAX);
    path = take_line(&rest);
    right = take_line(&rest);
    check_joined(&arena, path, right);
    check_names(&arena, path);

    if (js_list_read(&j, rest, &list) == SYM_OK) {
        for (uint32_t i = 0; i < list.n; i++) {
            check(list.entries[i].url.len != 0
                  && list.entries[i].url.len <= JS_URL_MAX);
        }
    }

    sym_arena_drop(&arena);
    free(text);
    return 0;
}
