#include "formats/script/naming.h"

#include "base/buffer.h"

bool
sym_naming_push(sym_naming_t *naming, const sym_naming_entry_t *entry)
{
    if (!SYM_ARRAY_ROOM(naming->entries, naming->n + 1, naming->size)) {
        return false;
    }

    naming->entries[naming->n++] = *entry;
    return true;
}


bool
sym_naming_link(sym_naming_t *naming, const sym_naming_link_t *link)
{
    if (!SYM_ARRAY_ROOM(naming->links, naming->n_links + 1, naming->links_size))
    {
        return false;
    }

    naming->links[naming->n_links++] = *link;
    return true;
}


/* --- parts --- */

static void
add_part(sym_naming_name_t *name, const sym_js_scope_part_t *part)
{
    if (name->n < SYM_NAMING_PARTS_MAX) {
        name->parts[name->n++] = *part;
    }
}


void
sym_naming_add(sym_naming_name_t *name, sym_str_t text)
{
    const sym_js_scope_part_t part = { .text = text };

    add_part(name, &part);
}


/* Adds a separator, unless the name is empty.  Parts are added from last to
 * first. */
static void
add_separator(sym_naming_name_t *name)
{
    if (name->n != 0) {
        sym_naming_add(name, SYM_STR("."));
    }
}


static void
add_accessor(sym_naming_name_t *name, sym_method_type_t method)
{
    if (method != SYM_METHOD_PLAIN) {
        sym_naming_add(name, method == SYM_METHOD_GETTER ? SYM_STR("get ")
                                                         : SYM_STR("set "));
    }
}


static void
add_link(sym_naming_name_t *name, const sym_naming_link_t *link)
{
    if (link->type != SYM_LINK_COMPUTED_NAME) {
        add_part(name, &link->part);
        return;
    }

    sym_naming_add(name, SYM_STR("]"));
    add_part(name, &link->part);
    sym_naming_add(name, SYM_STR("["));
}


/*
 * Adds a chain of members.  As in js-source-scopes, no separator follows the
 * last member: `a.b = {c: function() {}}` gives "a.bc".
 */
static void
add_chain(sym_naming_name_t *name, const sym_naming_link_t *links, size_t n)
{
    if (n == 1) {
        add_separator(name);
        add_link(name, &links[0]);
        return;
    }

    /* a chain of millions may name many functions, so the rest is omitted */
    for (size_t i = n; i-- > 0 && name->n < SYM_NAMING_PARTS_MAX;) {
        add_link(name, &links[i]);
        if (i != 0 && links[i].type == SYM_LINK_NAME) {
            sym_naming_add(name, SYM_STR("."));
        }
    }
}


void
sym_naming_infer(const sym_naming_t *naming, sym_naming_name_t *name)
{
    sym_method_type_t method = SYM_METHOD_PLAIN;
    bool is_in_object = false;
    size_t last = naming->n > SYM_NAMING_ENTRIES_MAX
                      ? naming->n - SYM_NAMING_ENTRIES_MAX
                      : 0;

    for (size_t i = naming->n; i-- > last;) {
        const sym_naming_entry_t *e = &naming->entries[i];

        if (e->type == SYM_NAMING_FUNCTION) {
            break;
        }

        switch (e->type) {
        case SYM_NAMING_CLASS:
        case SYM_NAMING_METHOD:
        case SYM_NAMING_PROPERTY:
            if (e->name.text.len != 0) {
                add_separator(name);
                add_part(name, &e->name);
            }
            continue;

        case SYM_NAMING_PRIVATE_METHOD:
            add_part(name, &e->name);
            sym_naming_add(name, SYM_STR("#"));
            continue;

        case SYM_NAMING_CLASS_METHOD:
            add_part(name, &e->name);
            method = e->method;
            continue;

        case SYM_NAMING_OBJECT:
            is_in_object = true;
            continue;

        case SYM_NAMING_ASSIGNMENT:
            add_chain(name, naming->links + e->first, e->n);
            break;

        default:
            add_separator(name);
            add_part(name, &e->name);
        }

        add_accessor(name, method);
        return;
    }

    if (is_in_object && name->n != 0) {
        sym_naming_add(name, SYM_STR("<object>."));
    }

    add_accessor(name, method);
}


/* --- texts --- */

sym_js_scope_part_t
sym_naming_identifier(const sym_naming_t *naming, const sym_js_token_t *token)
{
    return (sym_js_scope_part_t){
        .text = { token->start, (size_t) (token->end - token->start) },
        .offset = (uint32_t) (token->start - naming->script),
        .is_identifier = true,
    };
}


/* Writes a literal between two texts.  Strings get double quotes; quotes inside
 * are escaped. */
static sym_js_scope_part_t
write_literal(const sym_naming_t *naming, const sym_js_token_t *token,
              char before, char after)
{
    sym_js_scope_part_t part = { .text = { NULL, 0 } };
    size_t len = (size_t) (token->end - token->start);
    char *to = sym_arena_alloc(naming->arena, 2 * len + 2), *start = to;
    const char *p = token->start, *end = token->end;

    if (to == NULL) {
        return part;
    }

    *to++ = before;
    if (token->type != SYM_JS_STRING) {
        memcpy(to, p, len);
        to += len;
    } else {
        *to++ = '"';
        for (p++, end--; p < end; p++) {
            if (*p == '\\' && end - p > 1) {
                if (p[1] != '\'') {
                    *to++ = *p;
                }
                *to++ = *++p;
                continue;
            }

            if (*p == '"') {
                *to++ = '\\';
            }
            *to++ = *p;
        }
        *to++ = '"';
    }
    *to++ = after;

    part.text = sym_str(start, (size_t) (to - start));
    return part;
}


sym_js_scope_part_t
sym_naming_key(const sym_naming_t *naming, const sym_js_token_t *token)
{
    switch (token->type) {
    case SYM_JS_NAME:
        return sym_naming_identifier(naming, token);
    case SYM_JS_STRING:
    case SYM_JS_NUMBER:
        return write_literal(naming, token, '<', '>');
    default:
        return (sym_js_scope_part_t){ .text = SYM_STR("<computed>") };
    }
}


sym_js_scope_part_t
sym_naming_index(const sym_naming_t *naming, const sym_js_token_t *token)
{
    return write_literal(naming, token, '[', ']');
}
