#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "demangle/demangle.h"
#include "demangle/languages.h"
#include "demangle/parts.h"
#include "demangle/sink.h"

/* Limit on the parsed bytes: with each retry, the bytes of a name may be parsed
 * twice as often (measured: 5 ns per byte). */
#define RETRIED_BYTES_MAX ((size_t) 64 * 1024)


static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}


/* "T_I", "T0_I", "TL0__I": arguments of a template that is itself a template
 * parameter. */
static bool
ends_template_param(const char *name, const char *end)
{
    while (end > name && (is_digit(end[-1]) || end[-1] == '_')) {
        end--;
    }

    if (end > name && end[-1] == 'L') {
        end--;
    }
    return end > name && end[-1] == 'T';
}


/*
 * Such arguments after the name of a conversion operator are parsed, discarded
 * and parsed again.  So the number of parses doubles with each level of
 * nesting.
 */
static bool
has_many_retries(const char *name)
{
    size_t bytes = strlen(name);

    if (strstr(name, "cv") == NULL) {
        return false;
    }

    for (const char *p = strstr(name, "_I");
         p != NULL && bytes <= RETRIED_BYTES_MAX; p = strstr(p + 1, "_I"))
    {
        if (ends_template_param(name, p + 1)) {
            bytes *= 2;
        }
    }
    return bytes > RETRIED_BYTES_MAX;
}


/* The end of an identifier whose length begins at p.  If the length is too
 * large, the end of its digits. */
static const char *
behind_identifier(const char *p, const char *end)
{
    size_t len = 0;

    while (is_digit(*p) && len < SYM_MANGLED_MAX) {
        len = 10 * len + (size_t) (*p - '0');
        p++;
    }

    return len <= (size_t) (end - p) ? p + len : p;
}


/* Whether the digits at p are the value of a literal, "Lm64E", "Lin1E".  Bytes
 * before `from` belong to an identifier. */
static bool
is_value(const char *from, const char *p)
{
    if (p - from >= 3 && p[-1] == 'n' && p[-3] == 'L') {
        return true;
    }

    return p - from >= 2 && p[-1] >= 'a' && p[-1] <= 'z' && p[-2] == 'L';
}


/*
 * Whether the name contains an unresolved name, "sr1A...".  For these,
 * libiberty reads a variable that cplus_demangle_v3_components() does not set,
 * and chooses one of two grammars by its value.  This searches between
 * identifiers, as far as they can be recognized without a parser.  Missing an
 * unresolved name does no harm.
 */
static bool
has_unresolved_name(const char *name, size_t len)
{
    const char *p = name, *from = name, *end = name + len;

    /* most names have none of these letters */
    if (strstr(name, "sr") == NULL) {
        return false;
    }

    /* the suffix of a clone, ".isra.0", comes last */
    while (*p != '\0' && *p != '.') {
        if (is_digit(*p) && is_value(from, p)) {
            p += strspn(p, "0123456789");
        } else if (is_digit(*p)) {
            p = from = behind_identifier(p, end);
        } else if (p[0] == 's' && p[1] == 'r'
                   && (is_digit(p[2]) || (p[2] >= 'a' && p[2] <= 'z')
                       || (p[2] != '\0' && strchr("CUL", p[2]) != NULL)))
        {
            return true;
        } else {
            p++;
        }
    }

    return false;
}


static int
options_of(unsigned style)
{
    if ((style & SYM_DEMANGLE_PARAMS) == 0) {
        /* DMGL_RET_DROP would drop the return type of another function */
        return DMGL_ANSI;
    }

    return DMGL_ANSI | DMGL_PARAMS
           | ((style & SYM_DEMANGLE_RETURN) != 0 ? 0 : DMGL_RET_DROP);
}


static size_t
print(sym_shard_t *root, sym_shards_t *parts, unsigned style, char *out,
      size_t size)
{
    sym_sink_t sink = {
        .out = out, .size = size, .spoil = sym_shards_spoil, .ctx = parts
    };

    return cplus_demangle_print_callback(options_of(style), root, sym_sink_put,
                                         &sink)
                       != 0
                   && !sink.is_full
               ? sink.len
               : 0;
}


/*
 * With parameters, the parser must reach the end of the name.  Without them it
 * drops parameters and ignores the rest, so it is called twice.
 */
static sym_shard_t *
parse(const char *name, unsigned style, void **memory)
{
    sym_shard_t *root =
        cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_ANSI, memory);

    if (root == NULL || (style & SYM_DEMANGLE_PARAMS) != 0) {
        return root;
    }

    free(*memory);
    return cplus_demangle_v3_components(name, DMGL_ANSI, memory);
}


static bool
is_operator(const char *text, size_t at)
{
    return at >= 8 && memcmp(text + at - 8, "operator", 8) == 0;
}


/* "A<B<int>>" becomes "A<B<int> >". 0: there is no room for it. */
static size_t
loosen(char *text, size_t len, size_t size)
{
    size_t loosened = 0;

    for (size_t at = 1; at + 1 < len; at++) {
        bool is_shift = text[at - 1] == ' ' && at != loosened;

        if (text[at] != '>' || text[at + 1] != '>' || is_shift) {
            continue;
        }

        if (is_operator(text, at)) {
            at++;
            continue;
        }

        if (len == size) {
            return 0;
        }

        memmove(text + at + 2, text + at + 1, len - at - 1);
        text[at + 1] = ' ';
        loosened = at + 2;
        len++;
    }

    return len;
}


/* LLVM's demangler reads unresolved names in one way only.  Only here does its
 * spelling differ from libiberty's. */
static size_t
show_unresolved(const char *name, size_t name_len, unsigned style, char *out,
                size_t size)
{
    bool is_costly;

    return style == SYM_DEMANGLE_PARAMS ? loosen(
               out,
               sym_demangle_llvm(name, name_len, false, out, size, &is_costly),
               size)
                                        : 0;
}


size_t
sym_demangle_cpp(char *name, unsigned style, char *out, size_t size)
{
    size_t name_len = strlen(name);
    uint32_t most = (uint32_t) SYM_PARTS_OF(name_len);
    sym_shards_t parts = { 0 };
    sym_shard_t *root;
    void *memory;
    size_t len = 0;

    if (has_many_retries(name)) {
        return 0;
    }

    if (has_unresolved_name(name, name_len)) {
        return show_unresolved(name, name_len, style, out, size);
    }

    root = parse(name, style, &memory);
    if (root == NULL) {
        return 0;
    }

    if (sym_shards_check(root, most, &parts)) {
        len = print(root, &parts, style, out, size);
    }

    free(parts.parts);
    free(memory);
    return len;
}
