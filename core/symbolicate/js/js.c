#include "symbolicate/js/js.h"

#include <stdio.h>

/* A name under construction. */
typedef struct {
    char *text;
    size_t len;
    bool is_renamed; /* it differs from the name in the script */
} name_t;


static void
add(name_t *name, sym_str_t text)
{
    size_t room = SYM_JS_FUNCTION_MAX - name->len;
    size_t len = text.len < room ? text.len : room;

    if (len != 0) {
        memcpy(name->text + name->len, text.data, len);
        name->len += len;
    }
}


static sym_status_t
name_of(const sym_sourcemap_t *map, uint32_t number, sym_str_t *name)
{
    *name = sym_str(NULL, 0);
    return number == SYM_SOURCEMAP_NONE ? SYM_OK
                                        : sym_sourcemap_name(map, number, name);
}


static bool
is_same_place(const sym_sourcemap_token_t *a, const sym_sourcemap_token_t *b)
{
    return a->source == b->source && a->source_line == b->source_line
           && a->source_column == b->source_column;
}


/*
 * Finds the map's name of an identifier; data NULL: none.  Some compilers put
 * the name at the token one column before the identifier, or at that of the
 * keyword `function`.  This counts if both tokens have the same place in the
 * source.
 */
static sym_status_t
rename_identifier(const sym_sourcemap_t *map, sym_script_position_t at,
                  sym_str_t *name)
{
    sym_sourcemap_token_t token, before;
    sym_status_t rc = sym_sourcemap_find(map, at.line, at.column, &token);

    *name = sym_str(NULL, 0);
    if (rc != SYM_OK) {
        return rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    if (token.line != at.line
        || (at.column > 0 && token.column < at.column - 1)) {
        return SYM_OK;
    }

    if (token.name != SYM_SOURCEMAP_NONE || token.column == 0) {
        return name_of(map, token.name, name);
    }

    rc = sym_sourcemap_find(map, token.line, token.column - 1, &before);
    if (rc != SYM_OK) {
        return rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    return is_same_place(&token, &before) ? name_of(map, before.name, name)
                                          : SYM_OK;
}


static sym_status_t
join_parts(const sym_sourcemap_t *map, sym_script_scope_t *scope, name_t *name)
{
    for (uint32_t i = 0; i < scope->n_parts; i++) {
        sym_script_part_t part;
        sym_str_t mapped = sym_str(NULL, 0);
        sym_status_t rc = sym_script_part(scope, &part);

        if (rc == SYM_OK && part.is_identifier) {
            rc = rename_identifier(map, part.at, &mapped);
        }

        if (rc != SYM_OK) {
            return rc;
        }

        if (mapped.data != NULL && !sym_str_eq(mapped, part.text)) {
            name->is_renamed = true;
        }
        add(name, mapped.data != NULL ? mapped : part.text);
    }

    return SYM_OK;
}


/* dart2js puts the name at the token at the end of a function; data NULL:
 * none. */
static sym_status_t
name_at_end(const sym_sourcemap_t *map, const sym_script_scope_t *scope,
            sym_str_t *name)
{
    sym_sourcemap_token_t token, after;
    sym_status_t rc =
        sym_sourcemap_find(map, scope->last.line, scope->last.column, &token);

    *name = sym_str(NULL, 0);
    if (rc != SYM_OK) {
        return rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    if (token.line != scope->last.line || token.column != scope->last.column) {
        return SYM_OK;
    }

    if (scope->has_end) {
        rc =
            sym_sourcemap_find(map, scope->end.line, scope->end.column, &after);
        if (rc != SYM_OK) {
            return rc;
        }

        if (after.line == token.line && after.column == token.column) {
            return SYM_OK;
        }
    }

    return name_of(map, token.name, name);
}


static sym_status_t
find_function(const sym_sourcemap_t *map, const sym_script_t *script,
              const sym_sourcemap_token_t *token, name_t *name,
              sym_js_function_t *function)
{
    sym_script_scope_t scope;
    sym_str_t end;
    uint32_t number;
    sym_status_t rc;

    *function = SYM_JS_UNKNOWN;
    if (script == NULL || script->is_unparsed) {
        return SYM_OK;
    }

    rc = sym_script_find(script, token->line, token->column, &number);
    if (rc != SYM_OK) {
        return rc == SYM_NOT_FOUND ? SYM_OK : rc;
    }

    rc = sym_script_scope(script, number, &scope);
    rc = rc == SYM_OK ? join_parts(map, &scope, name) : rc;

    if (rc == SYM_OK && !name->is_renamed) {
        rc = name_at_end(map, &scope, &end);
        if (rc == SYM_OK && end.data != NULL) {
            name->len = 0;
            add(name, end);
        }
    }

    *function = name->len != 0 ? SYM_JS_NAMED : SYM_JS_ANONYMOUS;
    return rc;
}


sym_status_t
sym_js_answer(const sym_sourcemap_t *map, const sym_script_t *script,
              uint32_t line, uint32_t column, char text[SYM_JS_FUNCTION_MAX],
              sym_js_place_t *place)
{
    name_t name = { .text = text };
    sym_str_t scope;
    sym_status_t rc = sym_sourcemap_lookup(map, line, column, &place->token);

    rc = rc == SYM_OK
             ? sym_sourcemap_source(map, place->token.source, &place->source)
             : rc;
    rc = rc == SYM_OK ? name_of(map, place->token.name, &place->name) : rc;

    if (rc != SYM_OK) {
        return rc;
    }

    if (map->has_scopes) {
        rc = name_of(map, place->token.scope, &scope);
        add(&name, scope);
        place->function = scope.data != NULL ? SYM_JS_NAMED : SYM_JS_UNKNOWN;
    } else {
        rc = find_function(map, script, &place->token, &name, &place->function);
    }

    place->function_name = sym_str(name.text, name.len);
    return rc;
}


/* --- tokens that Sentry leaves out --- */

/* Maximum number of tokens of a run that are examined. */
#define RUN_MAX 1024

static bool
is_same_function(const sym_sourcemap_t *map, const sym_script_t *script,
                 const sym_sourcemap_token_t *a, const sym_sourcemap_token_t *b)
{
    char text[2][SYM_JS_FUNCTION_MAX];
    name_t names[2] = { { .text = text[0] }, { .text = text[1] } };
    sym_js_function_t functions[2];

    if (map->has_scopes) {
        return a->scope == b->scope;
    }

    return find_function(map, script, a, &names[0], &functions[0]) == SYM_OK
           && find_function(map, script, b, &names[1], &functions[1]) == SYM_OK
           && functions[0] == functions[1]
           && sym_str_eq(sym_str(text[0], names[0].len),
                         sym_str(text[1], names[1].len));
}


bool
sym_js_is_dropped(const sym_sourcemap_t *map, const sym_script_t *script,
                  const sym_sourcemap_token_t *token, uint32_t *n)
{
    sym_sourcemap_token_t t = *token, before;

    for (*n = 0; *n < RUN_MAX; ++*n) {
        sym_status_t rc =
            t.column != 0
                ? sym_sourcemap_find(map, t.line, t.column - 1, &before)
            : t.line != 0
                ? sym_sourcemap_find(map, t.line - 1, UINT32_MAX, &before)
                : SYM_NOT_FOUND;

        if (rc != SYM_OK || !is_same_place(&t, &before)
            || t.name != before.name) {
            return false;
        }

        if (before.line != t.line) {
            return is_same_function(map, script, &t, &before);
        }

        t = before;
    }

    return false;
}


/* --- the shown name --- */

static bool
is_useless(sym_str_t name)
{
    return sym_str_eq(name, SYM_STR("<anonymous>"))
           || sym_str_eq(name, SYM_STR("__webpack_require__"))
           || sym_str_eq(name, SYM_STR("__webpack_modules__"));
}


static sym_str_t
own_name(const sym_js_place_t *place, sym_str_t given)
{
    if (place->function == SYM_JS_ANONYMOUS) {
        return SYM_STR("<anonymous>");
    }

    if (place->function == SYM_JS_UNKNOWN) {
        return given.data != NULL ? given : SYM_STR("<unknown>");
    }

    /* dart2js */
    return sym_str_starts(place->function_name, SYM_STR("$async$"))
                   && place->name.data != NULL
               ? place->name
               : place->function_name;
}


bool
sym_js_needs_caller(const sym_js_place_t *place, sym_str_t given)
{
    return is_useless(own_name(place, given));
}


static sym_str_t
choose_name(const sym_js_place_t *place, sym_str_t given, sym_str_t caller)
{
    sym_str_t name = own_name(place, given);

    if (!is_useless(name)) {
        return name;
    }

    return caller.len != 0 ? caller : given.data != NULL ? given : name;
}


/* Takes the part of the name before the next dot or the end. */
static sym_str_t
take_part(sym_str_t *rest, bool *is_last)
{
    const char *dot = memchr(rest->data, '.', rest->len);
    size_t len = dot != NULL ? (size_t) (dot - rest->data) : rest->len;
    size_t taken = dot != NULL ? len + 1 : len;
    sym_str_t part = sym_str(rest->data, len);

    *is_last = dot == NULL;
    *rest = sym_str(rest->data + taken, rest->len - taken);
    return part;
}


static size_t
put(char *out, size_t len, sym_str_t text)
{
    size_t room = SYM_JS_SHOWN_MAX - len;
    size_t n = text.len < room ? text.len : room;

    if (n != 0) {
        memcpy(out + len, text.data, n);
    }

    return len + n;
}


/* Writes repeated parts once, with the number of repetitions. */
static size_t
put_group(char *out, size_t len, sym_str_t part, unsigned n)
{
    char count[16];

    if (n > 1) {
        (void) snprintf(count, sizeof(count), "#%u}", n);
        len = put(out, len, SYM_STR("{"));
        len = put(out, len, part);
        len = put(out, len, sym_cstr(count));
    } else {
        len = put(out, len, part);
    }

    return put(out, len, SYM_STR("."));
}


sym_str_t
sym_js_show(const sym_js_place_t *place, sym_str_t given, sym_str_t caller,
            char out[SYM_JS_SHOWN_MAX])
{
    sym_str_t rest = choose_name(place, given, caller);
    sym_str_t part, group = sym_str(NULL, 0);
    unsigned n = 0;
    bool is_last;
    size_t len = 0;

    for (;;) {
        part = take_part(&rest, &is_last);

        if (is_last || (n != 0 && !sym_str_eq(part, group))) {
            len = n != 0 ? put_group(out, len, group, n) : len;
            n = 0;
        }

        if (is_last) {
            break;
        }

        group = part;
        n++;
    }

    len = put(out, len, part);
    return sym_str(out, len);
}
