#include "formats/proguard/metadata.h"

#include "base/hex.h"
#include "json/raw.h"

/* Members of an object, or items of a list, without the brackets. */
typedef struct {
    const char *p, *end; /* p NULL: invalid */
} items_t;

static items_t
items_of(sym_str_t text)
{
    const char *end = text.len != 0 ? text.data + text.len : text.data;

    return (items_t){ end != NULL ? sym_raw_space(text.data, end) : NULL, end };
}


static bool
has_item(const items_t *items)
{
    return items->p != NULL && items->p < items->end;
}


/* Moves past the comma that follows an item. */
static void
end_item(items_t *items, const char *p)
{
    p = p != NULL ? sym_raw_space(p, items->end) : NULL;
    items->p = p;

    if (p != NULL && p < items->end) {
        p = *p == ',' ? sym_raw_space(p + 1, items->end) : NULL;
        items->p = p != NULL && p < items->end ? p : NULL;
    }
}


/* data NULL: not a string, or a string with escapes. */
static const char *
read_string(const char *p, const char *end, sym_str_t *text)
{
    sym_raw_string_t string;

    if (p == NULL || p >= end || *p != '"') {
        return NULL;
    }

    p = sym_raw_string(p, end, &string);
    *text = string.text;
    return p != NULL && !string.has_escapes ? p : NULL;
}


/* The next member of an object.  False: there are no more, or the next one is
 * invalid. */
static bool
next_member(items_t *items, sym_str_t *key, sym_str_t *value)
{
    const char *p, *end;

    if (!has_item(items)) {
        return false;
    }

    p = read_string(items->p, items->end, key);
    p = p != NULL ? sym_raw_space(p, items->end) : NULL;
    if (p == NULL || p >= items->end || *p != ':') {
        items->p = NULL;
        return false;
    }

    p = sym_raw_space(p + 1, items->end);
    end = sym_raw_value(p, items->end);
    *value = sym_str(p, end != NULL ? (size_t) (end - p) : 0);
    end_item(items, end);
    return items->p != NULL;
}


static bool
next_string(items_t *items, sym_str_t *text)
{
    if (!has_item(items)) {
        return false;
    }

    end_item(items, read_string(items->p, items->end, text));
    return items->p != NULL;
}


/* The value without its brackets; data NULL: it is of another type. */
static sym_str_t
inside(sym_str_t value, char open)
{
    return value.len >= 2 && value.data[0] == open
               ? sym_str(value.data + 1, value.len - 2)
               : sym_str(NULL, 0);
}


static bool
are_strings(sym_str_t list)
{
    items_t items = items_of(list);
    sym_str_t text;

    while (list.data != NULL && next_string(&items, &text)) {
    }

    return list.data != NULL && items.p != NULL;
}


static bool
are_positions(sym_str_t positions)
{
    items_t items = items_of(positions);
    sym_str_t key, value;
    uint64_t number;

    while (positions.data != NULL && next_member(&items, &key, &value)) {
        if (!sym_dec_read(value, &number)) {
            return false;
        }
    }

    return positions.data != NULL && items.p != NULL;
}


static sym_r8_type_t
type_of(sym_str_t id)
{
    static const struct {
        sym_str_t id;
        sym_r8_type_t type;
    } types[] = {
        { { "sourceFile", 10 }, SYM_R8_SOURCE_FILE },
        { { "com.android.tools.r8.synthesized", 32 }, SYM_R8_SYNTHESIZED },
        { { "com.android.tools.r8.outline", 28 }, SYM_R8_OUTLINE },
        { { "com.android.tools.r8.outlineCallsite", 36 },
          SYM_R8_OUTLINE_CALLSITE },
        { { "com.android.tools.r8.rewriteFrame", 33 }, SYM_R8_REWRITE_FRAME },
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (sym_str_eq(types[i].id, id)) {
            return types[i].type;
        }
    }

    return SYM_R8_OTHER;
}


/* Whether all parts that the type requires are present. */
static bool
is_complete(const sym_r8_t *r8)
{
    switch (r8->type) {
    case SYM_R8_SOURCE_FILE:
        return r8->file.data != NULL;
    case SYM_R8_OUTLINE_CALLSITE:
        return are_positions(r8->positions);
    case SYM_R8_REWRITE_FRAME:
        return are_strings(r8->conditions) && are_strings(r8->actions);
    default:
        return true;
    }
}


void
sym_r8_read(sym_str_t json, sym_r8_t *r8)
{
    const char *end = json.data + json.len;
    items_t items;
    sym_str_t key, value, text;

    *r8 = (sym_r8_t){ .type = SYM_R8_OTHER };

    while (end > json.data && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }

    if (end - json.data < 2 || end[-1] != '}') {
        return;
    }

    items = items_of(sym_str(json.data + 1, (size_t) (end - json.data) - 2));

    while (next_member(&items, &key, &value)) {
        bool is_string =
            read_string(value.data, value.data + value.len, &text) != NULL;

        if (sym_str_eq(key, SYM_STR("id"))) {
            r8->type = is_string ? type_of(text) : SYM_R8_OTHER;
        } else if (sym_str_eq(key, SYM_STR("fileName"))) {
            r8->file = is_string ? text : sym_str(NULL, 0);
        } else if (sym_str_eq(key, SYM_STR("positions"))) {
            r8->positions = inside(value, '{');
        } else if (sym_str_eq(key, SYM_STR("conditions"))) {
            r8->conditions = inside(value, '[');
        } else if (sym_str_eq(key, SYM_STR("actions"))) {
            r8->actions = inside(value, '[');
        }
    }

    if (items.p == NULL || !is_complete(r8)) {
        r8->type = SYM_R8_OTHER;
    }
}


bool
sym_r8_next_position(sym_str_t *positions, uint32_t *from, uint32_t *to)
{
    items_t items = items_of(*positions);
    sym_str_t key, value;
    uint64_t a = 0, b = 0;
    bool is_number = false;

    while (!is_number && next_member(&items, &key, &value)) {
        is_number = sym_dec_read(key, &a) && sym_dec_read(value, &b);
    }

    *from = (uint32_t) a;
    *to = (uint32_t) b;
    *positions = items.p != NULL
                     ? sym_str(items.p, (size_t) (items.end - items.p))
                     : sym_str(items.end, 0);
    return is_number;
}


static sym_str_t
trim(sym_str_t s)
{
    while (s.len > 0 && s.data[0] == ' ') {
        s = sym_str(s.data + 1, s.len - 1);
    }

    while (s.len > 0 && s.data[s.len - 1] == ' ') {
        s.len--;
    }

    return s;
}


/* The X in "NAME(X)", where `call` is "NAME("; data NULL: it is another
 * call. */
static sym_str_t
argument(sym_str_t s, sym_str_t call)
{
    return sym_str_starts(s, call) && s.len > call.len
                   && s.data[s.len - 1] == ')'
               ? sym_str(s.data + call.len, s.len - call.len - 1)
               : sym_str(NULL, 0);
}


bool
sym_r8_rule(const sym_r8_t *r8, sym_str_t *thrown, uint32_t *removed)
{
    items_t conditions = items_of(r8->conditions),
            actions = items_of(r8->actions);
    uint64_t sum = 0, n;
    sym_str_t text;

    *thrown = sym_str(NULL, 0);

    while (next_string(&conditions, &text)) {
        sym_str_t class = argument(trim(text), SYM_STR("throws("));

        /* an unknown condition is never true; nor are two with different
         * classes */
        if (class.len == 0
            || (thrown->data != NULL && !sym_str_eq(class, *thrown))) {
            return false;
        }

        *thrown = class;
    }

    while (next_string(&actions, &text)) {
        text = trim(text);

        if (sym_str_starts(text, SYM_STR("removeInnerFrames("))) {
            if (!sym_dec_read(argument(text, SYM_STR("removeInnerFrames(")), &n)
                || n > UINT32_MAX - sum)
            {
                return false;
            }
            sum += n;
        }
    }

    *removed = (uint32_t) sum;
    return thrown->data != NULL && sum != 0;
}
