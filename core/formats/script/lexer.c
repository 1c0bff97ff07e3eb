#include "formats/script/lexer.h"

/* Bytes of names: letters, digits, `$`, `_`, the `\` of an escape, and all
 * bytes above ASCII. */
static inline bool
is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '$' || c == '_' || c == '\\'
           || (uint8_t) c >= 0x80;
}


static inline bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}


/* Length in UTF-8 of the space above ASCII, or of the line end, at pos
 * (ECMA-262, 12.2, 12.3).  0: there is neither. */
static size_t
wide_space(const char *pos, const char *end, bool *is_line)
{
    const uint8_t *p = (const uint8_t *) pos;

    if (end - pos >= 2 && p[0] == 0xc2 && p[1] == 0xa0) {
        return 2;
    }

    if (end - pos < 3) {
        return 0;
    }

    if (p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9)) {
        *is_line = true;
        return 3;
    }

    return (p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf)
                   || (p[0] == 0xe2 && p[1] == 0x80
                       && ((p[2] >= 0x80 && p[2] <= 0x8a) || p[2] == 0xaf))
                   || (p[0] == 0xe2 && p[1] == 0x81 && p[2] == 0x9f)
                   || (p[0] == 0xe3 && p[1] == 0x80 && p[2] == 0x80)
                   || (p[0] == 0xe1 && p[1] == 0x9a && p[2] == 0x80)
               ? 3
               : 0;
}


static const char *
skip_line(const char *pos, const char *end)
{
    const char *line = memchr(pos, '\n', (size_t) (end - pos));
    const char *limit = line != NULL ? line : end;
    const char *cr = memchr(pos, '\r', (size_t) (limit - pos));

    return cr != NULL ? cr : limit;
}


/* Moves past `*` and `/`.  NULL: the comment has no end. */
static const char *
skip_comment(const char *pos, const char *end, bool *is_line)
{
    while (pos < end) {
        const char *star = memchr(pos, '*', (size_t) (end - pos));

        if (star == NULL || end - star < 2) {
            return NULL;
        }

        *is_line = *is_line || memchr(pos, '\n', (size_t) (star - pos)) != NULL
                   || memchr(pos, '\r', (size_t) (star - pos)) != NULL;
        if (star[1] == '/') {
            return star + 2;
        }
        pos = star + 1;
    }

    return NULL;
}


/* NULL: a comment has no end. */
static const char *
skip_space(const char *pos, const char *end, bool *is_line)
{
    while (pos < end) {
        size_t n;

        switch (*pos) {
        case '\n':
        case '\r':
            *is_line = true;
            pos++;
            continue;

        case ' ':
        case '\t':
        case '\v':
        case '\f':
            pos++;
            continue;

        case '/':
            if (end - pos >= 2 && pos[1] == '/') {
                pos = skip_line(pos, end);
                continue;
            }

            if (end - pos >= 2 && pos[1] == '*') {
                pos = skip_comment(pos + 2, end, is_line);
                if (pos == NULL) {
                    return NULL;
                }
                continue;
            }
            return pos;

        default:
            if ((uint8_t) *pos < 0x80) {
                return pos;
            }

            n = wide_space(pos, end, is_line);
            if (n == 0) {
                return pos;
            }
            pos += n;
        }
    }

    return pos;
}


static const char *
skip_name(const char *pos, const char *end)
{
    while (pos < end && is_name(*pos)) {
        /* \u{1d7d9} */
        if (*pos == '\\' && end - pos >= 3 && pos[1] == 'u' && pos[2] == '{') {
            const char *close = memchr(pos, '}', (size_t) (end - pos));

            pos = close != NULL ? close : pos;
        }
        pos++;
    }

    return pos;
}


/* Moves past digits, letters, and a sign after the `e` of a decimal number. */
static const char *
skip_number(const char *pos, const char *end)
{
    bool is_based = end - pos >= 2 && pos[0] == '0'
                    && strchr("xXoObB", pos[1]) != NULL && pos[1] != '\0';
    bool has_dot = false;

    for (; pos < end; pos++) {
        if (!is_based && !has_dot && *pos == '.') {
            has_dot = true;
        } else if (!is_based && (*pos == 'e' || *pos == 'E') && end - pos >= 2
                   && (pos[1] == '+' || pos[1] == '-'))
        {
            pos++;
        } else if (!is_name(*pos)) {
            break;
        }
    }

    return pos;
}


/* NULL: the string has no end. */
static const char *
skip_string(const char *pos, const char *end)
{
    const char quote = *pos++;

    for (; pos < end; pos++) {
        if (*pos == quote) {
            return pos + 1;
        }

        if (*pos == '\n' || *pos == '\r') {
            return NULL;
        }

        /* an escape; also of a line end */
        if (*pos == '\\') {
            pos += end - pos > 2 && pos[1] == '\r' && pos[2] == '\n' ? 2 : 1;
        }
    }

    return NULL;
}


/* Marks of several bytes for each first byte, the longest first. */
static const char *const longer[128] = {
    ['.'] = "...\0",
    ['='] = "===\0==\0=>\0",
    ['!'] = "!==\0!=\0",
    ['<'] = "<<=\0<<\0<=\0",
    ['>'] = ">>>=\0>>>\0>>=\0>>\0>=\0",
    ['&'] = "&&=\0&&\0&=\0",
    ['|'] = "||=\0||\0|=\0",
    ['?'] = "\?\?=\0\?\?\0?.\0",
    ['+'] = "++\0+=\0",
    ['-'] = "--\0-=\0",
    ['*'] = "**=\0**\0*=\0",
    ['/'] = "/=\0",
    ['%'] = "%=\0",
    ['^'] = "^=\0",
};


static size_t
mark_length(const char *pos, const char *end)
{
    const char *mark = longer[(uint8_t) *pos];

    for (; mark != NULL && *mark != '\0'; mark += strlen(mark) + 1) {
        size_t len = strlen(mark);

        if ((size_t) (end - pos) < len || memcmp(pos, mark, len) != 0) {
            continue;
        }

        /* a?.5:b */
        if (len == 2 && mark[1] == '.' && end - pos > 2 && is_digit(pos[2])) {
            continue;
        }
        return len;
    }

    return 1;
}


static sym_js_token_t
token(sym_js_type_t type, const char *start, const char *end)
{
    return (sym_js_token_t){
        .start = start,
        .end = end != NULL ? end : start,
        .type = end != NULL ? type : SYM_JS_BAD,
    };
}


static sym_js_token_t
token_at(const char *pos, const char *end)
{
    sym_js_token_t mark;
    size_t len;

    if (pos == end) {
        return token(SYM_JS_END, pos, end);
    }

    if (is_digit(*pos) || (*pos == '.' && end - pos > 1 && is_digit(pos[1]))) {
        return token(SYM_JS_NUMBER, pos, skip_number(pos, end));
    }

    if (is_name(*pos)) {
        return token(SYM_JS_NAME, pos, skip_name(pos, end));
    }

    if (*pos == '"' || *pos == '\'') {
        return token(SYM_JS_STRING, pos, skip_string(pos, end));
    }

    if (*pos == '#' && end - pos > 1 && is_name(pos[1])) {
        return token(SYM_JS_PRIVATE, pos, skip_name(pos + 1, end));
    }

    if (*pos < '!' || strchr("{}()[];,<>+-*/%&|^!~?:=.@`", *pos) == NULL) {
        return token(SYM_JS_BAD, pos, pos);
    }

    len = mark_length(pos, end);
    mark = token(SYM_JS_MARK, pos, pos + len);
    for (size_t i = 0; i < len; i++) {
        mark.mark = mark.mark << 8 | (uint8_t) pos[i];
    }

    return mark;
}


sym_js_token_t
sym_js_token(const char *pos, const char *end)
{
    bool is_line = false;
    const char *start = skip_space(pos, end, &is_line);
    sym_js_token_t found =
        start != NULL ? token_at(start, end) : token(SYM_JS_BAD, pos, pos);

    found.is_after_line = is_line;
    return found;
}


const char *
sym_js_regexp(const char *pos, const char *end)
{
    bool is_class = false;

    for (pos++; pos < end && *pos != '\n' && *pos != '\r'; pos++) {
        if (*pos == '\\') {
            pos++;
        } else if (*pos == '[') {
            is_class = true;
        } else if (*pos == ']') {
            is_class = false;
        } else if (*pos == '/' && !is_class) {
            return skip_name(pos + 1, end);
        }
    }

    return NULL;
}


const char *
sym_js_template(const char *pos, const char *end, bool *is_open)
{
    for (; pos < end; pos++) {
        if (*pos == '`') {
            *is_open = false;
            return pos + 1;
        }

        if (*pos == '$' && end - pos > 1 && pos[1] == '{') {
            *is_open = true;
            return pos + 2;
        }

        if (*pos == '\\') {
            pos++;
        }
    }

    return NULL;
}


const char *
sym_js_begin(const char *pos, const char *end)
{
    if (end - pos >= 3 && memcmp(pos, "\xef\xbb\xbf", 3) == 0) {
        pos += 3;
    }

    return end - pos >= 2 && pos[0] == '#' && pos[1] == '!'
               ? skip_line(pos, end)
               : pos;
}
