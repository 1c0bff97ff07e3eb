/* Rules of Symbolicator (symbolicator-js, utils.rs), and earlier of Sentry in
 * Python: events are grouped by their results. */
#include "api/js/js.h"

#include <strings.h>

static sym_str_t
rest_of(sym_str_t s, size_t from)
{
    return sym_str(s.data + from, s.len - from);
}


/* SIZE_MAX: the text is not in it. */
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

typedef struct {
    char *text;
    size_t len, room;
    size_t fixed;  /* bytes that ".." does not remove */
    bool is_empty; /* no part follows those */
    bool is_rooted;
} path_t;


static void
push(path_t *p, sym_str_t part)
{
    if (p->room == 0 || part.len + 1 > p->room - p->len) {
        p->room = 0;
        return;
    }

    if (!p->is_empty) {
        p->text[p->len++] = '/';
    }
    memcpy(p->text + p->len, part.data, part.len);
    p->len += part.len;
    p->is_empty = false;
}


/* A path below a host ends at the host; others keep one "..". */
static void
push_parent(path_t *p, bool is_http)
{
    size_t len = p->len;

    if (p->len <= p->fixed) {
        if (!is_http) {
            push(p, SYM_STR(".."));
        }
        return;
    }

    while (len > p->fixed && p->text[len - 1] != '/') {
        len--;
    }

    p->len = len > p->fixed ? len - 1 : p->fixed;
}


/* Adds the parts of a path; empty ones and "." are omitted. */
static void
push_all(path_t *p, sym_str_t path, bool is_http)
{
    while (path.len != 0) {
        sym_str_t part = before_byte(path, '/');

        path = rest_of(path, part.len + (part.len < path.len));
        if (part.len == 0 || sym_str_eq(part, SYM_STR("."))) {
            continue;
        }

        if (sym_str_eq(part, SYM_STR(".."))) {
            push_parent(p, is_http);
        } else {
            push(p, part);
        }
    }
}


/* The folder of a path, with the slash before it. */
static sym_str_t
folder_of(sym_str_t path)
{
    const char *slash =
        path.len != 0 ? memrchr(path.data, '/', path.len) : NULL;

    return sym_str(path.data, slash != NULL ? (size_t) (slash - path.data) : 0);
}


sym_str_t
js_join(sym_arena_t *arena, sym_str_t base, sym_str_t right)
{
    size_t colon = find(base, "://");
    sym_str_t scheme = SYM_STR("file"), rest = base, host = SYM_STR("");
    path_t p = { .is_empty = true };
    bool is_http;

    if (find(right, "://") != SIZE_MAX
        || sym_str_starts(right, SYM_STR("webpack:")))
    {
        return right.len <= JS_URL_MAX ? right : sym_str(NULL, 0);
    }

    if (colon != SIZE_MAX) {
        scheme = sym_str(base.data, colon);
        rest = rest_of(base, colon + 3);
    }

    is_http = sym_str_eq(scheme, SYM_STR("http"))
              || sym_str_eq(scheme, SYM_STR("https"));
    p.room = base.len + right.len + 8;
    p.text = p.room <= (size_t) 2 * JS_URL_MAX ? sym_arena_alloc(arena, p.room)
                                               : NULL;
    if (p.text == NULL) {
        return sym_str(NULL, 0);
    }

    rest = before_byte(before_byte(rest, '?'), '#');
    if (!sym_str_eq(scheme, SYM_STR("file"))) {
        memcpy(p.text, base.data, colon + 3);
        p.len = colon + 3;
    }

    /* the host, or the empty part before the first slash */
    host = before_byte(rest, '/');
    if (is_http || host.len == 0) {
        memcpy(p.text + p.len, host.data, host.len);
        p.len += host.len;
        rest = rest_of(rest, host.len);
        p.is_empty = false;
    }
    p.fixed = p.len;

    if (sym_str_starts(right, SYM_STR("~/"))) {
        right = rest_of(right, 1);
    }

    if (right.len == 0 || right.data[0] != '/') {
        push_all(&p, folder_of(rest), is_http);
    }
    push_all(&p, right, is_http);

    return p.room != 0 && p.len <= JS_URL_MAX ? sym_str(p.text, p.len)
                                              : sym_str(NULL, 0);
}


/* --- URLs --- */

static bool
is_letter(char c)
{
    c = sym_lower(c);
    return c >= 'a' && c <= 'z';
}


/* Without the blanks and control characters that URLs are stripped of. */
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
           && (is_letter(s.data[n]) || (s.data[n] >= '0' && s.data[n] <= '9')
               || s.data[n] == '+' || s.data[n] == '-' || s.data[n] == '.'))
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


/* Only schemes that need a host can lack one (WHATWG, URL, 4.4). */
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


/* The part after scheme and host, which begins with a slash, or is empty. */
static sym_str_t
path_of(sym_str_t url)
{
    size_t colon = find(url, "://"), slash;

    if (colon != SIZE_MAX) {
        url = rest_of(url, colon + 3);
    }

    slash = find(url, "/");
    return slash != SIZE_MAX ? rest_of(url, slash) : rest_of(url, url.len);
}


sym_str_t
js_stem(sym_str_t url)
{
    static const char *const endings[] = { ".min", ".js",  ".map",
                                           ".cjs", ".mjs", ".ts",
                                           ".d",   ".jsx", ".tsx" };
    sym_str_t stem = before_byte(before_byte(path_of(url), '?'), '#');
    bool is_cut = true;

    while (is_cut) {
        is_cut = false;
        for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
            size_t len = strlen(endings[i]);

            if (stem.len >= len
                && memcmp(stem.data + stem.len - len, endings[i], len) == 0) {
                stem.len -= len;
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
    sym_str_t tilde = with_tilde(arena, path_of(whole));
    unsigned n = 0;

    if (tilde.data == NULL) {
        return 0;
    }

    names[n++] = whole;
    if (bare.len != whole.len) {
        names[n++] = bare;
    }

    names[n++] = tilde;
    if (bare.len != whole.len) {
        names[n++] = before_byte(tilde, '?');
    }

    return n;
}


/* --- modules --- */

sym_str_t
js_filename(sym_str_t abs_path, sym_str_t filename, bool *is_bundled)
{
    sym_str_t rest;
    size_t at, i = sizeof("webpack://") - 1;

    *is_bundled = sym_str_starts(abs_path, SYM_STR("webpack:"))
                  || sym_str_starts(abs_path, SYM_STR("turbopack:"));

    if (sym_str_starts(abs_path, SYM_STR("turbopack:///"))) {
        const sym_str_t project = SYM_STR("[project]/");

        rest = rest_of(abs_path, sizeof("turbopack:///") - 1);
        return sym_str_starts(rest, project) ? rest_of(rest, project.len)
                                             : rest;
    }

    if (!sym_str_starts(abs_path, SYM_STR("webpack:"))) {
        return filename;
    }

    /* the part after the last one is "relative to the root of resolvers" */
    at = find(abs_path, "/~/");
    if (at != SIZE_MAX) {
        return rest_of(abs_path, at + 1);
    }

    /* webpack://NAMESPACE/./PATH */
    while (i < abs_path.len && abs_path.data[i] != '/') {
        i++;
    }
    rest = rest_of(abs_path, i < abs_path.len ? i : abs_path.len);
    if (i > sizeof("webpack://") - 1 && sym_str_starts(rest, SYM_STR("/./"))) {
        return rest_of(rest, 1);
    }

    return sym_str_starts(abs_path, SYM_STR("webpack:///"))
               ? rest_of(abs_path, sizeof("webpack:///") - 1)
               : abs_path;
}


static size_t
hex_len(sym_str_t s)
{
    size_t n = 0;

    while (n < s.len
           && ((s.data[n] >= '0' && s.data[n] <= '9')
               || (sym_lower(s.data[n]) >= 'a' && sym_lower(s.data[n]) <= 'f')))
    {
        n++;
    }

    return n;
}


/* v?(?:\d+\.)*\d+ */
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
        } else if (s.data[i] >= '0' && s.data[i] <= '9') {
            has_digit = true;
        } else {
            return false;
        }
    }

    return has_digit;
}


/* Folders whose names do not identify a module. */
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


/* Without the extension of its last part, and without ".min" before it. */
static sym_str_t
without_extension(sym_str_t path)
{
    size_t slash = path.len, dot, start;

    while (slash > 0 && path.data[slash - 1] != '/') {
        slash--;
    }

    /* dots at its beginning belong to the name */
    start = slash;
    while (start < path.len && path.data[start] == '.') {
        start++;
    }

    dot = path.len;
    while (dot > start && path.data[dot - 1] != '.') {
        dot--;
    }

    if (dot > start) {
        path.len = dot - 1;
    }

    if (path.len >= 4 && memcmp(path.data + path.len - 4, ".min", 4) == 0) {
        path.len -= 4;
    }

    return path;
}


/* "-" or ".", and at least seven hexadecimal digits, at the end. */
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
    static const char unknown[] = "<unknown module>";
    sym_str_t s = path, rest;

    if (s.len == 0) {
        return sym_cstr(unknown);
    }

    if (find(s, "://") != SIZE_MAX) {
        s = path_of(s);
    } else if (sym_str_starts(s, SYM_STR("webpack:"))
               || sym_str_starts(s, SYM_STR("app:")))
    {
        s = rest_of(s, find(s, ":") + 1);
    }

    s = without_extension(before_byte(before_byte(s, '?'), '#'));

    /* all after a folder that is named by a hash */
    rest = s;
    while (rest.len != 0) {
        sym_str_t part = before_byte(rest, '/');
        size_t hex = hex_len(part);

        rest = rest_of(rest, part.len + (part.len < rest.len));
        if (hex >= 32) {
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

    s = without_commit(s);
    return s.len != 0 ? s : sym_cstr(unknown);
}
