#include "dialects/tecken/readers.h"

#include <strings.h>

sym_tecken_t *
sym_tecken_create(sym_arena_t *arena, const sym_tecken_options_t *options,
                  sym_str_t body)
{
    sym_tecken_t *t = sym_arena_calloc(arena, 1, sizeof(*t));

    if (t != NULL) {
        t->arena = arena;
        t->options = *options;
        t->body = body;
    }

    return t;
}


static sym_status_t
parse(sym_tecken_t *t, uint32_t budget)
{
    sym_status_t rc = direct_read(t, budget == 0 ? 1 : budget);

    if (rc == SYM_UNSUPPORTED) {
        return general_read(t);
    }

    return rc == SYM_OK ? request_finish(t) : rc;
}


sym_status_t
sym_tecken_parse(sym_tecken_t *t, uint32_t budget)
{
    double started = debug_now(t);
    sym_status_t rc = parse(t, budget);

    t->spent_s += debug_now(t) - started;
    return rc;
}


sym_status_t
sym_tecken_parse_general(sym_tecken_t *t)
{
    return general_read(t);
}


sym_str_t
sym_tecken_message(const sym_tecken_t *t)
{
    return t->message;
}


sym_tecken_module_t *
sym_tecken_modules(sym_tecken_t *t, uint32_t *n)
{
    *n = t->stats.modules;
    return t->modules;
}


bool
sym_tecken_is_askable(const sym_tecken_module_t *module)
{
    return module->key.id.len != 0 && sym_module_name_ok(module->key.name);
}


const sym_tecken_stats_t *
sym_tecken_stats(const sym_tecken_t *t)
{
    return &t->stats;
}


static bool
is_word(sym_str_t s, const char *word)
{
    return s.len == strlen(word) && strncasecmp(s.data, word, s.len) == 0;
}


bool
sym_tecken_debug_wanted(unsigned version, sym_str_t header)
{
    /* the younger server takes any value, "0" and "false" among them */
    if (version != 4) {
        return header.len > 0;
    }

    return is_word(header, "1") || is_word(header, "true")
           || is_word(header, "yes");
}
