#include "json/load.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/*
 * jansson allocates through two global functions without a context, so this
 * variable points to the load that this thread is running.
 *
 * While it reads a token, jansson does not check whether an allocation failed:
 * it would abort at an assertion, or read and write out of bounds.  So a failed
 * allocation does not return, but leaves jansson by longjmp().  Nothing leaks,
 * because all memory belongs to the arena.
 */
typedef struct {
    sym_arena_t *arena; /* NULL: none */
    bool has_failed;
    jmp_buf out;
} load_t;

static _Thread_local load_t load;


static void *
take(size_t size)
{
    void *p;

    if (load.arena == NULL) {
        return malloc(size); /* another thread uses jansson */
    }

    p = sym_arena_alloc(load.arena, size);
    if (p == NULL) {
        load.has_failed = true;
        longjmp(load.out, 1);
    }

    return p;
}


static void
give(void *p)
{
    if (load.arena == NULL) {
        free(p);
    }
}


/* RFC 8259, 2 */
static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}


static json_t *
load_into(sym_arena_t *arena, sym_str_t text, size_t flags, json_error_t *error)
{
    json_malloc_t malloc_before;
    json_free_t free_before;
    json_t *volatile root = NULL;

    json_get_alloc_funcs(&malloc_before, &free_before);
    json_set_alloc_funcs(take, give);
    load.arena = arena;
    load.has_failed = false;

    if (setjmp(load.out) == 0) {
        root =
            json_loadb(text.len == 0 ? "" : text.data, text.len, flags, error);
    }

    load.arena = NULL;
    json_set_alloc_funcs(malloc_before, free_before);
    return root;
}


/* Estimates the cost of keys: jansson needs five times as long for a key as for
 * a number, and more in a large object, because keys go into a hash table.
 * Colons inside strings count, too. */
static bool
has_many_keys(sym_str_t text)
{
    const char *p = text.data, *end = text.data + text.len, *before;
    size_t n = 0;

    while (n <= SYM_JSON_KEYS_MAX
           && (p = memchr(p, ':', (size_t) (end - p))) != NULL)
    {
        before = p++;
        while (before > text.data && is_space(before[-1])) {
            before--;
        }
        n += before > text.data && before[-1] == '"';
    }

    return n > SYM_JSON_KEYS_MAX;
}


static sym_status_t
load_tree(sym_json_t *json, sym_str_t text, size_t flags, const char *what,
          sym_error_t *err)
{
    size_t memory = json->arena.limit;
    json_error_t error = { 0 };

    json->root = NULL;

    if (err->status != SYM_OK) {
        return err->status;
    }

    if (memory == SYM_JSON_CONVERTER_MAX) {
        if (text.len > SYM_JSON_CONVERTER_BYTES_MAX) {
            return sym_fail(err, SYM_LIMIT,
                            "a JSON text is longer than 64 MiB");
        }
    } else if (text.len > SYM_JSON_BYTES_MAX) {
        return sym_fail(err, SYM_LIMIT, "a JSON text is longer than 2 MiB");
    }

    if (text.len != 0 && memory <= SYM_JSON_MEMORY_MAX && has_many_keys(text)) {
        return sym_fail(err, SYM_LIMIT, "a JSON text has too many keys");
    }

    json->root = load_into(&json->arena, text, flags, &error);
    if (json->root != NULL) {
        return SYM_OK;
    }

    if (load.has_failed) {
        return json->arena.is_over
                   ? sym_fail(err, SYM_LIMIT, "a JSON text has too many values")
                   : sym_fail(err, SYM_NOMEM, "no memory for a JSON text");
    }

    err->line = error.line > 0 ? (uint64_t) error.line : 0;
    err->offset = error.position > 0 ? (uint64_t) error.position : 0;
    return sym_fail(err, SYM_MALFORMED, what);
}


sym_status_t
sym_json_load(sym_json_t *json, sym_str_t text, size_t memory, size_t flags,
              const char *what, sym_error_t *err)
{
    sym_arena_init(&json->arena, memory);
    return load_tree(json, text, flags, what, err);
}


sym_status_t
sym_json_load_charged(sym_json_t *json, sym_account_t *account, sym_str_t text,
                      size_t flags, const char *what, sym_error_t *err)
{
    sym_arena_init(&json->arena, SYM_JSON_MEMORY_MAX);
    json->arena.account = account;
    return load_tree(json, text, flags, what, err);
}


void
sym_json_drop(sym_json_t *json)
{
    json->root = NULL;
    sym_arena_drop(&json->arena);
}


const char *
sym_json_type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "map";
    case JSON_ARRAY:
        return "sequence";
    case JSON_STRING:
        return "string";
    case JSON_INTEGER:
        return "integer";
    case JSON_REAL:
        return "floating point number";
    case JSON_NULL:
        return "null";
    default:
        return "boolean";
    }
}
