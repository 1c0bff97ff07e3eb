#include "api/tecken/value_text.h"

#include <stdlib.h>

#include "json/out.h"

#define TEXT_FIRST 256

typedef struct {
    const numbers_t *numbers;
    sym_out_t out;
    char *text; /* a single window that grows */
} dump_t;


static bool
more(sym_out_t *out, size_t need)
{
    dump_t *d = out->ctx;
    size_t len = d->text == NULL ? 0 : (size_t) (out->pos - d->text);
    size_t cap = TEXT_FIRST + len * 2 + need;
    char *grown = realloc(d->text, cap);

    if (grown == NULL) {
        return false;
    }

    d->text = grown;
    out->pos = grown + len;
    out->end = grown + cap;
    return true;
}


sym_str_t
value_number(const numbers_t *numbers, const json_t *real)
{
    return numbers->numbers[(uint32_t) json_real_value(real)];
}


static void dump(dump_t *d, const json_t *value);


static void
dump_array(dump_t *d, const json_t *array)
{
    sym_out_raw(&d->out, SYM_STR("["));

    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0) {
            sym_out_raw(&d->out, SYM_STR(", "));
        }
        dump(d, json_array_get(array, i));
    }

    sym_out_raw(&d->out, SYM_STR("]"));
}


static void
dump_object(dump_t *d, const json_t *value)
{
    json_t *object = (json_t *) (uintptr_t) value; /* only read, never
                                                      changed */
    const char *key;
    bool is_first = true;
    json_t *item;

    sym_out_raw(&d->out, SYM_STR("{"));

    json_object_foreach(object, key, item)
    {
        if (!is_first) {
            sym_out_raw(&d->out, SYM_STR(", "));
        }
        is_first = false;
        sym_out_string(&d->out, sym_cstr(key));
        sym_out_raw(&d->out, SYM_STR(": "));
        dump(d, item);
    }

    sym_out_raw(&d->out, SYM_STR("}"));
}


/* The depth of recursion is limited, because jansson reads at most 2,048
 * levels. */
static void
dump(dump_t *d, const json_t *value)
{
    json_int_t n;

    switch (json_typeof(value)) {
    case JSON_OBJECT:
        dump_object(d, value);
        break;
    case JSON_ARRAY:
        dump_array(d, value);
        break;
    case JSON_STRING:
        sym_out_string(&d->out, sym_str(json_string_value(value),
                                        json_string_length(value)));
        break;
    case JSON_INTEGER:
        n = json_integer_value(value); /* at most 18 digits */
        if (n < 0) {
            sym_out_raw(&d->out, SYM_STR("-"));
        }
        sym_out_dec(&d->out, (uint64_t) (n < 0 ? -n : n));
        break;
    case JSON_REAL:
        sym_out_raw(&d->out, value_number(d->numbers, value));
        break;
    case JSON_TRUE:
        sym_out_raw(&d->out, SYM_STR("true"));
        break;
    case JSON_FALSE:
        sym_out_raw(&d->out, SYM_STR("false"));
        break;
    case JSON_NULL:
        sym_out_raw(&d->out, SYM_STR("null"));
        break;
    }
}


sym_str_t
value_text(sym_arena_t *arena, const numbers_t *numbers, const json_t *value)
{
    dump_t d = { .numbers = numbers, .out = { .more = more, .ctx = &d } };
    sym_str_t copy = { NULL, 0 };

    dump(&d, value);

    if (!d.out.failed) {
        copy = sym_arena_copy(arena,
                              sym_str(d.text, (size_t) (d.out.pos - d.text)));
    }

    free(d.text);
    return copy;
}
