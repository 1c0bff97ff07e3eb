#include "api/sentry/readers.h"

#include "base/hex.h"
#include "base/language.h"

#define LIST_FIRST 4u

const sym_str_t sentry_trusts[SENTRY_TRUSTS] = {
    { "none", 4 }, { "scan", 4 },      { "cfiscan", 7 }, { "fp", 2 },
    { "cfi", 3 },  { "prewalked", 9 }, { "context", 7 },
};

/* --- parts of a request --- */

static bool
grow(sym_arena_t *arena, void **items, size_t size, uint32_t n, uint32_t *max)
{
    uint32_t more = *max == 0 ? LIST_FIRST : *max;
    void *grown;

    if (n < *max) {
        return true;
    }

    if (more > UINT32_MAX - *max
        || (grown = sym_arena_alloc(arena, ((size_t) *max + more) * size))
               == NULL)
    {
        return false;
    }

    if (n != 0) {
        memcpy(grown, *items, n * size);
    }
    *items = grown;
    *max += more;
    return true;
}


sentry_stack_t *
sentry_add_stack(sentry_t *s)
{
    sentry_request_t *q = &s->request;
    void *items = q->stacks;
    sentry_stack_t *stack;

    if (!grow(s->base.arena, &items, sizeof(*stack), q->n_stacks,
              &q->max_stacks)) {
        return NULL;
    }

    q->stacks = items;
    stack = &q->stacks[q->n_stacks++];
    *stack = (sentry_stack_t){ .first = q->n_frames };
    return stack;
}


sentry_module_t *
sentry_add_module(sentry_t *s)
{
    sentry_request_t *q = &s->request;
    void *items = q->modules;
    sentry_module_t *module;

    if (!grow(s->base.arena, &items, sizeof(*module), q->n_modules,
              &q->max_modules))
    {
        return NULL;
    }

    q->modules = items;
    module = &q->modules[q->n_modules++];
    *module = (sentry_module_t){ .need = 0 };
    return module;
}


/* The first block of a small request is not larger than its body can fill. */
static bool
add_block(sentry_t *s)
{
    sentry_request_t *q = &s->request;
    size_t n = s->base.body.len / sizeof("{\"instruction_addr\":1}") + 1;
    void *items = q->blocks;

    if (!grow(s->base.arena, &items, sizeof(*q->blocks), q->n_blocks,
              &q->max_blocks))
    {
        return false;
    }

    n = n < SENTRY_BLOCK && !q->is_report ? n : SENTRY_BLOCK;
    q->blocks = items;
    q->blocks[q->n_blocks] =
        sym_arena_alloc(s->base.arena, n * sizeof(**q->blocks));
    return q->blocks[q->n_blocks++] != NULL;
}


sentry_frame_t *
sentry_add_frame_to(sentry_t *s, uint32_t stack)
{
    sentry_request_t *q = &s->request;
    sentry_frame_t *frame;

    if (q->n_frames % SENTRY_BLOCK == 0 && !add_block(s)) {
        return NULL;
    }

    frame = sentry_frame(q, q->n_frames++);
    *frame = (sentry_frame_t){ .addr = 0 };
    if (q->stacks[stack].n++ == 0) {
        q->stacks[stack].first = q->n_frames - 1;
    }
    return frame;
}


sentry_frame_t *
sentry_add_frame(sentry_t *s)
{
    return sentry_add_frame_to(s, s->request.n_stacks - 1);
}


/* Sorted by key, so that the answer does not depend on the reader. */
static sentry_field_t *
add_field(sentry_t *s, sentry_frame_t *frame, sentry_key_t key)
{
    sentry_field_t *field = sym_arena_alloc(s->base.arena, sizeof(*field));
    sentry_field_t **at = &frame->fields;

    while (*at != NULL && (*at)->key < key) {
        at = &(*at)->next;
    }

    if (field != NULL) {
        field->key = key;
        field->next = *at;
        *at = field;
    }

    return field;
}


bool
sentry_add_field(sentry_t *s, sentry_frame_t *frame, sentry_key_t key,
                 sym_str_t text)
{
    sentry_field_t *field = add_field(s, frame, key);

    if (field != NULL) {
        field->value.text = text;
    }

    return field != NULL;
}


bool
sentry_add_number(sentry_t *s, sentry_frame_t *frame, sentry_key_t key,
                  uint64_t number)
{
    sentry_field_t *field = add_field(s, frame, key);

    if (field != NULL) {
        field->value.number = number;
    }

    return field != NULL;
}


bool
sentry_add_register(sentry_t *s, sentry_stack_t *stack, sym_str_t name,
                    uint64_t value)
{
    sentry_register_t *item = sym_arena_alloc(s->base.arena, sizeof(*item));

    if (item != NULL) {
        *item = (sentry_register_t){ stack->registers, name, value };
        stack->registers = item;
    }

    return item != NULL;
}


/* --- words --- */

bool
sentry_mode(sym_str_t text, sentry_frame_t *frame)
{
    sym_str_t prefix = SYM_STR("rel:");

    if (sym_str_eq(text, SYM_STR("abs"))) {
        return true;
    }

    frame->is_relative = true;
    return sym_str_starts(text, prefix)
           && sym_dec_read(
               sym_str(text.data + prefix.len, text.len - prefix.len),
               &frame->relative_to);
}


bool
sentry_trust(sym_str_t text, sentry_frame_t *frame)
{
    for (unsigned i = 0; i < SENTRY_TRUSTS; i++) {
        if (sym_str_eq(text, sentry_trusts[i])) {
            frame->trust = (uint8_t) i;
            return true;
        }
    }

    return false;
}


bool
sentry_order(sym_str_t text, sentry_request_t *q)
{
    q->is_caller_first = sym_str_eq(text, SYM_STR("caller_first"));
    return q->is_caller_first || sym_str_eq(text, SYM_STR("callee_first"));
}


bool
sentry_is_language(sym_str_t text)
{
    for (unsigned i = 1; i <= SYM_LANG_FSHARP; i++) {
        if (sym_str_eq(text, sym_cstr(sym_language_name(i)))) {
            return true;
        }
    }

    return sym_str_eq(text, SYM_STR("unknown"));
}


const sentry_field_t *
sentry_field(const sentry_frame_t *frame, sentry_key_t key)
{
    const sentry_field_t *field = frame->fields;

    while (field != NULL && field->key != key) {
        field = field->next;
    }

    return field;
}


const char *
sentry_hex(sym_str_t text, uint64_t *number)
{
    bool is_hex = text.len >= 2 && text.data[0] == '0'
                  && (text.data[1] == 'x' || text.data[1] == 'X');
    sym_str_t digits = is_hex ? sym_str(text.data + 2, text.len - 2) : text;

    if (digits.len > 1 && digits.data[0] == '+') {
        digits = sym_str(digits.data + 1, digits.len - 1);
    }

    if (digits.len == 0) {
        return "cannot parse integer from empty string";
    }

    if (is_hex ? sym_hex_read(digits, number) : sym_dec_read(digits, number)) {
        return NULL;
    }

    for (size_t i = 0; i < digits.len; i++) {
        int digit = sym_hex_digit(digits.data[i]);

        if (digit < 0 || (!is_hex && digit > 9)) {
            return "invalid digit found in string";
        }
    }

    return "number too large to fit in target type";
}
