/*
 * naming.h - the name of a function, derived from the code around it.
 *
 * The parser pushes entries that may name a function: the target of an
 * assignment, the key of a property, a class.  A function is named by the
 * innermost entries, up to the surrounding function.  The rules, and their
 * oddities, are those of js-source-scopes, because Sentry groups events by
 * names of functions.
 */
#ifndef SYM_FORMATS_SCRIPT_NAMING_H
#define SYM_FORMATS_SCRIPT_NAMING_H

#include "formats/script/lexer.h"
#include "formats/script/scopes.h"

/* Limit on the entries around a function that are examined. */
#define SYM_NAMING_ENTRIES_MAX 256

/* Limit on the parts of a name; earlier parts are omitted. */
#define SYM_NAMING_PARTS_MAX 128

typedef enum {
    SYM_NAMING_FUNCTION, /* a function: entries outside it are ignored */
    SYM_NAMING_CLASS,    /* a class expression with its name, or without */
    SYM_NAMING_CLASS_DECLARATION,
    SYM_NAMING_METHOD,   /* a method of an object */
    SYM_NAMING_PROPERTY, /* a property of an object whose key is an
                            identifier */
    SYM_NAMING_CLASS_METHOD,
    SYM_NAMING_PRIVATE_METHOD,
    SYM_NAMING_VARIABLE,
    SYM_NAMING_ASSIGNMENT, /* an assignment to a chain of members */
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
    sym_js_scope_part_t name; /* text.len 0: no name */
    size_t first, n;          /* the links of a chain */
} sym_naming_entry_t;

/* `a`, `.b`, `[c]`: a link of a chain of members. */
typedef struct {
    enum {
        SYM_LINK_NAME,
        SYM_LINK_COMPUTED_NAME,
        SYM_LINK_TEXT /* a complete operand: `[0]`, `this` */
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

/* Parts of a name that is being made, last part first. */
typedef struct {
    sym_js_scope_part_t parts[SYM_NAMING_PARTS_MAX];
    size_t n;
} sym_naming_name_t;

void sym_naming_add(sym_naming_name_t *name, sym_str_t text);

/* Makes the name from the entries. */
void sym_naming_infer(const sym_naming_t *naming, sym_naming_name_t *name);

/* An identifier of the script. */
sym_js_scope_part_t sym_naming_identifier(const sym_naming_t *naming,
                                          const sym_js_token_t *token);

/* The part for a property's key: an identifier, "<1>", "<\"text\">", or
 * "<computed>" for other tokens. text.data NULL: out of memory. */
sym_js_scope_part_t sym_naming_key(const sym_naming_t *naming,
                                   const sym_js_token_t *token);

/* "[1]" for a literal in brackets; otherwise like sym_naming_key(). */
sym_js_scope_part_t sym_naming_index(const sym_naming_t *naming,
                                     const sym_js_token_t *token);

#endif
