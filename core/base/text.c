#include "base/text.h"

#define TEXT_FIRST 256u

static bool
grow(sym_text_t *t, size_t more)
{
    size_t cap = t->cap == 0 ? TEXT_FIRST : t->cap;
    char *grown;

    if (more > SIZE_MAX / 4 - t->len) {
        return false;
    }

    while (cap - t->len < more) {
        cap *= 2;
    }

    grown = sym_arena_alloc(t->arena, cap);
    if (grown == NULL) {
        return false;
    }

    if (t->len != 0) {
        memcpy(grown, t->data, t->len);
    }
    t->data = grown;
    t->cap = cap;
    return true;
}


void
sym_text_add(sym_text_t *t, sym_str_t s)
{
    if (t->failed || (s.len > t->cap - t->len && (t->failed = !grow(t, s.len))))
    {
        return;
    }

    if (s.len != 0) {
        memcpy(t->data + t->len, s.data, s.len);
        t->len += s.len;
    }
}


void
sym_text_byte(sym_text_t *t, char c)
{
    sym_text_add(t, sym_str(&c, 1));
}


sym_str_t
sym_text_end(sym_text_t *t)
{
    if (t->data == NULL && !t->failed) {
        t->failed = !grow(t, 1);
    }

    return t->failed ? sym_str(NULL, 0) : sym_str(t->data, t->len);
}
