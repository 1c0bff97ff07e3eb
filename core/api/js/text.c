/* Symbolicator's rules (symbolicator-js, utils.rs), including their oddities,
 * because events are grouped by the results. */
#include "api/js/js.h"

#include <strings.h>

static sym_str_t
rest_of(sym_str_t s, size_t from)
{
    return sym_str(s.data + from, s.len - from);
}


/* SIZE_MAX: not found. */
static size_t
find(sym_str_t s, const char *text)
{
    const char *found =
        s.len != 0 ? memmem(s.data, s.len, text, strlen(text)) : NULL;

    return found != NULL ? (size_t) (found - s.data) : SIZE_MAX;
}


static sym_str_t
before_byte(sym_str_t s, char c)
{
    const char *found = s.len != 0 ? memchr(s.data, c, s.len) : NULL;

    return found != NULL ? sym_str(s.data, (size_t) (found - s.data)) : s;
}


/* --- joining --- */

/* Returns the parts of a path after `fixed` bytes, each with a slash before
 * it. */
typedef struct {
    char *text;
    size_t len, fixed;
} path_t;

static void
push(path_t *p, sym_str_t part)
{
    p->text[p->len++] = '/';
    memcpy(p->text + p->len, part.data, part.len);
    p->len += part.len;
}


/* Removes the last part; false: no part is left. */
static bool
pop(path_t *p)
{
    if (p->len == p->fixed) {
        return false;
    }

    while (p->text[--p->len] != '/') {
    }

    return true;
}


static sym_str_t
take_part(sym_str_t *rest)
{
    sym_str_t part = before_byte(*rest, '/');

    *rest = rest_of(*rest, part.len + (part.len < rest->len));
    return part;
}


/* Adds the parts of a relative path. */
static void
push_relative(path_t *p, sym_str_t right, bool is_http)
{
    bool is_first = true, is_last;

    do {
        sym_str_t part = before_byte(right, '/');

        is_last = part.len == right.len;
        (void) take_part(&right);

        if (sym_str_eq(part, SYM_STR("..")) && (pop(p) || is_http)) {
            continue;
        }

        if (sym_str_eq(part, SYM_STR(".")) && (is_http || is_first)) {
            continue;
        }

        is_first = false;
        push(p, part);
    } while (!is_last);
}


/* Removes empty parts. */
static sym_str_t
without_empty(path_t *p)
{
    size_t len = p->fixed;

    for (size_t i = p->fixed; i < p->len; i++) {
        if (p->text[i] != '/' || (i + 1 < p->len && p->text[i + 1] != '/')) {
            p->text[len++] = p->text[i];
        }
    }

    return sym_str(p->text, len);
}


/* Returns the folder of a path without scheme and host. */
static void
push_folder(path_t *p, sym_str_t rest)
{
    const char *slash =
        rest.len != 0 ? memrchr(rest.data, '/', rest.len) : NULL;

    if (slash != NULL) {
        push(p, sym_str(rest.data, (size_t) (slash - rest.data)));
    }
}


static sym_str_t
within(sym_str_t url)
{
    return url.len <= JS_URL_MAX ? url : sym_str(NULL, 0);
}


sym_str_t
js_join(sym_arena_t *arena, sym_str_t base, sym_str_t right)
{
    size_t colon = find(base, "://");
    sym_str_t scheme = SYM_STR("file"), rest = base, host = SYM_STR("");
    bool is_file, is_rooted = false;
    path_t p = { .len = 0 };

    if (find(right, "://") != SIZE_MAX
        || sym_str_starts(right, SYM_STR("webpack:"))
        || sym_str_starts(right, SYM_STR("turbopack:")))
    {
        return within(right);
    }

    if (colon != SIZE_MAX) {
        scheme = sym_str(base.data, colon);
        rest = rest_of(base, colon + 3);
    }

    is_file = sym_str_eq(scheme, SYM_STR("file"));
    if (base.len > JS_URL_MAX || right.len > JS_URL_MAX
        || (p.text = sym_arena_alloc(arena, base.len + right.len + 8)) == NULL)
    {
        return sym_str(NULL, 0);
    }

    if (right.len != 0 && right.data[0] == '~') {
        right = rest_of(right, 1);
    }

    if (sym_str_starts(right, SYM_STR("/")) && is_file) {
        return right;
    }

    if (!is_file) {
        bool has_host = !sym_str_starts(right, SYM_STR("//"));

        host = take_part(&rest);
        memcpy(p.text, base.data, colon + 3);
        memcpy(p.text + colon + 3, host.data, has_host ? host.len : 0);
        p.fixed = p.len = colon + 3 + (has_host ? host.len : 0);
        right = rest_of(right, has_host ? 0 : 2);
        is_rooted = !has_host || sym_str_starts(right, SYM_STR("/"));
    } else if (sym_str_starts(rest, SYM_STR("/"))) {
        rest = rest_of(rest, 1);
    }

    if (is_rooted) {
        memcpy(p.text + p.len, right.data, right.len);
        p.len += right.len;
        return within(sym_str(p.text, p.len));
    }

    push_folder(&p, rest);
    push_relative(&p, right,
                  sym_str_eq(scheme, SYM_STR("http"))
                      || sym_str_eq(scheme, SYM_STR("https")));
    return within(without_empty(&p));
}


/* --- URLs --- */

static bool
is_letter(char c)
{
    c = sym_lower(c);
    return c >= 'a' && c <= 'z';
}


static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}


/* Removes the blanks and control characters that URL parsers strip. */
static sym_str_t
trim(sym_str_t s)
{
    while (s.len != 0 && (unsigned char) s.data[0] <= ' ') {
        s = rest_of(s, 1);
    }
    while (s.len != 0 && (unsigned char) s.data[s.len - 1] <= ' ') {
        s.len--;
    }
    return s;
}


/* Length of the scheme; 0: none. */
static size_t
scheme_len(sym_str_t s)
{
    size_t n = 0;

    if (s.len == 0 || !is_letter(s.data[0])) {
        return 0;
    }

    while (n < s.len
           && (is_letter(s.data[n]) || is_digit(s.data[n]) || s.data[n] == '+'
               || s.data[n] == '-' || s.data[n] == '.'))
    {
        n++;
    }

    return n < s.len && s.data[n] == ':' ? n : 0;
}


static bool
is_scheme(sym_str_t s, const char *name)
{
    return s.len == strlen(name) && strncasecmp(s.data, name, s.len) == 0;
}


/* Only schemes that require a host can lack one (WHATWG, URL, 4.4). */
bool
js_is_url(sym_str_t text)
{
    sym_str_t s = trim(text), scheme, host;
    size_t n = scheme_len(s);

    if (n == 0) {
        return false;
    }

    scheme = sym_str(s.data, n);
    if (!is_scheme(scheme, "http") && !is_scheme(scheme, "https")
        && !is_scheme(scheme, "ws") && !is_scheme(scheme, "wss")
        && !is_scheme(scheme, "ftp"))
    {
        return true;
    }

    s = rest_of(s, n + 1);
    while (s.len != 0 && (s.data[0] == '/' || s.data[0] == '\\')) {
        s = rest_of(s, 1);
    }

    n = 0;
    while (n < s.len && strchr("/\\?#", s.data[n]) == NULL) {
        n++;
    }

    host = sym_str(s.data, n);
    if (host.len == 0) {
        return false;
    }

    for (size_t i = 0; i < host.len; i++) {
        if ((unsigned char) host.data[i] <= ' '
            || strchr("<>^|%", host.data[i]) != NULL)
        {
            return false;
        }
    }

    return true;
}


sym_str_t
js_scheme(sym_str_t url)
{
    sym_str_t s = trim(url);

    return sym_str(s.data, scheme_len(s));
}


/* Removes "~", or scheme and host. */
static sym_str_t
path_of(sym_str_t url)
{
    size_t colon = find(url, "://"), slash;

    if (sym_str_starts(url, SYM_STR("~"))) {
        return rest_of(url, 1);
    }

    if (colon == SIZE_MAX) {
        return url;
    }

    url = rest_of(url, colon + 3);
    slash = find(url, "/");
    return slash != SIZE_MAX ? rest_of(url, slash) : url;
}


sym_str_t
js_stem(sym_str_t url)
{
    static const char *const endings[] = { ".min", ".js",  ".map",
                                           ".cjs", ".mjs", ".ts",
                                           ".d",   ".jsx", ".tsx" };
    sym_str_t path = path_of(url), name, stem;
    const char *slash =
        path.len != 0 ? memrchr(path.data, '/', path.len) : NULL;
    bool is_cut = true;

    if (slash == NULL) {
        return path;
    }

    name = rest_of(path, (size_t) (slash - path.data) + 1);
    name = before_byte(before_byte(name, '?'), '#');
    stem = sym_str(path.data, (size_t) (name.data - path.data) + name.len);

    while (is_cut) {
        is_cut = false;
        for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
            size_t len = strlen(endings[i]);

            if (name.len >= len
                && memcmp(stem.data + stem.len - len, endings[i], len) == 0) {
                stem.len -= len;
                name.len -= len;
                is_cut = true;
            }
        }
    }

    return stem;
}


static sym_str_t
with_tilde(sym_arena_t *arena, sym_str_t path)
{
    char *text = sym_arena_alloc(arena, path.len + 1);

    if (text == NULL) {
        return sym_str(NULL, 0);
    }

    text[0] = '~';
    memcpy(text + 1, path.data, path.len);
    return sym_str(text, path.len + 1);
}


unsigned
js_candidates(sym_arena_t *arena, sym_str_t url, sym_str_t names[JS_CANDIDATES])
{
    sym_str_t whole = before_byte(url, '#'), bare = before_byte(whole, '?');
    sym_str_t tilde = with_tilde(arena, path_of(whole)), bare_tilde;
    unsigned n = 0;

    if (tilde.data == NULL) {
        return 0;
    }

    names[n++] = whole;
    if (bare.len != whole.len) {
        names[n++] = bare;
    }

    names[n++] = tilde;
    bare_tilde = before_byte(tilde, '?');
    if (bare_tilde.len != tilde.len) {
        names[n++] = bare_tilde;
    }

    return n;
}


/* --- modules --- */

/* Length of "webpack://NAMESPACE/"; 0: another name. */
static size_t
namespace_len(sym_str_t name)
{
    size_t start = sizeof("webpack://") - 1, i = start;

    while (i < name.len
           && (is_letter(name.data[i]) || is_digit(name.data[i])
               || strchr("_-@.", name.data[i]) != NULL)
           && name.data[i] != '\0')
    {
        i++;
    }

    return i > start && i < name.len && name.data[i] == '/' ? i + 1 : 0;
}


sym_str_t
js_filename(sym_str_t name, bool *is_bundled)
{
    const sym_str_t project = SYM_STR("[project]/");
    bool is_webpack = sym_str_starts(name, SYM_STR("webpack:"));
    size_t tilde = find(name, "/~/"), len;

    *is_bundled = is_webpack || sym_str_starts(name, SYM_STR("turbopack:"));
    if (!*is_bundled) {
        return name;
    }

    if (tilde != SIZE_MAX) {
        return rest_of(name, tilde + 1);
    }

    if (is_webpack) {
        len = sym_str_starts(name, SYM_STR("webpack://")) ? namespace_len(name)
                                                          : 0;
        return len != 0 && sym_str_starts(rest_of(name, len), SYM_STR("./"))
                   ? rest_of(name, len)
               : sym_str_starts(name, SYM_STR("webpack:///"))
                   ? rest_of(name, sizeof("webpack:///") - 1)
                   : name;
    }

    if (!sym_str_starts(name, SYM_STR("turbopack:///"))) {
        return name;
    }

    name = rest_of(name, sizeof("turbopack:///") - 1);
    return sym_str_starts(name, project) ? rest_of(name, project.len) : name;
}


static size_t
hex_len(sym_str_t s)
{
    size_t n = 0;

    while (n < s.len
           && (is_digit(s.data[n])
               || (sym_lower(s.data[n]) >= 'a' && sym_lower(s.data[n]) <= 'f')))
    {
        n++;
    }

    return n;
}


/* Matches v?(?:\d+\.)*\d+ */
static bool
is_version(sym_str_t s)
{
    bool has_digit = false;

    if (s.len != 0 && sym_lower(s.data[0]) == 'v') {
        s = rest_of(s, 1);
    }

    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == '.') {
            if (!has_digit) {
                return false;
            }
            has_digit = false;
        } else if (is_digit(s.data[i])) {
            has_digit = true;
        } else {
            return false;
        }
    }

    return has_digit;
}


/* Folder names that do not identify a module. */
static bool
is_useless(sym_str_t part)
{
    static const char *const names[] = {
        "script", "scripts", "javascript",   "javascripts",     "js",
        "build",  "static",  "node_modules", "bower_components"
    };
    size_t hex = hex_len(part);

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (is_scheme(part, names[i])) {
            return true;
        }
    }

    return part.len == 0 || part.data[0] == '_' || part.data[0] == '.'
           || part.data[0] == '~' || is_version(part)
           || (hex == part.len
               && (hex == 7 || hex == 8 || hex == 32 || hex == 40));
}


/* Removes the extension of the last part, and ".min" before it. */
static sym_str_t
without_extension(sym_str_t path)
{
    size_t i = path.len;

    while (i > 0 && path.data[i - 1] != '.' && path.data[i - 1] != '/') {
        i--;
    }

    if (i > 0 && path.data[i - 1] == '.') {
        path.len = i - 1;
    }

    if (path.len >= 4 && memcmp(path.data + path.len - 4, ".min", 4) == 0) {
        path.len -= 4;
    }

    return path;
}


/* Matches "-" or ".", and at least seven hexadecimal digits, at the end. */
static sym_str_t
without_commit(sym_str_t s)
{
    size_t n = 0;

    while (n < s.len && hex_len(sym_str(s.data + s.len - n - 1, 1)) == 1) {
        n++;
    }

    if (n >= 7 && n < s.len
        && (s.data[s.len - n - 1] == '-' || s.data[s.len - n - 1] == '.'))
    {
        s.len -= n + 1;
    }

    return s;
}


sym_str_t
js_module_name(sym_str_t path)
{
    sym_str_t s, rest;

    s = before_byte(before_byte(path_of(path), '?'), '#');
    rest = s = without_extension(s);

    /* Returns the part after a folder whose name is a hash, or has the length
     * of one. */
    while (rest.len != 0) {
        sym_str_t part = take_part(&rest);

        if (part.len == 32 || (part.len == 40 && hex_len(part) == 40)) {
            return rest;
        }
    }

    while (s.len != 0) {
        sym_str_t part = before_byte(s, '/');

        if (part.len == s.len || !is_useless(part)) {
            break;
        }
        s = rest_of(s, part.len + 1);
    }

    return without_commit(s);
}
