/*
 * naming.h - the name of a function, derived from the code around it.
 *
 * The parser pushes entries that may name a function: the target of an
 * assignment, the key of a property, a class.  A function takes its name from
 * the innermost entries, up to the surrounding function.  The rules, and their
 * oddities, are those of js-source-scopes, because names of functions decide
 * how Sentry groups events.
 */
#ifndef SYM_FORMATS_SCRIPT_NAMING_H
#define SYM_FORMATS_SCRIPT_NAMING_H

#include "formats/script/lexer.h"
#include "formats/script/scopes.h"

/* Most entries around a function that are examined. */
#define SYM_NAMING_ENTRIES_MAX 256

/* Most parts of a name; earlier parts are omitted. */
#define SYM_NAMING_PARTS_MAX 128

typedef enum {
    SYM_NAMING_FUNCTION, /* entries outside it do not count */
    SYM_NAMING_CLASS,    /* an expression; its name, or none */
    SYM_NAMING_CLASS_DECLARATION,
    SYM_NAMING_METHOD,   /* of an object */
    SYM_NAMING_PROPERTY, /* of an object, whose key is an identifier */
    SYM_NAMING_CLASS_METHOD,
    SYM_NAMING_PRIVATE_METHOD,
    SYM_NAMING_VARIABLE,
    SYM_NAMING_ASSIGNMENT, /* to a chain of members */
    SYM_NAMING_OBJECT
} sym_naming_type_t;

typedef enum {
    SYM_METHOD_PLAIN,
    SYM_METHOD_GETTER,
    SYM_METHOD_SETTER
} sym_method_type_t;

typedef struct {
    sym_naming_type_t type;
    sym_method_type_t method;
    sym_js_scope_part_t name; /* text.len 0: none */
    size_t first, n;          /* links of the chain */
} sym_naming_entry_t;

/* `a`, `.b`, `[c]`: a link of a chain of members. */
typedef struct {
    enum {
        SYM_LINK_NAME,
        SYM_LINK_COMPUTED_NAME,
        SYM_LINK_TEXT /* `[0]`, `this`: whole */
    } type;
    sym_js_scope_part_t part;
} sym_naming_link_t;

typedef struct {
    const char *script;
    sym_naming_entry_t *entries;
    size_t n, size;
    sym_naming_link_t *links;
    size_t n_links, links_size;
    sym_arena_t *arena;
} sym_naming_t;

/* False: out of memory. */
bool sym_naming_push(sym_naming_t *naming, const sym_naming_entry_t *entry);
bool sym_naming_link(sym_naming_t *naming, const sym_naming_link_t *link);

/* Parts of an unfinished name, the last one first. */
typedef struct {
    sym_js_scope_part_t parts[SYM_NAMING_PARTS_MAX];
    size_t n;
} sym_naming_name_t;

void sym_naming_add(sym_naming_name_t *name, sym_str_t text);

/* The name made from the entries. */
void sym_naming_infer(const sym_naming_t *naming, sym_naming_name_t *name);

/* An identifier of the script. */
sym_js_scope_part_t sym_naming_identifier(const sym_naming_t *naming,
                                          const sym_js_token_t *token);

/* The part for the key of a property: an identifier, "<1>", "<\"text\">", or
 * "<computed>" for a token of another type.  text.data NULL: out of memory. */
sym_js_scope_part_t sym_naming_key(const sym_naming_t *naming,
                                   const sym_js_token_t *token);

/* "[1]" for the literal in brackets; otherwise the same. */
sym_js_scope_part_t sym_naming_index(const sym_naming_t *naming,
                                     const sym_js_token_t *token);

#endif
