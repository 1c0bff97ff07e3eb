#include "api/atos/query.h"

#include "base/form.h"

typedef enum { KIND_TEXT, KIND_FLAG, KIND_LIST } kind_t;

typedef struct {
    const char *name; /* name in the query */
    const char *key;  /* key in the object */
    kind_t kind;
} parameter_t;

static const parameter_t parameters[] = {
    { "uuid", "uuid", KIND_TEXT },
    { "image", "image", KIND_TEXT },
    { "load_address", "load_address", KIND_TEXT },
    { "slide", "slide", KIND_TEXT },
    { "offset", "offset", KIND_FLAG },
    { "address", "addresses", KIND_LIST },
    { "inline", "inline", KIND_TEXT },
    { "full_path", "full_path", KIND_FLAG },
    { "return_addresses", "return_addresses", KIND_FLAG },
};


/* NULL: other names are ignored, as in a body. */
static const parameter_t *
find_parameter(sym_str_t name)
{
    for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++) {
        if (sym_str_eq(name, sym_cstr(parameters[i].name))) {
            return &parameters[i];
        }
    }

    return NULL;
}


/* Consumes the part of *rest before the first `end`, and `end` itself. */
static sym_str_t
take_until(sym_str_t *rest, char end)
{
    const char *at = rest->len != 0 ? memchr(rest->data, end, rest->len) : NULL;
    size_t len = at != NULL ? (size_t) (at - rest->data) : rest->len;
    size_t taken = at != NULL ? len + 1 : len;
    sym_str_t part = sym_str(rest->data, len);

    *rest = sym_str(rest->data + taken, rest->len - taken);
    return part;
}


/* Decodes as in forms: "%2B" is a plus, "+" a space. */
static sym_status_t
decode(atos_t *a, sym_str_t raw, sym_str_t *text)
{
    char *out = sym_arena_alloc(a->base.arena, raw.len + 1);
    size_t len = 0;

    if (out == NULL) {
        return SYM_NOMEM;
    }

    for (size_t i = 0; i < raw.len;) {
        int byte = sym_form_byte(raw, &i);

        if (byte < 0) {
            return sym_request_refuse(&a->base, SYM_MALFORMED,
                                      "a %% in the query without two digits "
                                      "after it");
        }

        out[len++] = (char) byte;
    }

    *text = sym_str(out, len);
    return sym_utf8_valid(*text) ? SYM_OK
                                 : sym_request_refuse(&a->base, SYM_MALFORMED,
                                                      "the query is not UTF-8");
}


/* Values other than true and false stay strings, which the reader refuses. */
static json_t *
value_of(kind_t kind, sym_str_t text)
{
    if (kind == KIND_FLAG && sym_str_eq(text, SYM_STR("true"))) {
        return json_true();
    }

    if (kind == KIND_FLAG && sym_str_eq(text, SYM_STR("false"))) {
        return json_false();
    }

    return json_stringn_nocheck(text.data, text.len);
}


static sym_status_t
put(atos_t *a, json_t *root, const parameter_t *p, sym_str_t text)
{
    json_t *value = value_of(p->kind, text);
    json_t *there = json_object_get(root, p->key);
    int rc;

    if (p->kind != KIND_LIST && there != NULL) {
        json_decref(value);
        return sym_request_refuse(&a->base, SYM_MALFORMED,
                                  "%s is given more than once", p->name);
    }

    if (p->kind != KIND_LIST) {
        return json_object_set_new(root, p->key, value) == 0 ? SYM_OK
                                                             : SYM_NOMEM;
    }

    rc = there != NULL
             ? 0
             : json_object_set_new(root, p->key, there = json_array());
    return json_array_append_new(there, value) == 0 && rc == 0 ? SYM_OK
                                                               : SYM_NOMEM;
}


static sym_status_t
read_parameters(atos_t *a, sym_str_t rest, json_t *root)
{
    sym_status_t rc = SYM_OK;

    while (rest.len != 0 && rc == SYM_OK) {
        sym_str_t value = take_until(&rest, '&'), text;
        const parameter_t *p = find_parameter(take_until(&value, '='));

        if (p != NULL) {
            rc = decode(a, value, &text);
            rc = rc != SYM_OK ? rc : put(a, root, p, text);
        }
    }

    return rc;
}


sym_status_t
atos_query_read(atos_t *a, json_t **root)
{
    sym_status_t rc;

    *root = json_object();
    if (*root == NULL) {
        return SYM_NOMEM;
    }

    rc = read_parameters(a, a->base.body, *root);

    if (rc == SYM_OK && json_object_get(*root, "addresses") == NULL) {
        rc = sym_request_refuse(&a->base, SYM_MALFORMED,
                                "the query names no address");
    }

    if (rc != SYM_OK) {
        json_decref(*root);
        *root = NULL;
    }

    return rc;
}
