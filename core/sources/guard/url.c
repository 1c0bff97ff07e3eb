#include "sources/guard/url.h"

#include <stdio.h>

#include "base/hex.h"
#include "base/text.h"

#define HTTP SYM_STR("http://")
#define HTTPS SYM_STR("https://")


static bool
starts_nocase(sym_str_t s, sym_str_t prefix)
{
    for (size_t i = 0; i < prefix.len; i++) {
        if (i == s.len || sym_lower(s.data[i]) != prefix.data[i]) {
            return false;
        }
    }

    return true;
}


static sym_str_t
from(sym_str_t s, size_t start)
{
    return sym_str(s.data + start, s.len - start);
}


/* Takes the part before the first of `ends`. */
static sym_str_t
before(sym_str_t s, const char *ends)
{
    size_t i = 0;

    while (i < s.len && (s.data[i] == '\0' || strchr(ends, s.data[i]) == NULL))
    {
        i++;
    }

    return sym_str(s.data, i);
}


/* --- parts --- */

static sym_str_t
decode(sym_arena_t *arena, sym_str_t s)
{
    sym_text_t t = { .arena = arena };

    for (size_t i = 0; i < s.len; i++) {
        int byte = s.data[i] == '%' ? sym_hex_percent(s, i) : -1;
        char c = s.data[i];

        if (byte >= 0) {
            c = (char) byte;
            i += 2;
        }
        sym_text_byte(&t, c);
    }

    return sym_text_end(&t);
}


/* Encodes bytes that a request line must not contain, and a lone percent
   sign. */
static void
add_sendable(sym_text_t *t, sym_str_t s, const char *encoded)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char) s.data[i];
        char hex[4];

        if (c <= ' ' || c >= 0x7f || strchr(encoded, (char) c) != NULL
            || (c == '%' && sym_hex_percent(s, i) < 0))
        {
            (void) snprintf(hex, sizeof(hex), "%%%02X", c);
            sym_text_add(t, sym_str(hex, 3));
        } else {
            sym_text_byte(t, (char) c);
        }
    }
}


/* Recognizes "." and ".." also if they contain %2e, because servers decode
 * it. */
static size_t
dots(sym_str_t segment)
{
    size_t n = 0;

    for (size_t i = 0; i < segment.len; n++) {
        if (segment.data[i] == '.') {
            i++;
        } else if (sym_hex_percent(segment, i) == '.') {
            i += 3;
        } else {
            return 0;
        }
    }

    return n;
}


/* RFC 3986, section 5.2.4, but empty segments are kept. */
static sym_str_t
clean_path(sym_arena_t *arena, sym_str_t path)
{
    sym_text_t t = { .arena = arena };
    sym_str_t sendable;
    char *out;
    size_t len = 0;

    add_sendable(&t, path, "\"<>\\^`{|}");
    sendable = sym_text_end(&t);
    out = t.failed ? NULL : sym_arena_alloc(arena, sendable.len + 1);
    if (out == NULL) {
        return sym_str(NULL, 0);
    }

    out[len++] = '/';

    for (size_t i = 1; i <= sendable.len;) {
        sym_str_t segment = before(from(sendable, i), "/");
        size_t n = dots(segment);
        bool is_last = i + segment.len >= sendable.len;

        i += segment.len + 1;

        if (n == 2 && len > 1) {
            for (len--; out[len - 1] != '/'; len--) {
            }
        }

        if (n != 1 && n != 2) {
            memcpy(out + len, segment.data, segment.len);
            len += segment.len;
            if (!is_last) {
                out[len++] = '/';
            }
        }
    }

    return sym_str(out, len);
}


static sym_status_t
read_host(sym_arena_t *arena, sym_str_t text, sym_url_t *url, sym_error_t *err)
{
    sym_str_t host = text;
    char *copy;

    if (host.len == 0) {
        return sym_fail(err, SYM_MALFORMED, "empty host");
    }

    if (host.data[0] == '[' && host.data[host.len - 1] != ']') {
        return sym_fail(err, SYM_MALFORMED, "invalid host");
    }

    if (host.len > SYM_URL_HOST_MAX) {
        return sym_fail(err, SYM_LIMIT, "the host is too long");
    }

    copy = sym_arena_alloc(arena, host.len);
    if (copy == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    for (size_t i = 0; i < host.len; i++) {
        char c = copy[i] = sym_lower(host.data[i]);
        bool is_name = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                       || c == '-' || c == '.' || c == '_';

        if (!is_name
            && (host.data[0] != '[' || c == '\0' || strchr("[]:", c) == NULL)) {
            return sym_fail(err, SYM_MALFORMED, "invalid host");
        }
    }

    url->host = sym_str(copy, host.len);
    return SYM_OK;
}


static sym_status_t
read_authority(sym_arena_t *arena, sym_str_t text, sym_url_t *url,
               sym_error_t *err)
{
    size_t at = text.len, end;
    uint64_t port;

    /* browsers treat it as a slash, which would end the host */

    if (memchr(text.data, '\\', text.len) != NULL) {
        return sym_fail(err, SYM_MALFORMED, "invalid host");
    }

    while (at > 0 && text.data[at - 1] != '@') {
        at--;
    }

    if (at > 0) {
        url->userinfo = decode(arena, sym_str(text.data, at - 1));
        text = from(text, at);
        if (url->userinfo.data == NULL) {
            return sym_fail(err, SYM_NOMEM, NULL);
        }
    }

    end = text.len > 0 && text.data[0] == '[' ? before(text, "]").len : 0;
    end += before(from(text, end), ":").len;

    if (end + 1 < text.len) {
        if (!sym_dec_read(from(text, end + 1), &port) || port == 0
            || port > UINT16_MAX) {
            return sym_fail(err, SYM_MALFORMED, "invalid port number");
        }
        url->port = (uint16_t) port;
    }

    return read_host(arena, sym_str(text.data, end), url, err);
}


/* Reads the part of a URL after its authority. */
static sym_status_t
read_target(sym_arena_t *arena, sym_str_t text, sym_url_t *url,
            sym_error_t *err)
{
    sym_text_t t = { .arena = arena };
    sym_str_t path, rest = before(text, "#");

    path = before(rest, "?");
    url->path = clean_path(arena, path);

    if (path.len < rest.len) {
        add_sendable(&t, from(rest, path.len + 1), "\"<>");
        url->query = sym_text_end(&t);
    }

    return url->path.data == NULL || t.failed ? sym_fail(err, SYM_NOMEM, NULL)
                                              : SYM_OK;
}


sym_status_t
sym_url_read(sym_arena_t *arena, sym_str_t text, sym_url_t *url,
             sym_error_t *err)
{
    sym_str_t authority;
    sym_status_t rc;

    *url = (sym_url_t){ .query = SYM_STR("") };

    if (text.len > SYM_URL_MAX) {
        return sym_fail(err, SYM_LIMIT, "the URL is too long");
    }

    if (starts_nocase(text, HTTPS)) {
        url->is_https = true;
        url->port = 443;
        text = from(text, HTTPS.len);
    } else if (starts_nocase(text, HTTP)) {
        url->port = 80;
        text = from(text, HTTP.len);
    } else {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the URL does not begin with http:// or https://");
    }

    authority = before(text, "/?#");
    rc = read_authority(arena, authority, url, err);

    return rc != SYM_OK
               ? rc
               : read_target(arena, from(text, authority.len), url, err);
}


sym_status_t
sym_url_resolve(sym_arena_t *arena, const sym_url_t *base, sym_str_t reference,
                sym_url_t *url, sym_error_t *err)
{
    sym_text_t t = { .arena = arena };
    sym_str_t head = before(reference, ":/?#");
    sym_str_t folder = base->path;

    if (reference.len > SYM_URL_MAX) {
        return sym_fail(err, SYM_LIMIT, "the URL is too long");
    }

    if (head.len > 0 && head.len < reference.len
        && reference.data[head.len] == ':') {
        return sym_url_read(arena, reference, url, err);
    }

    if (sym_str_starts(reference, SYM_STR("//"))) {
        sym_text_add(&t, base->is_https ? SYM_STR("https:") : SYM_STR("http:"));
        sym_text_add(&t, reference);
        return t.failed ? sym_fail(err, SYM_NOMEM, NULL)
                        : sym_url_read(arena, sym_text_end(&t), url, err);
    }

    *url = *base;
    url->userinfo = SYM_STR("");
    url->query = SYM_STR("");

    if (!sym_str_starts(reference, SYM_STR("/"))) {
        while (reference.len > 0 && reference.data[0] != '?'
               && reference.data[0] != '#' && folder.len > 0
               && folder.data[folder.len - 1] != '/')
        {
            folder.len--;
        }
        sym_text_add(&t, folder);
    }

    sym_text_add(&t, reference);
    return t.failed ? sym_fail(err, SYM_NOMEM, NULL)
                    : read_target(arena, sym_text_end(&t), url, err);
}


/* --- writing --- */

bool
sym_url_is_same_origin(const sym_url_t *a, const sym_url_t *b)
{
    return a->is_https == b->is_https && a->port == b->port
           && sym_str_eq(a->host, b->host);
}


static void
add_authority(sym_text_t *t, const sym_url_t *url)
{
    char port[8];

    sym_text_add(t, url->host);
    if (url->port != (url->is_https ? 443 : 80)) {
        (void) snprintf(port, sizeof(port), ":%u", url->port);
        sym_text_add(t, sym_cstr(port));
    }
}


sym_str_t
sym_url_authority(sym_arena_t *arena, const sym_url_t *url)
{
    sym_text_t t = { .arena = arena };

    add_authority(&t, url);
    return sym_text_end(&t);
}


sym_str_t
sym_url_shown(sym_arena_t *arena, const sym_url_t *url)
{
    sym_text_t t = { .arena = arena };

    sym_text_add(&t, url->is_https ? HTTPS : HTTP);
    add_authority(&t, url);
    sym_text_add(&t, url->path);
    return sym_text_end(&t);
}
