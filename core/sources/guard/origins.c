#include "sources/guard/origins.h"

#include <stdio.h>
#include <strings.h>

#define ANY SYM_STR("*")

typedef struct {
    sym_str_t scheme, host, port, path; /* port: data NULL if missing */
} pattern_t;


/* Splits s at the first `at`.  False: not found, and *head is all of s. */
static bool
split(sym_str_t s, char at, sym_str_t *head, sym_str_t *tail)
{
    const char *p = s.len == 0 ? NULL : memchr(s.data, at, s.len);

    *head = s;
    if (p == NULL) {
        return false;
    }

    head->len = (size_t) (p - s.data);
    *tail = sym_str(p + 1, s.len - head->len - 1);
    return true;
}


static pattern_t
read_pattern(sym_str_t text)
{
    pattern_t p = { .scheme = ANY, .port = { NULL, 0 }, .path = ANY };
    sym_str_t rest = text;

    for (size_t i = 0; i + 3 <= text.len; i++) {
        if (memcmp(text.data + i, "://", 3) == 0) {
            p.scheme = sym_str(text.data, i);
            rest = sym_str(text.data + i + 3, text.len - i - 3);
            break;
        }
    }

    (void) split(rest, '/', &p.host, &p.path);
    if (split(rest, ':', &rest, &p.port)) {
        p.host = rest;
    }

    return p;
}


static bool
is_same_host(sym_str_t a, sym_str_t b)
{
    return a.len == b.len
           && (a.len == 0 || strncasecmp(a.data, b.data, a.len) == 0);
}


static bool
has_host(const pattern_t *p, const sym_url_t *url)
{
    char text[8];
    int len = snprintf(text, sizeof(text), "%u", url->port);

    if (p->port.data == NULL && p->host.len >= 2
        && memcmp(p->host.data, "*.", 2) == 0)
    {
        sym_str_t end = sym_str(p->host.data + 1, p->host.len - 1);

        return is_same_host(url->host, sym_str(end.data + 1, end.len - 1))
               || (url->host.len >= end.len
                   && is_same_host(
                       sym_str(url->host.data + url->host.len - end.len,
                               end.len),
                       end));
    }

    return (p->port.data == NULL
            || sym_str_eq(p->port, sym_str(text, (size_t) len)))
           && (sym_str_eq(p->host, ANY) || is_same_host(p->host, url->host));
}


static bool
fits(sym_str_t text, const sym_url_t *url)
{
    pattern_t p = read_pattern(text);
    sym_str_t scheme = url->is_https ? SYM_STR("https") : SYM_STR("http");

    return (sym_str_eq(p.scheme, ANY) || sym_str_eq(p.scheme, scheme))
           && has_host(&p, url) && (p.path.len == 0 || sym_str_eq(p.path, ANY));
}


bool
sym_origins_have(const sym_str_t *patterns, uint32_t n, const sym_url_t *url,
                 sym_str_t text)
{
    for (uint32_t i = 0; i < n; i++) {
        if (sym_str_eq(patterns[i], ANY) || sym_str_eq(patterns[i], text)
            || fits(patterns[i], url))
        {
            return true;
        }
    }

    return false;
}
