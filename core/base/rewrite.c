#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/rewrite.h"

#include <pcre2.h>
#include <string.h>

#include "base/text.h"

/* Backtracking steps, each of which may look at the whole name. */
#define STEPS_MAX 10000

#define HEAP_KIB_MAX 512

/* As in Rust: "$" matches only at the end of the text, and classes are those of
 * Unicode. */
#define OPTIONS                                                                \
    (PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY    \
     | PCRE2_NEVER_BACKSLASH_C)

typedef struct {
    sym_arena_t *arena;
    pcre2_general_context *memory;
    pcre2_code *code;
    pcre2_match_context *limits;
    pcre2_match_data *match;
} expression_t;


static void *
take(size_t size, void *arena)
{
    return sym_arena_alloc(arena, size);
}


/* The arena is freed as a whole. */
static void
give(void *data, void *arena)
{
    (void) data;
    (void) arena;
}


static sym_status_t
compile(expression_t *e, sym_str_t from, sym_str_t *why)
{
    PCRE2_SIZE at;
    int error;
    char *text;

    e->memory = pcre2_general_context_create(take, give, e->arena);
    if (e->memory == NULL) {
        return SYM_NOMEM;
    }

    e->code = pcre2_compile((PCRE2_SPTR) from.data, from.len, OPTIONS, &error,
                            &at, pcre2_compile_context_create(e->memory));
    if (e->code == NULL) {
        text = sym_arena_calloc(e->arena, 1, 256);
        if (text == NULL || error == PCRE2_ERROR_HEAP_FAILED) {
            return SYM_NOMEM;
        }

        (void) pcre2_get_error_message(error, (PCRE2_UCHAR *) text, 256);
        *why = sym_cstr(text);
        return SYM_MALFORMED;
    }

    e->limits = pcre2_match_context_create(e->memory);
    e->match = pcre2_match_data_create_from_pattern(e->code, e->memory);
    if (e->limits == NULL || e->match == NULL) {
        return SYM_NOMEM;
    }

    (void) pcre2_set_match_limit(e->limits, STEPS_MAX);
    (void) pcre2_set_heap_limit(e->limits, HEAP_KIB_MAX);
    return SYM_OK;
}


/* --- the text --- */

static bool
is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
           || (c >= 'A' && c <= 'Z') || c == '_';
}


/* The number of a group, or -1. name is NUL-terminated. */
static int
group_of(const expression_t *e, const char *name)
{
    int number = 0;

    for (const char *p = name; *p >= '0' && *p <= '9'; p++) {
        number = number < 1000 ? number * 10 + (*p - '0') : number;
        if (p[1] == '\0') {
            return number;
        }
    }

    return pcre2_substring_number_from_name(e->code, (PCRE2_SPTR) name);
}


/* Unknown groups and groups that did not match are empty. */
static void
add_group(const expression_t *e, sym_str_t subject, sym_str_t word,
          sym_text_t *out)
{
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(e->match);
    char name[SYM_REWRITE_TEXT_MAX + 1];
    size_t from;
    int group;

    memcpy(name, word.data, word.len);
    name[word.len] = '\0';
    group = group_of(e, name);
    from = group < 0 ? 0 : 2 * (size_t) group;

    if (group >= 0 && (uint32_t) group < pcre2_get_ovector_count(e->match)
        && at[from] != PCRE2_UNSET && at[from] < at[from + 1])
    {
        sym_text_add(out,
                     sym_str(subject.data + at[from], at[from + 1] - at[from]));
    }
}


/* Reads the reference after a '$', and its end; false: the '$' stands for
 * itself. */
static bool
read_reference(const char *p, const char *end, sym_str_t *word,
               const char **next)
{
    bool is_braced = p < end && *p == '{';
    const char *from = is_braced ? p + 1 : p, *to = from;

    while (to < end && (is_braced ? *to != '}' : is_word(*to))) {
        to++;
    }

    if (to == from || (is_braced && to == end)) {
        return false;
    }

    *word = sym_str(from, (size_t) (to - from));
    *next = is_braced ? to + 1 : to;
    return true;
}


/* Same rules as Rust's Captures::expand(). */
static void
add_replacement(const expression_t *e, sym_str_t subject, sym_str_t to,
                sym_text_t *out)
{
    const char *p = to.data, *end = to.data + to.len;
    sym_str_t word;

    while (p < end) {
        if (*p == '$' && end - p > 1 && p[1] == '$') {
            sym_text_byte(out, '$');
            p += 2;
        } else if (*p == '$' && read_reference(p + 1, end, &word, &p)) {
            add_group(e, subject, word, out);
        } else {
            sym_text_byte(out, *p++);
        }
    }
}


sym_status_t
sym_rewrite(sym_arena_t *arena, const sym_rewrite_t *rule, sym_str_t name,
            sym_str_t *out)
{
    expression_t e = { .arena = arena };
    sym_text_t text = { .arena = arena };
    const PCRE2_SIZE *at;
    sym_status_t rc = compile(&e, rule->from, out);

    if (rc != SYM_OK) {
        return rc;
    }

    if (name.len > SYM_REWRITE_TEXT_MAX
        || pcre2_match(e.code, (PCRE2_SPTR) name.data, name.len, 0, 0, e.match,
                       e.limits)
               < 0)
    {
        return SYM_NOT_FOUND;
    }

    at = pcre2_get_ovector_pointer(e.match);
    sym_text_add(&text, sym_str(name.data, at[0]));
    add_replacement(&e, name, rule->to, &text);
    sym_text_add(&text, sym_str(name.data + at[1], name.len - at[1]));

    *out = sym_text_end(&text);
    return text.failed ? SYM_NOMEM : SYM_OK;
}
