/*
 * scopes.c - finds the functions of a script and their names, in one pass.
 *
 * It has more than 800 lines because it is one recursive grammar: statements
 * contain expressions, these contain functions and classes, and these contain
 * statements.  Smaller files would call each other in both directions.
 */
#include "formats/script/scopes.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/sort.h"
#include "formats/script/naming.h"

/* Limit on nested expressions and statements.  Each takes some 700 bytes of
   stack. */
#define DEPTH_MAX 4000

/* Limit on the bytes of a part of a name.  A longer identifier or literal is
   cut. */
#define PART_MAX 1024

/* Limit on the steps for names, per byte of the script.  Real names take about
   2. */
#define COST_OF_PART 16
#define COST_PER_BYTE 8
#define COST_FREE 65536

typedef struct {
    const char *start, *end;
    sym_js_token_t token; /* the next token */
    const char *last;     /* end of the previous token */
    unsigned depth;
    uint64_t cost; /* cost of the names so far */
    sym_naming_t naming;
    sym_js_scopes_t *scopes;
    sym_error_t *err;
} parser_t;

/* Type of an operand.  It decides which tokens may follow. */
typedef struct {
    bool is_chain;  /* a chain of members, whose links are on top of the
                       naming's stack */
    bool is_params; /* parameters, if the arrow of a function follows */
    bool is_name;   /* a single name: a label if a colon follows */
} operand_t;

static void parse_statement(parser_t *p);
static void parse_expression(parser_t *p, bool is_in);
static operand_t parse_assignment(parser_t *p, bool is_in);
static void parse_pattern(parser_t *p);
static operand_t parse_operand(parser_t *p);
static operand_t parse_primary(parser_t *p);


/* --- tokens --- */

static void
fail(parser_t *p, sym_status_t status, const char *what)
{
    if (p->err->status == SYM_OK) {
        p->err->section = "script";
        p->err->offset = (uint64_t) (p->token.start - p->start);
        (void) sym_fail(p->err, status, what);
    }

    p->token = (sym_js_token_t){ .start = p->end, .end = p->end };
}


static void
fail_memory(parser_t *p)
{
    fail(p, SYM_NOMEM, NULL);
}


static void
fail_syntax(parser_t *p)
{
    fail(p, SYM_MALFORMED, "not JavaScript");
}


static void
go_to(parser_t *p, const char *pos)
{
    p->last = pos;
    p->token = sym_js_token(pos, p->end);
    if (p->token.type == SYM_JS_BAD) {
        fail_syntax(p);
    }
}


static void
next(parser_t *p)
{
    go_to(p, p->token.end);
}


static sym_js_token_t
peek(const parser_t *p)
{
    return sym_js_token(p->token.end, p->end);
}


static bool
has_failed(const parser_t *p)
{
    return p->err->status != SYM_OK;
}


static bool
is_mark(const parser_t *p, uint32_t mark)
{
    return p->token.type == SYM_JS_MARK && p->token.mark == mark;
}


static bool
is_word(const sym_js_token_t *token, const char *word)
{
    size_t len = strlen(word);

    return token->type == SYM_JS_NAME
           && (size_t) (token->end - token->start) == len
           && memcmp(token->start, word, len) == 0;
}


static bool
at_word(const parser_t *p, const char *word)
{
    return is_word(&p->token, word);
}


static bool
take_mark(parser_t *p, uint32_t mark)
{
    if (!is_mark(p, mark)) {
        return false;
    }

    next(p);
    return true;
}


static bool
take_word(parser_t *p, const char *word)
{
    if (!at_word(p, word)) {
        return false;
    }

    next(p);
    return true;
}


static void
expect(parser_t *p, uint32_t mark)
{
    if (!take_mark(p, mark)) {
        fail_syntax(p);
    }
}


/* ECMA-262, 12.10 */
static void
end_statement(parser_t *p)
{
    if (!take_mark(p, ';') && !is_mark(p, '}') && p->token.type != SYM_JS_END
        && !p->token.is_after_line)
    {
        fail_syntax(p);
    }
}


static bool
enter(parser_t *p)
{
    if (p->depth == DEPTH_MAX) {
        fail(p, SYM_LIMIT, "the script is nested too deep");
        return false;
    }

    p->depth++;
    return true;
}


static void
leave(parser_t *p)
{
    p->depth--;
}


/* Words that do not begin an operand. */
static bool
is_reserved(const sym_js_token_t *t)
{
    static const char *const words[] = {
        "break",   "case", "catch", "const",      "continue", "debugger",
        "default", "do",   "else",  "export",     "extends",  "finally",
        "for",     "if",   "in",    "instanceof", "return",   "switch",
        "throw",   "try",  "var",   "while",      "with",     NULL,
    };

    for (size_t i = 0; words[i] != NULL; i++) {
        if (is_word(t, words[i])) {
            return true;
        }
    }

    return false;
}


/* --- functions --- */

static void
push(parser_t *p, sym_naming_type_t type, sym_js_scope_part_t name)
{
    const sym_naming_entry_t entry = { .type = type, .name = name };

    if (!sym_naming_push(&p->naming, &entry)) {
        fail_memory(p);
    }
}


static void
push_bare(parser_t *p, sym_naming_type_t type)
{
    push(p, type, (sym_js_scope_part_t){ .text = SYM_STR("") });
}


static void
pop(parser_t *p)
{
    if (p->naming.n != 0) {
        p->naming.n--; /* 0: out of memory */
    }
}


static sym_js_scope_part_t
cut(sym_js_scope_part_t part)
{
    part.text.len = part.text.len > PART_MAX ? PART_MAX : part.text.len;
    return part;
}


/* Adds a function.  Its end is set later, and the parts of its name are
 * reversed. */
static size_t
add_scope(parser_t *p, const char *start, const sym_naming_name_t *name)
{
    sym_js_scopes_t *s = p->scopes;
    sym_js_scope_t scope = { .start = (uint32_t) (start - p->start),
                             .end = (uint32_t) (start - p->start),
                             .first = (uint32_t) s->n_parts,
                             .n = (uint32_t) name->n };

    if (s->n_parts > UINT32_MAX - name->n
        || !SYM_ARRAY_ROOM(s->scopes, s->n + 1, s->size)
        || !SYM_ARRAY_ROOM(s->parts, s->n_parts + name->n + 1, s->parts_size))
    {
        fail_memory(p);
        return SIZE_MAX;
    }

    for (size_t i = name->n; i-- > 0;) {
        const sym_js_scope_part_t part = cut(name->parts[i]);

        s->parts[s->n_parts++] = part;
        p->cost += COST_OF_PART + part.text.len;
    }

    if (p->cost > COST_PER_BYTE * (uint64_t) (p->end - p->start) + COST_FREE) {
        fail(p, SYM_LIMIT, "names of functions are too long");
        return SIZE_MAX;
    }

    s->scopes[s->n++] = scope;
    return s->n - 1;
}


static void
end_scope(parser_t *p, size_t number)
{
    if (number != SIZE_MAX) {
        p->scopes->scopes[number].end = (uint32_t) (p->last - p->start);
    }
}


/* identifier: the function's own name; or NULL. */
static size_t
begin_function(parser_t *p, const char *start, const sym_js_token_t *identifier)
{
    sym_naming_name_t name;

    name.n = 0;
    sym_naming_infer(&p->naming, &name);

    if (identifier != NULL) {
        if (name.n == 0) {
            name.n = 1;
        }
        name.parts[0] = sym_naming_identifier(&p->naming, identifier);
    }

    return add_scope(p, start, &name);
}


static void
parse_body(parser_t *p)
{
    expect(p, '{');
    while (!is_mark(p, '}') && !has_failed(p)) {
        parse_statement(p);
    }
    expect(p, '}');
}


static void
parse_parameters(parser_t *p)
{
    expect(p, '(');
    while (!is_mark(p, ')') && !has_failed(p)) {
        (void) take_mark(p, SYM_JS_DOTS);
        parse_pattern(p);
        if (!take_mark(p, ',')) {
            break;
        }
    }
    expect(p, ')');
}


/* "new" and the name of the class; the class is the innermost entry. */
static size_t
begin_class(parser_t *p, const char *start, const sym_js_token_t *identifier)
{
    sym_naming_name_t name;

    name.n = 0;
    sym_naming_infer(&p->naming, &name);

    if (identifier != NULL) {
        name.n = name.n == 0 ? 1 : name.n;
        name.parts[0] = sym_naming_identifier(&p->naming, identifier);
    }

    if (name.n != 0) {
        sym_naming_add(&name, SYM_STR("new "));
    }

    return add_scope(p, start, &name);
}


/* Parses from the parameters to the end. */
static void
parse_function_rest(parser_t *p, size_t scope)
{
    push_bare(p, SYM_NAMING_FUNCTION);
    parse_parameters(p);
    parse_body(p);
    end_scope(p, scope);
    pop(p);
}


/* Parses from `function`, or from `async` before it. */
static void
parse_function(parser_t *p)
{
    const char *start = p->token.start;
    sym_js_token_t name;

    (void) take_word(p, "async");
    next(p);
    (void) take_mark(p, '*');
    name = p->token;

    if (name.type == SYM_JS_NAME) {
        next(p);
    }

    parse_function_rest(
        p, begin_function(p, start, name.type == SYM_JS_NAME ? &name : NULL));
}


/* Parses from the arrow.  The parameters were parsed as an operand, from
   `start` on. */
static void
parse_arrow(parser_t *p, const char *start, bool is_in)
{
    size_t scope = begin_function(p, start, NULL);

    next(p);
    push_bare(p, SYM_NAMING_FUNCTION);

    if (is_mark(p, '{')) {
        parse_body(p);
    } else {
        (void) parse_assignment(p, is_in);
    }

    end_scope(p, scope);
    pop(p);
}


/* --- properties and members --- */

typedef struct {
    const char *start;
    sym_js_token_t key; /* SYM_JS_MARK: computed */
    sym_method_type_t method;
    bool is_static, is_method;
} member_t;


/* Whether a word is a modifier or a key; the next token decides. */
static bool
is_key_next(const parser_t *p, bool is_same_line)
{
    sym_js_token_t t = peek(p);

    return t.type == SYM_JS_NAME || t.type == SYM_JS_STRING
                   || t.type == SYM_JS_NUMBER || t.type == SYM_JS_PRIVATE
               ? !is_same_line || !t.is_after_line
               : t.type == SYM_JS_MARK && (t.mark == '[' || t.mark == '*');
}


static void
parse_key(parser_t *p, member_t *m)
{
    m->key = p->token;

    if (is_mark(p, '[')) {
        next(p);
        (void) parse_assignment(p, true);
        expect(p, ']');
    } else if (p->token.type == SYM_JS_MARK || p->token.type == SYM_JS_END) {
        fail_syntax(p);
    } else {
        next(p);
    }
}


/* Parses up to the end of the key. */
static void
parse_member_head(parser_t *p, member_t *m, bool is_class)
{
    *m = (member_t){ .start = p->token.start };

    if (is_class && at_word(p, "static") && is_key_next(p, false)) {
        m->is_static = true;
        next(p);
    }

    if (is_class && at_word(p, "accessor") && is_key_next(p, true)) {
        next(p);
    }

    if (at_word(p, "async") && is_key_next(p, true)) {
        m->is_method = true;
        next(p);
    }

    if ((at_word(p, "get") || at_word(p, "set")) && is_key_next(p, false)) {
        m->method = at_word(p, "get") ? SYM_METHOD_GETTER : SYM_METHOD_SETTER;
        next(p);
    }

    (void) take_mark(p, '*');
    parse_key(p, m);
}


static sym_js_scope_part_t
key_part(parser_t *p, const member_t *m)
{
    sym_js_scope_part_t part = sym_naming_key(&p->naming, &m->key);

    if (part.text.data == NULL) {
        fail_memory(p);
        part.text = SYM_STR("");
    }

    return part;
}


/* Parses an accessor such as "get a.b".  Its entry is valid only for its
 * body. */
static void
parse_object_accessor(parser_t *p, const member_t *m)
{
    sym_naming_name_t outer, name = { .n = 0 };
    sym_js_scope_part_t key = key_part(p, m);
    size_t scope;

    outer.n = 0;
    sym_naming_infer(&p->naming, &outer);
    name.parts[name.n++] = key;

    if (outer.n != 0) {
        sym_naming_add(&name, SYM_STR("."));
    }

    for (size_t i = 0; i < outer.n && name.n < SYM_NAMING_PARTS_MAX - 1; i++) {
        name.parts[name.n++] = outer.parts[i];
    }

    sym_naming_add(&name, m->method == SYM_METHOD_GETTER ? SYM_STR("get ")
                                                         : SYM_STR("set "));
    scope = add_scope(p, m->start, &name);
    parse_parameters(p);
    parse_body(p);
    end_scope(p, scope);
}


static void
parse_property(parser_t *p)
{
    member_t m;

    if (take_mark(p, SYM_JS_DOTS)) {
        (void) parse_assignment(p, true);
        return;
    }

    parse_member_head(p, &m, false);

    if (is_mark(p, '(')) {
        if (m.method != SYM_METHOD_PLAIN) {
            parse_object_accessor(p, &m);
            return;
        }

        push(p, SYM_NAMING_METHOD, key_part(p, &m));
        parse_function_rest(p, begin_function(p, m.start, NULL));
        pop(p);
        return;
    }

    if (take_mark(p, ':')) {
        push(p, SYM_NAMING_PROPERTY,
             m.key.type == SYM_JS_NAME
                 ? key_part(p, &m)
                 : (sym_js_scope_part_t){ .text = SYM_STR("") });
        (void) parse_assignment(p, true);
        pop(p);
    } else if (take_mark(p, '=')) {
        (void) parse_assignment(p, true); /* default value in a pattern */
    }
}


static void
parse_object(parser_t *p)
{
    next(p);
    push_bare(p, SYM_NAMING_OBJECT);

    while (!is_mark(p, '}') && !has_failed(p)) {
        parse_property(p);
        if (!take_mark(p, ',')) {
            break;
        }
    }

    expect(p, '}');
    pop(p);
}


static void
parse_class_method(parser_t *p, const member_t *m)
{
    sym_naming_entry_t entry = { .type = SYM_NAMING_CLASS_METHOD,
                                 .method = m->method };

    if (!m->is_static && m->method == SYM_METHOD_PLAIN
        && (is_word(&m->key, "constructor")
            || (m->key.type == SYM_JS_STRING && m->key.end - m->key.start == 13
                && memcmp(m->key.start + 1, "constructor", 11) == 0)))
    {
        parse_function_rest(p, SIZE_MAX); /* the class is the scope of its
                                             members */
        return;
    }

    if (m->key.type == SYM_JS_PRIVATE) {
        entry.type = SYM_NAMING_PRIVATE_METHOD;
        entry.name = sym_naming_identifier(&p->naming, &m->key);
        entry.name.text =
            sym_str(entry.name.text.data + 1, entry.name.text.len - 1);
    } else {
        entry.name = key_part(p, m);
    }

    if (!sym_naming_push(&p->naming, &entry)) {
        fail_memory(p);
        return;
    }

    parse_function_rest(p, begin_function(p, m->start, NULL));
    pop(p);
}


static void
parse_class_member(parser_t *p)
{
    member_t m;

    if (take_mark(p, ';')) {
        return;
    }

    while (take_mark(p, '@')) {
        (void) parse_operand(p);
    }

    if (at_word(p, "static") && peek(p).type == SYM_JS_MARK
        && peek(p).mark == '{') {
        next(p);
        parse_body(p);
        return;
    }

    parse_member_head(p, &m, true);

    if (is_mark(p, '(')) {
        parse_class_method(p, &m);
        return;
    }

    if (take_mark(p, '=')) {
        (void) parse_assignment(p, true);
    }
    end_statement(p);
}


/* At `class`. */
static void
parse_class(parser_t *p, bool is_declaration)
{
    const char *start = p->token.start;
    sym_js_scope_part_t name = { .text = SYM_STR("") };
    bool has_name;
    sym_js_token_t t;
    size_t scope;

    if (!enter(p)) {
        return;
    }

    next(p);
    t = p->token;
    has_name = t.type == SYM_JS_NAME && !at_word(p, "extends");

    if (has_name) {
        name = sym_naming_identifier(&p->naming, &t);
        next(p);
    }

    push(p,
         is_declaration && has_name ? SYM_NAMING_CLASS_DECLARATION
                                    : SYM_NAMING_CLASS,
         name);
    scope = begin_class(p, start, has_name ? &t : NULL);

    if (take_word(p, "extends")) {
        (void) parse_operand(p);
    }

    expect(p, '{');
    while (!is_mark(p, '}') && !has_failed(p)) {
        parse_class_member(p);
    }
    expect(p, '}');

    end_scope(p, scope);
    pop(p);
    leave(p);
}


/* --- operands --- */

static void
add_link(parser_t *p, const sym_naming_link_t *link)
{
    if (!sym_naming_link(&p->naming, link)) {
        fail_memory(p);
    }
}


static void
add_name_link(parser_t *p, const sym_js_token_t *t)
{
    const sym_naming_link_t link = { .type = SYM_LINK_NAME,
                                     .part =
                                         sym_naming_identifier(&p->naming, t) };

    add_link(p, &link);
}


/* Parses after the opening bracket. */
static void
parse_index(parser_t *p, bool is_chain)
{
    sym_js_token_t t = p->token, after = peek(p);
    sym_naming_link_t link = { .type = SYM_LINK_TEXT,
                               .part = { .text = SYM_STR("[<computed>]") } };

    if (after.type == SYM_JS_MARK && after.mark == ']') {
        if (t.type == SYM_JS_STRING || t.type == SYM_JS_NUMBER
            || is_word(&t, "true") || is_word(&t, "false")
            || is_word(&t, "null"))
        {
            link.part = sym_naming_index(&p->naming, &t);
            if (link.part.text.data == NULL) {
                fail_memory(p);
                return;
            }
        } else if (t.type == SYM_JS_NAME && !is_word(&t, "this")) {
            link.type = SYM_LINK_COMPUTED_NAME;
            link.part = sym_naming_identifier(&p->naming, &t);
        }
    }

    parse_expression(p, true);
    expect(p, ']');

    if (is_chain) {
        add_link(p, &link);
    }
}


/* Parses after the opening parenthesis of a call or of possible parameters. */
static void
parse_list(parser_t *p, uint32_t close)
{
    while (!is_mark(p, close) && !has_failed(p)) {
        if (close == ']' && take_mark(p, ',')) {
            continue;
        }

        (void) take_mark(p, SYM_JS_DOTS);
        (void) parse_assignment(p, true);
        if (!take_mark(p, ',')) {
            break;
        }
    }

    expect(p, close);
}


/* Parses from the back quote. */
static void
parse_template(parser_t *p)
{
    const char *pos = p->token.end;
    bool is_open = true;

    for (;;) {
        pos = sym_js_template(pos, p->end, &is_open);
        if (pos == NULL) {
            fail_syntax(p);
            return;
        }

        go_to(p, pos);
        if (!is_open || has_failed(p)) {
            return;
        }

        parse_expression(p, true);
        if (!is_mark(p, '}')) {
            fail_syntax(p);
            return;
        }
        pos = p->token.end;
    }
}


/* Parses `async` before a function or before parameters. */
static operand_t
parse_async(parser_t *p)
{
    sym_js_token_t t = peek(p);

    if (is_word(&t, "function") && !t.is_after_line) {
        parse_function(p);
        return (operand_t){ .is_chain = false };
    }

    /* async x => */
    if (t.type == SYM_JS_NAME && !t.is_after_line && !is_reserved(&t)
        && !is_word(&t, "of"))
    {
        next(p);
        next(p);
        return (operand_t){ .is_params = true };
    }

    add_name_link(p, &p->token);
    next(p);
    return (operand_t){ .is_chain = true, .is_params = true, .is_name = true };
}


static operand_t
parse_name(parser_t *p)
{
    const operand_t other = { .is_chain = false };

    if (is_reserved(&p->token)) {
        fail_syntax(p);
        return other;
    }

    if (at_word(p, "function")) {
        parse_function(p);
        return other;
    }

    if (at_word(p, "class")) {
        parse_class(p, false);
        return other;
    }

    if (at_word(p, "async")) {
        return parse_async(p);
    }

    if (at_word(p, "this")) {
        const sym_naming_link_t link = { .type = SYM_LINK_TEXT,
                                         .part = { .text = SYM_STR("this") } };

        add_link(p, &link);
        next(p);
        return (operand_t){ .is_chain = true };
    }

    if (at_word(p, "super") || at_word(p, "import") || at_word(p, "null")
        || at_word(p, "true") || at_word(p, "false"))
    {
        next(p);
        return other;
    }

    add_name_link(p, &p->token);
    next(p);
    return (operand_t){ .is_chain = true, .is_params = true, .is_name = true };
}


static operand_t
parse_mark(parser_t *p)
{
    const operand_t other = { .is_chain = false };
    const char *end;

    switch (p->token.mark) {
    case '(':
        next(p);
        parse_list(p, ')');
        return (operand_t){ .is_params = true };

    case '[':
        next(p);
        parse_list(p, ']');
        return other;

    case '{':
        parse_object(p);
        return other;

    case '`':
        parse_template(p);
        return other;

    case '/':
    case SYM_JS_MARK2('/', '='):
        end = sym_js_regexp(p->token.start, p->end);
        if (end == NULL) {
            fail_syntax(p);
        } else {
            go_to(p, end);
        }
        return other;

    case '@': /* a class with decorators */
        next(p);
        (void) parse_operand(p);
        return at_word(p, "class") || is_mark(p, '@') ? parse_primary(p)
                                                      : other;

    default:
        fail_syntax(p);
        return other;
    }
}


static operand_t
parse_primary(parser_t *p)
{
    switch (p->token.type) {
    case SYM_JS_NAME:
        return parse_name(p);

    case SYM_JS_MARK:
        return parse_mark(p);

    case SYM_JS_NUMBER:
    case SYM_JS_STRING:
    case SYM_JS_PRIVATE: /* key in an object */
        next(p);
        return (operand_t){ .is_chain = false };

    default:
        fail_syntax(p);
        return (operand_t){ .is_chain = false };
    }
}


/* Parses a primary expression, and the members, calls and templates after it.
 * Leaves the links of a chain on top of the naming's stack. */
static operand_t
parse_operand(parser_t *p)
{
    bool is_new = false;
    operand_t o;

    if (!enter(p)) {
        return (operand_t){ .is_chain = false };
    }

    while (take_word(p, "new")) {
        is_new = true;
    }

    if (is_new && is_mark(p, '.')) { /* new.target */
        o = (operand_t){ .is_chain = false };
    } else {
        o = parse_primary(p);
        o.is_chain = o.is_chain && !is_new;
        o.is_name = o.is_name && !is_new;
    }

    while (p->token.type == SYM_JS_MARK && !has_failed(p)) {
        bool is_optional = p->token.mark == SYM_JS_MARK2('?', '.');

        if (is_optional) {
            next(p);
            o.is_chain = false;
        }

        if (is_mark(p, '.') || (is_optional && p->token.type != SYM_JS_MARK)) {
            if (!is_optional) {
                next(p);
            }

            if (p->token.type != SYM_JS_NAME && p->token.type != SYM_JS_PRIVATE)
            {
                fail_syntax(p);
                break;
            }

            if (o.is_chain && p->token.type == SYM_JS_NAME) {
                add_name_link(p, &p->token);
            }
            o.is_params = false;
            next(p);
        } else if (is_mark(p, '[')) {
            next(p);
            parse_index(p, o.is_chain);
            o.is_params = false;
        } else if (is_mark(p, '(')) {
            next(p);
            parse_list(p, ')');
            o.is_params = o.is_name; /* async (a) => */
            o.is_chain = false;
        } else if (is_mark(p, '`')) {
            parse_template(p);
            o.is_params = o.is_chain = false;
        } else {
            break;
        }
        o.is_name = false;
    }

    leave(p);
    return o;
}


/* --- expressions --- */

static bool
is_prefix(const parser_t *p)
{
    return is_mark(p, '!') || is_mark(p, '~') || is_mark(p, '+')
           || is_mark(p, '-') || is_mark(p, SYM_JS_MARK2('+', '+'))
           || is_mark(p, SYM_JS_MARK2('-', '-')) || at_word(p, "typeof")
           || at_word(p, "void") || at_word(p, "delete");
}


/* Whether an operand can begin with the token. */
static bool
begins_operand(const sym_js_token_t *t)
{
    if (t->type == SYM_JS_MARK) {
        return strchr("([{`/!~+-@", (char) (t->mark & 0x7f)) != NULL
               && t->mark != 0 && t->mark != SYM_JS_MARK2('+', '=')
               && t->mark != SYM_JS_MARK2('-', '=');
    }

    return t->type != SYM_JS_END && t->type != SYM_JS_BAD
           && !(t->type == SYM_JS_NAME && (is_reserved(t) || is_word(t, "of")));
}


/* `await` is a name if no operand can follow. */
static bool
take_await(parser_t *p)
{
    sym_js_token_t t;

    if (!at_word(p, "await")) {
        return false;
    }

    t = peek(p);
    if (!begins_operand(&t)) {
        return false;
    }

    next(p);
    return true;
}


static operand_t
parse_unary(parser_t *p)
{
    bool has_prefix = false;
    operand_t o;

    while (!has_failed(p)) {
        if (is_prefix(p)) {
            next(p);
        } else if (!take_await(p)) {
            break;
        }
        has_prefix = true;
    }

    o = parse_operand(p);

    if ((is_mark(p, SYM_JS_MARK2('+', '+'))
         || is_mark(p, SYM_JS_MARK2('-', '-')))
        && !p->token.is_after_line)
    {
        next(p);
        has_prefix = true;
    }

    if (has_prefix) {
        o = (operand_t){ .is_chain = false };
    }
    return o;
}


static bool
is_binary(const parser_t *p, bool is_in)
{
    if (p->token.type == SYM_JS_NAME) {
        return at_word(p, "instanceof") || (is_in && at_word(p, "in"));
    }

    if (p->token.type != SYM_JS_MARK) {
        return false;
    }

    switch (p->token.mark) {
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case '&':
    case '|':
    case '^':
    case '<':
    case '>':
    case SYM_JS_MARK2('*', '*'):
    case SYM_JS_MARK2('&', '&'):
    case SYM_JS_MARK2('|', '|'):
    case SYM_JS_MARK2('?', '?'):
    case SYM_JS_MARK2('=', '='):
    case SYM_JS_MARK2('!', '='):
    case SYM_JS_MARK2('<', '='):
    case SYM_JS_MARK2('>', '='):
    case SYM_JS_MARK2('<', '<'):
    case SYM_JS_MARK2('>', '>'):
    case SYM_JS_MARK3('=', '=', '='):
    case SYM_JS_MARK3('!', '=', '='):
    case SYM_JS_MARK3('>', '>', '>'):
        return true;
    default:
        return false;
    }
}


static bool
is_assignment(const parser_t *p)
{
    uint32_t mark = p->token.mark;

    if (p->token.type != SYM_JS_MARK || (mark & 0xff) != '=') {
        return false;
    }

    return mark == '='
           || !(mark == SYM_JS_MARK2('=', '=') || mark == SYM_JS_MARK2('!', '=')
                || mark == SYM_JS_MARK2('<', '=')
                || mark == SYM_JS_MARK2('>', '=')
                || mark == SYM_JS_MARK3('=', '=', '=')
                || mark == SYM_JS_MARK3('!', '=', '='));
}


/* Ignores the precedence of operators, because it does not affect names of
 * functions. */
static operand_t
parse_binary(parser_t *p, bool is_in)
{
    operand_t o = parse_unary(p);

    while (is_binary(p, is_in) && !has_failed(p)) {
        next(p);
        (void) parse_unary(p);
        o = (operand_t){ .is_chain = false };
    }

    return o;
}


/* Parses after the left side, whose links are on the stack from `first` on. */
static void
parse_right_side(parser_t *p, const operand_t *o, size_t first, bool is_in)
{
    const sym_naming_entry_t entry = { .type = SYM_NAMING_ASSIGNMENT,
                                       .first = first,
                                       .n = p->naming.n_links - first };

    next(p);
    if (!o->is_chain) {
        (void) parse_assignment(p, is_in);
        return;
    }

    if (!sym_naming_push(&p->naming, &entry)) {
        fail_memory(p);
        return;
    }

    (void) parse_assignment(p, is_in);
    pop(p);
}


static bool
take_yield(parser_t *p)
{
    sym_js_token_t t;

    if (!at_word(p, "yield")) {
        return false;
    }

    t = peek(p);
    if (t.type == SYM_JS_MARK
        && (t.mark == '=' || t.mark == '.' || t.mark == SYM_JS_ARROW))
    {
        return false; /* a name if the script is not strict */
    }

    next(p);
    return true;
}


static operand_t
parse_assignment(parser_t *p, bool is_in)
{
    size_t first = p->naming.n_links;
    operand_t o = { .is_chain = false };

    if (!enter(p)) {
        return o;
    }

    /* repeats for each ?: */
    while (!has_failed(p)) {
        const char *start = p->token.start;

        p->naming.n_links = first;

        if (take_yield(p)) {
            o = (operand_t){ .is_chain = false };
            (void) take_mark(p, '*');
            if (p->token.is_after_line || !begins_operand(&p->token)) {
                break;
            }
            continue;
        }

        o = parse_binary(p, is_in);

        if (is_mark(p, SYM_JS_ARROW) && o.is_params) {
            parse_arrow(p, start, is_in);
            o = (operand_t){ .is_chain = false };
            break;
        }

        if (is_assignment(p)) {
            parse_right_side(p, &o, first, is_in);
            o = (operand_t){ .is_chain = false };
            break;
        }

        if (!take_mark(p, '?')) {
            break;
        }

        (void) parse_assignment(p, true);
        expect(p, ':');
        o = (operand_t){ .is_chain = false };
    }

    p->naming.n_links = first;
    leave(p);
    return o;
}


static void
parse_expression(parser_t *p, bool is_in)
{
    do {
        (void) parse_assignment(p, is_in);
    } while (take_mark(p, ','));
}


/* --- patterns --- */

static void
parse_pattern_property(parser_t *p)
{
    member_t m = { .start = p->token.start };

    if (take_mark(p, SYM_JS_DOTS)) {
        parse_pattern(p);
        return;
    }

    parse_key(p, &m);
    if (take_mark(p, ':')) {
        parse_pattern(p);
    } else if (take_mark(p, '=')) {
        (void) parse_assignment(p, true);
    }
}


static void
parse_pattern_list(parser_t *p, uint32_t close)
{
    next(p);
    while (!is_mark(p, close) && !has_failed(p)) {
        if (close == ']' && take_mark(p, ',')) {
            continue;
        }

        if (close == '}') {
            parse_pattern_property(p);
        } else {
            (void) take_mark(p, SYM_JS_DOTS);
            parse_pattern(p);
        }

        if (!take_mark(p, ',')) {
            break;
        }
    }
    expect(p, close);
}


/* Parses a parameter's or variable's pattern and its default. */
static void
parse_pattern(parser_t *p)
{
    if (!enter(p)) {
        return;
    }

    if (is_mark(p, '[')) {
        parse_pattern_list(p, ']');
    } else if (is_mark(p, '{')) {
        parse_pattern_list(p, '}');
    } else if (p->token.type == SYM_JS_NAME) {
        next(p);
    } else {
        fail_syntax(p);
    }

    if (take_mark(p, '=')) {
        (void) parse_assignment(p, true);
    }
    leave(p);
}


/* --- statements --- */

/* Parses after `var`, `let` or `const`. */
static void
parse_variables(parser_t *p, bool is_in)
{
    do {
        sym_js_scope_part_t name = { .text = SYM_STR("") };
        bool is_name = p->token.type == SYM_JS_NAME;

        if (is_name) {
            name = sym_naming_identifier(&p->naming, &p->token);
            next(p);
        } else if (is_mark(p, '[')) {
            parse_pattern_list(p, ']');
        } else if (is_mark(p, '{')) {
            parse_pattern_list(p, '}');
        } else {
            fail_syntax(p);
        }

        if (take_mark(p, '=')) {
            if (is_name) {
                push(p, SYM_NAMING_VARIABLE, name);
            }
            (void) parse_assignment(p, is_in);
            if (is_name) {
                pop(p);
            }
        }
    } while (take_mark(p, ','));
}


/* `let`, `using` and others are names unless a name or a pattern follows. */
static bool
is_declaration(const parser_t *p)
{
    sym_js_token_t t;

    if (at_word(p, "var") || at_word(p, "const")) {
        return true;
    }

    if (!at_word(p, "let") && !at_word(p, "using")) {
        return false;
    }

    t = peek(p);
    return (t.type == SYM_JS_NAME && !is_word(&t, "in")
            && !is_word(&t, "instanceof")
            && !(is_word(&t, "of") && at_word(p, "using")))
           || (at_word(p, "let") && t.type == SYM_JS_MARK
               && (t.mark == '{' || t.mark == '['));
}


static void
parse_condition(parser_t *p)
{
    expect(p, '(');
    parse_expression(p, true);
    expect(p, ')');
}


static void
parse_if(parser_t *p)
{
    do {
        next(p);
        parse_condition(p);
        parse_statement(p);
        if (!take_word(p, "else")) {
            return;
        }
    } while (at_word(p, "if") && !has_failed(p));

    parse_statement(p);
}


static void
parse_for(parser_t *p)
{
    next(p);
    (void) take_word(p, "await");
    expect(p, '(');

    if (is_declaration(p)) {
        next(p);
        parse_variables(p, false);
    } else if (!is_mark(p, ';')) {
        parse_expression(p, false);
    }

    if (take_word(p, "in") || take_word(p, "of")) {
        parse_expression(p, true);
    } else {
        expect(p, ';');
        if (!is_mark(p, ';')) {
            parse_expression(p, true);
        }
        expect(p, ';');
        if (!is_mark(p, ')')) {
            parse_expression(p, true);
        }
    }

    expect(p, ')');
    parse_statement(p);
}


static void
parse_try(parser_t *p)
{
    next(p);
    parse_body(p);

    if (take_word(p, "catch")) {
        if (take_mark(p, '(')) {
            parse_pattern(p);
            expect(p, ')');
        }
        parse_body(p);
    }

    if (take_word(p, "finally")) {
        parse_body(p);
    }
}


static void
parse_switch(parser_t *p)
{
    next(p);
    parse_condition(p);
    expect(p, '{');

    while (!is_mark(p, '}') && !has_failed(p)) {
        if (take_word(p, "case")) {
            parse_expression(p, true);
            expect(p, ':');
        } else if (take_word(p, "default")) {
            expect(p, ':');
        } else {
            parse_statement(p);
        }
    }

    expect(p, '}');
}


static void
parse_do(parser_t *p)
{
    next(p);
    parse_statement(p);
    if (!take_word(p, "while")) {
        fail_syntax(p);
    }
    parse_condition(p);
    (void) take_mark(p, ';');
}


/* `return`, `throw`, `break`, `continue` */
static void
parse_jump(parser_t *p)
{
    next(p);
    if (!is_mark(p, ';') && !is_mark(p, '}') && p->token.type != SYM_JS_END
        && !p->token.is_after_line)
    {
        parse_expression(p, true);
    }
    end_statement(p);
}


/* Parses names in braces and their module.  None of them names a function. */
static void
parse_module_names(parser_t *p)
{
    while (!has_failed(p) && !is_mark(p, ';') && p->token.type != SYM_JS_END) {
        bool is_string = p->token.type == SYM_JS_STRING;
        bool is_brace = is_mark(p, '}');
        sym_js_token_t t;

        if (is_mark(p, '{')) {
            next(p);
            while (!is_mark(p, '}') && !has_failed(p)) {
                if (p->token.type == SYM_JS_END) {
                    fail_syntax(p);
                }
                next(p);
            }
            is_brace = true;
        }

        next(p);
        t = p->token;
        if ((is_string && !is_word(&t, "with") && !is_word(&t, "assert")
             && !is_word(&t, "as"))
            || (is_brace && !is_word(&t, "from")))
        {
            break;
        }
    }

    (void) take_mark(p, ';');
}


static void
parse_export(parser_t *p)
{
    sym_js_token_t t;

    next(p);

    if (is_mark(p, '{') || is_mark(p, '*')) {
        parse_module_names(p);
        return;
    }

    if (!take_word(p, "default")) {
        parse_statement(p);
        return;
    }

    t = peek(p);
    if (at_word(p, "function")
        || (at_word(p, "async") && is_word(&t, "function") && !t.is_after_line))
    {
        parse_function(p);
    } else if (at_word(p, "class") || is_mark(p, '@')) {
        (void) parse_primary(p);
    } else {
        (void) parse_assignment(p, true);
        end_statement(p);
    }
}


static bool
parse_keyword(parser_t *p)
{
    sym_js_token_t t;

    static const struct {
        const char *word;
        void (*parse)(parser_t *p);
    } statements[] = {
        { "if", parse_if },
        { "for", parse_for },
        { "return", parse_jump },
        { "throw", parse_jump },
        { "break", parse_jump },
        { "continue", parse_jump },
        { "try", parse_try },
        { "switch", parse_switch },
        { "function", parse_function },
        { "do", parse_do },
        { "export", parse_export },
    };

    for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
        if (at_word(p, statements[i].word)) {
            statements[i].parse(p);
            return true;
        }
    }

    if (at_word(p, "while") || at_word(p, "with")) {
        next(p);
        parse_condition(p);
        parse_statement(p);
        return true;
    }

    if (at_word(p, "class")) {
        parse_class(p, true);
        return true;
    }

    if (at_word(p, "debugger")) {
        next(p);
        end_statement(p);
        return true;
    }

    if (is_declaration(p)) {
        next(p);
        parse_variables(p, true);
        end_statement(p);
        return true;
    }

    t = peek(p);
    if (at_word(p, "async") && is_word(&t, "function") && !t.is_after_line) {
        parse_function(p);
        return true;
    }

    if (at_word(p, "import")
        && !(t.type == SYM_JS_MARK && (t.mark == '(' || t.mark == '.')))
    {
        next(p);
        parse_module_names(p);
        return true;
    }

    return false;
}


static void
parse_expression_statement(parser_t *p)
{
    operand_t o = parse_assignment(p, true);

    if (o.is_name && take_mark(p, ':')) {
        parse_statement(p);
        return;
    }

    if (take_mark(p, ',')) {
        parse_expression(p, true);
    }
    end_statement(p);
}


static void
parse_statement(parser_t *p)
{
    if (has_failed(p) || !enter(p)) {
        return;
    }

    if (p->token.type == SYM_JS_END) {
        fail_syntax(p);
    } else if (is_mark(p, '{')) {
        parse_body(p);
    } else if (take_mark(p, ';')) {
        /* nothing */
    } else if (is_mark(p, '@')) {
        while (take_mark(p, '@')) {
            (void) parse_operand(p);
        }
        parse_statement(p);
    } else if (p->token.type != SYM_JS_NAME || !parse_keyword(p)) {
        parse_expression_statement(p);
    }

    leave(p);
}


/* --- the script --- */

/* Sorts the functions.  They are out of order because an arrow function is
   recognized only after its parameters, which may contain functions. */
static sym_status_t
order_scopes(sym_js_scopes_t *s, sym_error_t *err)
{
    sym_sort_item_t *items;
    sym_js_scope_t *sorted;
    size_t i;

    for (i = 1; i < s->n && s->scopes[i].start >= s->scopes[i - 1].start; i++) {
    }

    if (i >= s->n) {
        return SYM_OK;
    }

    items = malloc(s->n * sizeof(*items));
    sorted = malloc(s->n * sizeof(*sorted));

    if (items == NULL || sorted == NULL || s->n > UINT32_MAX) {
        free(items);
        free(sorted);
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    for (i = 0; i < s->n; i++) {
        items[i] = (sym_sort_item_t){
            .key = (uint64_t) s->scopes[i].start << 32
                   | (UINT32_MAX - s->scopes[i].end),
            .at = (uint32_t) i,
        };
    }

    if (!sym_sort(items, s->n)) {
        (void) sym_fail(err, SYM_NOMEM, NULL);
    }

    for (i = 0; i < s->n; i++) {
        sorted[i] = s->scopes[items[i].at];
    }

    free(items);
    free(s->scopes);
    s->scopes = sorted;
    s->size = s->n;
    return err->status;
}


sym_status_t
sym_js_scopes_read(sym_js_scopes_t *scopes, sym_str_t script, sym_error_t *err)
{
    parser_t p = { .start = script.data,
                   .end = script.data + script.len,
                   .scopes = scopes,
                   .err = err };

    *scopes = (sym_js_scopes_t){ .scopes = NULL };
    if (script.len > UINT32_MAX) {
        return sym_fail(err, SYM_LIMIT, "the script is larger than 4 GiB");
    }

    p.naming.script = script.data;
    p.naming.arena = &scopes->arena;
    go_to(&p, sym_js_begin(p.start, p.end));

    while (p.token.type != SYM_JS_END && err->status == SYM_OK) {
        parse_statement(&p);
    }

    free(p.naming.entries);
    free(p.naming.links);
    return err->status == SYM_OK ? order_scopes(scopes, err) : err->status;
}


void
sym_js_scopes_free(sym_js_scopes_t *scopes)
{
    free(scopes->scopes);
    free(scopes->parts);
    sym_arena_drop(&scopes->arena);
}
